// Models of several classes and of several targets, from the data to predictions and files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mfga/evaluate.hpp"
#include "mfga/formula.hpp"
#include "mfga/predictor.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 600;

struct Sample {
  Matrix x = reference::random_matrix(kRows, 3, 5);
  std::vector<double> classes;  // 0, 1, 2
  std::vector<double> targets;  // two, one after the other
  Sample() {
    const std::vector<double> noise = reference::random_vector(kRows, 6);
    for (Index n = 0; n < kRows; ++n) {
      const double e = 0.2 * noise[static_cast<std::size_t>(n)];
      classes.push_back(x(n, 0) * x(n, 0) + e > 1.2 ? 2 : x(n, 1) + e > 0 ? 1 : 0);
      targets.push_back(x(n, 0) + 2 * std::max(0.0, x(n, 2)) + e);
    }
    for (Index n = 0; n < kRows; ++n) targets.push_back(1000 * x(n, 1) - 500 * std::max(0.0, x(n, 2)) + 7);
  }
  [[nodiscard]] TrainingData three_classes() const {
    TrainingData data{.x = x.view(), .y = classes};
    data.labels = {"low", "mid", "far"};
    return data;
  }
  [[nodiscard]] TrainingData two_targets() const {
    TrainingData data{.x = x.view(), .y = targets};
    data.target_name = "a,b";
    data.target_names = {"a", "b"};
    return data;
  }
};

AllOptions options_of(Index terms) {
  AllOptions options = plain_options();
  options.terms = terms;
  options.features = "linear + hinge(knots=9) + polynomial(degree=2)";
  return options;
}

TEST(SeveralClasses, AreToldApart) {
  const Sample sample;
  const FitResult result = fit(sample.three_classes(), options_of(12));
  const Model& model = result.model;
  EXPECT_EQ(model.loss, "softmax(3)");
  EXPECT_EQ(model.labels, (std::vector<std::string>{"low", "mid", "far"}));
  ASSERT_EQ(model.n_outputs(), 3);
  EXPECT_EQ(model.outputs[2].name, "far");
  const Evaluation evaluation = evaluate(model, sample.x.view(), sample.classes);
  ASSERT_TRUE(evaluation.classes);
  EXPECT_LT(evaluation.classes->error_percent, 12);
  EXPECT_GT(*evaluation.classes->macro_auc, 0.95);
  double total = 0;
  for (const double count : evaluation.classes->confusion.values) total += count;
  EXPECT_EQ(total, kRows);
  const std::string formula = formula_text(model, 3);
  EXPECT_NE(formula.find("score of each class of y"), std::string::npos) << formula;
  EXPECT_NE(full_formula_text(model).find("score of \"far\" = "), std::string::npos);
}

TEST(SeveralClasses, ProbabilitiesAddUpAndTheLargestWins) {
  const Sample sample;
  const Predictor predictor(fit(sample.three_classes(), options_of(8)).model);
  const std::vector<double> probabilities = predictor.probabilities(sample.x.view());
  const std::vector<double> predictions = predictor.predictions(sample.x.view());
  ASSERT_EQ(probabilities.size(), 3U * kRows);
  ASSERT_EQ(predictions.size(), static_cast<std::size_t>(kRows));
  for (std::size_t n = 0; n < predictions.size(); ++n) {
    const auto row = std::span(probabilities).subspan(3 * n, 3);
    EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-12);
    EXPECT_EQ(predictions[n], static_cast<double>(std::ranges::max_element(row) - row.begin()));
  }
}

// By itself, in a table of doubles, and in one of floats that hold the same numbers.
TEST(SeveralClasses, ARowGetsTheSameScoresEverywhere) {
  Sample sample;
  std::vector<float> singles;
  for (double& value : sample.x.values) {
    singles.push_back(static_cast<float>(value));
    value = static_cast<double>(singles.back());
  }
  AllOptions options = options_of(10);
  options.features = "linear + landmark(count=30) + fourier(count=30) + gaussian(order=2)";
  const Predictor predictor(fit(sample.three_classes(), options).model);
  const std::vector<double> scores = predictor.scores(sample.x.view());
  EXPECT_EQ(predictor.scores(ConstFloatMatrixView{singles.data(), kRows, 3, 3}), scores);
  std::vector<double> own(3);
  for (Index n = 0; n < kRows; n += 7) {
    predictor.scores({sample.x.row(n), 3}, own);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(own[k], scores[static_cast<std::size_t>(n) * 3 + k]);
    EXPECT_EQ(predictor.predict({sample.x.row(n), 3}),
              static_cast<double>(std::ranges::max_element(own) - own.begin()));
  }
  EXPECT_THROW(static_cast<void>(predictor.score({sample.x.row(0), 3})), Error);
}

TEST(SeveralClasses, DefaultsTuneAndThreadsDoNotMatter) {
  const Sample sample;
  FitOptions options{.features = "linear + landmark(count=20)", .terms = 6};
  options.threads = 1;
  const FitResult one = mfga::fit(sample.three_classes(), options);
  options.threads = 2;
  const FitResult two = mfga::fit(sample.three_classes(), options);
  EXPECT_EQ(model_to_json(one.model), model_to_json(two.model));
  EXPECT_TRUE(one.report.tuning.is_tried);
  EXPECT_LT(evaluate(one.model, sample.x.view(), sample.classes).classes->error_percent, 15);
}

TEST(SeveralClasses, WeightsCountAsCopies) {
  const Sample sample;
  std::vector<double> weights(kRows, 1.0);
  Matrix copied = Matrix(kRows + 50, 3);
  std::vector<double> copied_classes = sample.classes;
  std::copy(sample.x.values.begin(), sample.x.values.end(), copied.values.begin());
  for (Index n = 0; n < 50; ++n) {
    weights[static_cast<std::size_t>(n)] = 2;
    std::copy_n(sample.x.row(n), 3, copied.row(kRows + n));
    copied_classes.push_back(sample.classes[static_cast<std::size_t>(n)]);
  }
  TrainingData weighted = sample.three_classes();
  weighted.weights = weights;
  TrainingData copies = sample.three_classes();
  copies.x = copied.view();
  copies.y = copied_classes;
  AllOptions options = options_of(6);
  options.features = "linear + polynomial(degree=2)";
  set(options, "scale", "standard");
  const Model first = fit(weighted, options).model;
  const Model second = fit(copies, options).model;
  ASSERT_EQ(first.terms.size(), second.terms.size());
  for (std::size_t i = 0; i < first.terms.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(first.terms[i].coefficients[k], second.terms[i].coefficients[k], 1e-3);
  }
}

TEST(SeveralTargets, EachIsPredictedInItsUnits) {
  const Sample sample;
  const FitResult result = fit(sample.two_targets(), options_of(10));
  const Evaluation evaluation = evaluate(result.model, sample.x.view(), sample.targets);
  ASSERT_EQ(evaluation.targets.size(), 2U);
  EXPECT_EQ(evaluation.targets[1].name, "b");
  EXPECT_GT(*evaluation.targets[0].metrics.r2, 0.97);
  EXPECT_GT(*evaluation.targets[1].metrics.r2, 0.99);
  EXPECT_NE(formula_text(result.model, 4).find("the targets a,b"), std::string::npos);
}

TEST(SeveralTargets, UnitsDoNotChangeTheChoice) {
  Sample sample;
  const FitResult before = fit(sample.two_targets(), options_of(8));
  for (std::size_t n = 0; n < static_cast<std::size_t>(kRows); ++n) sample.targets[n] *= 1e4;
  const FitResult after = fit(sample.two_targets(), options_of(8));
  const std::vector<std::string> names = {"x", "y", "z"};
  ASSERT_EQ(after.model.terms.size(), before.model.terms.size());
  for (std::size_t i = 0; i < after.model.terms.size(); ++i)
    EXPECT_EQ(describe(after.model.terms[i].atom, names).text,
              describe(before.model.terms[i].atom, names).text);
}

TEST(SeveralOutputsModel, SavesAndLoads) {
  const Sample sample;
  for (const TrainingData& data : {sample.three_classes(), sample.two_targets()}) {
    const Model model = fit(data, options_of(5)).model;
    const std::string json = model_to_json(model);
    const Model loaded = model_from_json(json, "m.json");
    EXPECT_EQ(model_to_json(loaded), json);
    EXPECT_EQ(loaded.scores(sample.x.view()), model.scores(sample.x.view()));
  }
}

TEST(SeveralOutputsModel, IsReadWithSuspicion) {
  const Sample sample;
  const std::string json = model_to_json(fit(sample.three_classes(), options_of(3)).model);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    text.replace(text.find(from), from.size(), to);
    try {
      static_cast<void>(model_from_json(text, "m.json"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(with("softmax(3)", "softmax(4)").find("for 4 outputs, and the model has 3"), std::string::npos);
  EXPECT_NE(with("\"mid\"", "\"low\"").find("occurs twice"), std::string::npos);
  EXPECT_NE(with("\"coefficients\":[", "\"coefficients\":[1,").find("expected 3 numbers"), std::string::npos);
  EXPECT_NE(with("\"intercepts\": [", "\"intercepts\": [1,").find("expected 3 numbers"), std::string::npos);
  EXPECT_NE(with("\"version\": 5", "\"version\": 4").find("expected two different labels"),
            std::string::npos);
}

TEST(SeveralOutputsModel, GoesOnFromAModel) {
  const Sample sample;
  const Model first = fit(sample.three_classes(), options_of(4)).model;
  AllOptions options = options_of(7);
  options.start = &first;
  const Model second = fit(sample.three_classes(), options).model;
  ASSERT_EQ(second.terms.size(), 7U);
  EXPECT_LT(second.training.risk, first.training.risk);
}

TEST(SeveralClasses, LossesAreForTheirNumberOfClasses) {
  const Sample sample;
  for (const std::string loss : {"softmax(2)", "softmax(5)", "logistic"}) {
    AllOptions options = options_of(4);
    options.loss = loss;
    const std::string message = error_of(sample.three_classes(), options);
    EXPECT_NE(message.find("and the target y has 3"), std::string::npos) << message;
  }
  // Two classes with a score each, if asked for.
  std::vector<double> two = sample.classes;
  for (double& position : two) position = std::min(position, 1.0);
  AllOptions options = options_of(4);
  options.loss = "softmax";
  const FitResult result = fit({.x = sample.x.view(), .y = two}, options);
  EXPECT_EQ(result.model.n_outputs(), 2);
  EXPECT_LT(evaluate(result.model, sample.x.view(), two).classes->error_percent, 25);
}

TEST(SeveralTargets, HuberIsRobustForEach) {
  Sample sample;
  for (std::size_t n = 0; n < static_cast<std::size_t>(kRows); ++n) {
    sample.targets[n] = 2 * sample.x(static_cast<Index>(n), 0) + (n % 25 == 0 ? 1e4 : 0);
  }
  AllOptions options = options_of(3);
  options.features = "linear";
  options.loss = "huber";
  set(options, "scale", "standard");
  const Model model = fit(sample.two_targets(), options).model;
  const std::vector<double> predictions = model.predict(sample.x.view());
  for (Index n = 1; n < 20; ++n)
    EXPECT_NEAR(predictions[static_cast<std::size_t>(2 * n)], 2 * sample.x(n, 0), 0.5) << n;
}

TEST(SeveralTargets, StabilityLooksAtAtomsAlone) {
  Sample sample;
  for (std::size_t n = 0; n < static_cast<std::size_t>(kRows); ++n)
    sample.targets[n + static_cast<std::size_t>(kRows)] = 3 * sample.targets[n];
  const FitResult both = fit(sample.two_targets(), options_of(5));
  const FitResult one =
      fit({.x = sample.x.view(), .y = std::span(sample.targets).first(static_cast<std::size_t>(kRows))},
          options_of(5));
  EXPECT_DOUBLE_EQ(both.report.stability, one.report.stability);
}

TEST(SeveralTargets, GoOnFromAModelOfOtherRows) {
  const Sample sample;
  const Model first = fit(sample.two_targets(), options_of(3)).model;
  std::vector<double> some;
  const std::size_t rows = kRows / 2;
  for (const std::size_t target : {std::size_t{0}, std::size_t{1}})
    some.insert(some.end(), sample.targets.begin() + static_cast<Index>(target * kRows),
                sample.targets.begin() + static_cast<Index>(target * kRows + rows));
  TrainingData data = sample.two_targets();
  data.x = sample.x.view().middle_rows(0, static_cast<Index>(rows));
  data.y = some;
  AllOptions options = options_of(5);
  options.start = &first;
  EXPECT_EQ(fit(data, options).model.terms.size(), 5U);
}

TEST(SeveralOutputsModel, SaysWhatIsNotPossible) {
  const Sample sample;
  AllOptions options = options_of(4);
  set(options, "nu", "cv");
  EXPECT_NE(error_of(sample.two_targets(), options).find("`nu=cv`"), std::string::npos);
  options = options_of(4);
  options.norm_bound = 1;
  options.ridge = Ridge::automatic();
  EXPECT_NE(error_of(sample.three_classes(), options).find("`norm_bound`"), std::string::npos);
  EXPECT_EQ(fit(sample.two_targets(), options).model.terms.size(), 4U);
  options = options_of(4);
  EXPECT_NE(error_of({.x = sample.x.view(), .y = sample.classes, .target_names = {"a", "b"}}, options)
                .find("2 targets need 1200"),
            std::string::npos);
  set(options, "engine", "gram");
  EXPECT_NE(error_of(sample.two_targets(), options).find("`engine=lazy` for several"), std::string::npos);
  options = options_of(4);
  set(options, "nu", "alignment");
  EXPECT_NE(error_of(sample.three_classes(), options).find("`nu=alignment`"), std::string::npos);
  options = options_of(4);
  set(options, "task", "classification");
  EXPECT_NE(error_of(sample.two_targets(), options).find("several targets"), std::string::npos);
}

}  // namespace
}  // namespace mfga
