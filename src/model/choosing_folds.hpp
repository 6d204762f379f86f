// The rows that held-out rows choose with, and how many of them each part of a race looks at.
#pragma once

#include <span>
#include <vector>

#include "model/learners.hpp"

namespace mfga {

// How much is tried.
struct Extent {
  Index most_rows;       // to choose and judge with
  Index first_rows;      // to learn from in the first heat of a race
  int first_steps;       // and how far terms are tuned there
  Index held_out_rows;   // that all folds have together, if there are as many
  std::size_t in_final;  // dictionaries that are compared with all rows to choose with
};
[[nodiscard]] Extent extent_of(Effort effort, Index outputs);

// The folds of the rows to choose with; each has its own metric where one is learned.
class ChoosingFolds {
 public:
  ChoosingFolds(Work& work, const PreparedData& data, const Folds& folds);
  // The first of these, with every so many of their rows to learn from.
  ChoosingFolds(Work& work, const PreparedData& data, const Folds& folds, Index most_rows, Index most_folds);

  [[nodiscard]] std::span<const TuningFold> folds() const { return folds_; }
  [[nodiscard]] bool has_one_target() const;

 private:
  void add(Work& work, const PreparedData& data, const std::vector<Index>& training,
           const std::vector<Index>& held_out);
  void refer_to(const Work& work);

  std::vector<FoldData> data_;
  std::vector<TuningFold> folds_;
};

}  // namespace mfga
