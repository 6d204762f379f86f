// B-spline basis functions of single inputs. The knots of an input are its range and points near its
// quantiles, continued outside by `degree` knots on either side; so the functions sum to one on the range and
// fade to zero outside. An atom has the degree + 2 knots of its function. The kernel is the sum over inputs
// and functions B of B(x) B(x'), whose functions are the splines with these knots.
#include "features/spline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/vectorise.hpp"
#include "features/columns.hpp"
#include "features/univariate.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr int kHighestDegree = 5;

// The dictionary options, in the order of SplineFamily::options().
struct SplineOptions {
  Index knots;
  Index degree;
};

constexpr std::array<FamilyOption, 2> kOptions = {{
    {"knots", "0 to 10000", "8",
     "knots per input inside its range, near the quantiles of its training values; fewer if it has few "
     "different values"},
    {"degree", "0 to 5", "3", "degree of the pieces; lower for inputs with few different values"},
}};

SplineOptions parse(const FamilyOptionValues& values) {
  constexpr int kMostKnots = 10000;
  return {parse_small_integer("knots", values[0], 0, kMostKnots),
          parse_small_integer("degree", values[1], 0, kHighestDegree)};
}

// The recursion of Cox and de Boor for the function with the knots from kFirst on; inverse_widths[d][i] is
// 1 / (knots[i + d] - knots[i]). The degree is known to the compiler, which computes what branches share once
// and keeps all in registers.
template <int kDegree, int kFirst, class Knots, class Widths>
[[gnu::always_inline]] inline double basis_function(const Knots& knots, const Widths& inverse_widths,
                                                    double x) {
  if constexpr (kDegree == 0) {
    return (x >= knots[kFirst] ? 1.0 : 0.0) - (x >= knots[kFirst + 1] ? 1.0 : 0.0);
  } else {
    return (x - knots[kFirst]) * inverse_widths[kDegree][kFirst] *
               basis_function<kDegree - 1, kFirst>(knots, inverse_widths, x) +
           (knots[kFirst + kDegree + 1] - x) * inverse_widths[kDegree][kFirst + 1] *
               basis_function<kDegree - 1, kFirst + 1>(knots, inverse_widths, x);
  }
}

template <int kDegree>
[[gnu::always_inline]] inline void spline_of_degree(const double* x, const double* knots, double factor,
                                                    Index rows, double* out) {
  double own_knots[kDegree + 2];
  double inverse_widths[kDegree + 1][kDegree + 2];
  for (int i = 0; i < kDegree + 2; ++i) own_knots[i] = knots[i];
  for (int d = 1; d <= kDegree; ++d) {
    for (int i = 0; i + d < kDegree + 2; ++i) inverse_widths[d][i] = 1 / (knots[i + d] - knots[i]);
  }
  for (Index n = 0; n < rows; ++n)
    out[n] = factor * basis_function<kDegree, 0>(own_knots, inverse_widths, x[n]);
}

MFGA_VECTORISED void spline0(const double* x, const double* knots, double factor, Index rows, double* out) {
  spline_of_degree<0>(x, knots, factor, rows, out);
}
MFGA_VECTORISED void spline1(const double* x, const double* knots, double factor, Index rows, double* out) {
  spline_of_degree<1>(x, knots, factor, rows, out);
}
MFGA_VECTORISED void spline2(const double* x, const double* knots, double factor, Index rows, double* out) {
  spline_of_degree<2>(x, knots, factor, rows, out);
}
MFGA_VECTORISED void spline3(const double* x, const double* knots, double factor, Index rows, double* out) {
  spline_of_degree<3>(x, knots, factor, rows, out);
}
MFGA_VECTORISED void spline4(const double* x, const double* knots, double factor, Index rows, double* out) {
  spline_of_degree<4>(x, knots, factor, rows, out);
}
MFGA_VECTORISED void spline5(const double* x, const double* knots, double factor, Index rows, double* out) {
  spline_of_degree<5>(x, knots, factor, rows, out);
}
constexpr std::array kSplines = {spline0, spline1, spline2, spline3, spline4, spline5};

// The knots of all functions of an input: the k-th function has those from the k-th on. No more functions
// than different values, as others would be combinations of these.
struct SplineBasis {
  std::vector<double> knots;
  Index degree;
};
SplineBasis spline_basis(std::span<const double> values, const SplineOptions& options) {
  std::vector<double> distinct(values.begin(), values.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto most_functions = static_cast<Index>(distinct.size());
  SplineBasis basis;
  basis.degree = std::min(options.degree, most_functions - 1);
  const Index most_knots = std::min(options.knots, most_functions - 1 - basis.degree);
  const std::vector<double> inner = quantile_knots(values, most_knots);
  const double lowest = values.front();
  // Pieces do not include their upper ends.
  const double highest = std::nextafter(values.back(), std::numeric_limits<double>::infinity());
  const double spacing = (highest - lowest) / static_cast<double>(inner.size() + 1);
  for (Index k = basis.degree; k > 0; --k) basis.knots.push_back(lowest - static_cast<double>(k) * spacing);
  basis.knots.push_back(lowest);
  basis.knots.insert(basis.knots.end(), inner.begin(), inner.end());
  basis.knots.push_back(highest);
  for (Index k = 1; k <= basis.degree; ++k) basis.knots.push_back(highest + static_cast<double>(k) * spacing);
  return basis;
}

class SplineFamily final : public UnivariateFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "spline"; }
  [[nodiscard]] std::string_view help() const override {
    return "B-spline basis functions of single inputs: smooth bumps that add up to any spline";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { parse(values); }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    const SplineOptions options = parse(values);
    return static_cast<double>(options.knots + 1 + options.degree) * static_cast<double>(n_inputs);
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom,
                                     std::span<const std::string> input_names) const override {
    std::vector<std::string> knots;
    for (const double knot : atom.parameters) knots.push_back(fmt::format("{:.4g}", knot));
    return {std::sqrt(atom.nu),
            fmt::format("B{}({}; {})", knots.size() - 2,
                        input_names[static_cast<std::size_t>(atom.inputs[0])], fmt::join(knots, ", "))};
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 1> kFields = {{{"knots", ParameterField::Size::kRest}}};
    return kFields;
  }

  void evaluate(std::span<const Atom> atoms, const double* x, Index rows, double* out, Index stride,
                Arena& /*arena*/) const override {
    for (const Atom& atom : atoms) {
      const auto spline = kSplines[atom.parameters.size() - 2];
      spline(x, atom.parameters.data(), std::sqrt(atom.nu), rows, out);
      out += stride;
    }
  }

 protected:
  [[nodiscard]] std::vector<Atom> atoms(const FamilyOptionValues& values, const CandidateContext& context,
                                        double nu) const override {
    const SplineOptions options = parse(values);
    const auto samples = column_samples(context.training_rows(name()), context.seed);
    std::vector<Atom> result;
    for (Index j = 0; j < context.n_inputs; ++j) {
      const SplineBasis basis = spline_basis(samples[static_cast<std::size_t>(j)], options);
      const Index own = basis.degree + 2;
      for (auto first = basis.knots.begin(); basis.knots.end() - first >= own; ++first)
        result.push_back({"spline", nu, {j}, {1}, std::vector<double>(first, first + own)});
    }
    return result;
  }
  void validate_parameters(std::span<const double> parameters) const override {
    if (parameters.size() < 2 || parameters.size() > kHighestDegree + 2) {
      throw Error(ErrorKind::kBadData, fmt::format("a spline term has {} knots, expected 2 to {}",
                                                   parameters.size(), kHighestDegree + 2));
    }
    for (std::size_t i = 1; i < parameters.size(); ++i) {
      if (!(parameters[i - 1] < parameters[i])) {
        throw Error(ErrorKind::kBadData, fmt::format("the knots of a spline term are not ascending: {}, {}",
                                                     parameters[i - 1], parameters[i]));
      }
    }
  }
};

}  // namespace

const FeatureFamily& spline_family() {
  static const SplineFamily family;
  return family;
}

}  // namespace mfga
