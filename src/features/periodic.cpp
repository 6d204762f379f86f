// Waves of single inputs: cos(2 pi k x / P) and sin(2 pi k x / P) for k = 1 ... count. The kernel is the sum
// over inputs and k of cos(2 pi k (x - x') / P).
#include "features/periodic.hpp"

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

constexpr int kMostWaves = 1000;

// The dictionary options, in the order of PeriodicFamily::options().
struct PeriodicOptions {
  int count;
  double period;  // 0: automatic
};

constexpr std::array<FamilyOption, 2> kOptions = {{
    {"count", "1 to 1000", "4", "number of frequencies k / period, each with a cosine and a sine"},
    {"period", "auto|NUMBER", "auto",
     "period in units of the standardised input; auto: twice the range of the input on the training rows, so "
     "that its ends need not have the same value"},
}};

PeriodicOptions parse(const FamilyOptionValues& values) {
  return {parse_small_integer("count", values[0], 1, kMostWaves),
          values[1] == "auto" ? 0 : parse_positive("period", values[1])};
}

// The angle 2 pi (frequency x - shift) less whole turns, so that the cosine is accurate far out.
MFGA_VECTORISED void set_angles(const double* x, double frequency, double shift, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) {
    const double turns = frequency * x[n] - shift;
    out[n] = 2 * std::numbers::pi * (turns - std::nearbyint(turns));
  }
}

MFGA_VECTORISED void multiply(const double* factors, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] *= factors[n];
}

// Of Atom::parameters.
double frequency_of(const Atom& atom) { return atom.parameters[1] / atom.parameters[0]; }
// A sine is a cosine a quarter of a turn later.
double shift_of(const Atom& atom) { return atom.parameters[2] / 4; }

class PeriodicFamily final : public UnivariateFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "periodic"; }
  [[nodiscard]] std::string_view help() const override {
    return "waves of single inputs: cos and sin of 2 pi k x / period";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { parse(values); }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    return 2.0 * parse(values).count * static_cast<double>(n_inputs);
  }
  // log(period): a unit moves the wave by a radian where x is 1, or by more.
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    return {{std::log(atom.parameters[0]), std::min(1.0, 1 / (2 * std::numbers::pi * frequency_of(atom)))}};
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Atom result = atom;
    result.parameters[0] = positive_from_logarithm(values[0]);
    return result;
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    const double k = atom.parameters[1];
    return {std::sqrt(atom.nu),
            fmt::format("{}({}{} {} / {})", wave_name(atom.parameters[2]),
                        k == 1 ? "" : fmt::format("{} * ", k), writer.is_full() ? "2 * pi *" : "2 pi",
                        writer.name(atom.inputs[0]), writer.number(atom.parameters[0]))};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    const Expression angle = graph.times(inputs[static_cast<std::size_t>(atom.inputs[0])],
                                         2 * std::numbers::pi * frequency_of(atom));
    return graph.times(atom.parameters[2] == 0 ? graph.cos(angle) : graph.sin(angle), std::sqrt(atom.nu));
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 3> kFields = {{{"period"}, {"k"}, {"sine"}}};
    return kFields;
  }

  void evaluate(std::span<const Atom> atoms, const double* x, Index rows, double* out, Index stride,
                Arena& /*arena*/) const override {
    for (const Atom& atom : atoms) {
      set_angles(x, frequency_of(atom), shift_of(atom), rows, out);
      cosines(out, std::sqrt(atom.nu), rows, out);
      out += stride;
    }
  }
  // The derivative of a cosine is the cosine a quarter of a turn earlier. Waves depend on x / period, so that
  // by log(period) is -x times that by x.
  void pull_back(const Atom& atom, const double* x, const double* weights, Index rows, double* coordinates,
                 double* by_x, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* slopes = arena.take(rows);
    set_angles(x, frequency_of(atom), shift_of(atom) - 0.25, rows, slopes);
    cosines(slopes, std::sqrt(atom.nu) * 2 * std::numbers::pi * frequency_of(atom), rows, slopes);
    multiply(weights, rows, slopes);
    if (coordinates != nullptr) coordinates[0] -= cblas_ddot(static_cast<int>(rows), slopes, 1, x, 1);
    if (by_x != nullptr) cblas_daxpy(static_cast<int>(rows), 1.0, slopes, 1, by_x, 1);
  }

 protected:
  [[nodiscard]] std::vector<Atom> atoms(const FamilyOptionValues& values, const CandidateContext& context,
                                        double nu) const override {
    const PeriodicOptions options = parse(values);
    std::vector<ColumnRange> ranges;
    if (options.period == 0) ranges = column_ranges(context.training_rows(name()), context.parallel());
    std::vector<Atom> result;
    for (Index j = 0; j < context.n_inputs; ++j) {
      double period = options.period;
      if (period == 0) {
        const ColumnRange& range = ranges[static_cast<std::size_t>(j)];
        period = 2 * (range.highest - range.lowest);
        if (!(period > 0)) continue;
      }
      for (int k = 1; k <= options.count; ++k) {
        for (const double sine : {0.0, 1.0})
          result.push_back({"periodic", nu, {j}, {1}, {period, 1.0 * k, sine}});
      }
    }
    return result;
  }
  void validate_parameters(std::span<const double> parameters) const override {
    if (!(parameters[0] > 0)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the period of a periodic term is {}, expected a positive number", parameters[0]));
    }
    if (!(parameters[1] >= 1 && parameters[1] <= kMostWaves && parameters[1] == std::floor(parameters[1]))) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("k of a periodic term is {}, expected a whole number from 1 to {}",
                              parameters[1], kMostWaves));
    }
    validate_wave(parameters[2]);
  }
};

}  // namespace

const FeatureFamily& periodic_family() {
  static const PeriodicFamily family;
  return family;
}

}  // namespace mfga
