// Options are declared once: a table per options struct with name, member, bounds and help drives validation,
// the command line and docs/options.md. Defaults are those of the struct. Values are written as text here,
// and only here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "mfga/cross_validation.hpp"
#include "mfga/generate.hpp"
#include "mfga/options.hpp"
#include "mfga/paper.hpp"
#include "mfga/table.hpp"

namespace mfga {

// Bounds that stand for none.
inline constexpr double kHugeOption = 1e300;
inline constexpr double kManyOption = 1e9;
inline constexpr int kMostTuningSteps = 100000;
// Where no rows can be held out to choose the number of terms.
inline constexpr Index kUsualTerms = 40;

// A member that has one of the values that its row lists, by its position in the list.
template <class Options>
struct ChoiceMember {
  std::size_t (*get)(const Options&);
  void (*set)(Options&, std::size_t);
};

// A member with a way of its own to be written. What it cannot read throws Error.
template <class Options>
struct WrittenMember {
  std::string (*print)(const Options&);
  void (*parse)(Options&, std::string_view text);
};

template <class Options>
struct OptionRow {
  std::string_view name;
  std::variant<std::string Options::*, double Options::*, Index Options::*, int Options::*,
               std::uint64_t Options::*, bool Options::*, std::vector<double> Options::*,
               ChoiceMember<Options>, WrittenMember<Options>>
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
[[nodiscard]] std::span<const OptionRow<paper::Options>> paper_option_table();
[[nodiscard]] std::span<const OptionRow<CrossValidationOptions>> cross_validation_option_table();
[[nodiscard]] std::span<const OptionRow<ReadOptions>> read_option_table();
[[nodiscard]] std::span<const OptionRow<GenerateOptions>> generate_option_table();

// The value of an option, as it is written.
template <class Options>
[[nodiscard]] std::string option_text(const Options& options, const OptionRow<Options>& row);
template <class Options>
[[nodiscard]] std::string option_text(const Options& options, std::span<const OptionRow<Options>> table,
                                      std::string_view name) {
  for (const OptionRow<Options>& row : table) {
    if (row.name == name) return option_text(options, row);
  }
  return {};
}

// Sets a truth value, a ChoiceMember or a WrittenMember. Throws Error(kInvalidArgument) for a text that is no
// value of it.
template <class Options>
void set_option(Options& options, const OptionRow<Options>& row, std::string_view text);

// Throws Error(kInvalidArgument) for the first value that is out of bounds.
template <class Options>
void validate_options(const Options& options, std::span<const OptionRow<Options>> table);

}  // namespace mfga
