// Cross-validation of the ridge, for every method.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "mfga/error.hpp"
#include "model/automatic.hpp"
#include "model/learners.hpp"

namespace mfga {
namespace {

FoldLosses losses_by_gram(Work& work, const PreparedData& data, const Folds& folds,
                          const Candidates& candidates, std::vector<std::shared_ptr<const GramSums>>& sums) {
  constexpr double kPartOfSums = 0.8;  // of the time, roughly
  const Problem problem = data.problem(work.workers);
  const auto of_folds = gram_sums_of_folds(problem, candidates, folds,
                                           [&](double part) { work.show_validation(kPartOfSums * part); });
  if (folds.have_all_rows()) sums = of_folds;  // they are those of the last fit, too
  FoldLosses losses;
  const auto find = [&] {
    losses = gram_path_losses(problem, candidates, folds, of_folds, work.plan.validation->ridges,
                              work.plan.search_options(work.plan.penalty), [&](double part) {
                                work.show_validation(kPartOfSums + (1 - kPartOfSums) * part);
                              });
  };
  const Index steps = path_steps(std::min(work.plan.terms, candidates.size()), work.plan.per_step);
  const auto are_losses = [&] {
    return std::ssize(losses) == folds.count() && std::ranges::all_of(losses, [&](const Matrix& of_fold) {
             return of_fold.rows == std::ssize(work.plan.validation->ridges) && of_fold.cols == steps;
           });
  };
  journaled_if(work.journal, "losses of paths", find, are_losses, losses);
  return losses;
}

// The ridge to try next, by the losses of all (not tried yet: NaN): two that are far apart, and then those
// beside the best one until it is between worse ones. Nothing: that is known.
std::optional<Index> ridge_to_try(std::span<const double> losses) {
  const auto n = std::ssize(losses);
  const auto is_new = [&](Index r) {
    return r >= 0 && r < n && std::isnan(losses[static_cast<std::size_t>(r)]);
  };
  for (const Index first : {n / 3, n - n / 3}) {
    if (is_new(first)) return first;
  }
  Index best = n / 3;
  for (Index r = 0; r < n; ++r) {
    if (losses[static_cast<std::size_t>(r)] < losses[static_cast<std::size_t>(best)]) best = r;
  }
  for (const Index beside : {best + 1, best - 1}) {
    if (is_new(beside)) return beside;
  }
  return std::nullopt;
}

// Leaves out the rows of ridges that were not tried.
void keep_tried(std::span<const double> last_losses, Matrix& losses, std::vector<double>& ridges) {
  Index n_tried = 0;
  for (Index r = 0; r < losses.rows; ++r) {
    const auto position = static_cast<std::size_t>(r);
    if (std::isnan(last_losses[position])) continue;
    std::copy_n(losses.row(r), losses.cols, losses.row(n_tried));
    ridges[static_cast<std::size_t>(n_tried++)] = ridges[position];
  }
  Matrix tried(n_tried, losses.cols);
  std::copy_n(losses.values.data(), tried.values.size(), tried.values.begin());
  losses = std::move(tried);
  ridges.resize(static_cast<std::size_t>(n_tried));
}

// Of one fold by which only the ridge is chosen.
bool tries_some_ridges(const Work& work, const Folds& folds) {
  return folds.count() == 1 && work.plan.chooses_ridge_quickly() && !work.plan.chooses_terms;
}

// One that overflowed is no reason to try again.
double known_loss(double loss) { return std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss; }

// The engine does not change which ridge is chosen: of the losses of all, those that fits would have looked
// at.
void keep_those_of_a_climb(Matrix& losses, std::vector<double>& ridges) {
  std::vector<double> last_losses(ridges.size(), std::numeric_limits<double>::quiet_NaN());
  while (const std::optional<Index> next = ridge_to_try(last_losses))
    last_losses[static_cast<std::size_t>(*next)] = known_loss(losses(*next, losses.cols - 1));
  keep_tried(last_losses, losses, ridges);
}

// Where not all are tried, `ridges` become those that were.
FoldLosses losses_by_fits(Work& work, const PreparedData& data, const Folds& folds,
                          const std::shared_ptr<const Candidates>& candidates, Index n_steps,
                          const FoldFit& fit, std::vector<double>& ridges) {
  const bool tries_some = tries_some_ridges(work, folds);
  const auto n_ridges = static_cast<Index>(ridges.size());
  const Timetable& times = work.plan.times;
  FoldLosses losses;
  for (Index fold = 0; fold < folds.count(); ++fold) {
    losses.emplace_back(n_ridges, n_steps);
    FoldData own = fold_data(work, data, candidates, folds.training(fold), folds.held_out(fold));
    own.training.rows = own.training.rows.kept(work.workers);
    own.held_out.rows = own.held_out.rows.kept(work.workers);
    const auto loss_of = [&](const ScoreFunction& score) {
      return mean_loss(own.held_out, score, work.workers);
    };
    std::vector<double> last_losses(ridges.size(), std::numeric_limits<double>::quiet_NaN());
    for (Index n_tried = 0; n_tried < n_ridges; ++n_tried) {
      const std::optional<Index> next = tries_some ? ridge_to_try(last_losses) : n_tried;
      if (!next) break;
      const Index r = *next;
      const double ridge = ridges[static_cast<std::size_t>(r)];
      std::vector<double> row(static_cast<std::size_t>(n_steps));
      Learned learned;
      // The metric of the fold would have to be kept as well.
      const auto is_best = [&] {
        return work.plan.options.metric == Metric::kNone &&
               work.best.offer(learned.active, {}, ridge, work.report.features, row.back());
      };
      const auto fit_path = [&] {
        PathLosses path(row.data(), n_steps);
        std::function<void(const ScoreFunction&)> on_model;
        if (work.plan.grows_step_by_step())
          on_model = [&](const ScoreFunction& score) { path.add(loss_of(score)); };
        learned = fit(own, ridge, on_model);
        path.finish([&] { return loss_of(learned.score()); });
        if (!is_best() || work.plan.paper.method != paper::Method::kMfga) learned.active = {};
      };
      stop_if_over(times.deadline(Timetable::kPartOfValidation));
      const double begin = times.seconds();
      journaled_as(
          work.journal, fmt::format("fold {}, ridge {}", fold, ridge), fit_path, [&](Archive& bytes) {
            bytes(row, learned.active);
            Archive::require(std::ssize(row) == n_steps &&
                             (learned.active.candidates.empty() ||
                              is_possible(learned.active, own.training.problem(work.workers),
                                          own.candidates ? own.candidates->size() : 0, work.plan.terms)));
            if (bytes.is_loading() && learned.active.size() > 0) static_cast<void>(is_best());
          });
      std::ranges::copy(row, losses.back().row(r));
      const double seconds = times.seconds() - begin;
      work.seconds_of_a_fit =
          seconds * static_cast<double>(data.rows.rows()) / static_cast<double>(own.training.rows.rows());
      // What cannot be finished is not continued.
      const Index fits_left = (folds.count() - fold) * n_ridges - n_tried - 1;
      stop_if_over(times.deadline(Timetable::kPartOfValidation, static_cast<double>(fits_left) * seconds));
      last_losses[static_cast<std::size_t>(r)] = known_loss(row.back());
      work.show_validation(
          (static_cast<double>(fold) + static_cast<double>(n_tried + 1) / static_cast<double>(n_ridges)) /
          static_cast<double>(folds.count()));
    }
    if (tries_some) keep_tried(last_losses, losses.back(), ridges);
  }
  return losses;
}

}  // namespace

double mean_loss(const PreparedData& data, const ScoreFunction& score, Workers& workers) {
  return loss_sum(data.problem(workers), score) / data.rows.total_weight();
}

FoldData fold_data(Work& work, const PreparedData& data, std::shared_ptr<const Candidates> candidates,
                   const std::vector<Index>& training, const std::vector<Index>& held_out) {
  FoldData fold{data.subset(training, &work.workers), data.subset(held_out, &work.workers),
                std::move(candidates)};
  if (work.plan.options.metric == Metric::kNone) return fold;
  // The metric of all rows was learned with the held-out ones as well: each fold learns its own.
  const Dictionary dictionary(work.report.features);
  const FitReport of_all = work.report;
  learn_metric_of(work, fold.training, dictionary);
  if (fold.training.rows.mixing() != nullptr) {
    fold.held_out.mix(*fold.training.rows.mixing());
  } else {
    std::vector<double> factors;
    for (std::size_t j = 0; j < fold.training.inputs.size(); ++j)
      factors.push_back(fold.training.inputs[j].stretch / fold.held_out.inputs[j].stretch);
    fold.held_out.stretch(factors);
  }
  if (fold.candidates != nullptr) {
    if (dictionary.needs_sigma()) find_width(work, fold.training);
    fold.candidates = make_candidates(work, fold.training, dictionary);
    work.report = of_all;  // what a fold finds is not told
  }
  return fold;
}

RidgeChoice choose_ridge(Work& work, const PreparedData& data, const Folds& folds,
                         std::shared_ptr<const Candidates> candidates, EngineKind engine,
                         std::vector<Index> terms, const FoldFit& fit) {
  refuse_folds_of_one_class(data, folds);
  RidgeChoice choice;
  CrossValidation& validation = choice.validation;
  validation.ridges = work.plan.validation->ridges;
  validation.terms = std::move(terms);
  validation.measure = data.target.loss->measure();
  const bool by_gram = engine == EngineKind::kGram && work.plan.grows_step_by_step() &&
                       work.plan.options.metric == Metric::kNone;
  try {
    FoldLosses losses = by_gram ? losses_by_gram(work, data, folds, *candidates, choice.sums)
                                : losses_by_fits(work, data, folds, candidates, std::ssize(validation.terms),
                                                 fit, validation.ridges);
    if (by_gram && tries_some_ridges(work, folds)) keep_those_of_a_climb(losses.front(), validation.ridges);
    summarise(losses, data.target.loss_unit(),
              work.plan.chooses_terms ? std::optional(work.plan.options.choose) : std::nullopt, validation);
    choice.ridge = validation.chosen.ridge;
  } catch (const OutOfTime&) {
    choice.validation = {};
    choice.ridge = work.plan.penalty.ridge;
    work.report.cut_short.push_back(fmt::format("the choice of the ridge (it is {:g})", choice.ridge));
  }
  work.report.validate_seconds = work.lap();
  choice.validation.seconds = work.report.validate_seconds;
  return choice;
}

std::vector<TriedSize> tried_sizes(const CrossValidation& validation) {
  std::vector<TriedSize> sizes;
  for (std::size_t i = 0; i < validation.terms.size(); ++i) {
    const auto step = static_cast<Index>(i);
    Index best = 0;
    for (Index ridge = 1; ridge < validation.mean.rows; ++ridge) {
      if (validation.mean(ridge, step) < validation.mean(best, step)) best = ridge;
    }
    sizes.push_back({validation.terms[i], validation.mean(best, step), validation.standard_error(best, step),
                     validation.ridges[static_cast<std::size_t>(best)],
                     validation.terms[i] == validation.chosen.terms});
  }
  return sizes;
}

CrossValidationOptions affordable(const Work& work, CrossValidationOptions validation,
                                  const Candidates* candidates, EngineKind engine) {
  if (validation.most_rows == 0 || candidates == nullptr || engine == EngineKind::kGram) return validation;
  const Index steps = path_steps(work.plan.terms, work.plan.per_step);
  validation.most_rows = affordable_rows(validation.most_rows, candidates->size(), steps);
  return validation;
}

void refuse_folds_of_one_class(const PreparedData& data, const Folds& folds) {
  if (const std::optional<Index> fold = fold_of_one_class(data, folds)) {
    throw Error(ErrorKind::kBadData,
                fmt::format("all rows outside of fold {} have one label, so there is nothing to learn "
                            "from them; use fewer `folds`, or another `seed`",
                            *fold + 1));
  }
}

std::optional<Index> fold_of_one_class(const PreparedData& data, const Folds& folds) {
  if (data.target.task != Task::kClassification) return std::nullopt;
  for (Index fold = 0; fold < folds.count(); ++fold) {
    const std::vector<double> targets = values_of(data.target.values, folds.training(fold));
    if (std::ranges::count(targets, targets.front()) == std::ssize(targets)) return fold;
  }
  return std::nullopt;
}

}  // namespace mfga
