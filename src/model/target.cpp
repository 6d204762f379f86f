#include "model/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "mfga/error.hpp"

namespace mfga {
namespace {

// The distinct values, sorted; stops looking when there are more than `most`.
std::set<double> distinct_values(std::span<const double> values, std::size_t most) {
  std::set<double> distinct;
  for (const double value : values) {
    distinct.insert(value);
    if (distinct.size() > most) break;
  }
  return distinct;
}

void check_finite(const TrainingData& data) {
  for (std::size_t n = 0; n < data.y.size(); ++n) {
    if (!std::isfinite(data.y[n])) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the target {} has the value {} in row {}; expected a finite number",
                              data.target_name, data.y[n], n));
    }
  }
}

Error class_count_error(const TrainingData& data, std::vector<std::string> labels) {
  constexpr std::size_t kMostShown = 5;
  const std::size_t count = labels.size();
  labels.resize(std::min(count, kMostShown));
  const std::string found =
      fmt::format("the target {} has {} class{} ({}{})", data.target_name, count, count == 1 ? "" : "es",
                  fmt::join(labels, ", "), count > kMostShown ? ", ..." : "");
  if (count < 2) return {ErrorKind::kBadData, found + "; two are needed to learn from"};
  return {ErrorKind::kBadData,
          fmt::format("{}; two classes are supported now: keep the rows of two of them, or make one class of "
                      "all but one{}",
                      found, data.labels.empty() ? "; for a number to predict use `task=regression`" : "")};
}

void check_labels(const TrainingData& data) {
  if (data.labels.empty()) return;
  for (std::size_t n = 0; n < data.y.size(); ++n) {
    const double value = data.y[n];
    if (value >= 0 && value < static_cast<double>(data.labels.size()) && value == std::floor(value)) continue;
    throw Error(
        ErrorKind::kBadData,
        fmt::format("the target {} has the value {} in row {}; expected the position of one of its {} "
                    "labels, from 0 on",
                    data.target_name, value, n, data.labels.size()));
  }
}

PreparedTarget prepare_classes(const TrainingData& data) {
  PreparedTarget target;
  target.task = Task::kClassification;
  const std::set<double> classes = distinct_values(data.y, data.y.size());
  std::vector<std::string> labels;
  for (const double value : classes) {
    labels.push_back(data.labels.empty() ? number_label(value)
                                         : data.labels[static_cast<std::size_t>(value)]);
  }
  if (labels.size() != 2) throw class_count_error(data, std::move(labels));
  target.labels = std::move(labels);
  target.values.reserve(data.y.size());
  for (const double value : data.y) target.values.push_back(value == *classes.begin() ? -1.0 : 1.0);
  return target;
}

// Losses are squares, and differences of losses are squared again.
void check_size(const TrainingData& data, double lowest, double highest) {
  constexpr double kLargest = 1e50;
  constexpr double kSmallestRange = 1e-50;
  if (lowest == highest) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has the value {} in every row; there is nothing to learn",
                            data.target_name, lowest));
  }
  const double size = std::max(std::abs(lowest), std::abs(highest));
  if (size > kLargest) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has values as large as {:.3g}, whose squares would overflow; at "
                            "most {:g} is possible. Divide the target by a power of ten such as {:.0e}",
                            data.target_name, size, kLargest, std::pow(10, std::floor(std::log10(size)))));
  }
  if (const double range = highest - lowest; range < kSmallestRange) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the values of the target {} differ by {:.3g} at most, whose square would "
                            "underflow; at least {:g} is needed. Multiply the target by a power of ten such "
                            "as 1e{:.0f}",
                            data.target_name, range, kSmallestRange, -std::floor(std::log10(range))));
  }
}

void check_required(const TrainingData& data, const Loss& loss) {
  for (std::size_t n = 0; n < data.y.size(); ++n) {
    const std::string_view required = loss.required_of(data.y[n]);
    if (required.empty()) continue;
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has the value {} in row {}; the {} loss expects {}",
                            data.target_name, data.y[n], n, loss.name(), required));
  }
}

// Half the distance between the quartiles of a normal distribution, and the size beyond which differences
// are outliers to the Huber loss, in standard deviations.
constexpr double kNormalQuartile = 0.6745;
constexpr double kOutlier = 1.345;

// The spread of the target that its outliers do not change.
double robust_deviation(const TargetColumn& targets) {
  std::vector<std::pair<double, double>> sorted;  // with weights
  for (Index n = 0; n < targets.size(); ++n) {
    const double* const weight = targets.weights_from(n);
    sorted.emplace_back(targets.values[static_cast<std::size_t>(n)], weight == nullptr ? 1 : *weight);
  }
  std::ranges::sort(sorted);
  const double total = targets.total_weight();
  const auto quantile = [&](double part) {
    double below = 0;
    for (const auto& [value, weight] : sorted) {
      below += weight;
      if (below >= part * total) return value;
    }
    return sorted.back().first;
  };
  const double quartiles = quantile(0.75) - quantile(0.25);
  // Where half of the values are one value, the range says more.
  const double spread = quartiles > 0 ? quartiles : sorted.back().first - sorted.front().first;
  return spread / (2 * kNormalQuartile);
}

PreparedTarget prepare_numbers(const TrainingData& data, const Loss& loss, bool scale_by_range,
                               Intercept intercept) {
  PreparedTarget target;
  check_required(data, loss);
  target.values.assign(data.y.begin(), data.y.end());
  const auto [lowest, highest] = std::ranges::minmax(data.y);
  check_size(data, lowest, highest);
  if (scale_by_range && loss.is_of_differences()) {
    target.shift = 0.5 * (lowest + highest);
    target.scale = 0.5 * (highest - lowest);
    for (double& value : target.values) value = (value - target.shift) / target.scale;
  }
  if (intercept == Intercept::kUnpenalised && loss.is_of_differences()) {
    target.offset = TargetColumn{target.values, data.weights}.mean();
    for (double& value : target.values) value -= target.offset;
  }
  return target;
}

}  // namespace

std::string number_label(double value) { return fmt::format("{}", value); }

std::string column_name(const TrainingData& data, Index column) {
  return data.columns.empty() ? fmt::format("x{}", column) : data.columns[static_cast<std::size_t>(column)];
}

Task resolve_task(const std::optional<Task>& choice, std::string_view loss, const TrainingData& data) {
  check_finite(data);
  check_labels(data);
  std::optional<Task> task = choice;
  if (!loss.empty()) {
    task = find_loss(loss)->task();
    if (choice && choice != task) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`loss={}` is for {}, and `task` is {}; leave one of them out", loss,
                              task_name(*task), task_name(*choice)));
    }
  }
  if (!task) {
    const bool has_classes = !data.labels.empty() || distinct_values(data.y, 2).size() == 2;
    return has_classes ? Task::kClassification : Task::kRegression;
  }
  if (task == Task::kRegression && !data.labels.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} holds text such as \"{}\"; regression needs numbers",
                            data.target_name, data.labels.front()));
  }
  return *task;
}

std::shared_ptr<const Loss> resolve_loss(std::string_view choice, Task task, const TrainingData& data) {
  if (choice.empty()) return find_loss(task == Task::kClassification ? "logistic" : "squared");
  if (choice == "huber") {
    const double deviation = robust_deviation({data.y, data.weights});
    return find_loss(fmt::format("huber({})", deviation > 0 ? kOutlier * deviation : 1));
  }
  return find_loss(choice);
}

PreparedTarget prepare_target(const TrainingData& data, std::shared_ptr<const Loss> loss, bool scale_by_range,
                              Intercept intercept) {
  PreparedTarget target = loss->task() == Task::kClassification
                              ? prepare_classes(data)
                              : prepare_numbers(data, *loss, scale_by_range, intercept);
  target.loss = std::move(loss);
  return target;
}

}  // namespace mfga
