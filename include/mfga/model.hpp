// A trained model: a formula of a few terms over standardised inputs. It is a plain value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/dictionary.hpp"
#include "mfga/text_column.hpp"
#include "mfga/views.hpp"
#include "mfga/warp.hpp"

namespace mfga {

enum class Task { kRegression, kClassification };
[[nodiscard]] std::string_view task_name(Task task);

// An input of the model: a column of the table, standardised as (x - mean) / deviation, warped, and
// stretched. Where the value of the column is missing, NaN, the input is 0, the middle of its scale: the
// mean, or with another scale than the standard one the median. An input `is_missing` tells of that: before
// it is standardised it is 1 where the value is missing and else 0, and its name is "COLUMN=missing".
struct ModelInput {
  std::string name;
  Index column = 0;  // position among the columns that the model was trained on
  double mean = 0;
  double deviation = 1;
  Warp warp = {};
  double stretch = 1;  // by how much differences of this input count, where it was learned
  bool is_missing = false;
  Index missing = 0;  // in so many rows of the training the value of the column was missing

  // The name of its column.
  [[nodiscard]] std::string column_name() const;
};

// What a model computes a score for: its target; or, where there are several, one of its targets, or one of
// its classes.
struct Output {
  std::string name = {};  // where there are several: the target's name, or the label of the class
  double intercept = 0;
  // Regression: predictions are shift + scale * score.
  double shift = 0;
  double scale = 1;
};

struct Term {
  Atom atom;
  std::vector<double> coefficients = {0};  // one per output
  // Of the atom over the rows of the training, for explanations; none: not known.
  std::optional<double> mean = std::nullopt;
};

// A value of a column of the table.
struct Place {
  std::string column;
  double value = 0;
};

// What tuning brought.
struct TuningReport {
  bool is_tried = false;
  bool is_used = false;
  std::string reason;           // if it was to be tried and is not used: why
  double held_out_without = 0;  // mean loss of held-out rows without and with it
  double held_out_with = 0;
};

// A number of terms that held-out rows were asked about.
struct TriedSize {
  Index terms = 0;
  double held_out = 0;        // mean loss of held-out rows
  double standard_error = 0;  // of that mean
  double ridge = 0;
  bool is_chosen = false;
};

// A dictionary that held-out rows were asked about.
struct TriedDictionary {
  std::string features;
  double held_out = 0;  // mean loss of held-out rows; of those that are out early, with fewer rows and terms
  int heats = 1;        // that it was in
  bool is_chosen = false;
};

// A ridge that held-out rows were asked about, with the model's number of terms.
struct TriedRidge {
  double ridge = 0;
  double held_out = 0;
  double standard_error = 0;
};

// The mean loss on the training rows with so many terms.
struct TrainingLoss {
  Index terms = 0;
  double risk = 0;
};

// What was tried and chosen on the way to a model. Empty where it is not known, as in files of versions that
// did not keep it. Numbers have six digits, and of long lists some entries are left out.
struct FitRecord {
  std::vector<TriedSize> sizes;
  std::vector<TriedRidge> ridges;
  std::vector<TriedDictionary> dictionaries;
  std::vector<TrainingLoss> path;
  TuningReport tuning;
  Index candidates = 0;   // 0: not known
  double stability = -1;  // see FitReport
  double seconds = 0;     // of the fit, where it has just been made: files of the same fit are the same
};

// How the model came about; for the reader, not needed to predict.
struct TrainingRecord {
  Index rows = 0;
  std::string features;
  double ridge = 0;
  double norm_bound = 0;
  double risk = 0;
  int tuning_steps = 0;  // by which terms were moved after their selection
  double bend = 0;       // of log-cosh costs of coefficients; 0: they are squares
  FitRecord fit = {};
};

struct Model {
  Task task = Task::kRegression;
  // That the coefficients minimise, by name; it says what a score means. Empty: the usual one of the task,
  // squared, or logistic for two classes.
  std::string loss;
  std::string target_name = "y";  // of several targets: all names, with commas
  // Classification: of two classes, which have one output, a positive score means the second; of more, the
  // largest score wins.
  std::vector<std::string> labels;
  std::vector<Output> outputs = {Output{}};
  Index n_columns = 0;  // of the table that it was trained on
  // Of the file that it was trained on, if its columns had no names; else 0. Then files are matched by
  // position.
  Index unnamed_columns = 0;
  std::vector<TextColumn> text_columns;    // which of the table's columns are levels of text
  std::vector<std::string> missing_texts;  // that stand for a missing value in files, beside the usual ones
  std::vector<ModelInput> inputs;          // columns that were constant are not among them
  // [inputs x inputs], where it was learned: terms see this times the inputs. Empty: the inputs themselves.
  Matrix mixing;
  std::vector<Term> terms;
  TrainingRecord training;

  [[nodiscard]] Index n_outputs() const { return std::ssize(outputs); }
  // Whether there is a number to predict, or two classes: one score says all.
  [[nodiscard]] bool has_one_output() const { return outputs.size() == 1; }

  // For one table. To predict again and again, make a Predictor (mfga/predictor.hpp), which these use, once.
  // x has the columns that the model was trained on; or, with `columns`, input i is column columns[i] of x.
  // NaN is a missing value. Scores, predictions and probabilities are finite: a row with an infinite input,
  // or one that is so far out that its score is not finite, throws Error(kBadData). Threads: 0 means all
  // cores. Of several outputs, the scores of a row follow one another: [rows x outputs].
  [[nodiscard]] std::vector<double> scores(const TableView& x, int threads = 0) const;
  [[nodiscard]] std::vector<double> scores(const TableView& x, std::span<const Index> columns,
                                           int threads = 0) const;
  // Regression: the predicted targets, [rows x outputs]. Classification: the position of the predicted label.
  [[nodiscard]] std::vector<double> predict(const TableView& x, int threads = 0) const;
  [[nodiscard]] double prediction_from_score(double score) const;  // of one output
  [[nodiscard]] std::vector<double> predictions_from_scores(std::span<const double> scores) const;
  // Classification: of two classes the probability of labels[1], of more that of each, [rows x labels].
  [[nodiscard]] std::vector<double> probabilities(const TableView& x, int threads = 0) const;
  [[nodiscard]] std::vector<double> probabilities_from_scores(std::span<const double> scores) const;
  [[nodiscard]] static double probability_from_score(double score);  // of two classes

  [[nodiscard]] std::vector<std::string> input_names() const;
  // Whether some inputs count more than others by a learned stretch.
  [[nodiscard]] bool is_stretched() const;
  // The same as they stand in formulas: r(name) and q(name) where the scale is robust or quantile, m(name)
  // for the combination that takes the place of an input.
  [[nodiscard]] std::vector<std::string> formula_names() const;
  // Where an atom has its knots, or its centre, in the units of the table; if there are more than two, those
  // farthest from the mean first. None for atoms that have no places, and where terms see combinations.
  [[nodiscard]] std::vector<Place> places(const Atom& atom) const;
};

// The model's file format is JSON (docs/model-format.md). Reading checks everything: sizes, names, ranges.
// Writing refuses a model with a number that is not finite: Error(kNumerical).
[[nodiscard]] std::string model_to_json(const Model& model);
// `source` names the file in error messages.
[[nodiscard]] Model model_from_json(std::string_view text, std::string_view source);
[[nodiscard]] Model load_model(const std::string& path);
// Written to a temporary name first and then renamed: an existing file is replaced whole or not at all.
void save_model(const Model& model, const std::string& path);

}  // namespace mfga
