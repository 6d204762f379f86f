// The list of feature families and the reading of their options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "features/additive.hpp"
#include "features/family.hpp"
#include "features/fourier.hpp"
#include "features/gaussian.hpp"
#include "features/hinge.hpp"
#include "features/landmark.hpp"
#include "features/linear.hpp"
#include "features/maclaurin.hpp"
#include "features/nystrom.hpp"
#include "features/periodic.hpp"
#include "features/polynomial.hpp"
#include "features/spline.hpp"
#include "features/step.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

[[noreturn]] void throw_bad_value(std::string_view option, std::string_view text, std::string_view expected) {
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("{}={} is not possible; expected {}", option, text, expected));
}

}  // namespace

std::span<const FeatureFamily* const> feature_families() {
  static const std::array families = {
      &linear_family(),  &polynomial_family(), &step_family(),     &hinge_family(),
      &spline_family(),  &periodic_family(),   &additive_family(), &gaussian_family(),
      &fourier_family(), &landmark_family(),   &nystrom_family(),  &maclaurin_family(),
  };
  return families;
}

const FeatureFamily* find_feature_family(std::string_view name) {
  for (const FeatureFamily* family : feature_families()) {
    if (family->name() == name) return family;
  }
  return nullptr;
}

bool is_possible(const Atom& atom, Index n_inputs) {
  const FeatureFamily* const family = find_feature_family(atom.family);
  if (family == nullptr || !(atom.nu >= 0) || !std::isfinite(atom.nu)) return false;
  Index least = 0;  // inputs ascend
  for (const Index input : atom.inputs) {
    if (input < least || input >= n_inputs) return false;
    least = input + 1;
  }
  if (atom.exponents.size() != atom.inputs.size() || !std::ranges::all_of(atom.exponents, [](int exponent) {
        return exponent >= 1 && exponent <= kHighestExponent;
      }))
    return false;
  std::span<const double> left = atom.parameters;
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(left, is_finite)) return false;
  if (!std::ranges::all_of(atom.shared.numbers(), is_finite)) return false;
  for (const ParameterField& field : family->parameter_fields()) {
    const std::size_t count = field.size == ParameterField::Size::kOne ? 1
                              : field.size == ParameterField::Size::kPerInput
                                  ? static_cast<std::size_t>(n_inputs)
                                  : left.size();
    if (count > left.size()) return false;
    if (!field.labels.empty() && !(left[0] >= 0 && left[0] < static_cast<double>(field.labels.size()) &&
                                   left[0] == std::floor(left[0])))
      return false;
    left = left.subspan(count);
  }
  if (!left.empty()) return false;
  try {
    family->validate(atom, n_inputs);
  } catch (const Error&) {
    return false;
  }
  return true;
}

const FamilyOption& nu_option() {
  static constexpr FamilyOption kNu = {
      "nu", "NUMBER", "1",
      "weight of this kernel; weights are scaled to sum to one, and sqrt(nu) multiplies the features"};
  return kNu;
}

FamilyOptionValues option_values(const FeatureFamily& family, const FamilyRequest& request) {
  FamilyOptionValues values;
  for (const FamilyOption& option : family.options()) values.emplace_back(option.default_value);
  for (const auto& [name, value] : request.options) {
    if (name == nu_option().name) continue;
    std::size_t position = 0;
    while (position < values.size() && family.options()[position].name != name) ++position;
    if (position == values.size()) {
      std::vector<std::string_view> names;
      for (const FamilyOption& option : family.options()) names.push_back(option.name);
      names.push_back(nu_option().name);
      throw Error(ErrorKind::kInvalidArgument, fmt::format("`features`: {} has no option \"{}\"; it has: {}",
                                                           family.name(), name, fmt::join(names, ", ")));
    }
    values[position] = value;
  }
  return values;
}

double kernel_weight(const FamilyRequest& request) {
  double weight = 1;
  for (const auto& [name, text] : request.options) {
    if (name == nu_option().name) weight = parse_positive(name, text);
  }
  return weight;
}

Workers& CandidateContext::parallel() const {
  static Workers one(1);  // which any thread may use
  return workers != nullptr ? *workers : one;
}

const BlockedRows& CandidateContext::training_rows(std::string_view family) const {
  if (rows == nullptr) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("`features`: {} takes its atoms from training rows; there are none here", family));
  }
  return *rows;
}

SigmaChoice parse_sigma(std::string_view text) {
  constexpr std::string_view kAuto = "auto";
  constexpr std::string_view kExpected = "auto, a positive number, or auto*NUMBER such as auto*2";
  SigmaChoice choice;
  std::string_view number = text;
  if (text.starts_with(kAuto)) {
    number.remove_prefix(kAuto.size());
    if (number.empty()) return choice;
    if (!number.starts_with('*')) throw_bad_value("sigma", text, kExpected);
    number.remove_prefix(1);
  } else {
    choice.automatic = false;
  }
  const auto value = parse_number(number);
  if (!value || !(*value > 0)) throw_bad_value("sigma", text, kExpected);
  choice.value = *value;
  return choice;
}

bool parse_yes_no(std::string_view option, std::string_view text) {
  if (text == "yes") return true;
  if (text == "no") return false;
  throw_bad_value(option, text, "yes or no");
}

std::size_t parse_choice(std::string_view option, std::string_view text,
                         std::span<const std::string_view> choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end()) throw_bad_value(option, text, fmt::format("{}", fmt::join(choices, " or ")));
  return static_cast<std::size_t>(found - choices.begin());
}

double parse_positive(std::string_view option, std::string_view text) {
  const auto value = parse_number(text);
  if (!value || !(*value > 0)) throw_bad_value(option, text, "a positive number");
  return *value;
}

double parse_number(std::string_view option, std::string_view text, double lowest, double highest) {
  const auto value = parse_number(text);
  if (!value || !(*value >= lowest && *value <= highest))
    throw_bad_value(option, text, fmt::format("a number from {} to {}", lowest, highest));
  return *value;
}

int parse_small_integer(std::string_view option, std::string_view text, int lowest, int highest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest) {
    throw_bad_value(option, text, fmt::format("a whole number from {} to {}", lowest, highest));
  }
  return value;
}

double positive_from_logarithm(double logarithm) {
  constexpr double kFarthest = 300;
  return std::exp(std::clamp(logarithm, -kFarthest, kFarthest));
}

}  // namespace mfga
