#include "repro/report_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "charts/text.hpp"

namespace mfga::repro {
namespace {

// A number in a column, as text; `value` only decides which is the lowest.
struct Cell {
  Cell(double compared, std::string text) : value(compared), number(std::move(text)) {}
  double value;
  std::string number;
  std::string standard_error;
};

// The cells of one column, top to bottom, laid out together.
class Column {
 public:
  Column(std::string style, bool emphasise_lowest)
      : style_(std::move(style)), emphasise_lowest_(emphasise_lowest) {}

  void add(std::optional<Cell> cell) { cells_.push_back(std::move(cell)); }

  // Called once all cells are there.
  void lay_out() {
    for (const auto& cell : cells_) {
      if (!cell) continue;
      decimals_ = std::max(decimals_, charts::count_decimals(cell->number));
      error_width_ = std::max(error_width_, cell->standard_error.size());
      if (!lowest_ || cell->value < lowest_->value) lowest_ = *cell;
    }
  }

  // Stands over the numbers, not over their standard errors.
  [[nodiscard]] std::string heading(std::string_view text) const {
    return fmt::format("<th scope=\"col\" class=\"{}\">{}{}</th>", style_, text, tail(""));
  }

  [[nodiscard]] std::string html(std::size_t row) const {
    const std::optional<Cell>& cell = cells_[row];
    if (!cell)
      return fmt::format("<td class=\"{}\"><span class=\"none\">\u2013</span>{}</td>", style_, tail(""));
    // What reads the same is equally good.
    const bool best = emphasise_lowest_ && cell->number == lowest_->number;
    const std::string number = charts::pad_decimals(cell->number, decimals_);
    return fmt::format("<td class=\"{}{}\">{}{}{}{}</td>", style_, best ? " best" : "", best ? "<b>" : "",
                       number, best ? "</b>" : "", tail(cell->standard_error));
  }

 private:
  // Keeps numbers with and without a standard error below each other.
  [[nodiscard]] std::string tail(std::string_view standard_error) const {
    if (error_width_ == 0) return {};
    return fmt::format("<span class=\"se\" style=\"width:{}ch\">{}{}</span>", error_width_ + 3,
                       standard_error.empty() ? "" : "\u00b1\u2009", standard_error);
  }

  std::string style_;
  bool emphasise_lowest_;
  std::vector<std::optional<Cell>> cells_;
  int decimals_ = 0;
  std::size_t error_width_ = 0;
  std::optional<Cell> lowest_;
};

std::optional<Cell> estimate_cell(const std::optional<ErrorEstimate>& estimate, int decimals) {
  if (!estimate) return std::nullopt;
  Cell cell(estimate->error, fmt::format("{:.{}f}", estimate->error, decimals));
  if (estimate->standard_error)
    cell.standard_error = fmt::format("{:.{}f}", *estimate->standard_error, decimals);
  return cell;
}

// With the digits that were published, no more.
std::optional<Cell> published_cell(const std::optional<double>& value,
                                   const std::optional<double>& standard_error = {}) {
  if (!value) return std::nullopt;
  Cell cell(*value, fmt::format("{}", *value));
  if (standard_error) cell.standard_error = fmt::format("{}", *standard_error);
  return cell;
}

std::optional<Cell> seconds_cell(const std::optional<double>& seconds) {
  if (!seconds) return std::nullopt;
  return Cell(*seconds, charts::short_number(*seconds));
}

std::optional<Cell> count_cell(const std::optional<Index>& count) {
  if (!count) return std::nullopt;
  return Cell(static_cast<double>(*count), charts::with_thousands(*count));
}

std::optional<Cell> percent_cell(const std::optional<double>& fraction) {
  if (!fraction) return std::nullopt;
  return Cell(*fraction, fmt::format("{:.4g} %", 100 * *fraction));
}

std::vector<Column> make_columns(const DatasetResult& dataset, const std::vector<const MethodRow*>& rows) {
  std::vector<double> errors;
  for (const MethodRow& row : dataset.rows) {
    for (const auto* estimate : {&row.oracle, &row.honest}) {
      if (*estimate) errors.push_back((*estimate)->error);
    }
  }
  const int decimals = charts::shared_decimals(errors);
  std::vector<Column> columns = {{"", false},    {"", false},         {"", false},    {"set", true},
                                 {"", true},     {"published", true}, {"set", false}, {"theirs", false},
                                 {"set", false}, {"theirs", false}};
  for (const MethodRow* row : rows) {
    const PaperFigures paper = row->paper.value_or(PaperFigures{});
    std::size_t at = 0;
    for (auto& cell : std::to_array<std::optional<Cell>>(
             {count_cell(row->terms), count_cell(row->candidates), percent_cell(row->subsample),
              estimate_cell(row->oracle, decimals), estimate_cell(row->honest, decimals),
              published_cell(paper.error, paper.standard_error), seconds_cell(row->preprocess_seconds),
              published_cell(paper.preprocess_seconds), seconds_cell(row->train_seconds),
              published_cell(paper.train_seconds)})) {
      columns[at++].add(std::move(cell));
    }
  }
  for (Column& column : columns) column.lay_out();
  return columns;
}

constexpr std::string_view kFirstHeadings = R"(<thead>
<tr><th rowspan="2" scope="col" class="method">Method</th>
<th rowspan="2" scope="col"><abbr title="number of terms">M</abbr></th>
<th rowspan="2" scope="col"><abbr title="number of candidates">M<sub>0</sub></abbr></th>
<th rowspan="2" scope="col">Training<br>rows used</th>
<th colspan="3" scope="colgroup" class="set">Test error</th>
<th colspan="2" scope="colgroup" class="set">Preprocessing, s</th>
<th colspan="2" scope="colgroup" class="set">Training, s</th></tr>
)";
// Of the columns from the fourth on, under the groups.
constexpr std::size_t kFirstGrouped = 3;
constexpr std::array<std::string_view, 7> kGroupedHeadings = {"oracle", "honest", "paper", "here",
                                                              "paper",  "here",   "paper"};

std::string table_head(const std::vector<Column>& columns) {
  std::string html(kFirstHeadings);
  html += "<tr>";
  for (std::size_t i = 0; i < kGroupedHeadings.size(); ++i)
    html += columns[kFirstGrouped + i].heading(kGroupedHeadings[i]);
  return html + "</tr>\n</thead>\n";
}

struct Part {
  std::string_view part, title;
};
constexpr std::array<Part, 3> kParts = {{{kPaperPart, "The paper\u2019s protocol"},
                                         {kOurPart, "Our default"},
                                         {kReferencePart, "For reference"}}};

}  // namespace

std::string dataset_table(const DatasetResult& dataset) {
  // In the order of the parts, whatever the order they were computed in.
  std::vector<const MethodRow*> rows;
  for (const Part& part : kParts) {
    for (const MethodRow& row : dataset.rows) {
      if (row.part == part.part) rows.push_back(&row);
    }
  }
  const std::vector<Column> columns = make_columns(dataset, rows);

  std::string html = fmt::format(
      "<table>\n<caption><span>{}: test error ({}) and seconds. The lowest error of a column is "
      "bold.</caption>\n{}",
      charts::escape_html(dataset.title), charts::escape_html(dataset.error_unit), table_head(columns));
  std::size_t at = 0;
  for (const Part& part : kParts) {
    if (at == rows.size() || rows[at]->part != part.part) continue;
    fmt::format_to(std::back_inserter(html),
                   "<tbody class=\"part-{}\">\n<tr class=\"group\"><th colspan=\"{}\" scope=\"rowgroup\" "
                   "class=\"method\">{}</th></tr>\n",
                   part.part, columns.size() + 1, part.title);
    for (; at < rows.size() && rows[at]->part == part.part; ++at) {
      const MethodRow& row = *rows[at];
      const std::string seeds =
          row.seeds > 1 ? fmt::format("<small>{} seeds</small>", row.seeds) : std::string();
      fmt::format_to(std::back_inserter(html), "<tr><th scope=\"row\" class=\"method\">{}{}</th>",
                     charts::escape_html(row.method), seeds);
      for (const Column& column : columns) html += column.html(at);
      html += "</tr>\n";
    }
    html += "</tbody>\n";
  }
  return html + "</table>\n";
}

}  // namespace mfga::repro
