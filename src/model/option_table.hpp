// Options are declared once: a table per options struct with name, member, bounds and help drives validation,
// the command line and docs/options.md. Defaults are those of the struct.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mfga/cross_validate.hpp"
#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "mfga/generate.hpp"
#include "mfga/table.hpp"

namespace mfga {

template <class Options>
struct OptionRow {
  std::string_view name;  // on the command line: --name
  std::variant<std::string Options::*, double Options::*, Index Options::*, int Options::*,
               std::uint64_t Options::*, std::vector<double> Options::*>
      member;
  std::string_view value;  // what stands for the value in help; a|b|c lists the only values possible
  double lowest;           // bounds of a number, or of every number in a list
  double highest;
  std::string_view help;

  [[nodiscard]] bool is_choice() const { return value.find('|') != std::string_view::npos; }
  [[nodiscard]] std::vector<std::string> choices() const {
    std::vector<std::string> all;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t bar = rest.find('|');
      all.emplace_back(rest.substr(0, bar));
      rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
    }
    return all;
  }
};

[[nodiscard]] std::span<const OptionRow<FitOptions>> fit_option_table();
[[nodiscard]] std::span<const OptionRow<CrossValidationOptions>> cross_validation_option_table();
[[nodiscard]] std::span<const OptionRow<ReadOptions>> read_option_table();
[[nodiscard]] std::span<const OptionRow<GenerateOptions>> generate_option_table();

template <class Options>
[[nodiscard]] std::string option_text(const Options& options, const OptionRow<Options>& row) {
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), std::vector<double> Options::*>) {
          return fmt::format("{}", fmt::join(options.*member, ","));
        } else {
          return fmt::format("{}", options.*member);
        }
      },
      row.member);
}

// `value` is the number as it is shown.
template <class Options, class Value>
void check_bounds(const OptionRow<Options>& row, const Value& value, double number) {
  if (number >= row.lowest && number <= row.highest) return;
  throw Error(ErrorKind::kInvalidArgument, fmt::format("--{} is {}; expected a number from {} to {}",
                                                       row.name, value, row.lowest, row.highest));
}

// Throws Error(kInvalidArgument) for the first value that is out of bounds.
template <class Options>
void validate_options(const Options& options, std::span<const OptionRow<Options>> table) {
  for (const OptionRow<Options>& row : table) {
    std::visit(
        [&](auto member) {
          const auto& value = options.*member;
          if constexpr (std::is_same_v<decltype(member), std::string Options::*>) {
            if (!row.is_choice()) return;
            for (const std::string& choice : row.choices()) {
              if (choice == value) return;
            }
            throw Error(ErrorKind::kInvalidArgument,
                        fmt::format("--{} is \"{}\"; expected one of {}", row.name, value, row.value));
          } else if constexpr (std::is_same_v<decltype(member), std::vector<double> Options::*>) {
            if (value.empty())
              throw Error(ErrorKind::kInvalidArgument, fmt::format("--{} is an empty list", row.name));
            for (const double number : value) check_bounds(row, number, number);
          } else {
            check_bounds(row, value, static_cast<double>(value));
          }
        },
        row.member);
  }
}

}  // namespace mfga
