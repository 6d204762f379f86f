#include "cli/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace mfga::cli {
namespace {

struct Summary {
  double mean = 0;
  double standard_error = 0;  // of the mean
};

// Nothing, if the metric is undefined for one of them.
std::optional<Summary> summarise(const std::vector<Json>& all, const std::string& metric) {
  if (!std::ranges::all_of(all, [&](const Json& one) { return one.at(metric).is_number(); })) return {};
  const auto count = static_cast<double>(all.size());
  Summary summary;
  for (const Json& one : all) summary.mean += one.at(metric).get<double>() / count;
  double square = 0;
  for (const Json& one : all) square += std::pow(one.at(metric).get<double>() - summary.mean, 2);
  summary.standard_error = std::sqrt(square / (count - 1) / count);
  return summary;
}

Json summaries_to_json(const std::vector<Json>& all) {
  if (all.empty()) return {};
  Json json = Json::object();
  for (const auto& [metric, value] : all.front().items()) {
    if (value.is_string() || value.is_structured()) continue;
    const std::optional<Summary> summary = summarise(all, metric);
    json[metric] =
        summary ? Json({{"mean", summary->mean}, {"standard_error", summary->standard_error}}) : Json();
  }
  return json;
}

// How a metric is called in the text, and its unit. What has no name there (the MSE beside its root) is left
// to the JSON.
struct MetricName {
  std::string_view metric;
  std::string_view text;
  std::string_view unit;
};
constexpr std::array<MetricName, 9> kNames = {{{"rmse", "RMSE", ""},
                                               {"mae", "MAE", ""},
                                               {"r2", "R2", ""},
                                               {"error_percent", "error", " %"},
                                               {"log_loss", "log loss", ""},
                                               {"auc", "AUC", ""},
                                               {"macro_auc", "macro AUC", ""},
                                               {"mean_r2", "mean R2", ""},
                                               {"scaled_error_percent", "100 x MSE on [-1, 1]", ""}}};

// The error with two digits and the mean with as many places, but no more than five digits of the mean.
std::string summary_text(const std::optional<Summary>& found) {
  if (!found) return "-";
  const Summary& summary = *found;
  const double step = std::max(summary.standard_error, 1e-3 * std::abs(summary.mean));
  const int places = step > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(step))), 0, 12) : 2;
  return fmt::format("{:.{}f} +- {:.{}f}", summary.mean, places, summary.standard_error, places);
}

std::string summaries_text(std::string_view part, const std::vector<Json>& all) {
  if (all.empty()) return {};
  std::string text = fmt::format("{} over {} seeds: ", part, all.size());
  std::string_view separator;
  for (const MetricName& name : kNames) {
    const std::string metric(name.metric);
    if (!all.front().contains(metric)) continue;
    text += fmt::format("{}{} {}{}", separator, name.text, summary_text(summarise(all, metric)), name.unit);
    separator = ", ";
  }
  return text + "\n";
}

}  // namespace

void RepeatedEvaluations::add(const Evaluations& evaluations) {
  train_.push_back(cli::to_json(evaluations.train));
  if (evaluations.test) test_.push_back(cli::to_json(*evaluations.test));
}

Json RepeatedEvaluations::to_json() const {
  if (count() < 2) return {};
  return {{"count", count()}, {"train", summaries_to_json(train_)}, {"test", summaries_to_json(test_)}};
}

std::string RepeatedEvaluations::to_text() const {
  if (count() < 2) return {};
  return summaries_text("train", train_) + summaries_text("test", test_);
}

}  // namespace mfga::cli
