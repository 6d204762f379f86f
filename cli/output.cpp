// What several commands print.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/command.hpp"

namespace mfga::cli {
ProgressLine::ProgressLine(bool quiet) : active_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!active_) return;
  std::fputs(fmt::format("\r\x1b[K{}", escaped(text)).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string table_summary(const Table& table) {
  const Index n_columns = std::ssize(table.columns);
  const std::string text = table.text_columns.empty() ? ""
                                                      : fmt::format(" ({} of text, which makes {} columns)",
                                                                    table.text_columns.size(), n_columns);
  std::string summary =
      fmt::format("{}: {} rows, {} predictors{}; {:.1f} MB in {:.3f} s ({:.0f} MB/s)", escaped(table.source),
                  table.rows(), predictor_count(n_columns, table.text_columns), text, table.megabytes,
                  table.load_seconds, table.megabytes / std::max(table.load_seconds, 1e-9));
  if (!table.missing.empty()) {
    constexpr std::size_t kMostNamed = 5;
    Index count = 0;
    std::vector<std::string> named;
    for (const MissingValues& values : table.missing) {
      count += values.count;
      if (named.size() < kMostNamed)
        named.push_back(fmt::format("{} {}", escaped(values.column), values.count));
    }
    summary += fmt::format("\n  missing: {} value{} in {} column{} ({}{})", count, count == 1 ? "" : "s",
                           table.missing.size(), table.missing.size() == 1 ? "" : "s", fmt::join(named, ", "),
                           table.missing.size() > kMostNamed ? ", ..." : "");
  }
  for (const std::string& remark : spelled(table.remarks)) summary += "\n  " + escaped(remark);
  return summary;
}

namespace {

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json regression_json(const RegressionMetrics& m) {
  return {{"mse", m.mse}, {"rmse", m.rmse}, {"mae", m.mae}, {"r2", number(m.r2)}};
}

std::string number_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : std::string("-");
}

}  // namespace

Json to_json(const Evaluation& evaluation) {
  Json json = Json::object();
  if (const auto& m = evaluation.regression) json = regression_json(*m);
  if (!evaluation.own_measure.empty()) json[evaluation.own_measure] = number(evaluation.own_loss);
  if (!evaluation.targets.empty()) {
    std::optional<double> sum = 0;
    Json targets = Json::array();
    for (const auto& [name, metrics] : evaluation.targets) {
      sum = sum && metrics.r2 ? std::optional(*sum + *metrics.r2) : std::nullopt;
      Json one = regression_json(metrics);
      one["target"] = name;
      targets.push_back(std::move(one));
    }
    if (sum) *sum /= static_cast<double>(evaluation.targets.size());
    json = {{"mean_r2", number(sum)}, {"targets", targets}};
  }
  if (const auto& m = evaluation.classes) {
    json = {{"error_percent", m->error_percent}, {"base_error_percent", m->base_error_percent},
            {"log_loss", m->log_loss},           {"macro_auc", number(m->macro_auc)},
            {"micro_auc", number(m->micro_auc)}, {"classes", Json::array()},
            {"confusion", Json::array()}};
    for (const ClassMetrics& of_class : m->classes)
      json["classes"].push_back({{"label", of_class.label},
                                 {"rows", of_class.rows},
                                 {"precision", number(of_class.precision)},
                                 {"recall", number(of_class.recall)},
                                 {"auc", number(of_class.auc)}});
    for (Index k = 0; k < m->confusion.rows; ++k)
      json["confusion"].push_back(
          std::vector<double>(m->confusion.row(k), m->confusion.row(k) + m->confusion.cols));
  }
  if (const auto& m = evaluation.classification) {
    json = {{"error_percent", m->error_percent},
            {"base_error_percent", m->base_error_percent},
            {"log_loss", m->log_loss},
            {"auc", number(m->auc)},
            {"rarer_label", evaluation.rarer_label},
            {"precision", number(m->precision)},
            {"recall", number(m->recall)},
            {"average_precision", number(m->average_precision)}};
  }
  if (evaluation.scaled_error_percent) json["scaled_error_percent"] = *evaluation.scaled_error_percent;
  return json;
}

std::string to_text(const Evaluation& evaluation) {
  std::string text;
  const auto of_number = [](const RegressionMetrics& m) {
    return fmt::format("RMSE {:.5g}, MAE {:.5g}, R2 {}", m.rmse, m.mae, number_text(m.r2));
  };
  if (const auto& m = evaluation.regression) text = of_number(*m);
  if (evaluation.own_loss) {
    std::string measure = evaluation.own_measure;
    std::ranges::replace(measure, '_', ' ');
    text += fmt::format(", {} {:.5g}", measure, *evaluation.own_loss);
  }
  for (const auto& [name, metrics] : evaluation.targets)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", escaped(name), of_number(metrics));
  if (const auto& m = evaluation.classes) {
    text = fmt::format(
        "error {:.2f} % ({:.2f} % by always guessing the largest class), log loss {:.4f}, AUC {} (mean of "
        "the classes), {} (of all pairs)",
        m->error_percent, m->base_error_percent, m->log_loss, number_text(m->macro_auc),
        number_text(m->micro_auc));
  }
  if (const auto& m = evaluation.classification) {
    text =
        fmt::format("error {:.2f} % ({:.2f} % by always guessing the larger class), log loss {:.4f}, AUC {}",
                    m->error_percent, m->base_error_percent, m->log_loss, number_text(m->auc));
    constexpr double kRarePercent = 10;
    if (m->base_error_percent < kRarePercent) {
      text += fmt::format("; of {}: precision {}, recall {}, average precision {}",
                          escaped(evaluation.rarer_label), number_text(m->precision), number_text(m->recall),
                          number_text(m->average_precision));
    }
  }
  if (evaluation.scaled_error_percent) {
    text += fmt::format(", 100 x MSE on [-1, 1] {:.4g}", *evaluation.scaled_error_percent);
  }
  return text;
}

std::string classes_text(const Evaluation& evaluation) {
  if (!evaluation.classes) return "";
  const MultiClassMetrics& m = *evaluation.classes;
  std::size_t longest = 5;
  for (const ClassMetrics& of_class : m.classes) longest = std::max(longest, escaped(of_class.label).size());
  std::string text = fmt::format("  {:<{}} {:>9} {:>10} {:>10} {:>10}\n", "class", longest, "rows",
                                 "precision", "recall", "AUC");
  for (const ClassMetrics& of_class : m.classes) {
    text += fmt::format("  {:<{}} {:>9.6g} {:>10} {:>10} {:>10}\n", escaped(of_class.label), longest,
                        of_class.rows, number_text(of_class.precision), number_text(of_class.recall),
                        number_text(of_class.auc));
  }
  constexpr Index kMostColumns = 12;
  if (m.confusion.cols > kMostColumns) return text + "  (--json has the confusion matrix)\n";
  text += "rows of each class (down) by their prediction (across)\n";
  std::size_t width = 8;
  for (const ClassMetrics& of_class : m.classes) width = std::max(width, escaped(of_class.label).size() + 1);
  text += fmt::format("  {:<{}}", "", longest);
  for (const ClassMetrics& of_class : m.classes)
    text += fmt::format("{:>{}}", escaped(of_class.label), width);
  text += "\n";
  for (Index k = 0; k < m.confusion.rows; ++k) {
    text += fmt::format("  {:<{}}", escaped(m.classes[static_cast<std::size_t>(k)].label), longest);
    for (Index j = 0; j < m.confusion.cols; ++j) text += fmt::format("{:>{}.6g}", m.confusion(k, j), width);
    text += "\n";
  }
  return text;
}

}  // namespace mfga::cli
