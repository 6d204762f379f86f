// What options may be together.
#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "features/family.hpp"
#include "losses/loss.hpp"
#include "mfga/error.hpp"
#include "model/option_table.hpp"

namespace mfga {
namespace {

using GivenOptions = std::initializer_list<std::pair<std::string_view, bool>>;

// Throws if any of the others is given, too.
void refuse_together(std::string_view what, const GivenOptions& others) {
  for (const auto& [name, is_given] : others) {
    if (!is_given) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} is not possible with {}; leave one of them out", what, name));
  }
}

void check_count(std::string_view name, const std::optional<Index>& count) {
  if (!count || (*count >= 1 && static_cast<double>(*count) <= kManyOption)) return;
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("`{}` is {}; expected a number from 1 to {}", name, *count, kManyOption));
}

void check_tuning(const FitOptions& options) {
  if (options.tune.steps() < 0 || options.tune.steps() > kMostTuningSteps) {
    throw Error(ErrorKind::kInvalidArgument, fmt::format("`tune` is {} steps; expected a number from 1 to {}",
                                                         options.tune.steps(), kMostTuningSteps));
  }
  const bool tunes = options.tune.steps() > 0;
  if (!tunes && options.metric == Metric::kNone) return;
  refuse_together(tunes ? "`tune`" : "`metric`", {{"`search=htp`", options.search != Search::kGreedy},
                                                  {"`refine`", options.refine},
                                                  {"`nu`", options.nu != KernelWeights::kUniform},
                                                  {"`engine=gram`", options.engine == EngineKind::kGram}});
}

void check_start(const FitOptions& options) {
  if (options.start == nullptr) return;
  refuse_together("a model to `start` from", {{"`tune`", options.tune.steps() > 0},
                                              {"`metric`", options.metric != Metric::kNone},
                                              {"`search=htp`", options.search != Search::kGreedy},
                                              {"`refine`", options.refine},
                                              {"`nu`", options.nu != KernelWeights::kUniform},
                                              {"`ridge=cv`", options.ridge.validation() != nullptr},
                                              {"`scale`", options.scale.has_value()},
                                              {"`engine=gram`", options.engine == EngineKind::kGram}});
}

void check_ridge(const FitOptions& options) {
  const CrossValidationOptions* const validation = options.ridge.validation();
  if (validation != nullptr) validation->validate();
  const std::vector<double> ridges = validation != nullptr              ? validation->ridges
                                     : options.ridge.value() != nullptr ? std::vector{*options.ridge.value()}
                                                                        : std::vector<double>{};
  for (const double ridge : ridges) {
    if (!(ridge >= 0) || ridge > kHugeOption) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`ridge` is {}; expected a number from 0 to {}", ridge, kHugeOption));
    }
    if (ridge > 0 || options.tune.steps() == 0) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`tune` needs {} above 0: terms that come to lie on one another have no other "
                            "bound; leave the 0 out, or use `tune=no`",
                            validation != nullptr ? "all of `ridges`" : "a `ridge`"));
  }
}

}  // namespace

void FitOptions::validate() const {
  validate_options(*this, fit_option_table());
  check_count("terms", terms);
  check_count("per_step", per_step);
  check_start(*this);
  check_ridge(*this);
  if (!loss.empty()) static_cast<void>(find_loss(loss));
  if (!features.empty()) static_cast<void>(Dictionary(features));
  check_tuning(*this);
  if (search == Search::kHardThresholding && select == Selection::kGradient) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "`search=htp` compares coefficients, which needs atoms at unit norm; use `select=normalised`");
  }
  if (engine == EngineKind::kGram && task == Task::kClassification) {
    throw Error(ErrorKind::kInvalidArgument,
                "`engine=gram` works for the squared loss only; use `engine=lazy` for classification");
  }
}

void paper::Options::validate(const FitOptions& fit) const {
  fit.validate();
  validate_options(*this, paper_option_table());
  static_cast<void>(parse_sigma(sigma));
  const std::string name = option_text(*this, paper_option_table(), "method");
  const bool searches = method == Method::kMfga;
  if (searches && sigma != "auto") {
    throw Error(ErrorKind::kInvalidArgument,
                "`sigma` is for the other methods; for mfga write it into `features`, e.g. gaussian(order=2, "
                "sigma=3)");
  }
  if (!searches && fit.start != nullptr) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`start` is for the method mfga; {} chooses all its terms at once", name));
  }
  if (!searches && !fit.features.empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`features` is for the method mfga; {} has its own features", name));
  }
  const std::pair<std::string_view, bool> of_searches[] = {{"nu", fit.nu != KernelWeights::kUniform},
                                                           {"select", fit.select.has_value()},
                                                           {"shortlist", fit.shortlist != 0},
                                                           {"search", fit.search != Search::kGreedy},
                                                           {"refine", fit.refine},
                                                           {"tune", fit.tune.steps() > 0},
                                                           {"tune_every", fit.tune_every != 0},
                                                           {"metric", fit.metric != Metric::kNone},
                                                           {"penalty", fit.penalty != PenaltyKind::kRidge}};
  for (const auto& [option, is_given] : of_searches) {
    if (searches || !is_given) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`{}` is for the method mfga; {} does not search", option, name));
  }
  if (norm_bound > 0) {
    refuse_together("`norm_bound`", {{"`tune`", fit.tune.steps() > 0},
                                     {"`metric`", fit.metric != Metric::kNone},
                                     {"`penalty`", fit.penalty != PenaltyKind::kRidge}});
  }
  if (norm_bound > 0 && fit.ridge.validation() != nullptr) {
    throw Error(ErrorKind::kInvalidArgument,
                "`norm_bound` takes the place of a ridge, so there is none to cross-validate; leave one of "
                "them out");
  }
  if (fit.nu != KernelWeights::kUniform && fit.select != Selection::kGradient && !preset) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`nu={}` weighs kernels against one another, which matters with "
                            "`select=gradient` only; add that, or leave `nu` out",
                            option_text(fit, fit_option_table(), "nu")));
  }
  if ((method == Method::kLkrf || method == Method::kEerf) && candidates > 0 &&
      candidates < fit.terms.value_or(kUsualTerms)) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`candidates` is {}; expected at least the number of terms, {}", candidates,
                            fit.terms.value_or(kUsualTerms)));
  }
}

void CrossValidationOptions::validate() const {
  validate_options(*this, cross_validation_option_table());
  if (folds < 2 || static_cast<double>(folds) > kManyOption) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`folds` is {}; expected a number from 2 to {}", folds, kManyOption));
  }
  if (used_folds < 0 || used_folds > folds) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{} folds are to be held out; expected at most the {} that there are, or 0 for all",
                    used_folds, folds));
  }
  if (most_rows < 0 || (most_rows > 0 && most_rows < folds)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{} rows are to be divided into {} folds; expected at least one row for each, or 0 for "
                    "all rows",
                    most_rows, folds));
  }
}

void GenerateOptions::validate() const { validate_options(*this, generate_option_table()); }

}  // namespace mfga
