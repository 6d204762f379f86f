#include "solve/held_out_rows.hpp"

#include <algorithm>
#include <limits>

namespace mfga {

double choose_held_out_ridge(std::span<const TuningFold> folds, std::span<const double> ridges,
                             const TunedSearchOptions& options, std::vector<TunedModel>& models) {
  std::vector<TunedModel> start = models;
  double best_loss = std::numeric_limits<double>::infinity();
  double n_rows = 0;
  // The same for all ridges.
  std::vector<BlockedRows> rows;
  std::vector<BlockedRows> held_out;
  std::vector<Matrix> products;
  std::vector<std::vector<double>> hessians(folds.size());  // of the last ridge
  for (std::size_t f = 0; f < folds.size(); ++f) {
    stop_if_over(options.end);
    Workers& workers = folds[f].problem.workers;
    rows.push_back(folds[f].problem.rows.stretched(models[f].stretch).kept(workers));
    held_out.push_back(folds[f].held_out->rows.stretched(models[f].stretch).kept(workers));
    n_rows += held_out.back().total_weight();
    products.push_back(refit_products(folds[f].problem.with_rows(rows.back()), models[f].active.atoms));
  }
  const auto is_best = [&](double ridge) {
    std::vector<TunedModel> tried = start;
    double loss = 0;
    for (std::size_t f = 0; f < folds.size(); ++f) {
      stop_if_over(options.end);
      TunedModel& model = tried[f];
      model.ridge = ridge;
      const FittedCoefficients fitted =
          fit_coefficients(folds[f].problem.with_rows(rows[f]), ridge, products[f], model.active,
                           Accuracy::kGood, hessians[f]);
      hessians[f] = fitted.hessian_nearby();
      loss += loss_sum(folds[f].held_out_problem(held_out[f]), model.active.score());
      start[f].active = model.active;  // the next ridge is a neighbour
    }
    if (!(loss < best_loss)) return false;
    best_loss = loss;
    models = std::move(tried);
    return true;
  };
  if (!options.is_race) {
    for (const double ridge : ridges) static_cast<void>(is_best(ridge));
    return best_loss / n_rows;
  }
  const auto here = std::ranges::lower_bound(ridges, start.front().ridge) - ridges.begin();
  const auto first = std::min(here, std::ssize(ridges) - 1);
  static_cast<void>(is_best(ridges[static_cast<std::size_t>(first)]));
  auto up = first + 1;
  while (up < std::ssize(ridges) && is_best(ridges[static_cast<std::size_t>(up)])) ++up;
  if (up > first + 1) return best_loss / n_rows;  // it rises on the other side
  auto down = first - 1;
  while (down >= 0 && is_best(ridges[static_cast<std::size_t>(down)])) --down;
  return best_loss / n_rows;
}

HeldOutLosses held_out_losses(std::span<const TuningFold> folds, std::span<const TunedModel> models) {
  HeldOutLosses result;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const BlockedRows rows = models[f].seen(folds[f].held_out->rows);
    const std::vector<double> more = row_losses(folds[f].held_out_problem(rows), models[f].active.score());
    result.losses.insert(result.losses.end(), more.begin(), more.end());
    result.weights.insert(result.weights.end(), rows.weights().begin(), rows.weights().end());
  }
  return result;
}

PairedLosses paired_losses(const HeldOutLosses& first, const HeldOutLosses& second) {
  return paired_losses(first.losses, second.losses, first.weights);
}

bool are_clearly_worse(std::span<const TuningFold> folds, std::span<const TunedModel> models,
                       std::span<const TunedModel> others) {
  constexpr double kClear = 2;
  const PairedLosses losses = paired_losses(held_out_losses(folds, models), held_out_losses(folds, others));
  return losses.first - losses.second > kClear * losses.standard_error;
}

}  // namespace mfga
