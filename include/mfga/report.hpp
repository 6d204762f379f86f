// A page about a model: its formula, how good it is, what matters to it, and how it came about.
//
//   std::string html = mfga::report_page(model, {.x = x_test, .targets = y_test});
//
// docs/report.md says what is on it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "mfga/model.hpp"
#include "mfga/predictor.hpp"
#include "mfga/views.hpp"

namespace mfga {

// Rows to look at the model with. Set by name; only x must be given. Nothing is copied but a sample.
struct ReportData {
  TableView x;                           // with the columns that the model was trained on;
  std::span<const Index> columns = {};   // or, with these, input i is column columns[i] of x
  std::span<const double> targets = {};  // as evaluate_scores takes them; none: they are not known
  std::span<const double> weights = {};  // of the rows; none: 1
  std::string name = {};                 // of the rows, for the reader, such as `test.csv`
  RowName row_name = {};                 // of a row, for error messages
};

struct ReportOptions {
  std::string title = {};   // empty: made from the target
  Index most_rows = 20000;  // of more, so many are drawn, always the same ones
  int threads = 0;          // 0: all cores
};

// One HTML page that needs nothing else: no script, no network. Without data, what needs none.
[[nodiscard]] std::string report_page(const Model& model, const std::optional<ReportData>& data = {},
                                      const ReportOptions& options = {});

}  // namespace mfga
