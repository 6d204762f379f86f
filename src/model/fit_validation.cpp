// Cross-validation of the ridge, for every method.
#include <fmt/format.h>

#include <algorithm>

#include "mfga/error.hpp"
#include "model/fitter.hpp"

namespace mfga {

void Fitter::choose_ridge(std::vector<Index> terms,
                          const std::function<FoldLosses(const Folds&)>& losses_of) {
  const auto start = Clock::now();
  const Folds folds(rows_.rows(), *validation_, options_.seed);
  refuse_folds_of_one_class(folds);
  cross_validation_.ridges = validation_->ridges;
  cross_validation_.terms = std::move(terms);
  cross_validation_.measure = target_.loss->is_quadratic() ? "mse" : "log_loss";
  summarise(losses_of(folds), target_.scale * target_.scale, cross_validation_);
  cross_validation_.seconds = seconds_since(start);
  penalty_.ridge = cross_validation_.chosen.ridge;
}

void Fitter::refuse_folds_of_one_class(const Folds& folds) const {
  if (const std::optional<Index> fold = fold_of_one_class(folds)) {
    throw Error(ErrorKind::kBadData,
                fmt::format("all rows outside of fold {} have one label, so there is nothing to learn "
                            "from them; use fewer --folds, or another --seed",
                            *fold + 1));
  }
}

std::optional<Index> Fitter::fold_of_one_class(const Folds& folds) const {
  if (target_.task != Task::kClassification) return std::nullopt;
  for (Index fold = 0; fold < folds.count(); ++fold) {
    const std::vector<double> targets = values_of(target_.values, folds.training(fold));
    if (std::ranges::count(targets, targets.front()) == std::ssize(targets)) return fold;
  }
  return std::nullopt;
}

FoldLosses Fitter::losses_by_gram(const Folds& folds, const Candidates& candidates,
                                  std::vector<std::shared_ptr<const GramSums>>& sums) {
  constexpr double kPartOfSums = 0.8;  // of the time, roughly
  sums = gram_sums_of_folds(problem(), candidates, folds,
                            [&](double part) { show_validation(kPartOfSums * part); });
  const auto whole_sums = sums;
  if (!folds.have_all_rows()) sums.clear();  // they are not those of the last fit
  return gram_path_losses(problem(), candidates, folds, whole_sums, validation_->ridges, search_options(),
                          [&](double part) { show_validation(kPartOfSums + (1 - kPartOfSums) * part); });
}

FoldLosses Fitter::losses_by_fits(const Folds& folds) {
  const auto n_ridges = static_cast<Index>(validation_->ridges.size());
  const auto n_steps = static_cast<Index>(cross_validation_.terms.size());
  FoldLosses losses;
  for (Index fold = 0; fold < folds.count(); ++fold) {
    losses.emplace_back(n_ridges, n_steps);
    const auto loss_of = [&](const ScoreFunction& score) {
      return held_out_loss(folds.held_out(fold), score);
    };
    const std::vector<Index> training = folds.training(fold);
    for (Index ridge = 0; ridge < n_ridges; ++ridge) {
      FitOptions options = options_;
      options.engine = "lazy";
      options.refine = "no";
      options.tune = "no";
      options.ridge = validation_->ridges[static_cast<std::size_t>(ridge)];
      PathLosses path(losses.back().row(ridge), n_steps);
      std::function<void(const ScoreFunction&)> on_model;
      if (grows_step_by_step()) on_model = [&](const ScoreFunction& score) { path.add(loss_of(score)); };
      const Model model = Fitter(*this, options, training, on_model).run({}).model;
      path.finish([&] { return loss_of(score_of(model)); });
      show_validation(
          (static_cast<double>(fold) + static_cast<double>(ridge + 1) / static_cast<double>(n_ridges)) /
          static_cast<double>(folds.count()));
    }
  }
  return losses;
}

}  // namespace mfga
