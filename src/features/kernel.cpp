#include "features/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "features/family.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr int kHighestDegree = 10;

bool has_parameter(Kernel::Name name) {
  return name == Kernel::Name::kMatern || name == Kernel::Name::kPolynomial;
}

std::string_view name_text(Kernel::Name name) { return kKernelNames[static_cast<std::size_t>(name)]; }

std::string expected_text(std::span<const Kernel::Name> possible) {
  std::vector<std::string> texts;
  for (const Kernel::Name name : possible) {
    texts.emplace_back(name_text(name));
    if (name == Kernel::Name::kMatern) texts.back() += "(NU) such as matern(1.5)";
    if (name == Kernel::Name::kPolynomial) texts.back() += fmt::format("(DEGREE), 1 to {}", kHighestDegree);
  }
  return fmt::format("one of: {}", fmt::join(texts, "; "));
}

}  // namespace

Kernel parse_kernel(std::string_view text, std::span<const Kernel::Name> possible) {
  const std::string_view word = text.substr(0, text.find('('));
  const auto known = std::find_if(possible.begin(), possible.end(),
                                  [&](Kernel::Name name) { return name_text(name) == word; });
  if (known == possible.end() || has_parameter(*known) != (word.size() < text.size())) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("kernel={} is not possible; expected {}", text, expected_text(possible)));
  }
  Kernel kernel{*known, 0, 1};
  if (!has_parameter(*known)) return kernel;
  const std::string_view argument = text.substr(word.size() + 1, text.size() - word.size() - 2);
  kernel.parameter =
      *known == Kernel::Name::kMatern
          ? parse_positive("the smoothness of kernel=matern", argument)
          : parse_small_integer("the degree of kernel=polynomial", argument, 1, kHighestDegree);
  return kernel;
}

std::string kernel_text(const Kernel& kernel) {
  if (!has_parameter(kernel.name)) return std::string(name_text(kernel.name));
  return fmt::format("{}({:.4g})", name_text(kernel.name), kernel.parameter);
}

}  // namespace mfga
