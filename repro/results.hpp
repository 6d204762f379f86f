// What a reproduction of the paper's experiments found, and the files that are written from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/views.hpp"

namespace mfga::repro {

// The values of `part`.
inline constexpr std::string_view kPaperPart = "paper";          // the paper's protocol
inline constexpr std::string_view kOurPart = "ours";             // MFGA with the product's defaults
inline constexpr std::string_view kReferencePart = "reference";  // the constant predictor

// All numbers must be finite: what was not measured is absent, not NaN. (std::nullopt is spelled out so that
// initialisers may leave members out without a warning.)
struct ErrorEstimate {
  double error = 0;
  std::optional<double> standard_error = std::nullopt;  // of the mean over seeds
  std::optional<double> ridge = std::nullopt;
  bool operator==(const ErrorEstimate&) const = default;
};

// As published.
struct PaperFigures {
  std::optional<double> error = std::nullopt, standard_error = std::nullopt,
                        preprocess_seconds = std::nullopt, train_seconds = std::nullopt;
  bool operator==(const PaperFigures&) const = default;
};

struct MethodRow {
  std::string part = std::string(kPaperPart);
  std::string method;
  std::optional<Index> terms = std::nullopt, candidates = std::nullopt;
  std::optional<double> subsample = std::nullopt;  // fraction of the training rows
  Index seeds = 1;
  std::optional<ErrorEstimate> oracle =
      std::nullopt;  // the ridge that is best on the test rows, as the paper reports
  std::optional<ErrorEstimate> honest = std::nullopt;  // the ridge by cross-validation on the training rows
  std::optional<double> preprocess_seconds = std::nullopt, train_seconds = std::nullopt;
  std::optional<PaperFigures> paper = std::nullopt;
  bool operator==(const MethodRow&) const = default;
};

struct CurvePoint {
  Index terms = 0;
  double error = 0;
  std::optional<double> standard_error = std::nullopt;
  bool operator==(const CurvePoint&) const = default;
};

// One method in the figure. A method without a number of terms has one point with terms 0: a horizontal line.
struct Curve {
  std::string method;
  std::vector<CurvePoint> points;
  std::string part = std::string(kPaperPart);
  bool operator==(const Curve&) const = default;
};

struct DatasetResult {
  std::string name, title;
  std::string task;  // regression or classification
  std::string error_unit, source_note;
  Index n_train = 0, n_test = 0, inputs = 0;
  double sigma = 0;
  std::vector<MethodRow> rows;
  std::vector<Curve> figure;  // no panel if empty
  std::vector<std::string> remarks;
  std::vector<std::string> finished;  // what a run that goes on need not do again
  bool operator==(const DatasetResult&) const = default;
};

struct Results {
  std::string mfga_version, cpu, command, date;
  int cores = 1;
  bool quick = false;
  double total_seconds = 0;
  std::vector<DatasetResult> datasets;
  bool operator==(const Results&) const = default;
};

// Exact: results_from_json gives back equal results. A number that is not finite is an error.
std::string results_to_json(const Results& results);
// Refuses (kBadData) anything that results_to_json does not write.
Results results_from_json(std::string_view text);
// A header and one line per data set and row, quoted as in RFC 4180.
std::string results_to_csv(const Results& results);
// The tables of docs/paper.md.
std::string results_to_markdown(const Results& results);
// One page that needs nothing else: no script, no network.
std::string results_to_html(const Results& results);

}  // namespace mfga::repro
