// B-spline basis functions of single inputs. The knots of an input are its range and points near its
// quantiles, continued outside by `degree` knots on either side; so the functions sum to one on the range and
// fade to zero outside. An atom has the degree + 2 knots of its function. The kernel is the sum over inputs
// and functions B of B(x) B(x'), whose functions are the splines with these knots.
#include "features/spline.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/vectorise.hpp"
#include "features/columns.hpp"
#include "features/formula.hpp"
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
// 1 / (knots[i + d] - knots[i]), or 0 if these are the same: then there is nothing between them. The degree
// is known to the compiler, which computes what branches share once and keeps all in registers.
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
    for (int i = 0; i + d < kDegree + 2; ++i) {
      const double width = knots[i + d] - knots[i];
      inverse_widths[d][i] = width > 0 ? 1 / width : 0;
    }
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

// out += a * b
MFGA_VECTORISED void add_product(const double* a, const double* b, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] += a[n] * b[n];
}

double gap(std::span<const double> knots, std::size_t i) { return knots[i + 1] - knots[i]; }

// What of the knots of a function may be moved so that they stay in order: the first and the last, which are
// places, and the logarithms of the gaps between knots relative to the last gap. Knots in between move with
// the ends.
std::vector<Coordinate> coordinates_of_knots(std::span<const double> knots, Index input) {
  const std::size_t last_gap = knots.size() - 2;
  const double mean_gap = (knots.back() - knots.front()) / static_cast<double>(last_gap + 1);
  std::vector<Coordinate> result = {{knots.front(), mean_gap, input}, {knots.back(), mean_gap, input}};
  for (std::size_t i = 0; i < last_gap; ++i)
    result.push_back({std::log(gap(knots, i) / gap(knots, last_gap))});
  return result;
}

std::vector<double> knots_at(std::span<const double> coordinates) {
  std::vector<double> relative_gaps;
  for (const double logarithm : coordinates.subspan(2))
    relative_gaps.push_back(positive_from_logarithm(logarithm));
  const double total = std::accumulate(relative_gaps.begin(), relative_gaps.end(), 1.0);
  const double first = coordinates[0];
  const double last = coordinates[1];
  std::vector<double> knots = {first};
  double part = 0;
  for (const double relative_gap : relative_gaps) {
    part += relative_gap / total;
    knots.push_back(first + part * (last - first));
  }
  knots.push_back(last);
  // Ends may have crossed, and gaps may be less than rounding.
  for (std::size_t i = 1; i < knots.size(); ++i)
    knots[i] = std::max(knots[i], std::nextafter(knots[i - 1], std::numeric_limits<double>::infinity()));
  return knots;
}

// From derivatives by the knots to those by the coordinates, which are added.
void add_by_coordinates(std::span<const double> knots, std::span<const double> by_knots,
                        double* coordinates) {
  const double width = knots.back() - knots.front();
  for (std::size_t k = 0; k < knots.size(); ++k) {
    const double part = (knots[k] - knots.front()) / width;
    coordinates[0] += (1 - part) * by_knots[k];
    coordinates[1] += part * by_knots[k];
    // A gap that grows pushes the knots above it up, and all of them back so that the width stays.
    for (std::size_t i = 0; i + 2 < knots.size(); ++i)
      coordinates[2 + i] += gap(knots, i) * ((k > i ? 1 : 0) - part) * by_knots[k];
  }
}

// The knots of all functions of an input: the k-th function has those from the k-th on. No more functions
// than different values, as others would be combinations of these.
struct SplineBasis {
  std::vector<double> knots;
  Index degree;
};
SplineBasis spline_basis(const ColumnSample& sample, const SplineOptions& options) {
  const auto most_functions = static_cast<Index>(sample.values.size());
  SplineBasis basis;
  basis.degree = std::min(options.degree, most_functions - 1);
  const Index most_knots = std::min(options.knots, most_functions - 1 - basis.degree);
  const std::vector<double> inner = quantile_knots(sample, most_knots);
  const double lowest = sample.values.front();
  // Pieces do not include their upper ends.
  const double highest = std::nextafter(sample.values.back(), std::numeric_limits<double>::infinity());
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
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    return coordinates_of_knots(atom.parameters, atom.inputs[0]);
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Atom result = atom;
    result.parameters = knots_at(values);
    return result;
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    std::vector<std::string> knots;
    for (const double knot : atom.parameters) knots.push_back(writer.number(knot));
    return {std::sqrt(atom.nu), fmt::format("B{}({}; {})", knots.size() - 2, writer.name(atom.inputs[0]),
                                            fmt::join(knots, ", "))};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    const Expression x = inputs[static_cast<std::size_t>(atom.inputs[0])];
    const std::span<const double> knots = atom.parameters;
    const std::size_t degree = knots.size() - 2;
    // The functions of degree 0, then those of each higher one, as basis_function computes them.
    std::vector<Expression> functions;
    for (std::size_t i = 0; i <= degree; ++i)
      functions.push_back(graph.subtract(graph.step(x, knots[i]), graph.step(x, knots[i + 1])));
    for (std::size_t d = 1; d <= degree; ++d) {
      for (std::size_t i = 0; i + d <= degree; ++i) {
        const double rise = 1 / (knots[i + d] - knots[i]);
        const double fall = -1 / (knots[i + d + 1] - knots[i + 1]);
        const Expression rising = graph.times(graph.plus(x, -knots[i]), rise);
        const Expression falling = graph.times(graph.plus(x, -knots[i + d + 1]), fall);
        functions[i] =
            graph.add(graph.product({rising, functions[i]}), graph.product({falling, functions[i + 1]}));
      }
    }
    return graph.times(functions[0], std::sqrt(atom.nu));
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
  // A function is the divided difference of some g over its knots but the first, less that over its knots but
  // the last. The derivative of a divided difference by a knot is the one with that knot twice, and this is a
  // function of the same degree over its width.
  void pull_back(const Atom& atom, const double* x, const double* weights, Index rows, double* coordinates,
                 double* by_x, Arena& arena) const override {
    const std::span<const double> knots = atom.parameters;
    const std::size_t degree = knots.size() - 2;
    if (degree == 0) return;  // a step up and a step down
    const Arena::Scope scope(arena);
    double* values = arena.take(rows);
    std::array<double, kHighestDegree + 2> by_knots{};
    for (const std::size_t first : {0, 1}) {
      const std::span<const double> part = knots.subspan(first, degree + 1);
      const double factor = (first == 0 ? -1 : 1) * std::sqrt(atom.nu) / (part.back() - part.front());
      if (by_x != nullptr) {
        kSplines[degree - 1](x, part.data(), -static_cast<double>(degree) * factor, rows, values);
        add_product(weights, values, rows, by_x);
      }
      for (std::size_t k = 0; coordinates != nullptr && k < part.size(); ++k) {
        std::array<double, kHighestDegree + 2> with_knot_twice{};
        const auto rest = std::copy_n(part.begin(), k + 1, with_knot_twice.begin());
        std::copy(part.begin() + static_cast<Index>(k), part.end(), rest);
        kSplines[degree](x, with_knot_twice.data(), factor, rows, values);
        by_knots[first + k] += cblas_ddot(static_cast<int>(rows), weights, 1, values, 1);
      }
    }
    if (coordinates != nullptr)
      add_by_coordinates(knots, std::span(by_knots).first(knots.size()), coordinates);
  }

 protected:
  [[nodiscard]] std::vector<Atom> atoms(const FamilyOptionValues& values, const CandidateContext& context,
                                        double nu) const override {
    const SplineOptions options = parse(values);
    const auto samples = column_samples(context.training_rows(name()), context.seed, context.parallel());
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
