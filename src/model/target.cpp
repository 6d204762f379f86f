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

// Of one of the targets.
const std::string& target_name(const TrainingData& data, std::size_t target) {
  return data.target_names.empty() ? data.target_name : data.target_names[target];
}

std::span<const double> target_column(const TrainingData& data, std::size_t target) {
  return TargetColumns{data.y, {}, data.targets()}.column(static_cast<Index>(target)).values;
}

void check_finite(const TrainingData& data) {
  const std::size_t rows = data.y.size() / static_cast<std::size_t>(data.targets());
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    if (!std::isfinite(data.y[i])) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the target {} has the value {} in row {}; expected a finite number",
                              target_name(data, i / rows), data.y[i], i % rows));
    }
  }
}

std::vector<std::string> labels_of(const TrainingData& data, const std::set<double>& classes) {
  std::vector<std::string> labels;
  for (const double value : classes) {
    labels.push_back(data.labels.empty() ? number_label(value)
                                         : data.labels[static_cast<std::size_t>(value)]);
  }
  return labels;
}

// More, or fewer rows of a class on average, would hardly be classes.
constexpr std::size_t kMostClasses = 1000;
constexpr std::size_t kRowsPerClass = 2;

Error class_count_error(const TrainingData& data, std::vector<std::string> labels) {
  constexpr std::size_t kMostShown = 5;
  const std::size_t count = labels.size();
  labels.resize(std::min(count, kMostShown));
  const std::string found =
      fmt::format("the target {} has {} class{} ({}{})", data.target_name, count, count == 1 ? "" : "es",
                  fmt::join(labels, ", "), count > kMostShown ? ", ..." : "");
  if (count < 2) return {ErrorKind::kBadData, found + "; two are needed to learn from"};
  return {ErrorKind::kBadData,
          fmt::format("{} in {} rows; at most {}, and one for every {} rows, are possible: is it an "
                      "identifier, or is another column the target?{}",
                      found, data.y.size(), kMostClasses, kRowsPerClass,
                      data.labels.empty() ? " For a number to predict use `task=regression`" : "")};
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

// Throws if they can hardly be classes.
std::set<double> classes_of(const TrainingData& data) {
  std::set<double> classes = distinct_values(data.y, data.y.size());
  if (classes.size() >= 2 && classes.size() <= kMostClasses &&
      kRowsPerClass * classes.size() <= data.y.size())
    return classes;
  throw class_count_error(data, labels_of(data, classes));
}

PreparedTarget prepare_classes(const TrainingData& data, const Loss& loss) {
  PreparedTarget target;
  target.task = Task::kClassification;
  const std::set<double> classes = classes_of(data);
  const Index outputs = loss.outputs(1);
  if (outputs != (outputs == 1 ? std::ssize(classes) - 1 : std::ssize(classes))) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the {} loss is for {} classes, and the target {} has {}; leave `loss` out",
                            loss.name(), outputs == 1 ? 2 : outputs, data.target_name, classes.size()));
  }
  target.labels = labels_of(data, classes);
  target.values.reserve(data.y.size());
  if (outputs == 1) {
    for (const double value : data.y) target.values.push_back(value == *classes.begin() ? -1.0 : 1.0);
    target.outputs.emplace_back();
    return target;
  }
  const std::vector<double> sorted(classes.begin(), classes.end());
  for (const double value : data.y)
    target.values.push_back(static_cast<double>(std::ranges::lower_bound(sorted, value) - sorted.begin()));
  for (const std::string& label : target.labels) target.outputs.push_back({.name = label});
  return target;
}

// Losses are squares, and differences of losses are squared again.
void check_size(const std::string& name, double lowest, double highest) {
  constexpr double kLargest = 1e50;
  constexpr double kSmallestRange = 1e-50;
  if (lowest == highest) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("the target {} has the value {} in every row; there is nothing to learn", name, lowest));
  }
  const double size = std::max(std::abs(lowest), std::abs(highest));
  if (size > kLargest) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has values as large as {:.3g}, whose squares would overflow; at "
                            "most {:g} is possible. Divide the target by a power of ten such as {:.0e}",
                            name, size, kLargest, std::pow(10, std::floor(std::log10(size)))));
  }
  if (const double range = highest - lowest; range < kSmallestRange) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the values of the target {} differ by {:.3g} at most, whose square would "
                            "underflow; at least {:g} is needed. Multiply the target by a power of ten such "
                            "as 1e{:.0f}",
                            name, range, kSmallestRange, -std::floor(std::log10(range))));
  }
}

void check_required(const std::string& name, std::span<const double> y, const Loss& loss) {
  for (std::size_t n = 0; n < y.size(); ++n) {
    const std::string_view required = loss.required_of(y[n]);
    if (required.empty()) continue;
    throw Error(ErrorKind::kBadData,
                fmt::format("the target {} has the value {} in row {}; the {} loss expects {}", name, y[n], n,
                            loss.name(), required));
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

double deviation(const TargetColumn& targets) {
  const double mean = targets.mean();
  double square = 0;
  for (Index n = 0; n < targets.size(); ++n) {
    const double* const weight = targets.weights_from(n);
    const double apart = targets.values[static_cast<std::size_t>(n)] - mean;
    square += (weight == nullptr ? 1 : *weight) * apart * apart;
  }
  return std::sqrt(square / targets.total_weight());
}

PreparedTarget prepare_numbers(const TrainingData& data, const Loss& loss, bool scale_by_range,
                               Intercept intercept, std::span<const Output> units) {
  PreparedTarget target;
  target.columns = data.targets();
  for (std::size_t k = 0; k < static_cast<std::size_t>(target.columns); ++k) {
    const std::span<const double> y = target_column(data, k);
    const std::string& name = target_name(data, k);
    check_required(name, y, loss);
    const auto [lowest, highest] = std::ranges::minmax(y);
    check_size(name, lowest, highest);
    Output output;
    std::vector<double> values(y.begin(), y.end());
    if (target.columns > 1) output.name = name;
    if (loss.is_of_differences()) {
      const bool has_units = target.columns > 1 || loss.needs_units_of_spread();
      if (has_units && std::ssize(units) == target.columns) {
        output.shift = units[k].shift;
        output.scale = units[k].scale;
      } else if (scale_by_range) {
        output.shift = 0.5 * (lowest + highest);
        output.scale = 0.5 * (highest - lowest);
      } else if (has_units) {
        // No target counts more than another; outliers do not matter to losses that they do not matter to.
        const TargetColumn column{values, data.weights};
        const double robust = loss.constant_curvature() ? 0 : robust_deviation(column);
        output.scale = robust > 0 ? robust : deviation(column);
      }
      for (double& value : values) value = (value - output.shift) / output.scale;
      if (intercept == Intercept::kUnpenalised) {
        output.intercept = TargetColumn{values, data.weights}.mean();
        for (double& value : values) value -= output.intercept;
      }
      if (target.columns == 1 && lowest < highest) target.spread = deviation({values, data.weights});
    }
    target.values.insert(target.values.end(), values.begin(), values.end());
    target.outputs.push_back(std::move(output));
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
  if (data.targets() > 1) {
    if (task == Task::kClassification || !data.labels.empty()) {
      throw Error(ErrorKind::kInvalidArgument,
                  "several targets are for numbers to predict; give one target for classification");
    }
    return Task::kRegression;
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
  const bool has_classes = task == Task::kClassification;
  if (choice == "softmax" || choice == "one_vs_rest" || (choice.empty() && has_classes)) {
    const std::size_t classes = classes_of(data).size();
    if (choice == "one_vs_rest")
      return find_loss(classes > 2 ? fmt::format("one_vs_rest({})", classes) : "logistic");
    if (choice == "softmax" || classes > 2) return find_loss(fmt::format("softmax({})", classes));
  }
  if (choice.empty()) return find_loss(has_classes ? "logistic" : "squared");
  if (choice == "huber" && data.targets() > 1) return find_loss(fmt::format("huber({})", kOutlier));
  if (choice == "huber") {
    const double deviation = robust_deviation({data.y, data.weights});
    return find_loss(fmt::format("huber({})", deviation > 0 ? kOutlier * deviation : 1));
  }
  return find_loss(choice);
}

PreparedTarget prepare_target(const TrainingData& data, std::shared_ptr<const Loss> loss, bool scale_by_range,
                              Intercept intercept, std::span<const Output> units) {
  PreparedTarget target = loss->task() == Task::kClassification
                              ? prepare_classes(data, *loss)
                              : prepare_numbers(data, *loss, scale_by_range, intercept, units);
  target.loss = std::move(loss);
  return target;
}

}  // namespace mfga
