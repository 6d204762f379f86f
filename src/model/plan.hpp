// What the options come to for the table at hand, and what is refused before any work is done.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "features/neighbour_width.hpp"
#include "mfga/cross_validation.hpp"
#include "mfga/fit.hpp"
#include "mfga/paper.hpp"
#include "model/automatic.hpp"
#include "solve/engine.hpp"
#include "solve/greedy.hpp"

namespace mfga {

inline constexpr Index kFewestRows = 3;

// A ridge that is good enough, soon: the best of seven on one fold of five, from at most 25,000 rows.
[[nodiscard]] CrossValidationOptions quick_validation();
// Whether there are enough rows, of both classes, for that; else a ridge of 1 is as good a guess.
[[nodiscard]] bool can_validate_quickly(const TrainingData& data);

// Throws Error for data that no fit can begin with.
void check_data(const TrainingData& data);
void check_folds(Index rows, Index folds);
// Throws if there are groups, and fewer than folds.
void check_groups(const TrainingData& data, Index folds);

// When the parts of a fit must have ended.
class Timetable {
 public:
  explicit Timetable(double limit) : limit_(limit) {}

  // Parts of the limit, from the beginning: when a ridge must have been chosen, when tuning ends, and when
  // what was tuned must have been compared.
  static constexpr double kPartOfValidation = 0.4;
  static constexpr double kPartOfTuning = 0.5;
  static constexpr double kPartOfComparing = 0.75;

  [[nodiscard]] bool is_limited() const { return limit_ > 0; }
  // Since the fit began; those of earlier runs count where it goes on from a checkpoint.
  [[nodiscard]] double seconds() const { return clock_->seconds(); }
  [[nodiscard]] WorkClock& clock() const { return *clock_; }
  // When so large a part of the limit has passed, less some seconds.
  [[nodiscard]] Deadline deadline(double part = 1, double seconds_before = 0) const {
    return is_limited() ? Deadline{clock_.get(), part * limit_ - seconds_before} : kNever;
  }

 private:
  std::shared_ptr<WorkClock> clock_ = std::make_shared<WorkClock>();
  double limit_;
};

struct Plan {
  Plan(const FitOptions& given, const paper::Options& given_paper)
      : options(given), paper(given_paper), times(given.time_limit) {}

  FitOptions
      options;  // as they were given, but for the order of time, which cross-validation may ask for, too
  paper::Options paper;
  Task task = Task::kRegression;
  std::shared_ptr<const Loss> loss;
  Index targets = 1;
  Index terms = 0;             // of the model, or the most that held-out rows may choose
  bool chooses_terms = false;  // whether they do
  Index per_step = 1;          // see GreedyOptions
  Selection select = Selection::kGain;
  SelectionOptions selection;
  Intercept intercept = Intercept::kUnpenalised;
  bool scale_target_by_range = false;
  Penalty penalty;  // the ridge that was given, or is taken where none can be chosen
  WidthRule width_rule = WidthRule::kAutomatic;
  std::optional<CrossValidationOptions> validation;  // how a ridge is chosen
  bool may_tune = false;                             // if held-out rows gain by it
  bool judges_tuning = false;                        // and there are enough rows to hold some out
  Timetable times;

  // Ridges that held-out rows may choose from.
  [[nodiscard]] std::vector<double> ridges() const {
    return validation ? validation->ridges : std::vector<double>{penalty.ridge};
  }
  [[nodiscard]] GreedyOptions search_options(const Penalty& with) const {
    return {terms, per_step, options.tolerance, with, selection};
  }
  // Whether each step of the search has a model of its own number of terms.
  [[nodiscard]] bool grows_step_by_step() const { return options.search == Search::kGreedy; }
  [[nodiscard]] bool normalises() const {
    return select == Selection::kNormalised || options.search == Search::kHardThresholding;
  }
  // Whether everything is tried where held-out rows choose, or a race is held.
  [[nodiscard]] bool tries_all() const { return options.effort == Effort::kThorough; }
  // A ridge that only has to be good enough is chosen by the rows that everything else is chosen by.
  [[nodiscard]] bool chooses_ridge_quickly() const { return validation && validation->most_rows > 0; }
};

[[nodiscard]] Plan make_plan(const TrainingData& data, const FitOptions& options,
                             const paper::Options& paper);
// What a plan depends on besides the options.
struct PlannedData {
  Task task = Task::kRegression;
  std::shared_ptr<const Loss> loss;
  Index targets = 1;
  bool can_validate_quickly = false;
  bool has_groups = false;
};
[[nodiscard]] Plan make_plan(const PlannedData& data, const FitOptions& options, const paper::Options& paper);

[[nodiscard]] std::vector<ScaleKind> planned_scales(const Plan& plan, const TableView& x,
                                                    std::span<const double> weights,
                                                    const std::vector<InputColumn>& standardised,
                                                    Workers& workers);

[[nodiscard]] double memory_limit_bytes(const FitOptions& options);
// As it stands in reports.
[[nodiscard]] std::string engine_name(EngineKind engine);
[[nodiscard]] EngineCost engine_cost(const Plan& plan, EngineKind engine, const ProblemSize& size,
                                     int threads);
// The engine for a dictionary of this size; throws if none can have it.
[[nodiscard]] EngineKind choose_engine(const Plan& plan, const ProblemSize& size, int threads);

}  // namespace mfga
