// The target column of a text file: its fields are kept as text until all rows are read, for only then is it
// known whether they are numbers or labels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/missing_marks.hpp"
#include "data/number_text.hpp"
#include "mfga/error.hpp"
#include "mfga/table.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {

// Fills in target and labels of the table, whose source, target_name and lines are known. `column` is the
// target's position in the file, from 0, `style` how its numbers are written, and `fields` its text in each
// row, with quotes. A target that is missing is an error. Whether it is one of labels is judged by the rows
// of all ranks; null: there is one. With several it must be called within `agreed`.
void convert_target(const std::vector<std::string_view>& fields, Index column, const NumberStyle& style,
                    const MissingMarks& marks, ThreadPool& pool, Table& table, Communicator* ranks = nullptr);

// The same for a file that is read in parts. What is kept of each row is a number and, while there are not
// too many different texts, which of them it is.
class TargetCollector {
 public:
  TargetCollector(Index column, const NumberStyle& style, MissingMarks marks, std::string name)
      : column_(column), style_(style), marks_(std::move(marks)), name_(std::move(name)) {}
  // Takes the fields of the next rows; `path` and `lines` are for messages.
  void add(const std::vector<std::string_view>& fields, const std::string& path, const RowLines& lines,
           ThreadPool& pool);
  // Takes numbers, of a format without text.
  void add(const std::vector<double>& numbers) {
    target_.insert(target_.end(), numbers.begin(), numbers.end());
  }
  // Sets target and labels of the table, with ranks as above.
  void finish(Table& table, Communicator* ranks = nullptr);

 private:
  struct Place {
    Index row = -1;  // of all; -1: there is no such row
    std::string path;
    Index line = 0;
    std::string text;
  };
  [[nodiscard]] Error error_at(const Place& place, std::string_view expected) const;

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  Index column_;
  NumberStyle style_;
  MissingMarks marks_;
  std::string name_;
  std::vector<double> target_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> texts_;  // as they stand in the file
  std::vector<std::uint32_t> codes_;                                             // of the rows, among these
  bool are_too_many_ = false;
  Index numbers_ = 0;
  Place first_missing_;
  Place first_text_;
  Place first_not_finite_;
  Place not_utf8_;
};

}  // namespace mfga
