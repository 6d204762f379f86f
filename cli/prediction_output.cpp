// Rows are formatted in parallel, some tasks at a time, and written in order.
#include "cli/prediction_output.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "data/npy.hpp"
#include "data/number_text.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga::cli {
namespace {

bool is_npy(const std::string& path) { return uncompressed_name(path).ends_with(".npy"); }

// A text as a CSV field.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

// The labels of a classification as numbers; false if they are not.
bool numeric_labels(const Model& model, std::array<double, 2>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (classify_field(model.labels[i], values[i]) != FieldContent::kFinite) return false;
  }
  return true;
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
    if (kind_ == PredictionKind::kTarget) return text + csv_field(target_name()) + "\n";
    return text + fmt::format("{},{}\n", csv_field("P(" + model_.labels[0] + ")"),
                              csv_field("P(" + model_.labels[1] + ")"));
  }

  // Of the rows from `first` on.
  void append(std::size_t first, std::span<const double> scores, std::string& text) const {
    const bool is_class = model_.task == Task::kClassification;
    const bool has_probabilities = kind_ == PredictionKind::kProbabilities;
    const std::vector<double> predictions =
        has_probabilities ? std::vector<double>() : model_.predictions_from_scores(scores);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      for (const std::vector<std::string>& column : kept_.texts) text += csv_field(column[first + i]) + ",";
      if (has_probabilities) {
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("{},{}\n"),
                       Model::probability_from_score(-scores[i]), Model::probability_from_score(scores[i]));
      } else if (is_class) {
        text += label_lines_[predictions[i] > 0.5 ? 1 : 0];
      } else {
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}\n"), predictions[i]);
      }
    }
  }

 private:
  // Beside the target itself its prediction needs another name.
  [[nodiscard]] std::string target_name() const {
    std::string name = model_.target_name;
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
  for (std::size_t done = 0; done < scores.size(); done += kRowsPerTask * kTasksAtOnce) {
    const std::span<const double> part =
        scores.subspan(done, std::min(scores.size() - done, kRowsPerTask * kTasksAtOnce));
    const std::size_t n_tasks = (part.size() + kRowsPerTask - 1) / kRowsPerTask;
    pool.run(static_cast<Index>(n_tasks), [&](Index task) {
      const std::size_t first = static_cast<std::size_t>(task) * kRowsPerTask;
      std::string& text = texts[static_cast<std::size_t>(task)];
      text.clear();
      rows.append(done + first, part.subspan(first, std::min(kRowsPerTask, part.size() - first)), text);
    });
    for (std::size_t task = 0; task < n_tasks; ++task) output.write(texts[task]);
  }
}

void write_npy(OutputFile& output, const Model& model, PredictionKind kind, std::span<const double> scores) {
  const auto n_rows = static_cast<Index>(scores.size());
  std::vector<double> numbers;
  if (kind == PredictionKind::kProbabilities) {
    output.write(npy_header(fmt::format("({}, 2)", n_rows)));
    for (const double score : scores) {
      numbers.push_back(Model::probability_from_score(-score));
      numbers.push_back(Model::probability_from_score(score));
    }
  } else {
    output.write(npy_header(fmt::format("({},)", n_rows)));
    numbers = model.predictions_from_scores(scores);
    if (model.task == Task::kClassification) {
      std::array<double, 2> labels{};
      numeric_labels(model, labels);
      for (double& number : numbers) number = labels[number > 0.5 ? 1 : 0];
    }
  }
  output.write({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
}

}  // namespace

void check_prediction_output(const std::string& path, const Model& model, PredictionKind kind,
                             bool keeps_columns) {
  if (is_npy(path) && keeps_columns) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{}: --keep copies text, and .npy output holds numbers; use a name that ends in .csv",
                    path));
  }
  std::array<double, 2> labels{};
  if (!is_npy(path) || kind == PredictionKind::kProbabilities || model.task != Task::kClassification ||
      numeric_labels(model, labels)) {
    return;
  }
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format("{}: the model's labels \"{}\" and \"{}\" are text, and .npy output holds numbers; use "
                  "--proba, or a name that ends in .csv",
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
