// A table that is read in parts and kept on disk: what is known of it when all parts are read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/stored_rows.hpp"
#include "data/table_reader.hpp"
#include "data/target_column.hpp"

namespace mfga {

// The texts of a column, over all parts.
class TextCollector {
 public:
  TextCollector(TextRequest request, MissingMarks marks)
      : request_(std::move(request)), marks_(std::move(marks)) {}
  // Takes the fields of a part, and puts a code for each text into column `place` of `kept`.
  void add(const TextFields& fields, Index column, Index place, Matrix& kept);
  [[nodiscard]] TextLevels levels(const std::string& name, const Table& table, bool has_header) const;
  // Of each code, which of the levels it is; -1: none.
  [[nodiscard]] std::vector<Index> levels_of_codes(const TextLevels& levels) const;
  [[nodiscard]] TextFields::Count missing() const { return missing_; }

 private:
  TextRequest request_;
  MissingMarks marks_;
  FoundTexts found_;
  std::vector<std::string> texts_;                // by code
  std::unordered_map<std::string, Index> codes_;  // of these
  TextFields::Count missing_;
};

class RowCollector {
 public:
  // The folder as in ScratchFile.
  RowCollector(const ColumnPlan& plan, const MissingMarks& marks, std::string target_name,
               const std::string& folder);
  // Takes the next rows; `path` for messages.
  void add(RowsRead& part, const std::string& path, ThreadPool& pool);

  [[nodiscard]] Index rows() const { return store_.rows(); }
  [[nodiscard]] Index leading_comments() const { return leading_comments_; }
  [[nodiscard]] Index inner_comments() const { return inner_comments_; }
  [[nodiscard]] const TextCollector& text(Index i) const { return texts_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] TextFields::Count missing_numbers(Index slot) const {
    return missing_[static_cast<std::size_t>(slot)];
  }
  // Sets the lines and the target, which all ranks do together; null: there is one.
  void finish(Table& table, Communicator* ranks);
  // The rows, where numbers and levels go to these columns.
  [[nodiscard]] std::shared_ptr<const StoredRows> stored(const std::vector<TextLevels>& levels,
                                                         const TextFields::Destinations& to,
                                                         Index most_copied);

 private:
  Index numbers_;
  std::vector<TextCollector> texts_;
  std::optional<TargetCollector> target_;
  RowStore store_;
  RowLines lines_;
  std::vector<TextFields::Count> missing_;
  Index leading_comments_ = 0;
  Index inner_comments_ = 0;
};

// Rows that are kept on disk, in memory.
[[nodiscard]] Matrix in_memory(const RowSource& rows, const std::string& path, ThreadPool& pool);

}  // namespace mfga
