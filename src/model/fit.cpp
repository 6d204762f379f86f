#include "mfga/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "mfga/cross_validate.hpp"
#include "mfga/error.hpp"
#include "model/fitter.hpp"

namespace mfga {
namespace {

void check_ridge_of_tuning(const FitOptions& options, std::span<const double> ridges, std::string_view name) {
  if (options.tune == "no" || std::ranges::all_of(ridges, [](double ridge) { return ridge > 0; })) return;
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("--tune needs {} above 0: terms that come to lie on one another have no other "
                          "bound; leave the 0 out, or add --tune no",
                          name));
}

}  // namespace

FitResult fit(const TrainingData& data, const FitOptions& options, const ProgressCallback& progress) {
  options.validate();
  check_ridge_of_tuning(options, {&options.ridge, 1}, "a --ridge");
  check_shapes(data);
  return Fitter(data, options).run(progress);
}

CrossValidationOptions quick_validation() { return {5, {1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100}, 1, 25000}; }

bool can_validate_quickly(const TrainingData& data) {
  constexpr Index kFewestToHoldOut = 50;
  constexpr Index kFewestOfAClass = 10;
  if (std::ssize(data.y) < kFewestToHoldOut) return false;
  const auto lowest = std::ranges::count(data.y, std::ranges::min(data.y));
  const auto highest = std::ranges::count(data.y, std::ranges::max(data.y));
  const bool two_values = lowest + highest == std::ssize(data.y);
  return !two_values || std::min(lowest, highest) >= kFewestOfAClass;
}

CrossValidatedFit cross_validate(const TrainingData& data, const FitOptions& options,
                                 const CrossValidationOptions& validation, const ProgressCallback& progress) {
  options.validate();
  validation.validate();
  if (options.norm_bound > 0) {
    throw Error(ErrorKind::kInvalidArgument,
                "--norm-bound takes the place of a ridge, so there is none to cross-validate; leave one of "
                "them out");
  }
  check_shapes(data);
  check_ridge_of_tuning(options, validation.ridges, "all of --ridges");
  check_folds(validation.most_rows > 0 ? std::min(data.x.rows, validation.most_rows) : data.x.rows,
              validation.folds);
  return Fitter(data, options).run_cross_validation(validation, progress);
}

}  // namespace mfga
