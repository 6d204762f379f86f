// One fit: what all methods share, and the model that they fill in. Its parts are in a file each:
// fit_greedily, fit_tuned, fit_baselines, fit_validation.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/blas.hpp"
#include "core/deadline.hpp"
#include "data/standardise.hpp"
#include "features/candidates.hpp"
#include "features/neighbour_width.hpp"
#include "mfga/cross_validate.hpp"
#include "mfga/fit.hpp"
#include "model/automatic.hpp"
#include "model/fit_settings.hpp"
#include "model/target.hpp"
#include "solve/cross_validation.hpp"
#include "solve/greedy.hpp"
#include "solve/tuned_search.hpp"

namespace mfga {

class Fitter {
 public:
  Fitter(const TrainingData& data, const FitOptions& options);
  // The fit of some rows of another fit, with what that one found out about all of them: standardisation,
  // kernel width, dictionary, and the target's units. `on_model` sees the model after each step.
  Fitter(const Fitter& whole, const FitOptions& options, const std::vector<Index>& rows,
         std::function<void(const ScoreFunction&)> on_model);

  FitResult run(const ProgressCallback& progress);
  CrossValidatedFit run_cross_validation(const CrossValidationOptions& options,
                                         const ProgressCallback& progress);

 private:
  using Clock = std::chrono::steady_clock;

  // Parts of the time limit, from the beginning: when a ridge must have been chosen, when tuning ends, and
  // when what was tuned must have been compared.
  static constexpr double kPartOfValidation = 0.4;
  static constexpr double kPartOfTuning = 0.5;
  static constexpr double kPartOfComparing = 0.75;

  [[nodiscard]] static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  Model& model() { return result_.model; }
  FitReport& report() { return result_.report; }
  [[nodiscard]] Problem problem() {
    return {rows_, target_.values, *target_.loss, settings_.intercept, workers_};
  }
  [[nodiscard]] Precision precision() const {
    return options_.precision == "double" ? Precision::kDouble : Precision::kMixed;
  }
  [[nodiscard]] std::unique_ptr<Refit> make_refit() { return mfga::make_refit(problem(), penalty_); }

  void start_model();
  [[nodiscard]] std::vector<Index> text_columns_of_inputs() const;
  // The automatic kernel width; the preparation ends with it.
  void find_width();
  // Of every width that is found from rows.
  [[nodiscard]] WidthRule width_rule() const {
    return options_.preset == "paper" || options_.method != "mfga" ? WidthRule::kPaper
                                                                   : WidthRule::kAutomatic;
  }
  // The width of the methods with one kernel.
  double width_of_kernel();

  void add_terms(const ActiveSet& active);
  // Methods that choose all their terms at once have a path of one step.
  void record_one_step(double risk, double ridge, int newton_steps);
  // The mean loss of the best constant, or of zero without an intercept.
  [[nodiscard]] double risk_of_constant();
  // The mean loss of a score on some rows.
  [[nodiscard]] double held_out_loss(const std::vector<Index>& rows, const ScoreFunction& score);
  // In the units of the prepared target.
  [[nodiscard]] ScoreFunction score_of(const Model& model) const;
  void warn_of_leverage(const ActiveSet& active, const Refit& refit, double ridge);
  void add_warnings(const std::vector<std::string>& warnings);
  void show_validation(double part) const;
  // When so large a part of the time limit has passed since the beginning.
  [[nodiscard]] Deadline deadline(double part = 1) const;
  // Seconds since the last call, or since the beginning: what the phase that ends took.
  [[nodiscard]] double lap();
  void finish(double ridge, double risk, bool converged);

  // fit_greedily.cpp
  void learn_greedily();
  // Algorithm 1, with the candidates. The sums of the folds, if there are any, save a pass.
  void learn_in_steps(std::vector<std::shared_ptr<const GramSums>> sums_of_folds);
  [[nodiscard]] EngineCosts engine_costs(const ProblemSize& size) const;
  // The candidates with their weights, at unit norm if the selection wants them so.
  std::shared_ptr<const Candidates> make_candidates(const Dictionary& dictionary);
  // Those with the smallest loss on held-out rows, with the ridge that was given.
  std::shared_ptr<const Candidates> best_of_candidates(
      const std::vector<std::shared_ptr<const Candidates>>& all);
  [[nodiscard]] GreedyOptions search_options() const;
  // Whether each step of the search has a model of its own number of terms.
  [[nodiscard]] bool grows_step_by_step() const { return options_.search == "greedy"; }
  void record_path(const GreedyResult& greedy, const Candidates& candidates);
  // Learns from each half of the rows, and asks how much of the one is found again in the other.
  void check_stability();

  // fit_tuned.cpp
  // Rows that are tuned with, and rows that are asked how far.
  struct TuningSplit {
    BlockedRows rows;
    std::vector<double> targets;
    BlockedRows held_out_rows;
    std::vector<double> held_out_targets;

    [[nodiscard]] Problem training(Fitter& fitter) const {
      return {rows, targets, *fitter.target_.loss, fitter.settings_.intercept, fitter.workers_};
    }
    [[nodiscard]] HeldOutRows held_out() const { return {held_out_rows, held_out_targets}; }
  };
  // Selection and tuning in turns. Says whether the result is the model; if not, nothing has changed.
  [[nodiscard]] bool learn_tuned();
  // With so many steps in each round.
  [[nodiscard]] std::optional<TunedModel> tuned_by_steps(const TunedSearchCallback& on_step);
  // As far as held-out rows say, and then with all rows.
  [[nodiscard]] std::optional<TunedModel> tuned_automatically(const TunedSearchCallback& on_step);
  // Tunes with four fifths of the rows, in several splits, and asks the other fifths how far to go, which
  // ridge to take, whether to stretch inputs, and, where the dictionary was not given, whether a part of it
  // does as well. Nothing, if no tuning does better still; report().features then is what suffices for that.
  [[nodiscard]] std::optional<TunedModel> tuned_with_held_out_rows(const TunedSearchCallback& on_step);
  // So many of five, each with another fifth held out; none, if there are too few rows.
  [[nodiscard]] std::vector<TuningSplit> tuning_splits(Index count) const;
  [[nodiscard]] std::vector<double> tuning_ridges() const;
  [[nodiscard]] TunedSearchCallback tuning_progress() const;
  [[nodiscard]] TunedSearchOptions tuned_search_options(const Dictionary& dictionary, int steps) const;
  // When tuning with held-out rows is given up, so that there is time for a fit of all rows.
  [[nodiscard]] Deadline end_of_tuning() const;
  void learn_metric_of_inputs(const Dictionary& dictionary);
  void stretch_inputs(const std::vector<double>& factors);

  // fit_baselines.cpp
  void learn_random_features();
  void refuse_if_too_large(Index n_candidates) const;
  void learn_with_kernel();

  // fit_validation.cpp
  // Cross-validation: sets the ridge to the best one at the number of terms that was asked for.
  void choose_ridge(std::vector<Index> terms, const std::function<FoldLosses(const Folds&)>& losses_of);
  // Where some of the rows are enough, no more of them than a search of this size has time for.
  [[nodiscard]] CrossValidationOptions affordable(CrossValidationOptions validation) const;
  void refuse_folds_of_one_class(const Folds& folds) const;
  // A fold outside of which there is one class only.
  [[nodiscard]] std::optional<Index> fold_of_one_class(const Folds& folds) const;
  FoldLosses losses_by_gram(const Folds& folds, const Candidates& candidates,
                            std::vector<std::shared_ptr<const GramSums>>& sums);
  FoldLosses losses_by_fits(const Folds& folds);

  const TrainingData& data_;
  const FitOptions& options_;
  SingleThreadedBlas blas_;
  Workers workers_;
  Clock::time_point start_;
  Clock::time_point lap_start_ = start_;
  Settings settings_;
  PreparedTarget target_;
  Standardisation standard_;
  std::vector<InputColumn> inputs_;  // the standardised ones under the scale that was asked for
  std::vector<Index> text_columns_;  // see CandidateContext
  BlockedRows rows_;
  Penalty penalty_;
  AutomaticDictionaries dictionaries_;  // settings_.features is the whole one
  std::shared_ptr<const Candidates> candidates_;
  const Fitter* whole_ = nullptr;  // the fit whose rows these are some of
  std::function<void(const ScoreFunction&)> on_model_;
  const CrossValidationOptions* validation_ = nullptr;
  CrossValidation cross_validation_;
  double seconds_of_a_fit_ = 0;  // of all rows, by those of the validation
  std::string phase_;            // shown while held-out rows are asked
  ProgressCallback progress_;
  FitResult result_;
};

}  // namespace mfga
