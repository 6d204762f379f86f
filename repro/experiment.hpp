// The paper's experiments as functions: test errors of a method over a grid of ridges and numbers of terms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/row_blocks.hpp"
#include "losses/loss.hpp"
#include "mfga/model.hpp"
#include "mfga/paper.hpp"
#include "mfga/views.hpp"
#include "solve/problem.hpp"

namespace mfga::repro {

// Rows with targets in the learner's units: scaled to [-1, 1], or -1 and +1.
struct Rows {
  Matrix x;
  std::vector<double> y;

  [[nodiscard]] Index size() const { return x.rows; }
};

// Everything that the methods of one data set share.
struct Setting {
  Task task = Task::kRegression;
  const Loss* loss = nullptr;
  Rows train;
  Rows test;
  std::vector<InputColumn> inputs;  // standardisation, fitted on the training rows
  double sigma = 0;                 // the paper's rule on the training rows
};

struct Grid {
  std::vector<double> ridges;  // from the largest, so that one solution starts the next
  std::vector<Index> terms;    // rising; the last is the table's M
};

// Test errors in percent, [ridges x terms], and seconds at the last number of terms.
struct ErrorTable {
  Matrix errors;
  double preprocess_seconds = 0;  // drawing and scoring random features
  double train_seconds = 0;       // one fit with the ridge that is best on the test rows
};

// 100 x mean squared error, or the percentage of wrong labels.
[[nodiscard]] double error_percent(Task task, std::span<const double> scores,
                                   std::span<const double> targets);
// The error of the best constant of the training rows.
[[nodiscard]] double constant_error(const Setting& setting);

// The rows outside and inside of fold `fold` of `n_folds`, as training and test rows.
[[nodiscard]] Setting fold_of(const Setting& setting, Index fold, Index n_folds);

struct GreedyMethod {
  std::string features;  // with sigma as a number
  Index per_step = 1;
  Intercept intercept = Intercept::kUnpenalised;
};
[[nodiscard]] ErrorTable greedy_errors(const Setting& setting, const GreedyMethod& method, const Grid& grid,
                                       Workers& workers);

// `mfga train` with this number of terms and no other option, on at most so many of the rows (0: all).
struct DefaultFit {
  double error = 0;  // test error in percent
  double ridge = 0;
  Index candidates = 0;
  double seconds = 0;  // of everything it does: the choice of the ridge, tuning, the checks afterwards
};
[[nodiscard]] DefaultFit default_fit(const Setting& setting, Index terms, Index most_rows, int threads);

struct RandomMethod {
  paper::Method method = paper::Method::kRks;  // or kLkrf, kEerf
  Index candidates = 0;
  Intercept intercept = Intercept::kUnpenalised;
  std::uint64_t seed = 0;
};
[[nodiscard]] ErrorTable random_feature_errors(const Setting& setting, const RandomMethod& method,
                                               const Grid& grid, Workers& workers);

// Exact kernels on `chosen` training rows. Both kernels share one computation of the distances. One column.
struct KernelErrors {
  ErrorTable gaussian;
  ErrorTable gaussian_and_linear;
};
[[nodiscard]] KernelErrors kernel_errors(const Setting& setting, std::span<const Index> chosen,
                                         Intercept intercept, std::span<const double> ridges,
                                         Workers& workers);

}  // namespace mfga::repro
