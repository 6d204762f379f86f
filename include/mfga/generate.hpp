// Synthetic data with a known truth: standard normal inputs, and a target made of a few atoms drawn from a
// dictionary. The truth is itself a Model. Row n is a pure function of (options, n): rows can be made in any
// order and amount.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mfga/model.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct GenerateOptions {
  Task task = Task::kRegression;
  Index rows = 1000;
  Index inputs = 10;
  Index terms = 5;       // atoms in the truth
  std::string features;  // where they are drawn from; empty: linear + gaussian(order=2, sigma=sqrt(inputs))
  double noise = 0.1;    // standard deviation of the noise relative to that of the signal
  std::uint64_t seed = 0;

  void validate() const;
};

class Generator {
 public:
  explicit Generator(const GenerateOptions& options);

  [[nodiscard]] const Model& truth() const { return truth_; }
  [[nodiscard]] const GenerateOptions& options() const { return options_; }
  // Rows [first, first + x.rows): inputs into x, targets into y (0/1 for classification).
  void make_rows(Index first, Matrix& x, std::vector<double>& y, int threads = 0) const;

 private:
  GenerateOptions options_;
  Model truth_;
  double signal_deviation_ = 1;
};

}  // namespace mfga
