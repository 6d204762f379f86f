// The data of a fit where several ranks have some of the rows each.
#pragma once

#include <memory>
#include <vector>

#include "core/ranked_rows.hpp"
#include "mfga/checkpoint.hpp"
#include "mfga/paper.hpp"

namespace mfga {

// All rows, in the order of the ranks, as every rank sees them: of the table its own ones are here, and a
// piece stands for the others; of targets, weights and groups, which are a few numbers per row, every rank
// has all.
class RankedData {
 public:
  // Called by all ranks, each with its own rows. Some rows move to another rank, so that each has whole
  // blocks. Throws Error on all ranks if they do not go together.
  RankedData(const TrainingData& own, const FitOptions& options, const Checkpoint& checkpoint, Ranks& ranks);
  RankedData(const RankedData&) = delete;
  RankedData& operator=(const RankedData&) = delete;

  [[nodiscard]] const TrainingData& all() const { return all_; }
  // With limits that are the same on all ranks: of memory the smallest, of time that of the first.
  [[nodiscard]] const FitOptions& options() const { return options_; }

 private:
  void divide_rows(const TrainingData& own, Index most_copied, Ranks& ranks);

  std::unique_ptr<const RowsElsewhere> as_given_;
  std::unique_ptr<const RowsElsewhere> elsewhere_;
  std::vector<std::unique_ptr<const RowSource>> later_rows_;
  Matrix brought_;  // rows of this rank's blocks that were given to others
  std::vector<double> targets_;
  std::vector<double> weights_;
  std::vector<Index> groups_;
  FitOptions options_;
  TrainingData all_;
};

// Throws Error(kInvalidArgument) for what cannot be done by several ranks.
void refuse_for_ranks(const FitOptions& options, const paper::Options& paper);

}  // namespace mfga
