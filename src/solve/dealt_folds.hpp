// Folds of rows that come one after the other, nobody knows how many.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/random.hpp"

namespace mfga {

// The fold of a row by its position: each run of as many rows as there are folds has one for each, in a
// random order. So folds are equally large, and what comes again every few rows is not found in one of them.
class DealtFolds {
 public:
  DealtFolds(Index folds, std::uint64_t seed)
      : random_(seed, RandomStream::kFolds), order_(static_cast<std::size_t>(folds)) {}

  [[nodiscard]] Index of(Index position) {
    const Index folds = std::ssize(order_);
    if (const Index run = position / folds; run != run_) {
      run_ = run;
      std::iota(order_.begin(), order_.end(), Index{0});
      for (Index i = folds - 1; i > 0; --i) {
        const double u = random_.uniform(static_cast<std::uint64_t>(run * folds + i));
        std::swap(order_[static_cast<std::size_t>(i)],
                  order_[static_cast<std::size_t>(u * static_cast<double>(i + 1))]);
      }
    }
    return order_[static_cast<std::size_t>(position % folds)];
  }

 private:
  CounterRandom random_;
  std::vector<Index> order_;
  Index run_ = -1;
};

}  // namespace mfga
