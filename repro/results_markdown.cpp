// The tables as text for docs/paper.md.
#include <fmt/format.h>

#include <iterator>

#include "charts/text.hpp"
#include "repro/results.hpp"

namespace mfga::repro {
namespace {

constexpr std::string_view kNothing = "–";

std::string error_text(double error) {
  return error >= 10 ? fmt::format("{:.2f}", error) : fmt::format("{:.3g}", error);
}

// A figure of ours and the published one in brackets.
std::string beside(const std::string& ours, const std::optional<double>& published) {
  return published ? fmt::format("{} ({:g})", ours, *published) : ours;
}

std::string oracle_text(const MethodRow& row) {
  if (!row.oracle) return std::string(kNothing);
  std::string text = error_text(row.oracle->error);
  if (row.oracle->standard_error) text += fmt::format(" ± {:.2g}", *row.oracle->standard_error);
  return beside(text, row.paper ? row.paper->error : std::nullopt);
}

std::string seconds_text(const std::optional<double>& seconds, int decimals,
                         const std::optional<double>& published) {
  return beside(seconds ? fmt::format("{:.{}f}", *seconds, decimals) : std::string(kNothing), published);
}

void add_table(const DatasetResult& dataset, std::string& text) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n**{}** ({} training rows, {} test rows). {}\n\n", dataset.title,
                 charts::with_thousands(dataset.n_train), charts::with_thousands(dataset.n_test),
                 dataset.source_note);
  text += "| method | M | oracle error | honest error | preprocessing, s | training, s |\n";
  text += "|---|---|---|---|---|---|\n";
  for (const MethodRow& row : dataset.rows) {
    const PaperFigures paper = row.paper.value_or(PaperFigures{});
    fmt::format_to(out, "| {}{} | {} | {} | {} | {} | {} |\n", row.method,
                   row.part == kOurPart ? ", our default" : "",
                   row.terms ? fmt::format("{}", *row.terms) : std::string(kNothing), oracle_text(row),
                   row.honest ? error_text(row.honest->error) : std::string(kNothing),
                   seconds_text(row.preprocess_seconds, 2, paper.preprocess_seconds),
                   seconds_text(row.train_seconds, 3, paper.train_seconds));
  }
}

}  // namespace

std::string results_to_markdown(const Results& results) {
  std::string text =
      fmt::format("`{}` on {}, {} cores, {}: {:.0f} minutes in all. In brackets: the paper's.\n",
                  results.command, results.cpu, results.cores, results.date, results.total_seconds / 60);
  for (const DatasetResult& dataset : results.datasets) add_table(dataset, text);
  return text;
}

}  // namespace mfga::repro
