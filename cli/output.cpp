// What several commands print.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "cli/command.hpp"

namespace mfga::cli {
namespace {

// What the names of inputs mean that are not columns of numbers on the standard scale.
std::string input_notes(const Model& model) {
  std::string text;
  if (!model.text_columns.empty())
    text += ",\ncolumn=text is 1 where the column holds that text and else 0, before it is standardised";
  const auto first_of = [&](ScaleKind scale) {
    const auto found =
        std::ranges::find(model.inputs, scale, [](const ModelInput& i) { return i.warp.kind(); });
    return found == model.inputs.end() ? nullptr : &*found;
  };
  if (const ModelInput* input = first_of(ScaleKind::kRobust)) {
    text +=
        fmt::format(",\nr(column) = (value - median) / robust spread, cut to [-{0}, {0}]", input->warp.limit);
  }
  if (first_of(ScaleKind::kQuantile) != nullptr) {
    text += ",\nq(column) is the normal quantile of the part of the training rows that are below the value";
  }
  if (model.is_stretched())
    text += ",\neach times its stretch, which tells how much the column counts (mfga inspect shows them)";
  if (model.mixing.rows > 0)
    text += ",\nm(column) is a combination of all columns, whose weights are in the model file";
  return text;
}

std::string signed_number(double value) {
  return fmt::format("{} {:.6g}", std::signbit(value) ? "-" : "+", std::abs(value));
}

// The first of the places, after a formula.
std::string places_text(const std::vector<Place>& places) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, places.size()); ++i)
    text += fmt::format("{}{} = {:.4g}", i == 0 ? "   at " : ", ", places[i].column, places[i].value);
  return places.size() > kMost ? text + ", ..." : text;
}

}  // namespace

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
  for (const std::string& remark : table.remarks) summary += "\n  " + escaped(remark);
  return summary;
}

std::string formula_text(const Model& model, std::size_t most_terms) {
  const std::vector<std::string> names = model.formula_names();
  const bool scaled = model.target_shift != 0 || model.target_scale != 1;
  std::string text = model.task == Task::kClassification
                         ? fmt::format("log-odds of {} = {}\n", model.target_name, model.labels[1])
                         : fmt::format("{}\n", model.target_name);
  text += fmt::format("  = {:.6g}\n", model.target_shift + model.target_scale * model.intercept);
  std::vector<double> widths;
  bool has_places = false;
  for (std::size_t i = 0; i < model.terms.size(); ++i) {
    const Term& term = model.terms[i];
    if (term.atom.family == "gaussian" &&
        std::find(widths.begin(), widths.end(), term.atom.parameters[0]) == widths.end()) {
      widths.push_back(term.atom.parameters[0]);
    }
    if (i >= most_terms) continue;
    const AtomFormula formula = describe(term.atom, names);
    has_places = has_places || !model.places(term.atom).empty();
    text +=
        fmt::format("  {:>14}  {}{}\n", signed_number(model.target_scale * term.coefficient * formula.factor),
                    formula.text, places_text(model.places(term.atom)));
  }
  if (model.terms.size() > most_terms)
    text += fmt::format("  ... and {} more terms\n", model.terms.size() - most_terms);
  text += "where each column stands for its standardised value, (value - mean) / deviation";
  if (has_places) text += ",\nand what follows \"at\" is the place of a term in the units of the table";
  if (!widths.empty()) text += ",\nand G(s) = exp(-|z|^2 / 2 s^2), with z all standardised columns";
  text += input_notes(model);
  if (scaled && model.task == Task::kRegression) text += "\n(fitted to the target scaled to [-1, 1])";
  return text + "\n";
}

std::string stretch_text(const Model& model, std::size_t most) {
  if (!model.is_stretched()) return "";
  std::vector<const ModelInput*> inputs;
  std::size_t longest = 0;
  for (const ModelInput& input : model.inputs) inputs.push_back(&input);
  std::ranges::stable_sort(inputs, std::greater{}, [](const ModelInput* input) { return input->stretch; });
  inputs.resize(std::min(inputs.size(), most));
  for (const ModelInput* input : inputs) longest = std::max(longest, input->name.size());
  constexpr double kBar = 40;
  std::string text = "stretch of the columns: differences of a column count this much in all terms\n";
  for (const ModelInput* input : inputs) {
    const auto length = static_cast<std::size_t>(std::lround(kBar * input->stretch / inputs[0]->stretch));
    text += fmt::format("  {:<{}}  {:>8.3g}  {}\n", input->name, longest, input->stretch,
                        std::string(length, '#'));
  }
  if (model.inputs.size() > most) text += fmt::format("  ... and {} more\n", model.inputs.size() - most);
  return text;
}

Json to_json(const Evaluation& evaluation) {
  Json json;
  if (const auto& m = evaluation.regression) {
    json = {{"mse", m->mse}, {"rmse", m->rmse}, {"mae", m->mae}, {"r2", m->r2}};
  }
  if (const auto& m = evaluation.classification) {
    json = {{"error_percent", m->error_percent}, {"log_loss", m->log_loss}, {"auc", m->auc}};
  }
  if (evaluation.scaled_error_percent) json["scaled_error_percent"] = *evaluation.scaled_error_percent;
  return json;
}

std::string to_text(const Evaluation& evaluation) {
  std::string text;
  if (const auto& m = evaluation.regression) {
    text = fmt::format("RMSE {:.5g}, MAE {:.5g}, R2 {:.4f}", m->rmse, m->mae, m->r2);
  }
  if (const auto& m = evaluation.classification) {
    text = fmt::format("error {:.2f} %, log loss {:.4f}, AUC {:.4f}", m->error_percent, m->log_loss, m->auc);
  }
  if (evaluation.scaled_error_percent) {
    text += fmt::format(", 100 x MSE on [-1, 1] {:.4g}", *evaluation.scaled_error_percent);
  }
  return text;
}

}  // namespace mfga::cli
