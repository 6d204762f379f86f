// What atoms hold of the kernel whose columns they are, and how it is written.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "features/formula.hpp"
#include "features/kernel_columns.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

bool has_closed_form(const Kernel& kernel) {
  switch (kernel.name) {
    case Kernel::Name::kMatern:
      return kernel.parameter == 0.5 || kernel.parameter == 1.5 || kernel.parameter == 2.5;
    case Kernel::Name::kPolynomial:
      return kernel.parameter >= 1 && kernel.parameter == std::round(kernel.parameter);
    default:
      return true;
  }
}

// The largest coordinates of a centre: `a = 0.31, b = -0.2, 5 more`.
std::string centre_text(std::span<const double> centre, const FormulaWriter& writer) {
  std::string text;
  const std::vector<std::size_t> shown = largest_entries(centre);
  for (const std::size_t i : shown) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", writer.names()[i], writer.number(centre[i]));
  }
  return centre.size() > shown.size() ? fmt::format("{}, {} more", text, centre.size() - shown.size()) : text;
}

// The sum over the inputs of what a pattern makes of the difference to the centre.
std::string distances_text(std::span<const double> centre, std::string_view pattern,
                           const FormulaWriter& writer) {
  std::string text;
  for (std::size_t i = 0; i < centre.size(); ++i) {
    const std::string difference = writer.shifted(writer.names()[i], -centre[i]);
    text += (i == 0 ? "" : " + ") + fmt::format(fmt::runtime(pattern), difference);
  }
  return text;
}

}  // namespace

Kernel parse_column_kernel(std::string_view text) {
  const Kernel kernel = parse_kernel(text, kColumnKernels);
  if (!has_closed_form(kernel)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("kernel={} is not possible; expected matern(0.5), matern(1.5) or matern(2.5), which "
                    "have closed formulas (fourier features exist for any)",
                    text));
  }
  return kernel;
}

std::vector<double> kernel_parameters(const Kernel& kernel) {
  return {kernel.sigma, static_cast<double>(kernel.name), kernel.parameter};
}

Kernel kernel_of(const Atom& atom) {
  return {static_cast<Kernel::Name>(static_cast<int>(atom.parameters[1])), atom.parameters[2],
          atom.parameters[0]};
}

std::span<const double> parameters_after_kernel(const Atom& atom) {
  return std::span(atom.parameters).subspan(kColumnKernelFields.size());
}

void validate_column_kernel(const Atom& atom) {
  if (!(atom.parameters[0] > 0)) {
    throw Error(ErrorKind::kBadData, fmt::format("sigma of a {} term is {}, expected a positive number",
                                                 atom.family, atom.parameters[0]));
  }
  const Kernel kernel = kernel_of(atom);
  const bool has_parameter = kernel.name == Kernel::Name::kMatern || kernel.name == Kernel::Name::kPolynomial;
  constexpr double kHighestDegree = 1000;
  if (!has_closed_form(kernel) || kernel.parameter > kHighestDegree ||
      (!has_parameter && kernel.parameter != 0)) {
    throw Error(ErrorKind::kBadData,
                fmt::format("kernel_parameter of a {} term is {}; expected 0.5, 1.5 or 2.5 for a matern "
                            "kernel, a whole number for a polynomial one, and none for others",
                            atom.family, kernel.parameter));
  }
}

std::string column_text(const Kernel& kernel, std::span<const double> centre, FormulaWriter& writer) {
  const std::string sigma = writer.number(kernel.sigma);
  if (kernel.name == Kernel::Name::kPolynomial) {
    return fmt::format("(1 + ({}) / {}^2)^{}", writer.sum(centre, writer.names()), sigma,
                       writer.number(kernel.parameter));
  }
  if (!writer.is_full()) {
    return fmt::format("near({}; {}{})", centre_text(centre, writer), sigma,
                       kernel.name == Kernel::Name::kGaussian ? "" : ", " + kernel_text(kernel));
  }
  if (kernel.name == Kernel::Name::kGaussian)
    return fmt::format("exp(-({}) / (2 * {}^2))", distances_text(centre, "({})^2", writer), sigma);
  if (kernel.name == Kernel::Name::kLaplace)
    return fmt::format("exp(-({}) / {})", distances_text(centre, "abs({})", writer), sigma);
  const std::string t = writer.define("t", fmt::format("sqrt({} * ({})) / {}", 2 * kernel.parameter,
                                                       distances_text(centre, "({})^2", writer), sigma));
  if (kernel.parameter == 0.5) return fmt::format("exp(-{})", t);
  return fmt::format("(1 + {}{}) * exp(-{})", t, kernel.parameter == 1.5 ? "" : fmt::format(" + {}^2 / 3", t),
                     t);
}

Expression column_expression(const Kernel& kernel, std::span<const double> centre,
                             std::span<const Expression> inputs, ExpressionGraph& graph) {
  const double inverse_square = 1 / (kernel.sigma * kernel.sigma);
  if (kernel.name == Kernel::Name::kPolynomial) {
    const Expression projection = graph.sum(inputs, centre);
    return graph.power(graph.plus(graph.times(projection, inverse_square), 1),
                       static_cast<int>(kernel.parameter));
  }
  if (kernel.name == Kernel::Name::kLaplace)
    return graph.exp(graph.times(graph.distance(inputs, centre), -1 / kernel.sigma));
  const Expression square = graph.square_distance(inputs, centre);
  if (kernel.name == Kernel::Name::kGaussian) return graph.exp(graph.times(square, -0.5 * inverse_square));
  const Expression t = graph.times(graph.sqrt(square), std::sqrt(2 * kernel.parameter) / kernel.sigma);
  const Expression decay = graph.exp(graph.times(t, -1));
  if (kernel.parameter == 0.5) return decay;
  const double cube = kernel.parameter == 2.5 ? 1.0 / 3 : 0;
  const Expression polynomial = graph.sum(std::array{t, graph.power(t, 2)}, std::array{1.0, cube}, 1);
  return graph.product({polynomial, decay});
}

}  // namespace mfga
