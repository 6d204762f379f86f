// Cross-validation against fits of each fold by hand, straight from the definitions.
#include "mfga/cross_validation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include "losses/logistic.hpp"
#include "mfga/error.hpp"
#include "model/plain_fit.hpp"
#include "reference_matrices.hpp"
#include "solve/cross_validation.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 700;
constexpr Index kInputs = 4;
constexpr double kSigma = 2.5;
const char* const kFeatures = "linear + gaussian(order=2, sigma=2.5)";

struct Sample {
  Matrix x = reference::random_matrix(kRows, kInputs, 1);
  std::vector<double> y;
  Matrix standardised{kRows, kInputs};

  explicit Sample(Task task) {
    const std::vector<double> noise = reference::random_vector(kRows, 2);
    for (Index i = 0; i < kRows; ++i) {
      const double* z = x.row(i);
      const double score = z[0] - 2 * z[1] * z[2] + 0.5 * z[3] * z[3] + noise[static_cast<std::size_t>(i)];
      y.push_back(task == Task::kRegression ? 50 + score : (score > 0.3 ? 1 : 0));
      for (Index j = 0; j < kInputs; ++j) x(i, j) = 3 * static_cast<double>(j) + 2 * x(i, j);
    }
    for (Index j = 0; j < kInputs; ++j) {
      double mean = 0;
      double square = 0;
      for (Index i = 0; i < kRows; ++i) mean += x(i, j) / kRows;
      for (Index i = 0; i < kRows; ++i) square += std::pow(x(i, j) - mean, 2) / kRows;
      for (Index i = 0; i < kRows; ++i) standardised(i, j) = (x(i, j) - mean) / std::sqrt(square);
    }
  }
  [[nodiscard]] TrainingData data() const { return {x.view(), y}; }
  [[nodiscard]] Matrix standardised_rows(std::span<const Index> rows) const {
    Matrix result(static_cast<Index>(rows.size()), kInputs);
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(standardised.row(rows[i]), kInputs, result.row(static_cast<Index>(i)));
    return result;
  }
  [[nodiscard]] Eigen::VectorXd targets(std::span<const Index> rows) const {
    Eigen::VectorXd result(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      result[static_cast<Index>(i)] = y[static_cast<std::size_t>(rows[i])];
    return result;
  }
};

AllOptions with_terms(Index terms, Index per_step) {
  AllOptions options = plain_options();
  options.features = kFeatures;
  options.terms = terms;
  options.per_step = per_step;
  options.select = Selection::kGradient;
  options.shortlist = 1;
  options.seed = 11;
  return options;
}

const CrossValidationOptions kValidation = {4, {0.01, 1, 30}};

// The mean over folds of errors(training rows, held-out rows, ridge), [ridges x terms], and its error.
template <class Errors>
void expect_surface(const CrossValidation& result, Errors errors, double tolerance,
                    std::span<const double> classes = {}) {
  const Folds folds(DividedRows{kRows, {}, classes}, kValidation, 11);
  ASSERT_EQ(result.folds, kValidation.folds);
  ASSERT_EQ(result.ridges, kValidation.ridges);
  ASSERT_EQ(result.mean.rows, 3);
  ASSERT_EQ(result.mean.cols, static_cast<Index>(result.terms.size()));
  for (Index r = 0; r < result.mean.rows; ++r) {
    Eigen::MatrixXd by_fold(folds.count(), result.mean.cols);
    for (Index f = 0; f < folds.count(); ++f) {
      by_fold.row(f) =
          errors(folds.training(f), folds.held_out(f), kValidation.ridges[static_cast<std::size_t>(r)]);
    }
    for (Index t = 0; t < result.mean.cols; ++t) {
      const double mean = by_fold.col(t).mean();
      const double deviation = std::sqrt((by_fold.col(t).array() - mean).square().sum() / 3);
      EXPECT_NEAR(result.mean(r, t), mean, tolerance * mean) << "ridge " << r << ", column " << t;
      EXPECT_NEAR(result.standard_error(r, t), deviation / 2, tolerance * mean);
    }
  }
}

// Errors along a naive pursuit.
auto pursuit_errors(const Sample& sample, const std::vector<Index>& terms, Index per_step,
                    Intercept intercept, double shift = 0, double scale = 1) {
  return [&sample, terms, per_step, intercept, shift, scale](
             const std::vector<Index>& training, const std::vector<Index>& held_out, double ridge) {
    const Candidates candidates(Dictionary(kFeatures), {kInputs, 1});
    const Eigen::MatrixXd features = reference::materialise(candidates, sample.standardised_rows(training));
    const Eigen::MatrixXd new_features =
        reference::materialise(candidates, sample.standardised_rows(held_out));
    const Eigen::VectorXd y = (sample.targets(training).array() - shift) / scale;
    Eigen::RowVectorXd errors(static_cast<Index>(terms.size()));
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const reference::Pursuit pursuit = reference::pursue(features, y, terms[t], per_step, ridge, intercept);
      Eigen::VectorXd scores = Eigen::VectorXd::Constant(new_features.rows(), pursuit.intercept);
      for (Index m = 0; m < pursuit.theta.size(); ++m)
        scores += pursuit.theta[m] * new_features.col(pursuit.chosen[static_cast<std::size_t>(m)]);
      const Eigen::VectorXd predictions = shift + scale * scores.array();
      errors[static_cast<Index>(t)] =
          (predictions - sample.targets(held_out)).squaredNorm() / static_cast<double>(held_out.size());
    }
    return errors;
  };
}

TEST(CrossValidate, EqualsFitsOfEachFoldForBothEngines) {
  const Sample sample(Task::kRegression);
  for (const std::string engine : {"gram", "lazy"}) {
    for (const Index per_step : {1, 3}) {
      SCOPED_TRACE(engine);
      AllOptions options = with_terms(10, per_step);
      set(options, "engine", engine);
      const ValidatedFit result = cross_validate(sample.data(), options, kValidation);
      EXPECT_EQ(result.fit.report.engine, engine);
      EXPECT_EQ(result.cross_validation.measure, "mse");
      EXPECT_EQ(result.cross_validation.terms, path_terms(10, per_step));
      expect_surface(result.cross_validation,
                     pursuit_errors(sample, result.cross_validation.terms, per_step, Intercept::kUnpenalised),
                     1e-8);
    }
  }
}

TEST(CrossValidate, IsInTheUnitsOfTheTarget) {
  const Sample sample(Task::kRegression);
  const auto [low, high] = std::minmax_element(sample.y.begin(), sample.y.end());
  for (const std::string engine : {"gram", "lazy"}) {
    AllOptions options = with_terms(6, 2);
    set(options, "engine", engine);
    options.intercept = false;
    options.scale_target = paper::TargetScale::kRange;
    const ValidatedFit result = cross_validate(sample.data(), options, kValidation);
    expect_surface(result.cross_validation,
                   pursuit_errors(sample, result.cross_validation.terms, 2, Intercept::kNone,
                                  0.5 * (*low + *high), 0.5 * (*high - *low)),
                   1e-8);
  }
}

TEST(CrossValidate, ClassificationMeasuresTheLogLoss) {
  const Sample sample(Task::kClassification);
  const ValidatedFit result = cross_validate(sample.data(), with_terms(5, 2), kValidation);
  EXPECT_EQ(result.cross_validation.measure, "log_loss");
  EXPECT_EQ(result.cross_validation.terms, (std::vector<Index>{2, 4, 5}));
  const auto errors = [&](const std::vector<Index>& training, const std::vector<Index>& held_out,
                          double ridge) {
    // The ordinary fit to a table that is standardised already.
    const Matrix x = sample.standardised_rows(training);
    const Eigen::VectorXd labels = sample.targets(training);
    std::vector<double> signs;
    for (const double label : labels) signs.push_back(label > 0 ? 1 : -1);
    const BlockedRows rows(x.view(), reference::plain_inputs(kInputs));
    Workers workers(1);
    const Problem problem{rows, signs, logistic_loss(), Intercept::kUnpenalised, workers};
    const Candidates candidates(Dictionary(kFeatures), {kInputs, 1});
    const auto engine = make_lazy_engine(problem, candidates, Precision::kMixed);
    const auto refit = make_newton_refit(problem, {ridge, 0});
    Eigen::RowVectorXd losses(3);
    Index step = 0;
    static_cast<void>(run_greedy(
        problem, candidates, *engine, *refit, {5, 2, 0, {ridge, 0}},
        [&](const GreedyStep& /*step*/, const ActiveSet& active) {
          double loss = 0;
          for (const Index row : held_out) {
            double score = active.intercepts.front();
            for (std::size_t m = 0; m < active.atoms.size(); ++m)
              score += active.theta[m] *
                       reference::atom_value(active.atoms[m], sample.standardised.row(row), kInputs);
            loss += std::log1p(std::exp(sample.y[static_cast<std::size_t>(row)] > 0 ? -score : score));
          }
          losses[step++] = loss / static_cast<double>(held_out.size());
        }));
    return losses;
  };
  expect_surface(result.cross_validation, errors, 1e-6, sample.y);
}

// Ridge regression with an unpenalised intercept on given features.
double ridge_error(const Eigen::MatrixXd& train, const Eigen::VectorXd& y, const Eigen::MatrixXd& test,
                   const Eigen::VectorXd& test_y, double ridge) {
  const Eigen::RowVectorXd means = train.colwise().mean();
  const Eigen::MatrixXd centred = train.rowwise() - means;
  Eigen::MatrixXd gram = centred.transpose() * centred;
  gram.diagonal().array() += ridge;
  const Eigen::VectorXd theta = gram.ldlt().solve(centred.transpose() * (y.array() - y.mean()).matrix());
  const Eigen::VectorXd scores = ((test.rowwise() - means) * theta).array() + y.mean();
  return (scores - test_y).squaredNorm() / static_cast<double>(test_y.size());
}

TEST(CrossValidate, ServesRandomFeatures) {
  const Sample sample(Task::kRegression);
  AllOptions options = plain_options();
  options.method = paper::Method::kRks;
  options.sigma = "2.5";
  options.terms = 20;
  options.seed = 11;
  const ValidatedFit result = cross_validate(sample.data(), options, kValidation);
  ASSERT_EQ(result.fit.model.terms.size(), 20U);
  EXPECT_EQ(result.cross_validation.terms, std::vector<Index>{20});
  const auto features = [&](std::span<const Index> rows) {
    Eigen::MatrixXd values(static_cast<Index>(rows.size()), 20);
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index m = 0; m < 20; ++m) {
        values(i, m) =
            reference::atom_value(result.fit.model.terms[static_cast<std::size_t>(m)].atom,
                                  sample.standardised.row(rows[static_cast<std::size_t>(i)]), kInputs);
      }
    }
    return values;
  };
  expect_surface(
      result.cross_validation,
      [&](const std::vector<Index>& training, const std::vector<Index>& held_out, double ridge) {
        return Eigen::RowVectorXd::Constant(
            1, ridge_error(features(training), sample.targets(training), features(held_out),
                           sample.targets(held_out), ridge));
      },
      1e-7);
}

TEST(CrossValidate, ServesExactKernels) {
  const Sample sample(Task::kRegression);
  AllOptions options = plain_options();
  options.method = paper::Method::kGk;
  options.sigma = "2.5";
  options.seed = 11;
  const ValidatedFit result = cross_validate(sample.data(), options, kValidation);
  EXPECT_EQ(result.cross_validation.terms, std::vector<Index>{kRows});
  const auto kernel = [&](std::span<const Index> rows, std::span<const Index> centres) {
    Eigen::MatrixXd values(static_cast<Index>(rows.size()), static_cast<Index>(centres.size()));
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.cols(); ++j) {
        double square = 0;
        for (Index k = 0; k < kInputs; ++k) {
          square += std::pow(sample.standardised(rows[static_cast<std::size_t>(i)], k) -
                                 sample.standardised(centres[static_cast<std::size_t>(j)], k),
                             2);
        }
        values(i, j) = std::exp(-square / (2 * kSigma * kSigma));
      }
    }
    return values;
  };
  expect_surface(
      result.cross_validation,
      [&](const std::vector<Index>& training, const std::vector<Index>& held_out, double ridge) {
        // (K + ridge I) alpha + c 1 = y, 1^T alpha = 0
        const auto n = static_cast<Index>(training.size());
        Eigen::MatrixXd system = Eigen::MatrixXd::Ones(n + 1, n + 1);
        system.topLeftCorner(n, n) = kernel(training, training);
        system.topLeftCorner(n, n).diagonal().array() += ridge;
        system(n, n) = 0;
        Eigen::VectorXd right = Eigen::VectorXd::Zero(n + 1);
        right.head(n) = sample.targets(training);
        const Eigen::VectorXd solution = system.partialPivLu().solve(right);
        const Eigen::VectorXd scores = (kernel(held_out, training) * solution.head(n)).array() + solution[n];
        return Eigen::RowVectorXd::Constant(
            1, (scores - sample.targets(held_out)).squaredNorm() / static_cast<double>(held_out.size()));
      },
      1e-7);
}

TEST(CrossValidate, TheModelIsTheFitWithTheChosenRidge) {
  for (const Task task : {Task::kRegression, Task::kClassification}) {
    const Sample sample(task);
    AllOptions options = with_terms(9, 3);
    const ValidatedFit result = cross_validate(sample.data(), options, kValidation);
    const CrossValidation& validation = result.cross_validation;
    EXPECT_EQ(validation.chosen.terms, 9);
    for (Index r = 0; r < 3; ++r) {
      EXPECT_GE(validation.mean(r, 2), validation.chosen.mean);
      for (Index t = 0; t < 3; ++t) EXPECT_GE(validation.mean(r, t), validation.best.mean);
    }
    EXPECT_GT(validation.seconds, 0);
    options.ridge = validation.chosen.ridge;
    const FitResult expected = fit(sample.data(), options);
    EXPECT_EQ(result.fit.model.training.ridge, validation.chosen.ridge);
    EXPECT_EQ(result.fit.model.training.rows, kRows);
    EXPECT_EQ(result.fit.report.path.back().ridge, validation.chosen.ridge);
    ASSERT_EQ(result.fit.model.terms.size(), expected.model.terms.size());
    for (std::size_t m = 0; m < 9; ++m) {
      EXPECT_EQ(result.fit.model.terms[m].atom, expected.model.terms[m].atom);
      EXPECT_NEAR(result.fit.model.terms[m].coefficients[0], expected.model.terms[m].coefficients[0], 1e-9);
    }
  }
}

TEST(CrossValidate, DoesNotDependOnThreads) {
  struct Case {
    Task task;
    std::string engine, method;
  };
  for (const Case& c :
       {Case{Task::kRegression, "gram", "mfga"}, Case{Task::kRegression, "lazy", "mfga"},
        Case{Task::kClassification, "lazy", "mfga"}, Case{Task::kRegression, "auto", "eerf"}}) {
    const Sample sample(c.task);
    AllOptions options = with_terms(8, 2);
    set(options, "engine", c.engine);
    set(options, "method", c.method);
    set(options, "select", c.method == "mfga" ? "gain" : "auto");
    options.shortlist = 0;
    if (c.method != "mfga") options.features.clear();
    options.threads = 1;
    const ValidatedFit one = cross_validate(sample.data(), options, kValidation);
    for (const int threads : {2, 5}) {
      options.threads = threads;
      const ValidatedFit more = cross_validate(sample.data(), options, kValidation);
      EXPECT_EQ(one.cross_validation.mean.values, more.cross_validation.mean.values);  // to the last bit
      EXPECT_EQ(one.cross_validation.standard_error.values, more.cross_validation.standard_error.values);
      EXPECT_EQ(model_to_json(one.fit.model), model_to_json(more.fit.model));
    }
  }
}

TEST(CrossValidate, HeldOutErrorsOfALargeTargetKeepTheirAccuracy) {
  // The target is 1e4 times its noise away from zero, and all of it is explained.
  Sample sample(Task::kRegression);
  for (double& y : sample.y) y = 1e4 + y;
  const auto errors = [&](const std::string& engine) {
    AllOptions options = with_terms(12, 2);
    set(options, "engine", engine);
    return cross_validate(sample.data(), options, kValidation).cross_validation.mean.values;
  };
  const auto gram = errors("gram");
  const auto lazy = errors("lazy");
  for (std::size_t i = 0; i < gram.size(); ++i) EXPECT_NEAR(gram[i], lazy[i], 1e-9 * lazy[i]);
}

TEST(CrossValidate, PathsThatEndEarlyKeepTheirLastModel) {
  const Sample sample(Task::kRegression);
  for (const std::string engine : {"gram", "lazy"}) {
    // Eight atoms, half of them copies of the others.
    AllOptions options = with_terms(8, 1);
    options.features = "linear + linear";
    set(options, "engine", engine);
    const CrossValidation result = cross_validate(sample.data(), options, kValidation).cross_validation;
    ASSERT_EQ(result.terms.size(), 8U);
    for (Index r = 0; r < 3; ++r) {
      EXPECT_NE(result.mean(r, 2), result.mean(r, 3));
      for (Index t = 4; t < 8; ++t) EXPECT_EQ(result.mean(r, t), result.mean(r, 3));
    }
    // No step at all: the model is a constant.
    options.tolerance = 1e6;
    const CrossValidation none = cross_validate(sample.data(), options, kValidation).cross_validation;
    for (const double mean : none.mean.values) EXPECT_NEAR(mean, none.mean(0, 0), 1e-9);
    EXPECT_GT(none.mean(0, 0), result.mean(0, 7));
  }
}

std::string error_of(const Sample& sample, const AllOptions& options,
                     const CrossValidationOptions& validation) {
  try {
    static_cast<void>(cross_validate(sample.data(), options, validation));
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CrossValidate, SaysWhatIsWrong) {
  const Sample sample(Task::kRegression);
  AllOptions options = with_terms(5, 1);
  expect_contains(error_of(sample, options, {1, {1}}), "`folds` is 1");
  expect_contains(error_of(sample, options, {701, {1}}), "700 rows cannot be divided into 701 folds");
  expect_contains(error_of(sample, options, {1000000000, {1}}), "fewer `folds`");
  expect_contains(error_of(sample, options, {5, {}}), "`ridges` is an empty list");
  expect_contains(error_of(sample, options, {5, {1, -2}}), "`ridges` is -2");
  options.norm_bound = 1;
  expect_contains(error_of(sample, options, {5, {1}}), "`norm_bound`");
  AllOptions kernel = plain_options();
  kernel.method = paper::Method::kGk;
  expect_contains(error_of(sample, kernel, {5, {1, 0}}), "`ridge` must be positive");

  Sample few(Task::kClassification);
  for (double& y : few.y) y = 0;
  few.y[17] = 1;
  expect_contains(error_of(few, with_terms(5, 1), {5, {1}}), "have one label");
}

TEST(CrossValidate, LooksAtTheMemoryLimitFirst) {
  const Sample sample(Task::kRegression);
  AllOptions options = with_terms(5, 1);
  options.features = "gaussian(order=6)";  // 210 candidates
  options.engine = EngineKind::kGram;
  options.memory_limit = 5;  // enough for one matrix and the panel, not for twenty
  EXPECT_EQ(fit(sample.data(), options).report.engine, "gram");
  const std::string message = error_of(sample, options, {20, {1}});
  expect_contains(message, "210 candidates");
  expect_contains(message, "`memory_limit`");
  expect_contains(message, "`folds`");
  options.engine = std::nullopt;
  const CrossValidationOptions validation{20, {0.01, 0.1, 1, 10}};
  EXPECT_EQ(cross_validate(sample.data(), options, validation).fit.report.engine, "lazy");
  options.memory_limit = 0;
  EXPECT_EQ(cross_validate(sample.data(), options, validation).fit.report.engine, "gram");
}

TEST(CrossValidate, ProgressRisesAndMayStopIt) {
  const Sample sample(Task::kRegression);
  for (const std::string engine : {"gram", "lazy"}) {
    AllOptions options = with_terms(6, 2);
    set(options, "engine", engine);
    double last = 0;
    Index steps = 0;
    Index terms = 0;
    static_cast<void>(cross_validate(sample.data(), options, kValidation, [&](const Progress& state) {
      if (!state.phase.empty()) return ProgressAction::kContinue;
      EXPECT_GE(state.validated, last);
      last = state.validated;
      // A step is told of again while the next one is made.
      if (state.validated == 1 && state.terms > terms) {
        terms = state.terms;
        ++steps;
      }
      return ProgressAction::kContinue;
    }));
    EXPECT_EQ(steps, 3);
    try {
      static_cast<void>(cross_validate(sample.data(), options, kValidation, [](const Progress& state) {
        return state.validated < 0.9 ? ProgressAction::kContinue : ProgressAction::kAbort;
      }));
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
    }
  }
}

}  // namespace
}  // namespace mfga
