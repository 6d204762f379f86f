#include "mfga/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "core/row_blocks.hpp"
#include "data/scale_inputs.hpp"
#include "data/standardise.hpp"
#include "model/automatic.hpp"
#include "model/plan.hpp"
#include "model/target.hpp"

namespace mfga {
namespace {

// Fewer rows tell nothing about a column that follows the target.
constexpr Index kFewestToSuspect = 20;
constexpr double kAlmost = 0.999;

using Groups = std::vector<std::vector<Index>>;  // rows

std::vector<Index> sorted_rows(const std::vector<double>& values) {
  std::vector<Index> rows;
  for (Index n = 0; n < std::ssize(values); ++n) {
    if (!std::isnan(values[static_cast<std::size_t>(n)])) rows.push_back(n);
  }
  std::ranges::sort(rows, {}, [&](Index n) { return values[static_cast<std::size_t>(n)]; });
  return rows;
}

// The rows with the same value, in the order of values.
Groups groups_of(const std::vector<double>& values, const std::vector<Index>& sorted) {
  Groups groups;
  for (const Index row : sorted) {
    const double value = values[static_cast<std::size_t>(row)];
    if (groups.empty() || values[static_cast<std::size_t>(groups.back().front())] != value)
      groups.emplace_back();
    groups.back().push_back(row);
  }
  return groups;
}

// The places of rows in the order of values, equal ones in the middle of theirs; 0 where there is no value.
std::vector<double> ranks_of(const Groups& groups, std::size_t rows) {
  std::vector<double> ranks(rows);
  double before = 0;
  for (const std::vector<Index>& group : groups) {
    const auto size = static_cast<double>(group.size());
    for (const Index row : group) ranks[static_cast<std::size_t>(row)] = before + 0.5 * (size + 1);
    before += size;
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b,
                   const std::vector<Index>& rows) {
  const auto n = static_cast<double>(rows.size());
  double mean_a = 0;
  double mean_b = 0;
  for (const Index row : rows) {
    mean_a += a[static_cast<std::size_t>(row)] / n;
    mean_b += b[static_cast<std::size_t>(row)] / n;
  }
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for (const Index row : rows) {
    const double da = a[static_cast<std::size_t>(row)] - mean_a;
    const double db = b[static_cast<std::size_t>(row)] - mean_b;
    aa += da * da;
    bb += db * db;
    ab += da * db;
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// Of the target's variance, the part that is between groups of rows.
double part_between(const Groups& groups, std::span<const double> y) {
  double total_count = 0;
  double total = 0;
  for (const std::vector<Index>& group : groups) {
    total_count += static_cast<double>(group.size());
    for (const Index row : group) total += y[static_cast<std::size_t>(row)];
  }
  const double mean = total / total_count;
  double all = 0;
  double within = 0;
  for (const std::vector<Index>& group : groups) {
    double own = 0;
    for (const Index row : group) own += y[static_cast<std::size_t>(row)];
    own /= static_cast<double>(group.size());
    for (const Index row : group) {
      const double value = y[static_cast<std::size_t>(row)];
      all += (value - mean) * (value - mean);
      within += (value - own) * (value - own);
    }
  }
  return all > 0 ? 1 - within / all : 0;
}

// Of the rows, the part that has the most frequent class of its group.
double part_of_main_class(const Groups& groups, std::span<const double> y) {
  Index rows = 0;
  Index right = 0;
  for (const std::vector<Index>& group : groups) {
    std::map<double, Index> counts;
    for (const Index row : group) ++counts[y[static_cast<std::size_t>(row)]];
    Index most = 0;
    for (const auto& [label, count] : counts) most = std::max(most, count);
    right += most;
    rows += std::ssize(group);
  }
  return static_cast<double>(right) / static_cast<double>(std::max<Index>(rows, 1));
}

// How often the class changes from a value to the next, where each is taken for its most frequent class.
Index class_changes(const Groups& groups, std::span<const double> y) {
  Index changes = 0;
  double previous = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::map<double, Index> counts;
    for (const Index row : groups[i]) ++counts[y[static_cast<std::size_t>(row)]];
    const double label = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->first;
    if (i > 0 && label != previous) ++changes;
    previous = label;
  }
  return changes;
}

class Describer {
 public:
  Describer(const TrainingData& data, int threads) : data_(data), workers_(threads) {}

  TableDescription run() {
    check_data(data_);
    result_.rows = data_.x.rows;
    result_.task = resolve_task({}, "", data_);
    describe_target();
    const Standardisation standard = fit_standardisation(data_.x, workers_, data_.columns, data_.weights);
    const std::vector<ScaleKind> kinds =
        automatic_scales(BlockedRows(data_.x, standard.inputs)
                             .weighted(std::vector<double>(data_.weights.begin(), data_.weights.end())),
                         workers_);
    const std::vector<InputColumn> inputs =
        scale_inputs(standard.inputs, kinds, data_.x, 0, workers_, data_.weights);
    for (Index column = 0; column < data_.x.cols;) {
      const ColumnOrigin origin = origin_of(column, data_.text_columns);
      if (origin.text != nullptr) {
        describe_text(*origin.text);
        column += origin.text->count();
      } else {
        describe_numbers(column, inputs);
        ++column;
      }
    }
    for (const auto& [name, earlier] : equal_columns(data_)) {
      ColumnDescription& own = *std::ranges::find(result_.columns, name, &ColumnDescription::name);
      if (!own.is_constant) own.same_as = earlier;
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::vector<double> values_of(Index column) const {
    std::vector<double> values;
    for (Index n = 0; n < data_.x.rows; ++n) values.push_back(data_.x(n, column));
    return values;
  }

  static void set_range(const std::vector<double>& values, const std::vector<Index>& sorted,
                        ColumnDescription& column) {
    if (sorted.empty()) return;
    column.lowest = values[static_cast<std::size_t>(sorted.front())];
    column.highest = values[static_cast<std::size_t>(sorted.back())];
    const auto n = static_cast<double>(sorted.size());
    double above = 0;  // the lowest
    for (const Index row : sorted) above += values[static_cast<std::size_t>(row)] - column.lowest;
    column.mean = column.lowest + above / n;
    double square = 0;
    for (const Index row : sorted) {
      const double apart = values[static_cast<std::size_t>(row)] - column.mean;
      square += apart * apart / n;
    }
    column.deviation = std::sqrt(square);
  }

  void describe_target() {
    y_ = data_.y.first(static_cast<std::size_t>(data_.x.rows));
    const std::vector<double> values(y_.begin(), y_.end());
    const std::vector<Index> sorted = sorted_rows(values);
    const Groups groups = groups_of(values, sorted);
    result_.target.name = data_.target_names.empty() ? data_.target_name : data_.target_names.front();
    result_.target.distinct = std::ssize(groups);
    set_range(values, sorted, result_.target);
    target_ranks_ = ranks_of(groups, values.size());
    if (result_.task != Task::kClassification) return;
    for (const std::vector<Index>& group : groups) {
      const double label = y_[static_cast<std::size_t>(group.front())];
      result_.classes.emplace_back(
          data_.labels.empty() ? number_label(label) : data_.labels[static_cast<std::size_t>(label)],
          std::ssize(group));
      main_class_ = std::max(main_class_, static_cast<double>(group.size()) / static_cast<double>(y_.size()));
    }
  }

  void describe_numbers(Index column, const std::vector<InputColumn>& inputs) {
    ColumnDescription own;
    own.name = column_name(data_, column);
    const std::vector<double> values = values_of(column);
    const std::vector<Index> sorted = sorted_rows(values);
    const Groups groups = groups_of(values, sorted);
    own.missing = std::ssize(values) - std::ssize(sorted);
    own.distinct = std::ssize(groups);
    set_range(values, sorted, own);
    own.is_constant = true;
    for (const InputColumn& input : inputs) {
      if (input.column != column) continue;
      if (input.is_missing) {
        own.tells_of_missing = true;
      } else {
        own.is_constant = false;
        own.scale = scale_name(input.warp.kind());
      }
    }
    own.numbers_the_rows = std::ssize(values) >= kFewestToSuspect;
    for (std::size_t n = 1; n < values.size() && own.numbers_the_rows; ++n)
      own.numbers_the_rows = values[n] == values[n - 1] + 1;
    if (!own.is_constant) own.gives_away = why_suspect(values, sorted, groups);
    result_.columns.push_back(std::move(own));
  }

  void describe_text(const TextColumn& text) {
    ColumnDescription own;
    own.name = text.name;
    own.is_text = true;
    own.distinct = text.count();
    own.rare = std::ssize(text.rare);
    own.scale = "0/1";
    Groups groups;
    for (Index i = 0; i < text.count(); ++i) {
      std::vector<Index> rows;
      for (Index n = 0; n < data_.x.rows; ++n) {
        if (data_.x(n, text.first + i) == 1) rows.push_back(n);
      }
      const std::string& level = text.levels[static_cast<std::size_t>(i)];
      own.levels.emplace_back(level, std::ssize(rows));
      if (level == kMissingLevel) own.missing = std::ssize(rows);
      if (!rows.empty()) groups.push_back(std::move(rows));
    }
    std::ranges::stable_sort(own.levels, std::greater{}, [](const auto& level) { return level.second; });
    own.is_constant = groups.size() < 2;
    if (!own.is_constant && enough_rows(std::ssize(groups))) {
      if (result_.task == Task::kRegression && part_between(groups, y_) >= kAlmost)
        own.gives_away = "the target is nearly the same in all rows of a text";
      if (result_.task == Task::kClassification && main_class_ < kAlmost &&
          part_of_main_class(groups, y_) >= kAlmost)
        own.gives_away = "each of its texts has one class in nearly all rows";
    }
    result_.columns.push_back(std::move(own));
  }

  [[nodiscard]] bool enough_rows(Index groups) const {
    return data_.x.rows >= kFewestToSuspect && data_.x.rows >= 3 * groups;
  }

  [[nodiscard]] std::string why_suspect(const std::vector<double>& values, const std::vector<Index>& sorted,
                                        const Groups& groups) const {
    if (std::ssize(sorted) < kFewestToSuspect) return "";
    if (std::ranges::all_of(sorted, [&](Index n) {
          return values[static_cast<std::size_t>(n)] == y_[static_cast<std::size_t>(n)];
        }))
      return "it is the target";
    if (result_.task == Task::kRegression) {
      const double found = correlation(ranks_of(groups, values.size()), target_ranks_, sorted);
      return std::abs(found) >= kAlmost
                 ? fmt::format("it rises and falls with the target (rank correlation {:.4f})", found)
                 : "";
    }
    const Index most_changes = std::ssize(result_.classes) - 1 + data_.x.rows / 1000;
    if (main_class_ >= kAlmost || part_of_main_class(groups, y_) < kAlmost ||
        class_changes(groups, y_) > most_changes)
      return "";
    return "its values tell the classes apart in nearly all rows";
  }

  const TrainingData& data_;
  Workers workers_;
  TableDescription result_;
  std::span<const double> y_;
  std::vector<double> target_ranks_;
  double main_class_ = 0;  // the part of the rows that are of the most frequent class
};

}  // namespace

std::vector<std::pair<std::string, std::string>> equal_columns(const TrainingData& data) {
  constexpr std::uint64_t kMixing = 0x9E3779B97F4A7C15U;
  const auto mix = [](std::uint64_t hash, std::uint64_t more) {
    return (std::rotl(hash, 5) ^ more) * kMixing;
  };
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(data.x.cols));
  const auto add = [&](Index j, double value) {
    std::uint64_t& hash = hashes[static_cast<std::size_t>(j)];
    hash = mix(hash, std::isnan(value) ? 1 : std::bit_cast<std::uint64_t>(value + 0.0));  // no -0
  };
  if (data.x.has_sources()) {
    std::vector<double> block(static_cast<std::size_t>(kBlockRows * data.x.cols));
    std::vector<Index> read;
    for (Index first = 0; first < data.x.rows; first += kBlockRows) {
      read.resize(static_cast<std::size_t>(std::min(kBlockRows, data.x.rows - first)));
      std::iota(read.begin(), read.end(), first);
      data.x.read(read, kBlockRows, block.data());
      for (Index j = 0; j < data.x.cols; ++j) {
        for (std::size_t n = 0; n < read.size(); ++n)
          add(j, block[static_cast<std::size_t>(j * kBlockRows) + n]);
      }
    }
  } else {
    for (Index n = 0; n < data.x.rows; ++n) {
      for (Index j = 0; j < data.x.cols; ++j) add(j, data.x(n, j));
    }
  }
  std::vector<std::pair<std::string, std::string>> result;
  std::unordered_map<std::uint64_t, std::string> seen;
  for (Index j = 0; j < data.x.cols;) {
    const TextColumn* const text = origin_of(j, data.text_columns).text;
    const Index count = text != nullptr ? text->count() : 1;
    std::uint64_t hash = static_cast<std::uint64_t>(count);
    for (Index i = 0; i < count; ++i) hash = mix(hash, hashes[static_cast<std::size_t>(j + i)]);
    const std::string name = text != nullptr ? text->name : column_name(data, j);
    const auto [earlier, is_new] = seen.emplace(hash, name);
    if (!is_new) result.emplace_back(name, earlier->second);
    j += count;
  }
  return result;
}

TableDescription describe(const TrainingData& data, int threads) { return Describer(data, threads).run(); }

}  // namespace mfga
