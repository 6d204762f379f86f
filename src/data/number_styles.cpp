#include "data/number_styles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "data/number_text.hpp"

namespace mfga {
namespace {

std::string first_names(std::vector<std::string> names) {
  constexpr std::size_t kMost = 5;
  const std::size_t count = names.size();
  if (count > kMost) names.resize(kMost);
  return fmt::format("{}{}", fmt::join(names, ", "), count > kMost ? ", ..." : "");
}

}  // namespace

char choose_decimal(const std::string& path, const TableReader& reader, const std::vector<Index>& columns,
                    const std::string& asked) {
  if (asked != "auto") return asked.front();
  const std::span<const ColumnLook> looks = reader.looks();
  Index with_point = -1;
  Index with_comma = -1;
  Index with_either = -1;
  for (const Index column : columns) {
    if (looks.empty()) break;
    const ColumnLook& look = looks[static_cast<std::size_t>(column)];
    if (look.fits('.') && !look.fits(',')) with_point = column;
    if (look.fits(',') && !look.fits('.')) with_comma = column;
    if (look.fits('.') && look.fits(',') && look.has_comma) with_either = column;
  }
  const auto name = [&](Index column) {
    return quoted_for_message(reader.columns()[static_cast<std::size_t>(column)]);
  };
  if (with_comma >= 0 && with_point >= 0) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: column {} has numbers with a decimal comma, and column {} with a decimal point; "
                    "write all of them in one way, or read one of the columns as text with `text`, or "
                    "leave it out with `ignore`",
                    path, name(with_comma), name(with_point)));
  }
  if (with_comma < 0 && with_point < 0 && with_either >= 0) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: the commas in column {} may separate decimals or thousands; pass `decimal=,` or "
                    "`decimal=.`",
                    path, name(with_either)));
  }
  return with_comma >= 0 ? ',' : '.';
}

bool is_number_column(const TableReader& reader, const FirstRow& first_row, Index column, char decimal) {
  const auto i = static_cast<std::size_t>(column);
  const ColumnLook& look = reader.looks()[i];
  if (look.fits(decimal) || look.values == 0) return true;
  const bool begins_later = reader.missing_marks().has(first_row.fields[i]);
  double value = 0;
  return classify_field(begins_later ? look.first : first_row.fields[i], {decimal, decimal == ',', false},
                        value) != FieldContent::kText;
}

void choose_styles(const TableReader& reader, char decimal, const std::string& asked, ColumnPlan& plan,
                   std::vector<std::string>& remarks) {
  const std::span<const ColumnLook> looks = reader.looks();
  if (looks.empty()) return;
  std::vector<NumberStyle> styles(looks.size());
  std::vector<std::string> special;
  bool has_commas = false;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const bool may_be_number = plan.slots[i] >= 0 || plan.slots[i] == kTargetColumn;
    if (!may_be_number) continue;
    const bool fits = looks[i].fits(decimal);
    if (fits) styles[i] = looks[i].style(decimal);
    has_commas = has_commas || decimal == ',';
    const bool is_special = styles[i].has_percent || (styles[i].decimal == '.' && styles[i].has_groups);
    if (fits && is_special) special.push_back(reader.columns()[i]);
    // Numbers that are plain in the first rows may be written otherwise below them.
    if (decimal == ',' || asked == ".") {
      styles[i].decimal = decimal;
      styles[i].has_groups = true;
    }
  }
  if (std::ranges::all_of(styles, &NumberStyle::is_plain)) return;
  if (has_commas) remarks.emplace_back("numbers have decimal commas (`decimal`)");
  if (!special.empty())
    remarks.push_back(
        fmt::format("numbers have thousands separators or percent signs in {}", first_names(special)));
  plan.styles = std::move(styles);
}

}  // namespace mfga
