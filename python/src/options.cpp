#include "src/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "mfga/error.hpp"
#include "model/option_table.hpp"

namespace mfga::python {
namespace nb = nanobind;
namespace {

template <class Number>
Number number_of(std::string_view name, std::string_view text, std::string_view expected) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  throw Error(ErrorKind::kInvalidArgument, fmt::format("`{}` is \"{}\"; expected {}", name, text, expected));
}

std::vector<double> numbers_of(std::string_view name, std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    numbers.push_back(number_of<double>(name, text.substr(0, comma), "a list of numbers"));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

template <class Options>
void set_from_text(Options& options, const OptionRow<Options>& row, const std::string& text) {
  std::visit(
      [&](auto member) {
        using Member = decltype(member);
        if constexpr (std::is_same_v<Member, std::string Options::*>) {
          options.*member = text;
        } else if constexpr (std::is_same_v<Member, std::vector<double> Options::*>) {
          options.*member = numbers_of(row.name, text);
        } else if constexpr (std::is_same_v<Member, double Options::*>) {
          options.*member = number_of<double>(row.name, text, "a number");
        } else if constexpr (std::is_same_v<Member, Index Options::*> ||
                             std::is_same_v<Member, int Options::*> ||
                             std::is_same_v<Member, std::uint64_t Options::*>) {
          using Number = std::remove_reference_t<decltype(options.*member)>;
          options.*member = number_of<Number>(row.name, text, "a whole number");
        } else {
          set_option(options, row, text);
        }
      },
      row.member);
}

template <class Options>
bool is_set(Options& options, std::span<const OptionRow<Options>> table, const std::string& name,
            const std::string& text) {
  for (const OptionRow<Options>& row : table) {
    if (row.name != name) continue;
    set_from_text(options, row, text);
    return true;
  }
  return false;
}

template <class Options>
nb::list rows_of(std::span<const OptionRow<Options>> table) {
  nb::list rows;
  for (const OptionRow<Options>& row : table) {
    nb::dict entry;
    entry["name"] = nb::str(row.name.data(), row.name.size());
    entry["default"] = nb::str(option_text(Options{}, row).c_str());
    entry["value"] = nb::str(row.value.data(), row.value.size());
    entry["help"] = nb::str(row.help.data(), row.help.size());
    rows.append(entry);
  }
  return rows;
}

}  // namespace

AllOptions options_of(const std::map<std::string, std::string>& texts) {
  AllOptions all;
  for (const auto& [name, text] : texts) {
    if (is_set(all.fit, fit_option_table(), name, text) ||
        is_set(all.validation, cross_validation_option_table(), name, text) ||
        is_set(all.paper, paper_option_table(), name, text))
      continue;
    throw Error(ErrorKind::kInvalidArgument, fmt::format("there is no option `{}`", name));
  }
  if (all.fit.ridge.validation() != nullptr) all.fit.ridge = Ridge::cross_validated(all.validation);
  all.fit.in_time_order = all.validation.in_time_order;
  all.paper.validate(all.fit);
  return all;
}

nb::dict option_tables() {
  nb::dict tables;
  tables["fit"] = rows_of(fit_option_table());
  tables["cross_validation"] = rows_of(cross_validation_option_table());
  tables["paper"] = rows_of(paper_option_table());
  return tables;
}

}  // namespace mfga::python
