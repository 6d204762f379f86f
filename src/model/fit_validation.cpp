// Cross-validation of the ridge, for every method.
#include <fmt/format.h>

#include <algorithm>

#include "mfga/error.hpp"
#include "model/automatic.hpp"
#include "model/fitter.hpp"

namespace mfga {

void Fitter::choose_ridge(std::vector<Index> terms,
                          const std::function<FoldLosses(const Folds&)>& losses_of) {
  const Folds folds(rows_.rows(), affordable(*validation_), options_.seed);
  refuse_folds_of_one_class(folds);
  cross_validation_.ridges = validation_->ridges;
  cross_validation_.terms = std::move(terms);
  cross_validation_.measure = target_.loss->is_quadratic() ? "mse" : "log_loss";
  try {
    summarise(losses_of(folds), target_.scale * target_.scale, cross_validation_);
    penalty_.ridge = cross_validation_.chosen.ridge;
  } catch (const OutOfTime&) {
    cross_validation_ = {};
    penalty_.ridge = FitOptions().ridge;
    report().cut_short.push_back(fmt::format("the choice of the ridge (it is {:g})", penalty_.ridge));
  }
  report().validate_seconds = lap();
  cross_validation_.seconds = report().validate_seconds;
}

CrossValidationOptions Fitter::affordable(CrossValidationOptions validation) const {
  if (validation.most_rows == 0 || candidates_ == nullptr || result_.report.engine == "gram")
    return validation;
  const auto steps = static_cast<Index>(path_terms(options_.terms, options_.per_step).size());
  validation.most_rows = affordable_rows(validation.most_rows, candidates_->size(), steps);
  return validation;
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
  const Deadline end = deadline(kPartOfValidation);
  const ProgressCallback in_time = [&](const Progress&) {
    stop_if_over(end);
    return true;
  };
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
      options.time_limit = 0;
      options.ridge = validation_->ridges[static_cast<std::size_t>(ridge)];
      PathLosses path(losses.back().row(ridge), n_steps);
      std::function<void(const ScoreFunction&)> on_model;
      if (grows_step_by_step()) on_model = [&](const ScoreFunction& score) { path.add(loss_of(score)); };
      stop_if_over(end);
      const auto fit_start = Clock::now();
      const Model model = Fitter(*this, options, training, on_model).run(in_time).model;
      const double seconds = seconds_since(fit_start);
      seconds_of_a_fit_ = seconds * static_cast<double>(rows_.rows()) / static_cast<double>(training.size());
      // What cannot be finished is not continued.
      const Index fits_left = (folds.count() - fold) * n_ridges - ridge - 1;
      if (options_.time_limit > 0)
        stop_if_over(end - std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(static_cast<double>(fits_left) * seconds)));
      path.finish([&] { return loss_of(score_of(model)); });
      show_validation(
          (static_cast<double>(fold) + static_cast<double>(ridge + 1) / static_cast<double>(n_ridges)) /
          static_cast<double>(folds.count()));
    }
  }
  return losses;
}

}  // namespace mfga
