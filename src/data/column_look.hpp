// What a column of a delimited text looks like in its first rows: numbers, in which way of writing them, or
// text. This decides about the header, the decimal sign, and which columns are text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/missing_marks.hpp"
#include "data/number_text.hpp"
#include "data/text_rows.hpp"

namespace mfga {

struct ColumnLook {
  Index values = 0;          // fields that are not missing
  std::string first = {};    // of these
  bool is_plain = true;      // all of them are numbers as programs write them
  bool is_whole = true;      // and have no point
  bool fits_point = true;    // all are numbers with a decimal point, perhaps with thousands separators
  bool fits_comma = true;    // the same, with a decimal comma
  bool has_comma = false;    // some have one, which may separate decimals or thousands
  bool has_percent = false;  // some end in %
  bool lacks_percent = false;

  void add(std::string_view field);
  // Whether all values are numbers, with this decimal sign.
  [[nodiscard]] bool fits(char decimal) const {
    return values > 0 && !(has_percent && lacks_percent) && (decimal == ',' ? fits_comma : fits_point);
  }
  [[nodiscard]] bool is_number() const { return fits('.') || fits(','); }
  [[nodiscard]] NumberStyle style(char decimal) const {
    if (decimal == '.' && is_plain) return {};
    return {decimal, true, has_percent && !lacks_percent};
  }
};

// The first rows of a text.
struct SampledRows {
  std::vector<ColumnLook> columns;
  bool has_counting_row = false;    // one of the rows counts up by one, as positions do
  bool first_column_counts = true;  // its values are whole numbers, each another one
};
[[nodiscard]] SampledRows sample_rows(const char* begin, const char* end, const TextLayout& layout,
                                      std::size_t columns, const MissingMarks& marks = {});

// Whether the numbers among the fields are whole and count up by one; at least three of them.
[[nodiscard]] bool counts_up(const std::vector<RawField>& fields);

struct HeaderDecision {
  bool has_header = false;
  std::string reason;
};
// Whether the first row holds names, by comparison with the rows below. `names`: some that a header would
// have; those that are positions of columns say nothing.
[[nodiscard]] HeaderDecision decide_header(const std::vector<RawField>& first, const SampledRows& below,
                                           const std::vector<std::string>& names);

}  // namespace mfga
