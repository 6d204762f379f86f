// Learning: MFGA, Multi Feature Greedy Approximation (Shahrampour and Tarokh, NeurIPS 2018).
//
//   mfga::FitResult result = mfga::fit({.x = x, .y = y}, {.terms = 20});
//   std::vector<double> predictions = result.model.predict(x_new);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mfga/checkpoint.hpp"
#include "mfga/communicator.hpp"
#include "mfga/cross_validation.hpp"
#include "mfga/model.hpp"
#include "mfga/options.hpp"
#include "mfga/progress.hpp"
#include "mfga/thread_pool.hpp"
#include "mfga/views.hpp"

namespace mfga {

struct RowLines;  // mfga/table.hpp

// Set by name: only x and y must be given. Nothing is copied; the numbers must stay where they are.
struct TrainingData {
  TableView x;  // NaN: the value is missing
  // Numbers, or for classification two or more distinct ones. Of several targets to be predicted together:
  // all numbers of the first, then all of the second, ...; then target_names are theirs.
  std::span<const double> y;
  std::vector<std::string> columns = {};  // names of x's columns; empty: x0, x1, ...
  std::string target_name = "y";
  std::vector<std::string> labels = {};       // if y holds positions in a list of class labels: the list
  Index unnamed_columns = 0;                  // of a file without column names; see Model
  std::vector<TextColumn> text_columns = {};  // which columns of x are levels of text; see Table
  const RowLines* lines = nullptr;            // where the rows stand in a file, for messages
  // How much each row counts: a row of weight 2 is worth two copies of it, one of weight 0 is left out.
  // Empty: 1.
  std::span<const double> weights = {};
  std::vector<std::string> target_names = {};   // of several targets; empty: there is one
  std::vector<std::string> missing_texts = {};  // see Table
  // Which group each row belongs to: where rows are held out, those of a group are held out together. Empty:
  // none.
  std::span<const Index> groups = {};

  [[nodiscard]] Index targets() const {
    return target_names.empty() ? 1 : static_cast<Index>(target_names.size());
  }
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

// What held-out rows say of columns with heavy tails: mean losses of models that see them by their quantiles,
// or like the other columns.
struct TriedScales {
  double held_out_quantile = 0;
  double held_out_standard = 0;
  bool is_standard = false;  // they are taken
};

struct FitReport {
  std::string engine;
  std::string device;  // the name of the accelerator that a part was computed on; empty: none was
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
  std::optional<TriedScales> scales;  // if held-out rows were asked
  TuningReport tuning;
  std::vector<TriedSize> sizes;  // if the number of terms was chosen by held-out rows
  std::vector<TriedSize>
      smaller_sizes;  // if it was given: held-out rows on the way to it, where they were asked
  std::vector<TriedDictionary> dictionaries;  // if held-out rows chose from several
  int metric_rounds = 0;  // of those of a learned metric, how many held-out rows gained by
  std::vector<std::string> warnings;
  std::vector<std::string> cut_short;  // what the time limit, or a stop, left out or ended early
  bool stopped = false;                // the progress callback asked for a stop
  double resumed_seconds = 0;          // of earlier runs, where the fit went on from a checkpoint
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
  std::optional<CrossValidation> cross_validation = {};  // if the ridge was chosen from the rows
};

// Learns as `mfga train` does. `pool`: threads that other calls may use as well, in place of options.threads.
// `checkpoint`: where to keep what is found on the way. `communicator`: the ranks that learn together, each
// from its own rows; null: there are no others.
[[nodiscard]] FitResult fit(const TrainingData& data, const FitOptions& options = {},
                            const ProgressCallback& progress = {}, ThreadPool* pool = nullptr,
                            const Checkpoint& checkpoint = {}, Communicator* communicator = nullptr);

}  // namespace mfga
