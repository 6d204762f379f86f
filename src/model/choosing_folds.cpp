#include "model/choosing_folds.hpp"

#include <algorithm>

namespace mfga {

// Coefficients of several outputs move along with the terms: that takes more steps, and each is a single look
// at the rows.
Extent extent_of(Effort effort, Index outputs) {
  const int steps = outputs > 1 ? 4 : 1;
  if (effort == Effort::kQuick) return {5000, 1500, 8 * steps, 1000, 1};
  return {20000, 3000, 16 * steps, 3000, 3};
}

ChoosingFolds::ChoosingFolds(Work& work, const PreparedData& data, const Folds& folds) {
  for (Index fold = 0; fold < folds.count(); ++fold)
    add(work, data, folds.training(fold), folds.held_out(fold));
  refer_to(work);
}

ChoosingFolds::ChoosingFolds(Work& work, const PreparedData& data, const Folds& folds, Index most_rows,
                             Index most_folds) {
  for (Index fold = 0; fold < std::min(most_folds, folds.count()); ++fold) {
    const std::vector<Index> all = folds.training(fold);
    const Index apart = (std::ssize(all) + most_rows - 1) / most_rows;
    std::vector<Index> some;
    for (Index i = 0; i < std::ssize(all); i += apart) some.push_back(all[static_cast<std::size_t>(i)]);
    add(work, data, some, folds.held_out(fold));
  }
  refer_to(work);
}

bool ChoosingFolds::has_one_target() const {
  return std::ranges::any_of(data_, [](const FoldData& fold) { return fold.training.has_one_target(); });
}

void ChoosingFolds::add(Work& work, const PreparedData& data, const std::vector<Index>& training,
                        const std::vector<Index>& held_out) {
  data_.push_back(fold_data(work, data, nullptr, training, held_out));
}

void ChoosingFolds::refer_to(const Work& work) {
  for (const FoldData& fold : data_) {
    folds_.push_back(
        {fold.training.problem(work.workers), HeldOutRows{fold.held_out.rows, fold.held_out.target.values}});
  }
}

}  // namespace mfga
