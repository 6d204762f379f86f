// Additive homogeneous kernels, K(x, x') = sum over inputs of k(u, u') with u >= 0 and k(c u, c u') =
// c k(u, u'), by homogeneous kernel maps (Vedaldi and Zisserman 2012):
//
//   chi2             k = 2 u u' / (u + u'),                                kappa(w) = sech(pi w)
//   intersection     k = min(u, u'),                                       kappa(w) = 2 / (pi (1 + 4 w^2))
//   jensen-shannon   k = u/2 log2((u + u') / u) + u'/2 log2((u + u') / u'),
//                    kappa(w) = 2 sech(pi w) / (log(4) (1 + 4 w^2))
//
// As k(u, u') = sqrt(u u') K(log(u' / u)), samples of the spectrum kappa of K at multiples of L give features
//
//   sqrt(L kappa(0) u),   sqrt(2 L kappa(j L) u) cos(j L log u),   sqrt(2 L kappa(j L) u) sin(j L log u)
//
// for j = 1 ... order, whose inner products converge to k as the order grows. L = 2 pi / period with the
// period of the paper (uniform window), fitted there to the least error for each order.
//
// Inputs are standardised, so an atom has the value `zero` of its input where u is 0, and a scale.
#include "features/additive.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/row_kernels.hpp"
#include "core/vectorise.hpp"
#include "features/columns.hpp"
#include "features/formula.hpp"
#include "features/univariate.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

using std::numbers::pi;

struct HomogeneousKernel {
  std::string_view name;
  double (*spectrum)(double frequency);
  double (*period)(int order);
};

double sech(double x) { return 1 / std::cosh(x); }

constexpr std::array<HomogeneousKernel, 3> kKernels = {{
    {"chi2", [](double w) { return sech(pi * w); }, [](int n) { return 5.86 * std::sqrt(n) + 3.65; }},
    {"intersection", [](double w) { return 2 / (pi * (1 + 4 * w * w)); },
     [](int n) { return 2.38 * std::log(n + 0.8) + 5.6; }},
    {"jensen-shannon", [](double w) { return 2 * sech(pi * w) / (std::log(4) * (1 + 4 * w * w)); },
     [](int n) { return 6.64 * std::sqrt(n) + 7.24; }},
}};

// The dictionary options, in the order of AdditiveFamily::options().
struct AdditiveOptions {
  const HomogeneousKernel& kernel;
  int order;
};

constexpr std::array<FamilyOption, 2> kOptions = {{
    {"kernel", "chi2|intersection|jensen-shannon", "chi2", "kernel of each input"},
    {"order", "0 to 100", "1", "samples of the kernel's spectrum; an input has 2 order + 1 features"},
}};

AdditiveOptions parse(const FamilyOptionValues& values) {
  constexpr std::array<std::string_view, 3> kNames = {kKernels[0].name, kKernels[1].name, kKernels[2].name};
  constexpr int kHighest = 100;
  return {kKernels[parse_choice("kernel", values[0], kNames)],
          parse_small_integer("order", values[1], 0, kHighest)};
}

// u = max(0, scale * (x - zero))
struct Origin {
  double zero;
  double scale;
  friend bool operator==(const Origin&, const Origin&) = default;
};

// The fields of Atom::parameters.
struct AdditiveParameters {
  Origin origin;
  double frequency;
  double sine;
  explicit AdditiveParameters(std::span<const double> parameters)
      : origin{parameters[0], parameters[1]}, frequency(parameters[2]), sine(parameters[3]) {}
  [[nodiscard]] bool is_constant_wave() const { return frequency == 0 && sine == 0; }
};

MFGA_VECTORISED void set_distances(const double* x, double zero, double scale, double smallest, Index rows,
                                   double* out) {
  for (Index n = 0; n < rows; ++n) out[n] = std::max(smallest, scale * (x[n] - zero));
}

MFGA_VECTORISED void set_scaled(const double* a, double factor, double shift, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] = factor * a[n] - shift;
}

MFGA_VECTORISED void multiply(const double* a, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] *= a[n];
}

constexpr double kSmallest = 1e-300;  // the logarithm of 0 is not wanted, and multiplied by 0

// sqrt(u) and log(u)
void set_roots_and_logs(const double* x, const Origin& origin, Index rows, double* roots, double* logs) {
  set_distances(x, origin.zero, origin.scale, 0.0, rows, roots);
  square_roots(roots, rows, roots);
  set_distances(x, origin.zero, origin.scale, kSmallest, rows, logs);
  logarithms(logs, rows, logs);
}

// a = a / 2 + factor * b
MFGA_VECTORISED void add_to_half(double factor, const double* b, Index rows, double* a) {
  for (Index n = 0; n < rows; ++n) a[n] = 0.5 * a[n] + factor * b[n];
}

// values = values / (x - zero) above zero, else 0
MFGA_VECTORISED void divide_by_distances(const double* x, double zero, Index rows, double* values) {
  for (Index n = 0; n < rows; ++n) {
    const double distance = x[n] - zero;
    values[n] = distance > 0 ? values[n] / distance : 0.0;
  }
}

class AdditiveFamily final : public UnivariateFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "additive"; }
  [[nodiscard]] std::string_view help() const override {
    return "sum over inputs of a kernel for counts and histograms: chi2, intersection or Jensen-Shannon, by "
           "homogeneous kernel maps";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { static_cast<void>(parse(values)); }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    return (2.0 * parse(values).order + 1) * static_cast<double>(n_inputs);
  }
  // The place `zero` and, of waves, log(scale), which shifts them, and log(frequency).
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    const auto [origin, frequency, sine] = AdditiveParameters(atom.parameters);
    std::vector<Coordinate> result = {{origin.zero, 1 / origin.scale, atom.inputs[0]}};
    if (frequency == 0) return result;
    const double unit = std::min(1.0, 1 / frequency);
    result.push_back({std::log(origin.scale), unit});
    result.push_back({std::log(frequency), unit});
    return result;
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Atom result = atom;
    result.parameters[0] = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) result.parameters[i] = positive_from_logarithm(values[i]);
    return result;
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    const AdditiveParameters parameters(atom.parameters);
    const auto [zero, scale] = parameters.origin;
    const std::string u = fmt::format("({})", writer.shifted(writer.name(atom.inputs[0]), -zero));
    std::string text = fmt::format("sqrt{}", u);
    if (!parameters.is_constant_wave()) {
      const double shift = parameters.frequency * std::log(scale);
      const std::string angle =
          fmt::format("{}{}log{}", writer.number(parameters.frequency), writer.is_full() ? " * " : " ", u);
      text += fmt::format(" * {}({})", wave_name(parameters.sine), writer.shifted(angle, shift));
    }
    return {std::sqrt(atom.nu * scale), text};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    const AdditiveParameters parameters(atom.parameters);
    const auto [zero, scale] = parameters.origin;
    const Expression x = inputs[static_cast<std::size_t>(atom.inputs[0])];
    const Expression distance = graph.times(graph.plus(x, -zero), scale);
    const Expression root = graph.sqrt(graph.max(graph.constant(0), distance));
    if (parameters.is_constant_wave()) return graph.times(root, std::sqrt(atom.nu));
    const Expression logarithm = graph.log(graph.max(graph.constant(kSmallest), distance));
    const Expression angle = graph.times(logarithm, parameters.frequency);
    const Expression wave = parameters.sine == 0 ? graph.cos(angle) : graph.sin(angle);
    return graph.times(graph.product({root, wave}), std::sqrt(atom.nu));
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 4> kFields = {{{"zero"}, {"scale"}, {"frequency"}, {"sine"}}};
    return kFields;
  }

  void evaluate(std::span<const Atom> atoms, const double* x, Index rows, double* out, Index stride,
                Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* roots = arena.take(rows);
    double* logs = arena.take(rows);
    Origin origin{0, 0};  // that roots and logs are of; none yet
    for (const Atom& atom : atoms) {
      const AdditiveParameters parameters(atom.parameters);
      if (origin != parameters.origin) {
        origin = parameters.origin;
        set_roots_and_logs(x, origin, rows, roots, logs);
      }
      if (parameters.is_constant_wave()) {
        set_scaled(roots, std::sqrt(atom.nu), 0, rows, out);
        out += stride;
        continue;
      }
      set_scaled(logs, parameters.frequency, parameters.sine * pi / 2, rows, out);
      cosines(out, std::sqrt(atom.nu), rows, out);
      multiply(roots, rows, out);
      out += stride;
    }
  }
  // For phi = sqrt(u) cos(a) with a = frequency log(u) - ..., the derivative by log(u), and so by log(scale),
  // is sqrt(u) (cos(a) / 2 - frequency sin(a)); divided by x - zero it is that by x. This grows without
  // bounds where x approaches zero from above; at zero it is taken as 0.
  void pull_back(const Atom& atom, const double* x, const double* weights, Index rows, double* coordinates,
                 double* by_x, Arena& arena) const override {
    const auto [origin, frequency, sine] = AdditiveParameters(atom.parameters);
    const auto n_rows = static_cast<int>(rows);
    const Arena::Scope scope(arena);
    double* roots = arena.take(rows);
    double* logs = arena.take(rows);
    double* slopes = arena.take(rows);  // cosines first
    double* by_angles = arena.take(rows);
    set_roots_and_logs(x, origin, rows, roots, logs);
    set_scaled(logs, frequency, sine * pi / 2, rows, slopes);
    set_scaled(logs, frequency, sine * pi / 2 - pi / 2, rows,
               by_angles);  // cosines a quarter of a turn earlier
    cosines(slopes, std::sqrt(atom.nu), rows, slopes);
    cosines(by_angles, std::sqrt(atom.nu), rows, by_angles);
    add_to_half(frequency, by_angles, rows, slopes);
    multiply(roots, rows, slopes);
    multiply(weights, rows, slopes);
    if (coordinates != nullptr && frequency > 0) {
      multiply(roots, rows, by_angles);
      multiply(weights, rows, by_angles);
      coordinates[1] += row_sum(slopes, rows);
      coordinates[2] += frequency * cblas_ddot(n_rows, by_angles, 1, logs, 1);
    }
    divide_by_distances(x, origin.zero, rows, slopes);
    if (coordinates != nullptr) coordinates[0] -= row_sum(slopes, rows);
    if (by_x != nullptr) cblas_daxpy(n_rows, 1.0, slopes, 1, by_x, 1);
  }

 protected:
  [[nodiscard]] std::vector<Atom> atoms(const FamilyOptionValues& values, const CandidateContext& context,
                                        double nu) const override {
    const auto& [kernel, order] = parse(values);
    const BlockedRows& rows = context.training_rows(name());
    const std::vector<ColumnRange> ranges = column_ranges(rows, context.parallel());
    const double spacing = 2 * pi / kernel.period(order);
    std::vector<Atom> result;
    for (Index j = 0; j < context.n_inputs; ++j) {
      const ColumnRange& range = ranges[static_cast<std::size_t>(j)];
      const double zero = std::min(range.lowest, rows.standardised(j, 0.0));
      const double scale = 1 / (range.mean - zero);  // the mean of u is 1
      if (!(scale > 0 && std::isfinite(scale))) continue;
      for (int i = 0; i <= order; ++i) {
        const double frequency = i * spacing;
        const double weight = nu * spacing * kernel.spectrum(frequency);
        if (i == 0) {
          result.push_back({"additive", weight, {j}, {1}, {zero, scale, 0, 0}});
          continue;
        }
        for (const double sine : {0.0, 1.0})
          result.push_back({"additive", 2 * weight, {j}, {1}, {zero, scale, frequency, sine}});
      }
    }
    return result;
  }
  // All of an input, which have roots and logarithms in common, as long as they stay in a cache.
  [[nodiscard]] Index tile(const FamilyOptionValues& values) const override {
    constexpr Index kMost = 63;
    return std::min<Index>(kMost, 2 * parse(values).order + 1);
  }
  void validate_parameters(std::span<const double> parameters) const override {
    if (!(parameters[1] > 0)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the scale of an additive term is {}, expected a positive number", parameters[1]));
    }
    if (!(parameters[2] >= 0)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the frequency of an additive term is {}, expected a number that is not negative",
                      parameters[2]));
    }
    validate_wave(parameters[3]);
  }
};

}  // namespace

const FeatureFamily& additive_family() {
  static const AdditiveFamily family;
  return family;
}

}  // namespace mfga
