// Learning: MFGA, Multi Feature Greedy Approximation (Shahrampour and Tarokh, NeurIPS 2018), and the methods
// that its paper compares it with.
//
//   mfga::FitResult result = mfga::fit({x, y, names}, {.terms = 20});
//   std::vector<double> predictions = result.model.predict(x_new);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mfga/dictionary.hpp"
#include "mfga/model.hpp"
#include "mfga/progress.hpp"
#include "mfga/thread_pool.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct RowLines;  // mfga/table.hpp

// Defaults, bounds and help of each option stand in the option table (docs/options.md).
struct FitOptions {
  std::string task = "auto";          // auto | regression | classification
  std::string loss = "auto";          // auto | squared | logistic | huber | huber(DELTA) | poisson
  std::string method = "mfga";        // mfga | rks | lkrf | eerf | gk | glk
  std::string preset = "none";        // none | paper
  std::string features = {};          // the dictionary; empty: automatic, or the preset's
  std::string nu = "uniform";         // uniform | norm | alignment | cv: weights of the dictionary's kernels
  std::string select = "auto";        // auto | gradient | normalised | gain
  Index shortlist = 0;                // candidates looked at closely per step; 0: auto
  std::string search = "greedy";      // greedy | htp
  std::string refine = "no";          // no | yes: swaps after the search
  std::string tune = "no";            // no | auto | a number of steps: move the atoms that were chosen
  Index tune_every = 0;               // terms selected between tunings; 0: auto
  std::string metric = "none";        // none | diagonal | full: learned before the selection
  double time_limit = 0;              // seconds that the fit may take; 0: any
  Index terms = 40;                   // M
  Index per_step = 1;                 // atoms added per greedy step
  double ridge = 1;                   // ridge |theta|^2 is added to the sum of the losses
  double norm_bound = 0;              // > 0: |theta|_2 <= norm_bound instead of a ridge
  std::string intercept = "auto";     // auto | yes | no
  std::string scale = "auto";         // auto | standard | robust | quantile, of the inputs
  std::string scale_target = "auto";  // auto | none | range: to [-1, 1] by the training rows' range
  std::string sigma = "auto";         // kernel width of the other methods; mfga's is in its features
  Index candidates = 0;               // lkrf, eerf: random features to choose from; 0: ten per term
  double subsample = 1;               // gk, glk: part of the training rows that is used
  double tolerance = 0;               // stop when the mean loss is at most this
  std::string engine = "auto";        // auto | lazy | gram
  std::string precision = "mixed";    // mixed | double, of the search; the atoms chosen are the same
  std::uint64_t seed = 0;
  int threads = 0;          // 0: all cores
  double memory_limit = 0;  // MiB; 0: four fifths of the machine's memory

  // Throws Error(kInvalidArgument) naming the first option that is out of bounds.
  void validate() const;
};

// Set by name: only x and y must be given. Nothing is copied; the numbers must stay where they are.
struct TrainingData {
  TableView x;
  std::span<const double> y;              // for classification: exactly two distinct values
  std::vector<std::string> columns = {};  // names of x's columns; empty: x0, x1, ...
  std::string target_name = "y";
  std::vector<std::string> labels = {};       // if y holds positions in a list of class labels: the list
  Index unnamed_columns = 0;                  // of a file without column names; see Model
  std::vector<TextColumn> text_columns = {};  // which columns of x are levels of text; see Table
  const RowLines* lines = nullptr;            // where the rows stand in a file, for messages
  // How much each row counts: a row of weight 2 is worth two copies of it, one of weight 0 is left out.
  // Empty: 1.
  std::span<const double> weights = {};
};

struct PathStep {
  std::vector<std::string> added;    // formulas of the atoms that joined
  std::vector<std::string> removed;  // and that left (search htp, refine)
  Index terms = 0;                   // in the model after this step
  double risk = 0;                   // mean loss on the training rows after the refit
  double largest_gradient = 0;       // of the risk with respect to a candidate, before the step; with mixed
                                     // precision to about four digits
  double ridge = 0;                  // the ridge, or the multiplier of the norm bound
  double seconds = 0;                // since the fit began
  int newton_steps = 0;
  int tuning_steps = 0;  // all terms were tuned after this step, by so many moves
};

// What tuning brought.
struct TuningReport {
  bool is_used = false;
  std::string reason;           // if it was to be tried and is not used: why
  double held_out_without = 0;  // mean loss of held-out rows without and with it
  double held_out_with = 0;
};

struct FitReport {
  std::string engine;
  std::string features;
  std::string select;                  // the rule used; empty for methods without a search
  std::vector<double> kernel_weights;  // nu of each summand of the dictionary, scaled to sum to one
  Index candidates = 0;
  Index rows = 0;
  std::vector<std::string> dropped_columns;  // constant on the training rows
  std::vector<std::string> dependent_atoms;  // skipped: spanned by atoms already chosen
  std::vector<double> sigmas;                // width of each kernel that has one, in dictionary order
  double auto_sigma = 0;                     // 0 if no width was found from the data
  double auto_sigma_error = 0;               // its standard error
  Index auto_sigma_queries = 0;
  std::string auto_sigma_rule;  // what it is, in words
  double initial_risk = 0;
  std::vector<PathStep> path;
  // Of the first terms learned from each half of the rows, the part that is found again in the other half's,
  // up to a correlation of 0.9; negative if that was not tried.
  double stability = -1;
  TuningReport tuning;
  int metric_rounds = 0;  // of those of a learned metric, how many held-out rows gained by
  std::vector<std::string> warnings;
  std::vector<std::string> cut_short;  // what the time limit, or a stop, left out or ended early
  bool stopped = false;                // the progress callback asked for a stop
  double prepare_seconds = 0;          // standardisation, kernel width, learned metric, candidates
  double validate_seconds = 0;         // choosing the ridge
  double tune_seconds = 0;             // trying with held-out rows whether and how far to tune
  double score_seconds = 0;            // lkrf, eerf: drawing and scoring the random features
  double leverage_seconds = 0;         // looking for rows that decide their own fit
  double stability_seconds = 0;        // learning from each half of the rows
  double fit_seconds = 0;              // learning from all rows, of which (mfga, not tuned):
  double gradient_seconds = 0;
  double products_seconds = 0;  // selection and products of the atoms chosen
  double refit_seconds = 0;
  double refine_seconds = 0;
  Index gradient_passes = 0;
};

struct FitResult {
  Model model;
  FitReport report;
};

// `pool`: threads that other calls may use as well, in place of options.threads.
[[nodiscard]] FitResult fit(const TrainingData& data, const FitOptions& options,
                            const ProgressCallback& progress = {}, ThreadPool* pool = nullptr);

}  // namespace mfga
