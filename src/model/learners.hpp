// The ways to learn from prepared data. Each returns what it learned; fits of some of the rows call the same
// ones.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "features/candidates.hpp"
#include "mfga/cross_validation.hpp"
#include "mfga/fit.hpp"
#include "model/plan.hpp"
#include "model/prepared_data.hpp"
#include "solve/cross_validation.hpp"
#include "solve/device_problem.hpp"
#include "solve/greedy.hpp"
#include "solve/tuned_search.hpp"

namespace mfga {

// A model before it is one.
struct Learned {
  ActiveSet active;
  std::vector<double> stretch;  // of the inputs, beyond what the rows had already; empty: none
  double ridge = 0;
  double risk = 0;  // mean loss of the rows
  double initial_risk = 0;
  bool converged = true;
  std::string engine;
  std::string features;
  Index candidates = 0;
  std::vector<double> sigmas;
  std::vector<double> kernel_weights;
  std::vector<PathStep> path;
  std::vector<std::string> dependent_atoms;
  std::vector<double> hessian;  // see Refit::hessian, with the ridge, for leverages; empty: not known

  [[nodiscard]] ScoreFunction score() const { return active.score(); }
  // Sets the terms of the model, and what the report says of them.
  void tell(const PreparedTarget& target, Model& model, FitReport& report) const;
};

// What there is to keep if the caller wants an end before the rows as a whole were learned from: the model of
// some rows with the smallest loss on others.
class BestOfSomeRows {
 public:
  // Whether it is the best so far.
  bool offer(const ActiveSet& active, std::vector<double> stretch, double ridge, const std::string& features,
             double held_out_loss) {
    if (model_ && loss_ <= held_out_loss) return false;
    loss_ = held_out_loss;
    model_.emplace();
    model_->active = active;
    model_->stretch = std::move(stretch);
    model_->ridge = ridge;
    model_->features = features;
    return true;
  }
  [[nodiscard]] const std::optional<Learned>& model() const { return model_; }
  friend void archive(Archive& bytes, BestOfSomeRows& best);

 private:
  std::optional<Learned> model_;
  double loss_ = 0;
};

// What all parts of one fit share.
struct Work {
  const Plan& plan;
  Workers& workers;
  Control& control;
  FitReport& report;
  BestOfSomeRows& best;
  std::vector<std::string> names;  // of the inputs, as they stand in formulas
  std::string phase;               // shown while held-out rows are asked
  double done = -1;                // the part of all work before this phase, roughly; below 0: not known
  double seconds_of_a_fit = 0;     // of all rows, as far as is known
  double most_kept_bytes = 0;      // that searches may keep of their candidates
  double last_lap = 0;             // when it was, in seconds
  Journal* journal = nullptr;      // null: nothing is kept

  // Seconds since the last call, or since the beginning: what the phase that ends took.
  double lap();
  void show_search(Index terms, double risk, int tuning_steps = 0) const;
  void show_validation(double part) const;
};

// ---- the kernel width and the candidates

// Sets the report's width; that of the dictionaries' sigma=auto.
void find_width(Work& work, const PreparedData& data);
// With their weights, at unit norm if the selection wants them so.
[[nodiscard]] std::shared_ptr<const Candidates> make_candidates(Work& work, const PreparedData& data,
                                                                const Dictionary& dictionary);

// ---- Algorithm 1

struct GreedyTask {
  Penalty penalty;
  EngineKind engine = EngineKind::kLazy;
  std::vector<std::shared_ptr<const GramSums>> sums = {};  // of all rows, that the gram engine may begin with
  Index terms = 0;
  ActiveSet start = {};  // terms that are there from the beginning
  bool refines = false;
  Deadline deadline = kNever;
  bool keeps_what_there_is = false;
  StepCallback on_step = {};
  Journal* journal = nullptr;  // null: on_step has to be called for every step
  // A lazy one of these rows and candidates, from another fit, and the rows on the device that it works on.
  Engine* known_engine = nullptr;
  DeviceProblem* known_device = nullptr;
};
[[nodiscard]] Learned learn_greedily(Work& work, const PreparedData& data, const Candidates& candidates,
                                     const GreedyTask& task);
// What all of the fit's own settings come to.
[[nodiscard]] GreedyTask whole_task(const Work& work, const Penalty& penalty);

// ---- cross-validation of the ridge

// A training set and the rows that are asked. Where a metric is learned, each fold has its own.
struct FoldData {
  PreparedData training;
  PreparedData held_out;
  std::shared_ptr<const Candidates> candidates;  // null for methods that do not select
  // Of the training rows, for fits that differ in the ridge only.
  std::shared_ptr<DeviceProblem> device = nullptr;
  std::shared_ptr<Engine> engine = nullptr;
};
[[nodiscard]] FoldData fold_data(Work& work, const PreparedData& data,
                                 std::shared_ptr<const Candidates> candidates,
                                 const std::vector<Index>& training, const std::vector<Index>& held_out);

// One fit of a fold with a ridge; it may be told of every model on the way, and returns the last.
using FoldFit = std::function<Learned(FoldData& fold, double ridge,
                                      const std::function<void(const ScoreFunction&)>& on_model)>;

struct RidgeChoice {
  CrossValidation validation;  // without ridges, if the time was over before
  double ridge = 0;
  std::vector<std::shared_ptr<const GramSums>> sums;  // of all rows, by folds, if there are any
};
// `terms` that the path of a fit has after its steps.
[[nodiscard]] RidgeChoice choose_ridge(Work& work, const PreparedData& data, const Folds& folds,
                                       std::shared_ptr<const Candidates> candidates, EngineKind engine,
                                       std::vector<Index> terms, const FoldFit& fit);
// The numbers of terms that cross-validation tried, each with its best ridge.
[[nodiscard]] std::vector<TriedSize> tried_sizes(const CrossValidation& validation);
// Where some of the rows are enough, no more of them than a search of this size has time for.
[[nodiscard]] CrossValidationOptions affordable(const Work& work, CrossValidationOptions validation,
                                                const Candidates* candidates, EngineKind engine);
// A fold outside of which there is one class only.
[[nodiscard]] std::optional<Index> fold_of_one_class(const PreparedData& data, const Folds& folds);
void refuse_folds_of_one_class(const PreparedData& data, const Folds& folds);
// The mean loss of a score on the rows.
[[nodiscard]] double mean_loss(const PreparedData& data, const ScoreFunction& score, Workers& workers);

// ---- tuning

// Rows to choose with, in folds, and others that judge what was chosen.
struct JudgedRows {
  Folds choosing;            // of the rows to choose with
  std::vector<Index> judge;  // none of those
};
// Nothing, if there are too few rows.
[[nodiscard]] std::optional<JudgedRows> judged_rows(Work& work, const PreparedData& data,
                                                    const Candidates& candidates, EngineKind engine);

// Whether some inputs are quantiles.
[[nodiscard]] bool have_quantiles(const PreparedData& data);
// The same rows with automatic and with standard scales: what models of few of them lose on others, with the
// last of the dictionaries or the first. Nothing, if that cannot be told.
[[nodiscard]] std::optional<TriedScales> compare_scales(Work& work, const PreparedData& automatic,
                                                        const PreparedData& standard, const JudgedRows& rows,
                                                        const AutomaticDictionaries& dictionaries);

// What held-out rows say of dictionaries, ridges, and of tuning.
struct TuningChoice {
  std::optional<TunedModel> tuned;  // of some rows; nothing: it is better not to tune
  std::string features;             // the dictionary of whichever is better
  double ridge = 0;                 // without tuning
  Index terms = 0;                  // without tuning
};
void archive(Archive& bytes, TuningChoice& choice);
[[nodiscard]] TuningChoice choose_tuning(Work& work, const PreparedData& data, const JudgedRows& rows,
                                         const AutomaticDictionaries& dictionaries, double ridge);
// The tuned model of some rows, learned again from all of them.
[[nodiscard]] Learned learn_tuned(Work& work, const PreparedData& data, const TuningChoice& choice);
// The best that a race had found when its time was over: its coefficients are fitted to all rows.
[[nodiscard]] Learned learn_from_all(Work& work, const PreparedData& data, const Learned& found);
// So many steps in each round, without asking anybody.
[[nodiscard]] std::optional<Learned> learn_tuned_by_steps(Work& work, const PreparedData& data,
                                                          const std::string& features, double ridge);
// Learns how much each input counts, or which combinations do, from the rows; sets these accordingly. Returns
// the number of rounds that held-out rows gained by.
int learn_metric_of(Work& work, PreparedData& data, const Dictionary& dictionary);

// ---- the methods that the paper compares with

[[nodiscard]] Learned learn_random_features(Work& work, const PreparedData& data, double ridge, double sigma);
void check_random_features(const Plan& plan, const PreparedData& data);
[[nodiscard]] Learned learn_with_kernel(Work& work, const PreparedData& data, double ridge, double sigma);
// Throws if it is not possible; else the number of rows.
[[nodiscard]] Index check_kernel(const Plan& plan, const PreparedData& data);

}  // namespace mfga
