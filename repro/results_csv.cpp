#include <fmt/format.h>

#include <initializer_list>

#include "repro/results.hpp"

namespace mfga::repro {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

// Shortest text that reads back as the same number; empty if there is none.
template <typename Number>
std::string field(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

void append_line(std::string& csv, const std::vector<std::string>& fields) {
  fmt::format_to(std::back_inserter(csv), "{}\r\n", fmt::join(fields, ","));
}

}  // namespace

std::string results_to_csv(const Results& results) {
  std::string csv;
  append_line(csv, {"dataset",
                    "title",
                    "task",
                    "error_unit",
                    "n_train",
                    "n_test",
                    "inputs",
                    "sigma",
                    "part",
                    "method",
                    "terms",
                    "candidates",
                    "subsample",
                    "seeds",
                    "oracle_error",
                    "oracle_standard_error",
                    "oracle_ridge",
                    "honest_error",
                    "honest_standard_error",
                    "honest_ridge",
                    "preprocess_seconds",
                    "train_seconds",
                    "paper_error",
                    "paper_standard_error",
                    "paper_preprocess_seconds",
                    "paper_train_seconds"});
  for (const DatasetResult& dataset : results.datasets) {
    for (const MethodRow& row : dataset.rows) {
      std::vector<std::string> line = {field(dataset.name),
                                       field(dataset.title),
                                       field(dataset.task),
                                       field(dataset.error_unit),
                                       fmt::to_string(dataset.n_train),
                                       fmt::to_string(dataset.n_test),
                                       fmt::to_string(dataset.inputs),
                                       fmt::to_string(dataset.sigma),
                                       field(row.part),
                                       field(row.method),
                                       field(row.terms),
                                       field(row.candidates),
                                       field(row.subsample),
                                       fmt::to_string(row.seeds)};
      for (const auto* estimate : {&row.oracle, &row.honest}) {
        line.push_back(*estimate ? fmt::to_string((*estimate)->error) : std::string());
        line.push_back(*estimate ? field((*estimate)->standard_error) : std::string());
        line.push_back(*estimate ? field((*estimate)->ridge) : std::string());
      }
      line.push_back(field(row.preprocess_seconds));
      line.push_back(field(row.train_seconds));
      const PaperFigures paper = row.paper.value_or(PaperFigures{});
      for (const auto& value :
           {paper.error, paper.standard_error, paper.preprocess_seconds, paper.train_seconds})
        line.push_back(field(value));
      append_line(csv, line);
    }
  }
  return csv;
}

}  // namespace mfga::repro
