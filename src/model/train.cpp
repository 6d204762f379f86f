#include "mfga/train.hpp"

#include <algorithm>
#include <utility>

namespace mfga {
namespace {

// What the theory of a choice, or a bound on the work, rules out is not tried.
bool can_tune(const FitOptions& options) {
  return options.method == "mfga" && options.preset == "none" && options.norm_bound == 0 &&
         options.search == "greedy" && options.refine == "no" && options.nu == "uniform" &&
         options.engine != "gram" && options.tolerance == 0;
}

// The paper's preset and the other methods are compared with a ridge that is given.
bool can_choose_ridge(const FitOptions& options) {
  return options.method == "mfga" && options.preset == "none" && options.norm_bound == 0;
}

}  // namespace

FitOptions TrainOptions::resolved() const {
  FitOptions options = fit;
  if (ridge_rule == RidgeRule::kAutomatic) options.ridge = 1;
  if (options.norm_bound > 0) options.ridge = 0;
  if (automatic_tuning) {
    const bool has_ridge = ridge_rule == RidgeRule::kCrossValidated
                               ? std::ranges::all_of(validation.ridges, [](double r) { return r > 0; })
                               : options.ridge > 0;
    options.tune = has_ridge && can_tune(options) ? "auto" : "no";
  }
  return options;
}

TrainResult train(const TrainingData& data, const TrainOptions& options, const ProgressCallback& progress,
                  ThreadPool* pool) {
  const FitOptions resolved = options.resolved();
  const bool quickly =
      options.ridge_rule == RidgeRule::kAutomatic && can_choose_ridge(resolved) && can_validate_quickly(data);
  if (!quickly && options.ridge_rule != RidgeRule::kCrossValidated) {
    return {fit(data, resolved, progress, pool), std::nullopt};
  }
  CrossValidatedFit validated =
      cross_validate(data, resolved, quickly ? quick_validation() : options.validation, progress, pool);
  if (validated.cross_validation.ridges.empty()) return {std::move(validated.fit), std::nullopt};
  return {std::move(validated.fit), std::move(validated.cross_validation)};
}

}  // namespace mfga
