#include "report/effects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace mfga::report {
namespace {

constexpr std::size_t kMostPlaces = 41;
constexpr std::size_t kFewValues = 16;  // numbers of a column that are shown one by one
constexpr std::size_t kMostLevels = 12;
constexpr std::size_t kPlacesOfPairs = 14;
constexpr std::size_t kLevelsOfPairs = 8;
constexpr std::size_t kBins = 32;
constexpr Index kMostBackground = 300;
constexpr double kMostNumbers = 8e6;  // of rows that are made at once

// The numbers of a column that are there, sorted.
std::vector<double> sorted_values(const Matrix& rows, Index input) {
  std::vector<double> values;
  for (Index n = 0; n < rows.rows; ++n) {
    if (!std::isnan(rows(n, input))) values.push_back(rows(n, input));
  }
  std::ranges::sort(values);
  return values;
}

double quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
}

}  // namespace

Places Effects::places(const Column& column, std::size_t most) const {
  Places places;
  if (column.is_text) {
    std::vector<std::size_t> order(column.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> counts(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (Index n = 0; n < sample_.size(); ++n) counts[i] += sample_.rows(n, column.inputs[i]) == 1 ? 1 : 0;
    }
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
    if (order.size() > most) order.resize(most);
    for (const std::size_t i : order) {
      places.levels.push_back(column.levels[i]);
      places.inputs.push_back(column.inputs[i]);
    }
    return places;
  }
  const std::vector<double> sorted = sorted_values(sample_.rows, column.inputs.front());
  if (sorted.empty()) return places;
  std::vector<double> distinct = sorted;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= kFewValues) {
    places.values = distinct;
    places.are_few = true;
    return places;
  }
  constexpr double kTail = 0.01;
  double lowest = quantile(sorted, kTail);
  double highest = quantile(sorted, 1 - kTail);
  if (!(highest > lowest)) {
    lowest = sorted.front();
    highest = sorted.back();
  }
  for (std::size_t i = 0; i < most; ++i)
    places.values.push_back(lowest +
                            (highest - lowest) * static_cast<double>(i) / static_cast<double>(most - 1));
  return places;
}

void Effects::put(const Column& column, const Places& places, std::size_t place, Index first, Index last,
                  Matrix& rows) const {
  for (Index n = first; n < last; ++n) {
    for (const Index input : column.inputs) rows(n, input) = column.is_text ? 0 : places.values[place];
    if (column.is_text) rows(n, places.inputs[place]) = 1;
  }
}

Matrix Effects::background(Index copies, Index& each) const {
  const double room = kMostNumbers / static_cast<double>(copies * std::max<Index>(1, sample_.rows.cols));
  constexpr double kFewest = 20;
  each = std::min({sample_.size(), kMostBackground, static_cast<Index>(std::max(kFewest, room))});
  Matrix rows = Matrix::uninitialised(copies * each, sample_.rows.cols);
  for (Index n = 0; n < each; ++n) {
    const double* const row = sample_.rows.row(n * sample_.size() / each);
    for (Index copy = 0; copy < copies; ++copy) std::copy_n(row, rows.cols, rows.row(copy * each + n));
  }
  return rows;
}

std::vector<Index> Effects::nearest(const Column& own, const Places& places) const {
  std::vector<Index> result(static_cast<std::size_t>(sample_.size()), -1);
  for (Index n = 0; n < sample_.size(); ++n) {
    Index& place = result[static_cast<std::size_t>(n)];
    if (own.is_text) {
      for (std::size_t i = 0; i < places.inputs.size(); ++i) {
        if (sample_.rows(n, places.inputs[i]) == 1) place = static_cast<Index>(i);
      }
      continue;
    }
    const double value = sample_.rows(n, own.inputs.front());
    if (std::isnan(value) || places.values.empty()) continue;
    if (places.are_few) {
      const auto found = std::ranges::find(places.values, value);
      if (found != places.values.end()) place = found - places.values.begin();
      continue;
    }
    const double width =
        (places.values.back() - places.values.front()) / static_cast<double>(places.size() - 1);
    const double at = std::round((value - places.values.front()) / width);
    if (at >= 0 && at < static_cast<double>(places.size())) place = static_cast<Index>(at);
  }
  return result;
}

Effect Effects::of(Index c) const {
  const Column& own = column(c);
  const Model& model = predictor_.model();
  Effect effect{.column = c, .places = places(own, own.is_text ? kMostLevels : kMostPlaces), .means = {}};
  const auto count = static_cast<Index>(effect.places.size());
  double missing = 0;
  for (Index n = 0; n < sample_.size(); ++n)
    missing += std::isnan(sample_.rows(n, own.inputs.front())) ? 1 : 0;
  effect.missing_rows = missing / static_cast<double>(sample_.size());
  const bool shows_missing = missing > 0;
  const Index copies = count + (shows_missing ? 1 : 0);
  if (copies == 0) return effect;
  Index each = 0;
  Matrix rows = background(copies, each);
  for (Index place = 0; place < count; ++place)
    put(own, effect.places, static_cast<std::size_t>(place), place * each, (place + 1) * each, rows);
  for (Index n = count * each; n < rows.rows; ++n) {
    for (const Index input : own.inputs) rows(n, input) = std::numeric_limits<double>::quiet_NaN();
  }
  const std::vector<double> values = shown_values(model, scores_of(predictor_, rows));
  const Index outputs = shown_outputs(model);
  Matrix means(copies, outputs);
  for (Index n = 0; n < rows.rows; ++n) {
    for (Index k = 0; k < outputs; ++k)
      means(n / each, k) += values[static_cast<std::size_t>(n * outputs + k)] / static_cast<double>(each);
  }
  if (shows_missing) effect.missing.assign(means.row(count), means.row(count) + outputs);
  effect.means = Matrix(count, outputs);
  std::copy_n(means.values.begin(), count * outputs, effect.means.values.begin());

  if (own.is_text || effect.places.are_few) {
    effect.rows.assign(effect.places.size(), 0.0);
    for (const Index place : nearest(own, effect.places)) {
      if (place >= 0) effect.rows[static_cast<std::size_t>(place)] += 1 / static_cast<double>(sample_.size());
    }
  } else if (count > 0) {
    effect.rows.assign(kBins, 0.0);
    const double lowest = effect.places.values.front();
    const double width = (effect.places.values.back() - lowest) / static_cast<double>(kBins);
    for (const double value : sorted_values(sample_.rows, own.inputs.front())) {
      const double bin = std::floor((value - lowest) / width);
      if (bin < 0 || bin > static_cast<double>(kBins)) continue;
      const std::size_t at = std::min(static_cast<std::size_t>(bin), kBins - 1);
      effect.rows[at] += 1 / static_cast<double>(sample_.size());
    }
  }
  return effect;
}

std::vector<Pair> pairs_in_terms(const Explainer& explainer, const std::vector<double>& shares) {
  // Terms that look at many columns say nothing of two of them.
  constexpr std::size_t kMostColumns = 3;
  std::map<std::pair<Index, Index>, Pair> all;
  for (std::size_t t = 0; t < shares.size(); ++t) {
    const std::span<const Index> own = explainer.columns_of_term(static_cast<Index>(t));
    if (own.size() > kMostColumns) continue;
    for (auto first = own.begin(); first != own.end(); ++first) {
      for (auto second = std::next(first); second != own.end(); ++second) {
        Pair& pair = all[{*first, *second}];
        pair.first = *first;
        pair.second = *second;
        pair.share += std::abs(shares[t]);
        ++pair.terms;
      }
    }
  }
  std::vector<Pair> pairs;
  for (const auto& [key, pair] : all) pairs.push_back(pair);
  std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) { return a.share > b.share; });
  return pairs;
}

PairEffect Effects::of(const Pair& pair) const {
  const Column& first = column(pair.first);
  const Column& second = column(pair.second);
  PairEffect effect{.pair = pair,
                    .across = places(first, first.is_text ? kLevelsOfPairs : kPlacesOfPairs),
                    .up = places(second, second.is_text ? kLevelsOfPairs : kPlacesOfPairs),
                    .means = {}};
  const auto across = static_cast<Index>(effect.across.size());
  const auto up = static_cast<Index>(effect.up.size());
  if (across == 0 || up == 0) return effect;
  const Model& model = predictor_.model();
  Index each = 0;
  Matrix rows = background(across * up, each);
  for (Index i = 0; i < up; ++i) {
    for (Index j = 0; j < across; ++j) {
      const Index begin = (i * across + j) * each;
      put(second, effect.up, static_cast<std::size_t>(i), begin, begin + each, rows);
      put(first, effect.across, static_cast<std::size_t>(j), begin, begin + each, rows);
    }
  }
  const std::vector<double> values = shown_values(model, scores_of(predictor_, rows));
  const Index outputs = shown_outputs(model);
  std::vector<Matrix> means(static_cast<std::size_t>(outputs), Matrix(up, across));
  for (Index n = 0; n < rows.rows; ++n) {
    for (Index k = 0; k < outputs; ++k) {
      means[static_cast<std::size_t>(k)].values[static_cast<std::size_t>(n / each)] +=
          values[static_cast<std::size_t>(n * outputs + k)] / static_cast<double>(each);
    }
  }
  // Of several outputs, the one that differs most, in its own units.
  double widest = -1;
  for (Index k = 0; k < outputs; ++k) {
    const auto [low, high] = std::ranges::minmax(means[static_cast<std::size_t>(k)].values);
    const double unit =
        model.task == Task::kRegression ? model.outputs[static_cast<std::size_t>(k)].scale : 1;
    if ((high - low) / unit <= widest) continue;
    widest = (high - low) / unit;
    effect.output = k;
  }
  effect.means = means[static_cast<std::size_t>(effect.output)];
  const std::vector<double> own = shown_values(model, sample_.scores);
  for (Index n = 0; n < sample_.size(); ++n)
    effect.middle +=
        own[static_cast<std::size_t>(n * outputs + effect.output)] / static_cast<double>(sample_.size());

  std::vector<bool> has_rows(static_cast<std::size_t>(up * across));
  const std::vector<Index> at_across = nearest(first, effect.across);
  const std::vector<Index> at_up = nearest(second, effect.up);
  for (std::size_t n = 0; n < at_up.size(); ++n) {
    if (at_across[n] >= 0 && at_up[n] >= 0)
      has_rows[static_cast<std::size_t>(at_up[n] * across + at_across[n])] = true;
  }
  for (std::size_t cell = 0; cell < has_rows.size(); ++cell) {
    if (!has_rows[cell]) effect.means.values[cell] = std::numeric_limits<double>::quiet_NaN();
  }
  return effect;
}

}  // namespace mfga::report
