#include "data/row_collector.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/row_blocks.hpp"
#include "data/text_rows.hpp"

namespace mfga {

void TextCollector::add(const TextFields& fields, Index column, Index place, Matrix& kept) {
  for (const TextFields::Fields& part : fields.fields(column)) {
    found_.are_too_many = found_.are_too_many || part.is_full;
    std::vector<Index> codes;  // by place in the part's list
    std::vector<Index> counts(part.listed.size());
    for (const std::string_view raw : part.listed) {
      std::string text = text_level(raw, marks_);
      auto known = codes_.find(text);
      if (known == codes_.end() && texts_.size() <= kMostLevels) {
        known = codes_.emplace(text, std::ssize(texts_)).first;
        texts_.push_back(std::move(text));
      }
      codes.push_back(known == codes_.end() ? Index{kMostLevels} + 1 : known->second);
    }
    for (std::size_t n = 0; n < part.codes.size(); ++n) {
      const std::size_t code = part.codes[n];
      const bool is_listed = code < codes.size();
      const Index own = is_listed ? codes[code] : Index{kMostLevels} + 1;
      const Index row = part.first_row + static_cast<Index>(n);
      kept(row, place) = static_cast<double>(own);
      if (!is_listed) continue;
      ++counts[code];
      const Index row_of_all = found_.rows + row;
      const bool is_first_rows = row_of_all < static_cast<Index>(kMostLevels);
      if (!is_first_rows && !found_.first.empty() && counts[code] > 1) continue;
      // The first of its part with this text, or one of the first rows of all.
      const std::string text = text_level(part.listed[code], marks_);
      if (is_first_rows) found_.texts.insert(text);
      if (text == kMissingLevel) {
        if (missing_.first_row < 0) missing_.first_row = row_of_all;
      } else if (found_.first.empty()) {
        found_.first = text;
        found_.first_row = row_of_all;
      }
      if (found_.not_utf8_row < 0 && !is_utf8(text)) found_.not_utf8_row = row_of_all;
    }
    for (std::size_t code = 0; code < codes.size(); ++code) {
      if (codes[code] >= std::ssize(texts_)) continue;
      const std::string& text = texts_[static_cast<std::size_t>(codes[code])];
      found_.counts[text] += counts[code];
      if (text == kMissingLevel) missing_.count += counts[code];
    }
  }
  found_.rows += kept.rows;
}

TextLevels TextCollector::levels(const std::string& name, const Table& table, bool has_header) const {
  FoundTexts found = found_;
  found.are_too_many = found.are_too_many || texts_.size() > kMostLevels;
  found.judged_rows = found.rows;
  if (found.are_too_many) {  // what is judged are the texts of the first rows
    found.judged_rows = std::min<Index>(found.rows, kMostLevels);
    found.not_utf8_row = -1;
  } else {
    found.texts = {texts_.begin(), texts_.end()};
  }
  return levels_of(request_, found, name, table, has_header);
}

std::vector<Index> TextCollector::levels_of_codes(const TextLevels& levels) const {
  std::vector<Index> result;
  for (const std::string& text : texts_) {
    const std::string level = std::ranges::binary_search(levels.rare, text) ? std::string(kOtherLevel) : text;
    const auto place = std::ranges::lower_bound(levels.texts, level);
    result.push_back(place != levels.texts.end() && *place == level ? place - levels.texts.begin()
                                                                    : Index{-1});
  }
  return result;
}

RowCollector::RowCollector(const ColumnPlan& plan, const MissingMarks& marks, std::string target_name,
                           const std::string& folder)
    : numbers_(plan.numbers), store_(folder, plan.numbers + std::ssize(plan.texts)) {
  for (const TextRequest& request : plan.texts) texts_.emplace_back(request, marks);
  if (plan.has_target()) {
    target_.emplace(plan.target, plan.style(static_cast<std::size_t>(plan.target)), marks,
                    std::move(target_name));
  }
  missing_.resize(static_cast<std::size_t>(plan.numbers));
}

void RowCollector::add(RowsRead& part, const std::string& path, ThreadPool& pool) {
  const Index before = rows();
  (before == 0 ? leading_comments_ : inner_comments_) += part.leading_comments;
  inner_comments_ += part.inner_comments;
  if (target_ && !part.target.empty()) target_->add(part.target);
  if (target_ && part.target.empty()) target_->add(part.target_fields, path, part.lines, pool);
  append_lines(part.lines, before, lines_);
  pool.run(numbers_, [&](Index j) {
    TextFields::Count& missing = missing_[static_cast<std::size_t>(j)];
    for (Index n = 0; n < part.rows(); ++n) {
      if (std::isnan(part.numbers(n, j)) && missing.count++ == 0) missing.first_row = before + n;
    }
  });
  if (texts_.empty()) {
    store_.add(part.numbers, pool);
    return;
  }
  Matrix kept = Matrix::uninitialised(part.rows(), numbers_ + std::ssize(texts_));
  for (Index n = 0; n < kept.rows; ++n) std::copy_n(part.numbers.row(n), numbers_, kept.row(n));
  part.numbers = {};
  pool.run(std::ssize(texts_),
           [&](Index i) { texts_[static_cast<std::size_t>(i)].add(part.texts, i, numbers_ + i, kept); });
  store_.add(kept, pool);
}

void RowCollector::finish(Table& table, Communicator* ranks) {
  table.lines = std::move(lines_);
  if (target_) target_->finish(table, ranks);
}

std::shared_ptr<const StoredRows> RowCollector::stored(const std::vector<TextLevels>& levels,
                                                       const TextFields::Destinations& to,
                                                       Index most_copied) {
  StoredColumns columns;
  columns.columns = to.columns;
  for (std::size_t j = 0; j < to.of_number.size(); ++j)
    columns.numbers.emplace_back(static_cast<Index>(j), to.of_number[j]);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (to.of_level[i].empty()) continue;
    StoredColumns::Text text{numbers_ + static_cast<Index>(i), {}};
    for (const Index level : texts_[i].levels_of_codes(levels[i]))
      text.columns.push_back(level < 0 ? level : to.of_level[i][static_cast<std::size_t>(level)]);
    columns.texts.push_back(std::move(text));
  }
  return store_.finish(std::move(columns), most_copied);
}

Matrix in_memory(const RowSource& rows, const std::string& path, ThreadPool& pool) {
  Matrix values = allocate_matrix(path, rows.rows(), rows.cols());
  pool.run((values.rows + kBlockRows - 1) / kBlockRows, [&](Index block) {
    std::vector<Index> some(static_cast<std::size_t>(std::min(kBlockRows, values.rows - block * kBlockRows)));
    std::iota(some.begin(), some.end(), block * kBlockRows);
    std::vector<double> numbers(some.size() * static_cast<std::size_t>(values.cols));
    rows.read(some, std::ssize(some), numbers.data());
    for (std::size_t n = 0; n < some.size(); ++n) {
      for (Index j = 0; j < values.cols; ++j)
        values(some[n], j) = numbers[static_cast<std::size_t>(j) * some.size() + n];
    }
  });
  return values;
}

}  // namespace mfga
