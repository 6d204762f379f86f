// Rows are formatted in parallel, some tasks at a time, and written in order.
#include "cli/prediction_output.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "data/npy.hpp"
#include "data/number_text.hpp"
#include "mfga/thread_pool.hpp"
#include "model/scoring.hpp"

namespace mfga::cli {
namespace {

bool is_npy(const std::string& path) { return uncompressed_name(path).ends_with(".npy"); }

// The labels of a classification as numbers; empty if they are not.
std::vector<double> numeric_labels(const Model& model) {
  std::vector<double> values;
  for (const std::string& label : model.labels) {
    double value = 0;
    if (classify_field(label, value) != FieldContent::kFinite) return {};
    values.push_back(value);
  }
  return values;
}

// Of each label, row after row.
std::vector<double> all_probabilities(const Model& model, std::span<const double> scores) {
  if (!model.has_one_output()) return model.probabilities_from_scores(scores);
  std::vector<double> result;
  for (const double score : scores) {
    const double odds = log_odds(model, score);
    result.push_back(Model::probability_from_score(-odds));
    result.push_back(Model::probability_from_score(odds));
  }
  return result;
}

// What is written, before labels take the place of their positions.
std::vector<double> numbers_of(const Model& model, PredictionKind kind, std::span<const double> scores) {
  if (kind == PredictionKind::kProbabilities) return all_probabilities(model, scores);
  if (kind == PredictionKind::kTarget) return model.predictions_from_scores(scores);
  std::vector<double> result(scores.begin(), scores.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Output& output = model.outputs[i % model.outputs.size()];
    result[i] = output.shift + output.scale * result[i];
  }
  return result;
}

class CsvRows {
 public:
  CsvRows(const Model& model, PredictionKind kind, const KeptColumns& kept)
      : model_(model), kind_(kind), kept_(kept) {
    for (const std::string& label : model.labels) label_lines_.push_back(csv_field(label) + "\n");
  }

  [[nodiscard]] std::string header() const {
    std::string text;
    for (const std::string& name : kept_.names) text += csv_field(name) + ",";
    std::vector<std::string> names;
    if (kind_ == PredictionKind::kScores) {
      for (const Output& output : model_.outputs)
        names.push_back(output.name.empty() ? "score" : "score(" + output.name + ")");
    } else if (kind_ == PredictionKind::kProbabilities) {
      for (const std::string& label : model_.labels) names.push_back("P(" + label + ")");
    } else if (model_.task == Task::kRegression && !model_.has_one_output()) {
      for (const Output& output : model_.outputs) names.push_back(unused(output.name));
    } else {
      names.push_back(unused(model_.target_name));
    }
    for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(names[i]);
    return text + "\n";
  }

  // Of the rows from `first` on.
  void append(std::size_t first, std::span<const double> scores, std::string& text) const {
    const bool is_label = model_.task == Task::kClassification && kind_ == PredictionKind::kTarget;
    const std::vector<double> numbers = numbers_of(model_, kind_, scores);
    const std::size_t rows = scores.size() / model_.outputs.size();
    const std::size_t columns = numbers.size() / rows;
    for (std::size_t i = 0; i < rows; ++i) {
      for (const std::vector<std::string>& column : kept_.texts) text += csv_field(column[first + i]) + ",";
      if (is_label) {
        text += label_lines_[static_cast<std::size_t>(numbers[i])];
        continue;
      }
      for (std::size_t k = 0; k < columns; ++k) {
        if (k > 0) text += ',';
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), numbers[i * columns + k]);
      }
      text += '\n';
    }
  }

 private:
  // Beside the target itself its prediction needs another name.
  [[nodiscard]] std::string unused(std::string name) const {
    while (std::ranges::find(kept_.names, name) != kept_.names.end()) name = "predicted " + name;
    return name;
  }

  const Model& model_;
  PredictionKind kind_;
  const KeptColumns& kept_;
  std::vector<std::string> label_lines_;
};

void write_csv(OutputFile& output, const Model& model, PredictionKind kind, std::span<const double> scores,
               const KeptColumns& kept, int threads) {
  constexpr std::size_t kRowsPerTask = 8192;
  constexpr std::size_t kTasksAtOnce = 64;
  const CsvRows rows(model, kind, kept);
  ThreadPool pool(threads);
  std::vector<std::string> texts(kTasksAtOnce);
  output.write(rows.header());
  const std::size_t outputs = model.outputs.size();
  const std::size_t n_rows = scores.size() / outputs;
  for (std::size_t done = 0; done < n_rows; done += kRowsPerTask * kTasksAtOnce) {
    const std::size_t part = std::min(n_rows - done, kRowsPerTask * kTasksAtOnce);
    const std::size_t n_tasks = (part + kRowsPerTask - 1) / kRowsPerTask;
    pool.run(static_cast<Index>(n_tasks), [&](Index task) {
      const std::size_t first = static_cast<std::size_t>(task) * kRowsPerTask;
      std::string& text = texts[static_cast<std::size_t>(task)];
      text.clear();
      const std::size_t count = std::min(kRowsPerTask, part - first);
      rows.append(done + first, scores.subspan((done + first) * outputs, count * outputs), text);
    });
    for (std::size_t task = 0; task < n_tasks; ++task) output.write(texts[task]);
  }
}

void write_npy(OutputFile& output, const Model& model, PredictionKind kind, std::span<const double> scores) {
  const std::size_t n_rows = scores.size() / model.outputs.size();
  std::vector<double> numbers = numbers_of(model, kind, scores);
  const bool has_labels = model.task == Task::kClassification && kind == PredictionKind::kTarget;
  if (has_labels) {
    const std::vector<double> labels = numeric_labels(model);
    for (double& number : numbers) number = labels[static_cast<std::size_t>(number)];
  }
  const std::size_t columns = numbers.size() / std::max<std::size_t>(n_rows, 1);
  output.write(
      npy_header(columns == 1 ? fmt::format("({},)", n_rows) : fmt::format("({}, {})", n_rows, columns)));
  output.write({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

void check_prediction_output(const std::string& path, const Model& model, PredictionKind kind,
                             bool keeps_columns) {
  if (is_npy(path) && keeps_columns) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{}: --keep copies text, and .npy output holds numbers; use a name that ends in .csv",
                    path));
  }
  if (!is_npy(path) || kind != PredictionKind::kTarget || model.task != Task::kClassification ||
      !numeric_labels(model).empty()) {
    return;
  }
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format("{}: the model's labels, such as \"{}\" and \"{}\", are text, and .npy output holds "
                  "numbers; use --proba, or a name that ends in .csv",
                  path, model.labels[0], model.labels[1]));
}

void write_predictions(OutputFile& output, const std::string& path, const Model& model, PredictionKind kind,
                       std::span<const double> scores, const KeptColumns& kept, int threads) {
  if (is_npy(path)) {
    write_npy(output, model, kind, scores);
  } else {
    write_csv(output, model, kind, scores, kept, threads);
  }
}

}  // namespace mfga::cli
