#include "report/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mfga/error.hpp"

namespace mfga::report {
namespace {

constexpr std::uint64_t kSeed = 1;

void check(const Model& model, const ReportData& data) {
  const Index targets = model.task == Task::kRegression ? model.n_outputs() : 1;
  if (!data.targets.empty() && std::ssize(data.targets) != data.x.rows * targets) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} targets for {} rows; expected {}", data.targets.size(), data.x.rows,
                            data.x.rows * targets));
  }
  if (!std::ranges::all_of(data.targets, [](double target) { return std::isfinite(target); }))
    throw Error(ErrorKind::kBadData, "targets have values that are not finite numbers; leave such rows out");
  if (!data.weights.empty() && std::ssize(data.weights) != data.x.rows) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} weights for {} rows", data.weights.size(), data.x.rows));
  }
  if (data.x.rows == 0)
    throw Error(ErrorKind::kBadData, "the table has no rows; a report needs at least one");
  if (data.columns.empty() && data.x.cols != model.n_columns) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("x has {} columns; the model was trained on {}", data.x.cols, model.n_columns));
  }
  if (!data.columns.empty() && data.columns.size() != model.inputs.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} columns for the model's {} inputs; give one for each",
                            data.columns.size(), model.inputs.size()));
  }
  for (const Index column : data.columns) {
    if (column < 0 || column >= data.x.cols)
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("x has {} columns, and an input is to be column {}", data.x.cols, column));
  }
}

}  // namespace

double Draws::next() {
  // SplitMix64.
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  return static_cast<double>(z >> 11U) * 0x1p-53;
}

std::vector<Index> Draws::permutation(Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index i = count - 1; i > 0; --i) {
    const auto j = static_cast<Index>(next() * static_cast<double>(i + 1));
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
  }
  return order;
}

Sample draw_sample(const Predictor& predictor, const ReportData& data, Index most_rows) {
  const Model& model = predictor.model();
  check(model, data);
  std::vector<Index> chosen;
  Draws draws(kSeed);
  Index wanted = std::min(most_rows, data.x.rows);
  for (Index row = 0; row < data.x.rows; ++row) {
    if (draws.next() * static_cast<double>(data.x.rows - row) >= static_cast<double>(wanted)) continue;
    chosen.push_back(row);
    --wanted;
  }
  Sample sample;
  sample.all_rows = data.x.rows;
  const auto inputs = static_cast<Index>(model.inputs.size());
  sample.rows = Matrix::uninitialised(std::ssize(chosen), inputs);
  for (Index r = 0; r < sample.rows.rows; ++r) {
    const Index row = chosen[static_cast<std::size_t>(r)];
    for (Index i = 0; i < inputs; ++i) {
      const auto at = static_cast<std::size_t>(i);
      sample.rows(r, i) = data.x(row, data.columns.empty() ? model.inputs[at].column : data.columns[at]);
    }
    if (!data.weights.empty()) sample.weights.push_back(data.weights[static_cast<std::size_t>(row)]);
  }
  if (!data.weights.empty() && !(std::accumulate(sample.weights.begin(), sample.weights.end(), 0.0) > 0))
    throw Error(ErrorKind::kBadData,
                "the rows all have the weight 0; a report needs at least one that counts");
  for (Index first = 0; first < std::ssize(data.targets); first += data.x.rows) {
    for (const Index row : chosen)
      sample.targets.push_back(data.targets[static_cast<std::size_t>(first + row)]);
  }
  std::vector<Index> columns(model.inputs.size());
  std::iota(columns.begin(), columns.end(), Index{0});
  sample.scores = predictor.scores(sample.rows.view(), columns, [&](Index row) {
    const Index of_table = chosen[static_cast<std::size_t>(row)];
    return data.row_name ? data.row_name(of_table) : fmt::format("row {} (counted from 0)", of_table);
  });
  return sample;
}

std::vector<double> scores_of(const Predictor& predictor, const Matrix& rows) {
  std::vector<Index> columns(static_cast<std::size_t>(rows.cols));
  std::iota(columns.begin(), columns.end(), Index{0});
  return predictor.scores(rows.view(), columns);
}

std::vector<double> shown_values(const Model& model, std::span<const double> scores) {
  return model.task == Task::kClassification ? model.probabilities_from_scores(scores)
                                             : model.predictions_from_scores(scores);
}

std::string shown_name(const Model& model, Index output) {
  const std::string& name = model.outputs[static_cast<std::size_t>(output)].name;
  if (model.task == Task::kRegression) return model.has_one_output() ? model.target_name : name;
  return fmt::format("probability of {}", model.has_one_output() ? model.labels[1] : name);
}

}  // namespace mfga::report
