#include "repro/experiment.hpp"
#include "core/clock.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "baselines/kernel_machine.hpp"
#include "baselines/random_features.hpp"
#include "features/candidates.hpp"
#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "solve/cross_validation.hpp"
#include "solve/greedy.hpp"

namespace mfga::repro {
namespace {

using FeatureMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<double> scores_of(const ScoreFunction& score, const BlockedRows& rows, Workers& workers) {
  std::vector<double> result(static_cast<std::size_t>(rows.rows()));
  for_each_block(rows, workers, [&](const RowBlock& block, Arena& arena) {
    score.evaluate(block, result.data() + block.first_row, arena);
  });
  return result;
}

Rows take_rows(const Rows& rows, std::span<const Index> chosen) {
  Rows result{Matrix(static_cast<Index>(chosen.size()), rows.x.cols), {}};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::copy_n(rows.x.row(chosen[i]), rows.x.cols, result.x.row(static_cast<Index>(i)));
    result.y.push_back(rows.y[static_cast<std::size_t>(chosen[i])]);
  }
  return result;
}

// The values of the atoms on all rows, [rows x atoms]. Experiments look at them for many ridges.
FeatureMatrix materialise(std::span<const Atom> atoms, const BlockedRows& rows, Workers& workers) {
  const AtomValues values(atoms);
  FeatureMatrix result(rows.rows(), values.size());
  for_each_block(rows, workers, [&](const RowBlock& block, Arena& arena) {
    double* out = arena.take(values.size() * block.stride);
    values.evaluate(block, 0, values.size(), out, block.stride, arena);
    for (Index n = 0; n < block.rows; ++n) {
      for (Index i = 0; i < values.size(); ++i) result(block.first_row + n, i) = out[i * block.stride + n];
    }
  });
  return result;
}

// Ridge regression on the first M features for every M and ridge.
double ridge_errors(const Setting& setting, const FeatureMatrix& train, const FeatureMatrix& test,
                    Intercept intercept, const Grid& grid, Matrix& errors) {
  const auto start = Clock::now();
  const Index offset = intercept == Intercept::kUnpenalised ? 1 : 0;
  const Index size = train.cols();
  FeatureMatrix a(train.rows(), offset + size);
  if (offset == 1) a.col(0).setOnes();
  a.rightCols(size) = train;
  const Eigen::Map<const Eigen::VectorXd> y(setting.train.y.data(), train.rows());
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(offset + size, offset + size);
  gram.selfadjointView<Eigen::Lower>().rankUpdate(a.transpose());
  const Eigen::VectorXd right = a.transpose() * y;
  double seconds = seconds_since(start);
  for (std::size_t r = 0; r < grid.ridges.size(); ++r) {
    for (std::size_t t = 0; t < grid.terms.size(); ++t) {
      const Index terms = std::min(grid.terms[t], size);
      const auto solve_start = Clock::now();
      Eigen::MatrixXd system = gram.topLeftCorner(offset + terms, offset + terms);
      system.diagonal().tail(terms).array() += grid.ridges[r];
      const Eigen::VectorXd solution =
          system.selfadjointView<Eigen::Lower>().ldlt().solve(right.head(offset + terms));
      if (r == 0 && t + 1 == grid.terms.size()) seconds += seconds_since(solve_start);
      Eigen::VectorXd scores = test.leftCols(terms) * solution.tail(terms);
      if (offset == 1) scores.array() += solution[0];
      errors(static_cast<Index>(r), static_cast<Index>(t)) = error_percent(
          setting.task, {scores.data(), static_cast<std::size_t>(scores.size())}, setting.test.y);
    }
  }
  return seconds;
}

// Logistic regression on the first M features for every M and ridge: the features are the inputs of linear
// atoms.
double logistic_errors(const Setting& setting, const FeatureMatrix& train, const FeatureMatrix& test,
                       Intercept intercept, const Grid& grid, Workers& workers, Matrix& errors) {
  std::vector<InputColumn> inputs;
  for (Index j = 0; j < train.cols(); ++j) inputs.push_back({j, 0, 1});
  const BlockedRows train_rows(ConstMatrixView{train.data(), train.rows(), train.cols(), train.cols(), 1},
                               inputs);
  const BlockedRows test_rows(ConstMatrixView{test.data(), test.rows(), test.cols(), test.cols(), 1}, inputs);
  const Problem problem{train_rows, setting.train.y, *setting.loss, intercept, workers};
  double seconds = 0;
  for (std::size_t t = 0; t < grid.terms.size(); ++t) {
    ActiveSet active;
    for (Index j = 0; j < std::min(grid.terms[t], train.cols()); ++j) {
      active.candidates.push_back(j);
      active.atoms.push_back({"linear", 1, {j}, {1}, {}});
    }
    for (std::size_t r = 0; r < grid.ridges.size(); ++r) {
      const auto start = Clock::now();
      make_newton_refit(problem, {grid.ridges[r], 0})->solve(active);
      if (r == 0) seconds = seconds_since(start);  // from zero, as a single fit would
      errors(static_cast<Index>(r), static_cast<Index>(t)) =
          error_percent(setting.task, scores_of(active.score(), test_rows, workers), setting.test.y);
    }
  }
  return seconds;
}

}  // namespace

double error_percent(Task task, std::span<const double> scores, std::span<const double> targets) {
  double sum = 0;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    sum += task == Task::kRegression ? (scores[n] - targets[n]) * (scores[n] - targets[n])
                                     : ((scores[n] > 0) != (targets[n] > 0) ? 1.0 : 0.0);
  }
  return 100 * sum / static_cast<double>(targets.size());
}

double constant_error(const Setting& setting) {
  const double mean = std::accumulate(setting.train.y.begin(), setting.train.y.end(), 0.0) /
                      static_cast<double>(setting.train.y.size());
  return error_percent(setting.task, std::vector<double>(setting.test.y.size(), mean), setting.test.y);
}

Setting fold_of(const Setting& setting, Index fold, Index n_folds) {
  const Folds folds(setting.train.size(), n_folds, 0);
  Setting result;
  result.task = setting.task;
  result.loss = setting.loss;
  result.train = take_rows(setting.train, folds.training(fold));
  result.test = take_rows(setting.train, folds.held_out(fold));
  result.inputs = setting.inputs;
  result.sigma = setting.sigma;
  return result;
}

ErrorTable greedy_errors(const Setting& setting, const GreedyMethod& method, const Grid& grid,
                         Workers& workers) {
  const BlockedRows train(setting.train.x.view(), setting.inputs);
  const BlockedRows test(setting.test.x.view(), setting.inputs);
  const Candidates candidates(Dictionary(method.features), {train.inputs(), setting.sigma, 0, &train});
  ErrorTable table{Matrix(static_cast<Index>(grid.ridges.size()), static_cast<Index>(grid.terms.size())), 0,
                   0};
  double best = -1;
  for (std::size_t r = 0; r < grid.ridges.size(); ++r) {
    const Problem problem{train, setting.train.y, *setting.loss, method.intercept, workers};
    const Penalty penalty{grid.ridges[r], 0};
    const auto engine = make_lazy_engine(problem, candidates, Precision::kMixed);
    const auto refit = make_refit(problem, penalty);
    double evaluation_seconds = 0;
    double last_error = constant_error(setting);
    std::size_t next = 0;
    const auto start = Clock::now();
    const GreedyResult result =
        run_greedy(problem, candidates, *engine, *refit, {grid.terms.back(), method.per_step, 0, penalty},
                   [&](const GreedyStep& /*step*/, const ActiveSet& active) {
                     const auto evaluation_start = Clock::now();
                     if (next < grid.terms.size() && active.size() >= grid.terms[next]) {
                       last_error = error_percent(setting.task, scores_of(active.score(), test, workers),
                                                  setting.test.y);
                       while (next < grid.terms.size() && active.size() >= grid.terms[next]) {
                         table.errors(static_cast<Index>(r), static_cast<Index>(next++)) = last_error;
                       }
                     }
                     evaluation_seconds += seconds_since(evaluation_start);
                   });
    const double seconds = seconds_since(start) - evaluation_seconds;
    // A run that ended early, for want of candidates, keeps its last model.
    if (next < grid.terms.size()) {
      last_error =
          error_percent(setting.task, scores_of(result.active.score(), test, workers), setting.test.y);
      while (next < grid.terms.size())
        table.errors(static_cast<Index>(r), static_cast<Index>(next++)) = last_error;
    }
    if (best < 0 || last_error < best) {
      best = last_error;
      table.train_seconds = seconds;
    }
  }
  return table;
}

DefaultFit default_fit(const Setting& setting, Index terms, Index most_rows, int threads) {
  const Index rows = most_rows > 0 ? std::min(most_rows, setting.train.size()) : setting.train.size();
  FitOptions options;
  options.terms = terms;
  options.threads = threads;
  const auto start = Clock::now();
  const FitResult result = fit({setting.train.x.view().middle_rows(0, rows),
                                std::span(setting.train.y).first(static_cast<std::size_t>(rows))},
                               options);
  const double seconds = seconds_since(start);
  const std::vector<double> scores = result.model.scores(setting.test.x.view(), threads);
  return {error_percent(setting.task, scores, setting.test.y), result.model.training.ridge,
          result.report.candidates, seconds};
}

ErrorTable random_feature_errors(const Setting& setting, const RandomMethod& method, const Grid& grid,
                                 Workers& workers) {
  const BlockedRows train(setting.train.x.view(), setting.inputs);
  const BlockedRows test(setting.test.x.view(), setting.inputs);
  const Problem problem{train, setting.train.y, *setting.loss, method.intercept, workers};
  ErrorTable table{Matrix(static_cast<Index>(grid.ridges.size()), static_cast<Index>(grid.terms.size())), 0,
                   0};
  const auto start = Clock::now();
  const std::vector<Atom> atoms = choose_random_features(
      problem, {method.method, grid.terms.back(), method.candidates, setting.sigma, method.seed});
  const double choose_seconds = seconds_since(start);
  const auto feature_start = Clock::now();
  const FeatureMatrix train_features = materialise(atoms, train, workers);
  const double feature_seconds = seconds_since(feature_start);
  const FeatureMatrix test_features = materialise(atoms, test, workers);
  const double solve_seconds =
      setting.loss->constant_curvature()
          ? ridge_errors(setting, train_features, test_features, method.intercept, grid, table.errors)
          : logistic_errors(setting, train_features, test_features, method.intercept, grid, workers,
                            table.errors);
  table.preprocess_seconds = method.method == paper::Method::kRks ? 0 : choose_seconds;
  table.train_seconds =
      feature_seconds + solve_seconds + (method.method == paper::Method::kRks ? choose_seconds : 0);
  return table;
}

KernelErrors kernel_errors(const Setting& setting, std::span<const Index> chosen, Intercept intercept,
                           std::span<const double> ridges, Workers& workers) {
  const BlockedRows train(setting.train.x.view(), setting.inputs);
  const BlockedRows test(setting.test.x.view(), setting.inputs);
  std::vector<double> targets;
  for (const Index row : chosen) targets.push_back(setting.train.y[static_cast<std::size_t>(row)]);
  const auto start = Clock::now();
  KernelMachine machine(train, chosen, setting.sigma, workers);
  const double kernel_seconds = seconds_since(start);
  const auto run = [&](double matrix_seconds) {
    ErrorTable table{Matrix(static_cast<Index>(ridges.size()), 1), 0, 0};
    std::vector<KernelSolution> solutions;
    std::vector<double> seconds_per_factorisation;
    for (const double ridge : ridges) {
      const auto solve_start = Clock::now();
      solutions.push_back(machine.solve(targets, *setting.loss, ridge, intercept,
                                        solutions.empty() ? nullptr : &solutions.back()));
      seconds_per_factorisation.push_back(seconds_since(solve_start));
    }
    const Matrix scores = machine.scores(test, solutions);
    Index best = 0;
    for (Index r = 0; r < table.errors.rows; ++r) {
      table.errors(r, 0) =
          error_percent(setting.task, {scores.row(r), static_cast<std::size_t>(scores.cols)}, setting.test.y);
      if (table.errors(r, 0) < table.errors(best, 0)) best = r;
    }
    // The solution for one ridge, though it may have begun at that of another, which makes it faster.
    table.train_seconds = matrix_seconds + seconds_per_factorisation[static_cast<std::size_t>(best)];
    return table;
  };
  KernelErrors result;
  result.gaussian = run(kernel_seconds);
  const auto linear_start = Clock::now();
  machine.add_linear_kernel();
  result.gaussian_and_linear = run(kernel_seconds + seconds_since(linear_start));
  return result;
}

}  // namespace mfga::repro
