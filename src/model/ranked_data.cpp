#include "model/ranked_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/archive.hpp"
#include "core/arithmetic.hpp"
#include "core/rank_messages.hpp"
#include "core/row_blocks.hpp"
#include "mfga/error.hpp"
#include "model/option_table.hpp"
#include "model/plan.hpp"

namespace mfga {
namespace {

// Those of all ranks, by rank.
template <class Number>
std::vector<std::vector<Number>> gathered(std::span<const Number> own, Ranks& ranks) {
  std::vector<std::vector<Number>> lists;
  for (const std::string& bytes : ranks.talk(bytes_of(own))) lists.push_back(numbers_of<Number>(bytes));
  return lists;
}

// One list after the other.
template <class Number>
std::vector<Number> joined(std::span<const Number> own, Ranks& ranks) {
  return joined_numbers<Number>(ranks.talk(bytes_of(own)));
}

// What must be the same on all ranks, or say how many rows there are.
struct Shape {
  Index rows = 0;
  Index cols = 0;
  Index targets = 0;
  Index numbers = 0;  // of all targets
  Index weights = 0;
  Index groups = 0;
};

void check_shapes(const TrainingData& own, Ranks& ranks) {
  const Shape shape{own.x.rows,
                    own.x.cols,
                    own.targets(),
                    std::ssize(own.y),
                    std::ssize(own.weights),
                    std::ssize(own.groups)};
  const std::vector<Shape> shapes = joined(std::span(&shape, 1), ranks);
  bool have_weights = false;
  bool have_groups = false;
  for (const Shape& other : shapes) {
    have_weights = have_weights || other.weights > 0;
    have_groups = have_groups || other.groups > 0;
  }
  for (std::size_t rank = 0; rank < shapes.size(); ++rank) {
    const Shape& other = shapes[rank];
    const auto fail = [&](std::string_view what) {
      throw Error(ErrorKind::kInvalidArgument, fmt::format("rank {} {}", rank, what));
    };
    if (other.cols != shapes.front().cols || other.targets != shapes.front().targets) {
      fail(fmt::format("has {} columns and {} targets, and rank 0 has {} and {}; they must agree", other.cols,
                       other.targets, shapes.front().cols, shapes.front().targets));
    }
    if (other.numbers != other.rows * other.targets)
      fail(fmt::format("has {} rows and {} targets for them", other.rows, other.numbers));
    if (other.weights != (have_weights ? other.rows : 0))
      fail(fmt::format("has {} weights for {} rows; each row of all ranks needs one", other.weights,
                       other.rows));
    if (other.groups != (have_groups ? other.rows : 0))
      fail(fmt::format("has {} groups for {} rows; each row of all ranks needs one", other.groups,
                       other.rows));
  }
}

// Names of what must be the same on all ranks, and what it is on this one.
struct Words {
  std::vector<std::string> names;
  std::vector<std::string> values;

  void add(std::string name, std::string value) {
    names.push_back(std::move(name));
    values.push_back(std::move(value));
  }
};

// Throws where another rank has not the same; `explain` says what that means, from the name and what the
// other and the first rank have.
template <class Explain>
void expect_same(Words own, Ranks& ranks, const Explain& explain) {
  Archive message;
  message(own.names, own.values);
  const std::vector<std::string> all = ranks.talk(message.bytes());
  Words first;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    Words theirs;
    Archive said(all[rank]);
    said(theirs.names, theirs.values);
    Archive::require(theirs.names.size() == theirs.values.size());
    if (rank == 0) first = theirs;
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorKind::kInvalidArgument, fmt::format("rank {} {}", rank, what));
    };
    for (std::size_t i = 0; i < std::min(first.names.size(), theirs.names.size()); ++i) {
      if (theirs.names[i] != first.names[i]) break;
      if (theirs.values[i] != first.values[i])
        fail(explain(theirs.names[i], theirs.values[i], first.values[i]));
    }
    if (theirs.names != first.names) fail("was called with other kinds of options than rank 0");
  }
}

// Ranks decide alike without asking one another, so that they may not differ in the last digit of anything.
void expect_same_arithmetic(Ranks& ranks) {
  Words words;
  for (auto& [name, value] : arithmetic_here()) words.add(name, value);
  expect_same(
      std::move(words), ranks, [](std::string_view name, std::string_view there, std::string_view first) {
        return fmt::format(
            "computes with other last digits than rank 0. Not the same: {}, \"{}\" and \"{}\". All ranks "
            "need "
            "the same program on processors of one kind; where only the kernels of OpenBLAS differ, set "
            "OPENBLAS_CORETYPE to the same for all",
            name, there, first);
      });
}

void expect_same_call(const TrainingData& own, const FitOptions& options, const Checkpoint& checkpoint,
                      Ranks& ranks) {
  Words words;
  const auto add = [&](std::string name, std::string value) { words.add(std::move(name), std::move(value)); };
  for (const auto& row : fit_option_table()) {
    // Those that may differ.
    if (row.name == "threads" || row.name == "memory_limit" || row.name == "time_limit") continue;
    add(fmt::format("`{}`", row.name), option_text(options, row));
  }
  add("the order of time", options.in_time_order ? "yes" : "no");
  const CrossValidationOptions* const validation = options.ridge.validation();
  if (validation != nullptr) {
    for (const auto& row : cross_validation_option_table())
      add(fmt::format("`{}`", row.name), option_text(*validation, row));
  }
  add("the model to `start` from", options.start == nullptr ? "" : model_to_json(*options.start));
  add("the columns", fmt::format("{}", fmt::join(own.columns, ",")));
  for (const TextColumn& column : own.text_columns) {
    add("the columns of text", fmt::format("{} {} {} {}", column.name, column.first,
                                           fmt::join(column.levels, ","), fmt::join(column.rare, ",")));
  }
  add("the columns without names", fmt::format("{}", own.unnamed_columns));
  add("the target", own.target_name);
  add("the targets", fmt::format("{}", fmt::join(own.target_names, ",")));
  add("the classes", fmt::format("{}", fmt::join(own.labels, ",")));
  add("the texts that stand for missing values", fmt::format("{}", fmt::join(own.missing_texts, ",")));
  add("the path of the checkpoint", checkpoint.path);
  add("`resume`", checkpoint.resume ? "yes" : "no");
  expect_same(std::move(words), ranks, [](std::string_view name, std::string_view, std::string_view) {
    return fmt::format("was called with other options or columns than rank 0; not the same: {}", name);
  });
}

// The rows of a table that are not this rank's, but for those of `here`.
TableView with_others(const TableView& here, Index before, Index all, const RowsElsewhere& others) {
  TableView table;
  table.rows = all;
  table.cols = others.cols();
  const auto stand_in = [&](Index first, Index end) {
    TableView::Piece piece;
    piece.source = &others;
    piece.first_row = first;
    piece.rows = end - first;
    table.pieces.push_back(piece);
  };
  if (before > 0) stand_in(0, before);
  for (TableView::Piece piece : here.pieces) {
    if (piece.rows == 0) continue;
    piece.first_row += before;
    table.pieces.push_back(piece);
  }
  stand_in(before + here.rows,
           all);  // always, so that the table is known to be divided where one has all rows
  return table;
}

// The rows of others from one on.
class LaterRows final : public RowSource {
 public:
  LaterRows(const RowSource& all, Index skipped) : all_(all), skipped_(skipped) {}
  [[nodiscard]] Index rows() const override { return all_.rows() - skipped_; }
  [[nodiscard]] Index cols() const override { return all_.cols(); }
  void read(std::span<const Index> positions, Index stride, double* out) const override {
    std::vector<Index> rows;
    for (const Index position : positions) rows.push_back(skipped_ + position);
    all_.read(rows, stride, out);
  }
  [[nodiscard]] double number(Index row, Index column) const override {
    return all_.number(skipped_ + row, column);
  }
  [[nodiscard]] Index most_copied() const override { return all_.most_copied(); }

 private:
  const RowSource& all_;
  Index skipped_;
};

// Some of its rows that follow one another.
TableView middle_rows(const TableView& table, Index first, Index end,
                      std::vector<std::unique_ptr<const RowSource>>& later) {
  TableView result;
  result.rows = std::max<Index>(end - first, 0);
  result.cols = table.cols;
  for (TableView::Piece piece : table.pieces) {
    const Index begin = std::max(first, piece.first_row);
    const Index count = std::min(end, piece.first_row + piece.rows) - begin;
    if (count <= 0) continue;
    const Index skipped = begin - piece.first_row;
    if (piece.doubles != nullptr) piece.doubles += skipped * piece.row_stride;
    if (piece.floats != nullptr) piece.floats += skipped * piece.row_stride;
    if (piece.source != nullptr && skipped > 0)
      piece.source = later.emplace_back(std::make_unique<LaterRows>(*piece.source, skipped)).get();
    piece.first_row = begin - first;
    piece.rows = count;
    result.pieces.push_back(piece);
  }
  return result;
}

}  // namespace

RankedData::RankedData(const TrainingData& own, const FitOptions& options, const Checkpoint& checkpoint,
                       Ranks& ranks)
    : options_(options), all_(own) {
  constexpr double kMostCopied = double{1U << 23U};  // numbers: 64 MiB
  constexpr double kPartOfMemory = 1.0 / 16;
  expect_same_arithmetic(ranks);
  check_shapes(own, ranks);
  expect_same_call(own, options, checkpoint, ranks);
  // Decisions are the same on all ranks, whatever memory their machines have and whenever they began.
  const double limit = memory_limit_bytes(options);
  const double least = std::ranges::min(joined(std::span(&limit, 1), ranks));
  options_.memory_limit = least * 0x1p-20;
  options_.time_limit = joined(std::span(&options.time_limit, 1), ranks).front();
  divide_rows(own, static_cast<Index>(std::min(kMostCopied, kPartOfMemory * least / sizeof(double))), ranks);

  const std::vector<std::vector<double>> targets = gathered(own.y, ranks);
  for (Index target = 0; target < own.targets(); ++target) {
    for (const std::vector<double>& list : targets) {
      const Index rows = std::ssize(list) / own.targets();
      targets_.insert(targets_.end(), list.begin() + target * rows, list.begin() + (target + 1) * rows);
    }
  }
  weights_ = joined(own.weights, ranks);
  groups_ = joined(own.groups, ranks);
  all_.y = targets_;
  all_.weights = weights_;
  all_.groups = groups_;
}

void RankedData::divide_rows(const TrainingData& own, Index most_copied, Ranks& ranks) {
  std::vector<Index> given = {0};
  for (const Index rows : joined(std::span(&own.x.rows, 1), ranks)) given.push_back(given.back() + rows);
  const Index all = given.back();
  const Index blocks = (all + kBlockRows - 1) / kBlockRows;
  std::vector<Index> wanted = {0};
  for (int rank = 0; rank < ranks.size(); ++rank)
    wanted.push_back(std::min(blocks_of_rank(blocks, rank, ranks.size()).end * kBlockRows, all));
  const auto rank = static_cast<std::size_t>(ranks.rank());
  as_given_ = std::make_unique<RowsElsewhere>(ranks, given, own.x.cols, most_copied);
  elsewhere_ = std::make_unique<RowsElsewhere>(ranks, wanted, own.x.cols, most_copied);

  std::vector<Index> rows(static_cast<std::size_t>(all));
  std::iota(rows.begin(), rows.end(), Index{0});
  brought_ = as_given_->fetch(with_others(own.x, given[rank], all, *as_given_), rows);
  // Of this rank's rows, those from before the ones that it was given, these, and those from behind them.
  const Index first = wanted[rank];
  const Index end = wanted[rank + 1];
  const Index kept_first = std::clamp(given[rank], first, end);
  const Index kept_end = std::clamp(given[rank + 1], kept_first, end);
  const TableView brought = brought_.view();
  const std::vector<TableView> parts = {
      middle_rows(brought, 0, kept_first - first, later_rows_),
      middle_rows(own.x, kept_first - given[rank], kept_end - given[rank], later_rows_),
      middle_rows(brought, kept_first - first, brought.rows, later_rows_)};
  all_.x = with_others(TableView::of_pieces(parts), first, all, *elsewhere_);
}

void refuse_for_ranks(const FitOptions& options, const paper::Options& paper) {
  if (!paper.is_own()) {
    throw Error(ErrorKind::kInvalidArgument,
                "the paper's settings and methods are for one process; leave `preset` and `method` out, or "
                "use one rank");
  }
  if (options.device == DeviceChoice::kCpu) return;
  throw Error(ErrorKind::kInvalidArgument, "`device` is for one process; leave it out, or use one rank");
}

}  // namespace mfga
