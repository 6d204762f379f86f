#include "report/effects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace mfga::report {
namespace {

constexpr std::size_t kPlaces = 31;     // that are as far apart
constexpr std::size_t kQuantiles = 20;  // and others that have as many rows between them
constexpr std::size_t kMostPlaces = kPlaces + kQuantiles;
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

Effects::Effects(const Predictor& predictor, const std::vector<Column>& columns, const Sample& sample)
    : predictor_(predictor), columns_(columns), sample_(sample) {
  for (Index n = 0; n < sample.size(); ++n) weights_ += sample.weight(n);
}

Places Effects::places(const Column& column, std::size_t most) const {
  Places places;
  if (column.is_text) {
    std::vector<std::size_t> order(column.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> counts(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (Index n = 0; n < sample_.size(); ++n)
        counts[i] += sample_.rows(n, column.inputs[i]) == 1 ? sample_.weight(n) : 0;
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

void Effects::add_quantiles(const Column& own, Places& places) const {
  const std::vector<double> sorted = sorted_values(sample_.rows, own.inputs.front());
  const double lowest = places.values.front();
  const double highest = places.values.back();
  for (std::size_t i = 1; i < kQuantiles; ++i) {
    const double value = quantile(sorted, static_cast<double>(i) / static_cast<double>(kQuantiles));
    if (value > lowest && value < highest) places.values.push_back(value);
  }
  std::ranges::sort(places.values);
  places.values.erase(std::unique(places.values.begin(), places.values.end()), places.values.end());
}

void Effects::put(const Column& column, const Places& places, std::size_t place, Index first, Index last,
                  Matrix& rows) const {
  for (Index n = first; n < last; ++n) {
    for (const Index input : column.inputs) rows(n, input) = column.is_text ? 0 : places.values[place];
    if (column.is_text) rows(n, places.inputs[place]) = 1;
  }
}

Matrix Effects::background(Index copies, Index& each) const {
  // The same rows however few places are asked for.
  const Index most_copies = std::max(copies, static_cast<Index>(kMostPlaces) + 1);
  const double room = kMostNumbers / static_cast<double>(most_copies * std::max<Index>(1, sample_.rows.cols));
  constexpr double kFewest = 20;
  each = std::min({sample_.size(), kMostBackground, static_cast<Index>(std::max(kFewest, room))});
  Matrix rows = Matrix::uninitialised(copies * each, sample_.rows.cols);
  for (Index n = 0; n < each; ++n) {
    const double* const row = sample_.rows.row(n * sample_.size() / each);
    for (Index copy = 0; copy < copies; ++copy) std::copy_n(row, rows.cols, rows.row(copy * each + n));
  }
  return rows;
}

Matrix Effects::means_of(const Matrix& rows, Index each) const {
  const Model& model = predictor_.model();
  const std::vector<double> values = shown_values(model, scores_of(predictor_, rows));
  const Index outputs = model.n_outputs();
  std::vector<double> weights;
  for (Index n = 0; n < each; ++n) weights.push_back(sample_.weight(n * sample_.size() / each));
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0)) {
    weights.assign(weights.size(), 1.0);
    sum = static_cast<double>(each);
  }
  Matrix means(rows.rows / each, outputs);
  for (Index n = 0; n < rows.rows; ++n) {
    for (Index k = 0; k < outputs; ++k)
      means(n / each, k) += weights[static_cast<std::size_t>(n % each)] / sum *
                            values[static_cast<std::size_t>(n * outputs + k)];
  }
  return means;
}

double Effects::part_of(Index row) const { return sample_.weight(row) / weights_; }

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

Matrix Effects::means(const Column& own, const Places& places, bool has_missing) const {
  const auto count = static_cast<Index>(places.size());
  const Index copies = count + (has_missing ? 1 : 0);
  Index each = 0;
  Matrix rows = background(copies, each);
  for (Index place = 0; place < count; ++place)
    put(own, places, static_cast<std::size_t>(place), place * each, (place + 1) * each, rows);
  for (Index n = count * each; n < rows.rows; ++n) {
    for (const Index input : own.inputs) rows(n, input) = std::numeric_limits<double>::quiet_NaN();
  }
  return means_of(rows, each);
}

// Between two places the means may jump. A jump stays as large when the way between is halved, and a slope
// does not.
void Effects::find_jumps(Effect& effect) const {
  constexpr double kLeastJump = 0.03;   // of the range of the means
  constexpr double kLeastWidth = 1e-3;  // of the range of the places: what is closer together is upright
  constexpr double kStays = 0.75;
  constexpr int kHalvings = 7;
  constexpr std::size_t kMostJumps = 12;
  const Index outputs = effect.means.cols;
  // Probabilities have one unit, targets one each.
  std::vector<double> units(static_cast<std::size_t>(outputs));
  for (Index k = 0; k < outputs; ++k) {
    double low = INFINITY;
    double high = -INFINITY;
    for (Index i = 0; i < effect.means.rows; ++i) {
      low = std::min(low, effect.means(i, k));
      high = std::max(high, effect.means(i, k));
    }
    units[static_cast<std::size_t>(k)] = high - low;
  }
  if (predictor_.model().task == Task::kClassification)
    std::ranges::fill(units, std::ranges::max(std::vector<double>(units)));
  struct Side {
    double value = 0;
    std::vector<double> means;
  };
  struct Gap {
    Side low, high;
    double size = 0;
  };
  const auto size_of = [&](const Side& low, const Side& high) {
    double largest = 0;
    for (std::size_t k = 0; k < units.size(); ++k) {
      if (units[k] > 0) largest = std::max(largest, std::abs(high.means[k] - low.means[k]) / units[k]);
    }
    return largest;
  };
  const auto side = [&](double value, const double* means) {
    return Side{value, std::vector<double>(means, means + outputs)};
  };
  std::vector<double>& values = effect.places.values;
  const double least_width = kLeastWidth * (values.back() - values.front());
  std::vector<Gap> gaps;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    Gap gap{side(values[i], effect.means.row(static_cast<Index>(i))),
            side(values[i + 1], effect.means.row(static_cast<Index>(i + 1)))};
    gap.size = size_of(gap.low, gap.high);
    if (gap.size >= kLeastJump && values[i + 1] - values[i] > least_width) gaps.push_back(std::move(gap));
  }
  std::ranges::stable_sort(gaps, std::greater<>(), &Gap::size);
  if (gaps.size() > kMostJumps) gaps.resize(kMostJumps);
  const Column& own = column(effect.column);
  for (int halving = 0; halving < kHalvings && !gaps.empty(); ++halving) {
    Places middles;
    for (const Gap& gap : gaps) middles.values.push_back((gap.low.value + gap.high.value) / 2);
    const Matrix found = means(own, middles, false);
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      Gap& gap = gaps[i];
      const Side middle = side(middles.values[i], found.row(static_cast<Index>(i)));
      (size_of(gap.low, middle) >= size_of(middle, gap.high) ? gap.high : gap.low) = middle;
    }
    std::erase_if(gaps, [&](const Gap& gap) { return size_of(gap.low, gap.high) < kStays * gap.size; });
  }
  // Both sides of each jump, among the other places.
  std::vector<Side> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    all.push_back(side(values[i], effect.means.row(static_cast<Index>(i))));
  for (Gap& gap : gaps) {
    all.push_back(std::move(gap.low));
    all.push_back(std::move(gap.high));
  }
  std::ranges::stable_sort(all, {}, &Side::value);
  const auto has_same_value = [](const Side& a, const Side& b) { return a.value == b.value; };
  all.erase(std::unique(all.begin(), all.end(), has_same_value), all.end());
  std::vector<double> regular;
  for (const Index i : effect.listed) regular.push_back(values[static_cast<std::size_t>(i)]);
  values.clear();
  effect.means = Matrix(std::ssize(all), outputs);
  effect.listed.clear();
  for (const Side& one : all) {
    const Index i = std::ssize(values);
    if (std::ranges::binary_search(regular, one.value)) effect.listed.push_back(i);
    std::ranges::copy(one.means, effect.means.row(i));
    values.push_back(one.value);
  }
}

Effect Effects::of(Index c) const {
  const Column& own = column(c);
  Effect effect{.column = c, .places = places(own, own.is_text ? kMostLevels : kPlaces), .means = {}};
  const bool is_curve = !own.is_text && !effect.places.are_few && effect.places.size() > 0;
  if (is_curve) add_quantiles(own, effect.places);
  const auto count = static_cast<Index>(effect.places.size());
  bool has_missing = false;
  for (Index n = 0; n < sample_.size(); ++n) {
    if (!std::isnan(sample_.rows(n, own.inputs.front()))) continue;
    has_missing = true;
    effect.missing_rows += part_of(n);
  }
  if (count == 0 && !has_missing) return effect;
  effect.means = means(own, effect.places, has_missing);
  const Index outputs = effect.means.cols;
  if (has_missing) {
    effect.missing.assign(effect.means.row(count), effect.means.row(count) + outputs);
    effect.means.values.resize(static_cast<std::size_t>(count * outputs));
    effect.means.rows = count;
  }
  effect.listed.resize(static_cast<std::size_t>(count));
  std::iota(effect.listed.begin(), effect.listed.end(), Index{0});
  if (is_curve) {
    // Again, because there may be two between two places.
    for (int i = 0; i < 2; ++i) find_jumps(effect);
  }

  if (own.is_text || effect.places.are_few) {
    effect.rows.assign(effect.places.size(), 0.0);
    const std::vector<Index> places = nearest(own, effect.places);
    for (Index n = 0; n < sample_.size(); ++n) {
      const Index place = places[static_cast<std::size_t>(n)];
      if (place >= 0) effect.rows[static_cast<std::size_t>(place)] += part_of(n);
    }
  } else if (count > 0) {
    effect.rows.assign(kBins, 0.0);
    const double lowest = effect.places.values.front();
    const double width = (effect.places.values.back() - lowest) / static_cast<double>(kBins);
    for (Index n = 0; n < sample_.size(); ++n) {
      const double bin = std::floor((sample_.rows(n, own.inputs.front()) - lowest) / width);
      if (!(bin >= 0 && bin <= static_cast<double>(kBins))) continue;
      effect.rows[std::min(static_cast<std::size_t>(bin), kBins - 1)] += part_of(n);
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
  const Matrix means = means_of(rows, each);  // [up * across x outputs]
  const Index outputs = means.cols;
  // Of several outputs, the one that differs most, in its own units.
  double widest = -1;
  for (Index k = 0; k < outputs; ++k) {
    double low = INFINITY;
    double high = -INFINITY;
    for (Index cell = 0; cell < means.rows; ++cell) {
      low = std::min(low, means(cell, k));
      high = std::max(high, means(cell, k));
    }
    const double unit =
        model.task == Task::kRegression ? model.outputs[static_cast<std::size_t>(k)].scale : 1;
    if ((high - low) / unit <= widest) continue;
    widest = (high - low) / unit;
    effect.output = k;
  }
  effect.means = Matrix(up, across);
  for (Index cell = 0; cell < means.rows; ++cell)
    effect.means.values[static_cast<std::size_t>(cell)] = means(cell, effect.output);
  const std::vector<double> own = shown_values(model, sample_.scores);
  for (Index n = 0; n < sample_.size(); ++n)
    effect.middle += part_of(n) * own[static_cast<std::size_t>(n * outputs + effect.output)];

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
