// What several commands print.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

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
  for (const std::string& remark : spelled(table.remarks)) summary += "\n  " + escaped(remark);
  return summary;
}

Json to_json(const Evaluation& evaluation) {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json;
  if (const auto& m = evaluation.regression) {
    json = {{"mse", m->mse}, {"rmse", m->rmse}, {"mae", m->mae}, {"r2", number(m->r2)}};
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
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : std::string("-");
  };
  std::string text;
  if (const auto& m = evaluation.regression) {
    text = fmt::format("RMSE {:.5g}, MAE {:.5g}, R2 {}", m->rmse, m->mae, number(m->r2));
  }
  if (const auto& m = evaluation.classification) {
    text =
        fmt::format("error {:.2f} % ({:.2f} % by always guessing the larger class), log loss {:.4f}, AUC {}",
                    m->error_percent, m->base_error_percent, m->log_loss, number(m->auc));
    constexpr double kRarePercent = 10;
    if (m->base_error_percent < kRarePercent) {
      text += fmt::format("; of {}: precision {}, recall {}, average precision {}",
                          escaped(evaluation.rarer_label), number(m->precision), number(m->recall),
                          number(m->average_precision));
    }
  }
  if (evaluation.scaled_error_percent) {
    text += fmt::format(", 100 x MSE on [-1, 1] {:.4g}", *evaluation.scaled_error_percent);
  }
  return text;
}

}  // namespace mfga::cli
