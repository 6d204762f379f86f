#include "mfga/fit.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mfga/error.hpp"
#include "mfga/metrics.hpp"
#include "mfga/table.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

struct Sample {
  Matrix x = reference::random_matrix(800, 5, 1);
  std::vector<double> y;

  Sample() {
    const std::vector<double> noise = reference::random_vector(x.rows, 2);
    for (Index i = 0; i < x.rows; ++i) {
      for (Index j = 0; j < x.cols; ++j)
        x(i, j) = 10 * static_cast<double>(j) + (1 + static_cast<double>(j)) * x(i, j);
      y.push_back(100 + x(i, 0) * (x(i, 1) - 10) + 0.1 * noise[static_cast<std::size_t>(i)]);
    }
  }
  [[nodiscard]] TrainingData data() const { return {x.view(), y, {"a", "b", "c", "d", "e"}}; }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

AllOptions with(const std::string& features, Index terms) {
  AllOptions options = plain_options();
  options.features = features;
  options.terms = terms;
  return options;
}

TEST(Fit, LearnsAnInteractionAndPredictsInTheTargetsUnits) {
  const Sample sample;
  AllOptions options = with("gaussian(order=2, sigma=auto*4)", 6);
  options.ridge = 1e-6;
  const FitResult result = fit(sample.data(), options);
  EXPECT_EQ(result.report.path.front().added.front(),
            "a * b * G(" + describe(result.model.terms[0].atom, {{"a", "b", "c", "d", "e"}}).text.substr(10));
  const RegressionMetrics metrics = regression_metrics(result.model.predict(sample.x.view()), sample.y);
  EXPECT_GT(metrics.r2.value(), 0.97);
  EXPECT_NEAR(metrics.mse, result.model.training.risk, 1e-8 * metrics.mse);
}

TEST(Fit, ARowWithoutAFinitePredictionIsAnError) {
  const Sample sample;
  AllOptions options = with("linear", 1);
  const Model model = fit(sample.data(), options).model;
  ASSERT_LT(model.terms[0].atom.inputs[0], 2);
  const auto error_with = [&](const Model& used, Index row, Index column, double value) -> std::string {
    Matrix x = sample.x;
    x(row, column) = value;
    try {
      static_cast<void>(used.predict(x.view()));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      return error.what();
    }
    return "";
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  // Also where the one term looks at another column.
  const std::string above = error_with(model, 3, 4, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(says(above, "row 3") && says(above, "column 4") && says(above, "is inf")) << above;
  const std::string infinite = error_with(model, 700, 2, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(says(infinite, "row 700") && says(infinite, "is -inf")) << infinite;
  EXPECT_EQ(error_with(model, 701, 2, 1e200), "");  // its square overflows, but no term has it
  Model square = model;
  square.terms[0].atom = {"polynomial", 1, {2}, {2}, {2, 1}};
  for (const Task task : {Task::kRegression, Task::kClassification}) {
    square.task = task;
    const std::string overflow = error_with(square, 701, 2, 1e200);
    EXPECT_TRUE(says(overflow, "row 701") && says(overflow, "is 1e+200")) << overflow;
    EXPECT_THROW(static_cast<void>(square.predictions_from_scores(std::vector<double>{1, std::nan("")})),
                 Error);
  }
}

TEST(Fit, TargetsThatCannotBeSquaredAreRefusedBeforeTheFit) {
  const Sample sample;
  const auto refuse = [&](double factor, const std::string& task, const std::string& part) {
    std::vector<double> y = sample.y;
    for (double& value : y) value *= factor;
    AllOptions options = with("linear", 2);
    set(options, "task", task);
    Index steps = 0;
    try {
      static_cast<void>(fit({sample.x.view(), y}, options, [&](const Progress&) {
        ++steps;
        return ProgressAction::kContinue;
      }));
      ADD_FAILURE() << factor;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_EQ(steps, 0);
  };
  refuse(1e200, "regression", "Divide the target");
  refuse(-1e200, "auto", "Divide the target");
  refuse(1e-200, "regression", "Multiply the target");
  refuse(std::nan(""), "regression", "row 0");
  for (const double factor : {1e45, 1e-45}) {
    std::vector<double> y = sample.y;
    for (double& value : y) value *= factor;
    AllOptions options = with("gaussian(order=2, sigma=auto*4)", 6);
    options.ridge = 1e-6;
    const Model model = fit({sample.x.view(), y}, options).model;
    EXPECT_GT(regression_metrics(model.predict(sample.x.view()), y).r2.value(), 0.9) << factor;
  }
}

TEST(Fit, AConstantTargetIsRefusedByAllMethods) {
  const Sample sample;
  for (const double value : {3.0, 0.1, 0.0}) {
    const std::vector<double> y(sample.y.size(), value);
    for (const std::string method : {"mfga", "rks", "lkrf", "eerf", "gk", "glk"}) {
      for (const std::string preset : {"none", "paper"}) {
        AllOptions options = plain_options();
        set(options, "method", method);
        set(options, "preset", preset);
        options.terms = 3;
        try {
          static_cast<void>(fit({sample.x.view(), y}, options));
          ADD_FAILURE() << method << ", " << preset;
        } catch (const Error& error) {
          EXPECT_EQ(
              error.what(),
              fmt::format("the target y has the value {} in every row; there is nothing to learn", value));
        }
      }
    }
  }
}

TEST(Fit, EnginesAgree) {
  const Sample sample;
  AllOptions options = plain_options();
  options.terms = 15;
  options.per_step = 3;
  options.engine = EngineKind::kLazy;
  const FitResult lazy = fit(sample.data(), options);
  options.engine = EngineKind::kGram;
  const FitResult gram = fit(sample.data(), options);
  ASSERT_EQ(lazy.model.terms.size(), gram.model.terms.size());
  for (std::size_t m = 0; m < lazy.model.terms.size(); ++m) {
    EXPECT_EQ(lazy.model.terms[m].atom, gram.model.terms[m].atom);
    EXPECT_NEAR(lazy.model.terms[m].coefficients[0] / gram.model.terms[m].coefficients[0], 1, 1e-8);
  }
}

TEST(Fit, ChoosesTheCheaperEngine) {
  const Sample sample;
  EXPECT_EQ(fit(sample.data(), with("linear", 5)).report.engine, "gram");
  EXPECT_EQ(fit(sample.data(), with("gaussian(order=4)", 2)).report.engine, "lazy");
}

TEST(Fit, InfersTheTask) {
  Sample sample;
  EXPECT_EQ(fit(sample.data(), plain_options()).model.task, Task::kRegression);
  for (double& y : sample.y) y = y > 100 ? 7 : 3.5;
  const FitResult classes = fit(sample.data(), plain_options());
  EXPECT_EQ(classes.model.task, Task::kClassification);
  EXPECT_EQ(classes.model.labels, (std::vector<std::string>{"3.5", "7"}));
  AllOptions regression = plain_options();
  regression.task = Task::kRegression;
  EXPECT_EQ(fit(sample.data(), regression).model.task, Task::kRegression);
}

TEST(Fit, PaperPresetScalesTheTargetAndHasNoInterceptInRegression) {
  Sample sample;
  AllOptions options = plain_options();
  options.preset = true;
  options.terms = 5;
  const FitResult result = fit(sample.data(), options);
  EXPECT_EQ(result.model.outputs[0].intercept, 0);
  EXPECT_EQ(result.report.candidates, 5 * 4 / 2 + 2 * 5 + 1);
  const auto [low, high] = std::minmax_element(sample.y.begin(), sample.y.end());
  EXPECT_DOUBLE_EQ(result.model.outputs[0].shift - result.model.outputs[0].scale, *low);
  EXPECT_DOUBLE_EQ(result.model.outputs[0].shift + result.model.outputs[0].scale, *high);
  for (double& y : sample.y) y = y > 100 ? 1 : 0;
  const FitResult classes = fit(sample.data(), options);
  EXPECT_EQ(classes.report.candidates, 2 * 5 + 1);
  EXPECT_NE(classes.model.outputs[0].intercept, 0);
}

TEST(Fit, TuningHasTheWidthOfThePreset) {
  const Sample sample;
  for (const std::string preset : {"none", "paper"}) {
    AllOptions options = with("gaussian(order=2)", 4);
    set(options, "preset", preset);
    options.tune = Tuning::by_steps(2);
    options.tune_every = *options.terms;  // all terms are selected before inputs are stretched
    const FitReport report = fit(sample.data(), options).report;
    EXPECT_TRUE(report.tuning.is_used);
    EXPECT_EQ(report.sigmas, (std::vector<double>{report.auto_sigma})) << preset;
  }
}

TEST(Fit, DropsConstantColumnsAndNamesThem) {
  Sample sample;
  for (Index i = 0; i < sample.x.rows; ++i) sample.x(i, 2) = 4;
  const FitResult result = fit(sample.data(), with("linear", 3));
  EXPECT_EQ(result.report.dropped_columns, (std::vector<std::string>{"c"}));
  EXPECT_EQ(result.model.input_names(), (std::vector<std::string>{"a", "b", "d", "e"}));
  EXPECT_EQ(result.model.predict(sample.x.view()).size(), sample.y.size());  // all columns, as in training
}

TEST(Fit, RefusesWhatDoesNotFitWithTheFigure) {
  const Sample sample;
  AllOptions options = with("gaussian(order=12)", 5);
  options.memory_limit = 0.01;
  const std::string message = error_of(sample.data(), options);
  EXPECT_TRUE(contains(message, "6188 candidates")) << message;  // C(17, 5)
  EXPECT_TRUE(contains(message, "MiB")) << message;
}

TEST(Fit, SaysWhatIsWrongWithTheData) {
  Sample sample;
  EXPECT_TRUE(
      contains(error_of({sample.x.view(), std::span(sample.y).first(5)}, {}), "800 rows and y has 5"));
  EXPECT_TRUE(contains(error_of({sample.x.view().middle_rows(0, 2), std::span(sample.y).first(2)}, {}),
                       "at least 3"));
  EXPECT_TRUE(contains(error_of({sample.x.view(), sample.y, {"a", "b"}}, {}), "2 column names for 5"));
  EXPECT_TRUE(contains(error_of({sample.x.view(), sample.y, {"a", "b", "a", "d", "e"}}, {}), "occurs twice"));
  AllOptions classification = plain_options();
  classification.task = Task::kClassification;
  EXPECT_TRUE(contains(error_of(sample.data(), classification), "800 rows; at most 1000"));
  sample.y[17] = std::nan("");
  EXPECT_TRUE(contains(error_of(sample.data(), {}), "row 17"));
}

TEST(Fit, ChecksOptions) {
  const Sample sample;
  AllOptions options = plain_options();
  options.terms = 0;
  EXPECT_TRUE(contains(error_of(sample.data(), options), "`terms` is 0"));
  options = {};
  options.ridge = -1;
  EXPECT_TRUE(contains(error_of(sample.data(), options), "`ridge`"));
  options = {};
  options.ridge = std::nan("");
  EXPECT_TRUE(contains(error_of(sample.data(), options), "`ridge`"));
  try {
    set(options, "engine", "fast");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "auto|lazy|gram")) << error.what();
  }
}

bool has_warning(const FitResult& result, const std::string& part) {
  return std::ranges::any_of(result.report.warnings,
                             [&](const std::string& warning) { return contains(warning, part); });
}

TEST(Fit, NamesARowThatDecidesItsOwnFit) {
  Sample sample;
  for (const std::string task : {"regression", "classification"}) {
    Matrix x = sample.x;
    std::vector<double> y = sample.y;
    if (task == "classification") {  // no clear boundary
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = (y[i] > 100) != (i % 5 == 0) ? 1 : 0;
    }
    // As many coefficients as are exact at once, and more.
    for (const std::string features : {"linear", "linear + gaussian(order=2, sigma=auto*2)"}) {
      AllOptions options = with(features, 40);
      set(options, "task", task);
      options.scale = ScaleKind::kStandard;
      // In classification a row that a small ridge lets become certain has no weight.
      options.ridge = task == "regression" ? 1e-3 : 1;
      const TrainingData data{x.view(), y, {"a", "b", "c", "d", "e"}};
      x(417, 3) = sample.x(417, 3);
      EXPECT_FALSE(has_warning(fit(data, options), "leverage")) << task << ", " << features;
      x(417, 3) = task == "regression" ? 1e5 : 1e3;
      const FitResult result = fit(data, options);
      EXPECT_TRUE(has_warning(result, "row 417 (counted from 0)")) << task << ", " << features;
      EXPECT_TRUE(has_warning(result, task == "regression" ? "its d is 1e+05" : "its d is 1000"))
          << task << ", " << features;
      options.scale = ScaleKind::kRobust;
      EXPECT_FALSE(has_warning(fit(data, options), "leverage")) << task << ", " << features;
    }
    RowLines lines;
    lines.first_line = 2;
    TrainingData data{x.view(), y};
    data.lines = &lines;
    AllOptions options = with("linear", 5);
    options.scale = ScaleKind::kStandard;
    EXPECT_TRUE(has_warning(fit(data, options), "in line 419")) << task;
  }
}

TEST(Fit, WarnsOfClassesThatCanBeSeparated) {
  Sample sample;
  std::vector<double> y;
  for (Index i = 0; i < sample.x.rows; ++i) y.push_back(sample.x(i, 1) > 10 ? 1 : 0);
  const TrainingData data{sample.x.view(), y, {"a", "b", "c", "d", "e"}};
  AllOptions options = with("linear", 5);
  EXPECT_FALSE(has_warning(fit(data, options), "separated"));  // the ridge sees to that
  options.ridge = 1e-6;
  EXPECT_TRUE(has_warning(fit(data, options), "`ridge=cv`"));
  // Eight rows on the wrong side of a wide gap: the loss is not small, and all others are certain.
  for (Index i = 0; i < sample.x.rows; ++i) {
    const bool is_wrong = i < 8;
    y[static_cast<std::size_t>(i)] = i % 2 == 0 ? 1 : 0;
    sample.x(i, 1) = (is_wrong ? -10 : 100) * (i % 2 == 0 ? 1 : -1);
  }
  options = with("linear", 1);
  options.ridge = 1e-6;
  const FitResult certain = fit(data, options);
  EXPECT_GT(certain.model.training.risk, 0.01);
  EXPECT_TRUE(has_warning(certain, "99.0 % of the training rows"));
}

TEST(Fit, RareClassesAreNotTakenForSeparable) {
  Sample sample;  // of which only the inputs are used: the labels are noise
  std::vector<double> y(sample.y.size());
  y[500] = 1;
  for (const std::string features : {"linear", "linear + gaussian(order=2)"}) {
    for (const double ridge : {1.0, 100.0}) {
      AllOptions options = with(features, 5);
      options.ridge = ridge;
      const FitResult result = fit({sample.x.view(), y}, options);
      EXPECT_LT(result.model.training.risk, 0.01);  // as that of a constant
      EXPECT_FALSE(has_warning(result, "separated")) << features << ", " << ridge;
    }
  }
  // A rare class that can be told apart is still warned of.
  std::vector<double> told_apart(sample.y.size());
  for (Index i = 0; i < 10; ++i) {
    told_apart[static_cast<std::size_t>(i)] = 1;
    sample.x(i, 1) = 1000;
  }
  AllOptions options = with("linear", 2);
  options.ridge = 1e-6;
  options.scale = ScaleKind::kStandard;
  EXPECT_TRUE(has_warning(fit({sample.x.view(), told_apart}, options), "separated"));
}

TEST(Fit, ScalesAreStoredAndUsed) {
  const Sample sample;
  for (const std::string method : {"mfga", "rks", "glk"}) {
    std::vector<std::vector<double>> scores;
    for (const std::string scale : {"auto", "standard", "robust", "quantile"}) {
      AllOptions options = plain_options();
      set(options, "method", method);
      options.terms = 10;
      set(options, "scale", scale);
      const Model model = fit(sample.data(), options).model;
      scores.push_back(model.scores(sample.x.view()));
      const RegressionMetrics metrics = regression_metrics(model.predict(sample.x.view()), sample.y);
      EXPECT_NEAR(metrics.mse, model.training.risk, 1e-6 * metrics.mse) << method << ", " << scale;
      const std::string name = model.formula_names()[2];
      EXPECT_EQ(name, scale == "robust" ? "r(c)" : scale == "quantile" ? "q(c)" : "c");
      options.threads = 3;
      EXPECT_EQ(fit(sample.data(), options).model.scores(sample.x.view()), scores.back());
    }
    EXPECT_EQ(scores[0], scores[1]);
    EXPECT_NE(scores[1], scores[2]);
    EXPECT_NE(scores[2], scores[3]);
  }
}

TEST(Fit, EveryWayToSelectAndSearchLearnsTheInteraction) {
  const Sample sample;
  for (const std::string select : {"gradient", "normalised", "gain"}) {
    for (const std::string search : {"greedy", "htp"}) {
      if (search == "htp" && select == "gradient") continue;
      for (const std::string refine : {"no", "yes"}) {
        for (const std::string engine : {"lazy", "gram"}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", select, search, refine, engine));
          AllOptions options = with("linear + gaussian(order=2, sigma=auto*4)", 8);
          set(options, "select", select);
          set(options, "search", search);
          set(options, "refine", refine);
          set(options, "engine", engine);
          options.per_step = 2;
          options.ridge = 1e-4;
          const FitResult result = fit(sample.data(), options);
          EXPECT_EQ(result.report.select, select);
          EXPECT_EQ(result.model.terms.size(), 8U);
          const RegressionMetrics metrics =
              regression_metrics(result.model.predict(sample.x.view()), sample.y);
          EXPECT_GT(metrics.r2.value(), 0.97);
          EXPECT_NEAR(metrics.mse, result.model.training.risk, 1e-7 * metrics.mse);
          EXPECT_EQ(result.report.path.back().terms, 8);
        }
      }
    }
  }
}

TEST(Fit, GainAndRefinementLowerTheTrainingRisk) {
  const Sample sample;
  const auto risk = [&](const std::string& select, const std::string& refine, Index terms = 6) {
    AllOptions options = with("linear(nu=100) + gaussian(order=2)", terms);
    set(options, "select", select);
    set(options, "refine", refine);
    options.ridge = 1e-6;
    return fit(sample.data(), options).model.training.risk;
  };
  EXPECT_LT(risk("gain", "no", 1), risk("gradient", "no", 1));  // one term alone cannot be chosen better
  EXPECT_LE(risk("gain", "yes"), risk("gain", "no"));
  EXPECT_LE(risk("gradient", "yes"), risk("gradient", "no"));
}

TEST(Fit, KernelWeightsComeFromTheDataOnRequest) {
  const Sample sample;
  std::vector<std::vector<double>> weights;
  for (const std::string nu : {"uniform", "norm", "alignment", "cv"}) {
    AllOptions options = with("linear + gaussian(order=2)", 6);
    options.select = Selection::kGradient;
    set(options, "nu", nu);
    const FitResult result = fit(sample.data(), options);
    weights.push_back(result.report.kernel_weights);
    ASSERT_EQ(weights.back().size(), 2U);
    EXPECT_NEAR(weights.back()[0] + weights.back()[1], 1, 1e-12);
  }
  EXPECT_EQ(weights[0], (std::vector<double>{0.5, 0.5}));
  EXPECT_GT(weights[1][1], weights[1][0]);  // Gaussian features are small
  EXPECT_GT(weights[2][1] / weights[1][1],
            weights[2][0] / weights[1][0]);  // the target is a product of inputs
  EXPECT_NE(std::find(weights.begin(), weights.begin() + 3, weights[3]), weights.begin() + 3);
}

TEST(Fit, FitsOfSomeRowsKeepTheNormBound) {
  const Sample sample;
  // A bound that leaves nearly all of the target unexplained changes what is chosen from each half.
  const auto stability_with = [&](double bound) {
    AllOptions bounded = with("linear + gaussian(order=2)", 8);
    bounded.norm_bound = bound;
    return fit(sample.data(), bounded).report.stability;
  };
  EXPECT_NE(stability_with(1e-3), stability_with(1e9));
}

TEST(Fit, SelectionOptionsThatExcludeEachOtherAreRefused) {
  const Sample sample;
  AllOptions options = with("linear", 2);
  options.search = Search::kHardThresholding;
  options.select = Selection::kGradient;
  EXPECT_TRUE(contains(error_of(sample.data(), options), "`select=normalised`"));
  options = with("linear + gaussian(order=1)", 2);
  options.nu = KernelWeights::kNorm;
  options.select = Selection::kGain;
  EXPECT_TRUE(contains(error_of(sample.data(), options), "`select=gradient` only"));
  options = AllOptions();
  options.method = paper::Method::kRks;
  options.refine = true;
  EXPECT_TRUE(contains(error_of(sample.data(), options), "`refine` is for the method mfga"));
}

TEST(Fit, ProgressMayStopIt) {
  const Sample sample;
  try {
    static_cast<void>(fit(sample.data(), with("gaussian(order=2)", 9), [](const Progress& p) {
      return p.terms < 4 ? ProgressAction::kContinue : ProgressAction::kAbort;
    }));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
  }
}

}  // namespace
}  // namespace mfga
