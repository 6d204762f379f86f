// Random Fourier features of a kernel of x - x' (Rahimi and Recht 2007): cos(<w, x> + b) with w drawn from
// the kernel's Fourier transform and b uniform on [0, 2 pi). With a factor sqrt(2 / count) their inner
// products converge to the kernel as count grows.
#include "features/fourier.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/row_kernels.hpp"
#include "core/vectorise.hpp"
#include "features/formula.hpp"
#include "features/fourier_draws.hpp"
#include "features/projected.hpp"

namespace mfga {
namespace {

constexpr double kRounding = 0x1p-24;
constexpr FamilyOption kCountOption = {"count", "1 to 10000000", "500", "number of random features"};
constexpr FamilyOption kKernelOption = {
    "kernel", "gaussian|laplace|matern(NU)|cauchy", "gaussian",
    "with d = x - x': exp(-|d|^2 / 2 sigma^2), exp(-|d|_1 / sigma), the Matern kernel of |d| / sigma with "
    "smoothness NU > 0, or the product over inputs of 1 / (1 + d_i^2 / sigma^2)"};

// values = values / divisor + phase
MFGA_VECTORISED void to_angles(double divisor, double phase, Index count, double* values) {
  for (Index n = 0; n < count; ++n) values[n] = values[n] / divisor + phase;
}

MFGA_VECTORISED void to_angles(float factor, float phase, Index count, float* values) {
  for (Index n = 0; n < count; ++n) values[n] = values[n] * factor + phase;
}

MFGA_VECTORISED void multiply(const double* factors, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] *= factors[n];
}

// sqrt(nu) cos(<w, x> + b)
class Cosines final : public FunctionTiles {
 public:
  Cosines(FourierDirections directions, std::vector<double> factors)
      : directions_(std::move(directions)),
        factors_(std::move(factors)),
        single_frequencies_(structure() ? std::vector<float>() : rounded_to_single(directions_.frequencies)) {
    const Index n_inputs = directions_.frequencies.cols;
    for (Index i = 0; i < size(); ++i) {
      // A structured frequency is one of length sqrt(p), of which only the entries of inputs are kept.
      lengths_.push_back(structure()
                             ? std::sqrt(static_cast<double>(structure()->size())) / divisor(i)
                             : cblas_dnrm2(static_cast<int>(n_inputs), directions_.frequencies.row(i), 1));
    }
  }

  [[nodiscard]] Index size() const override { return directions_.frequencies.rows; }
  [[nodiscard]] Index tile() const override {
    return structure() ? structure()->size() : FunctionTiles::tile();
  }
  [[nodiscard]] double phase(Index i) const { return directions_.phases[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<const double> frequency(Index i) const {
    return {directions_.frequencies.row(i), static_cast<std::size_t>(directions_.frequencies.cols)};
  }

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    if (structure()) {
      project_structured(block, block.values, first, count, out, out_stride, arena);
    } else {
      project(block, directions_.frequencies.row(first), count, out, out_stride);
    }
    for (Index i = first; i < first + count; ++i) {
      double* value = out + (i - first) * out_stride;
      to_angles(structure() ? divisor(i) : 1, phase(i), block.rows, value);
      cosines(value, factor(i), block.rows, value);
    }
  }

  void evaluate_single(const RowBlock& block, Index first, Index count, float* out, Index out_stride,
                       Arena& arena) const override {
    if (structure()) {
      project_structured(block, block.single, first, count, out, out_stride, arena);
    } else {
      project(block, single_frequencies_.data() + first * directions_.frequencies.cols, count, out,
              out_stride);
    }
    for (Index i = first; i < first + count; ++i) {
      float* value = out + (i - first) * out_stride;
      to_angles(static_cast<float>(structure() ? 1 / divisor(i) : 1), static_cast<float>(phase(i)),
                block.rows, value);
      cosines(value, static_cast<float>(factor(i)), block.rows, value);
    }
  }

  // An angle is off by its projection's error, the rounding of the phase and of the sum; the cosine by no
  // more than its angle and its own error; and sums of cosines, none of which is more than 1, by what summing
  // adds.
  void add_square_errors(const RowBlock& block, double* out) const {
    double norms = 0;
    double square_norms = 0;
    double largest = 0;
    for (Index n = 0; n < block.rows; ++n) {
      square_norms += block.square_norms[n];
      norms += std::sqrt(block.square_norms[n]);
      largest = std::max(largest, std::sqrt(block.square_norms[n]));
    }
    const auto rows = static_cast<double>(block.rows);
    const double constant = single_sum_error() + kRounding * (4 * std::numbers::pi + 8);
    for (Index i = 0; i < size(); ++i) {
      const double squared_factor = factor(i) * factor(i);
      if (length(i) * largest > kFarthestAngle / 2) {
        out[i] += squared_factor * 4 * rows;  // some of the angles are not computed at all
        continue;
      }
      const double per_norm = (projection_error() + 3 * kRounding) * length(i);
      out[i] += squared_factor * (per_norm * per_norm * square_norms + 2 * per_norm * constant * norms +
                                  constant * constant * rows);
    }
  }

  // How many cosines are off by more than this on rows of standardised inputs.
  [[nodiscard]] Index less_exact_than(double error) const {
    const double norm = std::sqrt(static_cast<double>(directions_.frequencies.cols));
    return std::count_if(lengths_.begin(), lengths_.end(),
                         [&](double length) { return projection_error() * length * norm > error; });
  }

 private:
  [[nodiscard]] const std::optional<SignedHadamard>& structure() const { return directions_.structure; }
  [[nodiscard]] double divisor(Index i) const { return directions_.divisors[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double factor(Index i) const { return factors_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] double length(Index i) const { return lengths_[static_cast<std::size_t>(i)]; }

  // In units of |frequency| |x|. Each stage of a fast transform rounds once, and keeps lengths.
  [[nodiscard]] double projection_error() const {
    if (!structure()) return single_projection_error(directions_.frequencies.cols);
    return kRounding * (3 * std::log2(static_cast<double>(structure()->size())) + 3);
  }

  template <class T>
  void project_structured(const RowBlock& block, const T* inputs, Index first, Index count, T* out,
                          Index out_stride, Arena& arena) const {
    const Index group_size = structure()->size();  // tiles are whole groups
    for (Index done = 0; done < count; done += group_size) {
      structure()->project(inputs, block.stride, block.rows, (first + done) / group_size,
                           std::min(group_size, count - done), out + done * out_stride, out_stride, arena);
    }
  }

  FourierDirections directions_;
  std::vector<double> factors_;
  std::vector<float> single_frequencies_;
  std::vector<double> lengths_;  // of the frequencies
};

class FourierCandidates final : public TiledCandidates {
 public:
  FourierCandidates(FourierDirections directions, Index count, double nu)
      : nu_(nu),
        cosines_(std::move(directions), std::vector<double>(static_cast<std::size_t>(count), std::sqrt(nu))) {
  }

  [[nodiscard]] Atom atom(Index candidate) const override {
    Atom atom{"fourier", nu_, {}, {}, {cosines_.phase(candidate)}};
    const std::span<const double> frequency = cosines_.frequency(candidate);
    atom.parameters.insert(atom.parameters.end(), frequency.begin(), frequency.end());
    return atom;
  }
  // Where many frequencies are large, most of the search would have to be done again in double precision.
  [[nodiscard]] const SingleCorrelator* single() const override { return is_exact_enough_ ? this : nullptr; }
  void add_square_errors(const RowBlock& block, double* out, Arena& /*arena*/) const override {
    cosines_.add_square_errors(block, out);
  }

 private:
  [[nodiscard]] const FunctionTiles& tiles() const override { return cosines_; }

  static constexpr double kUsefulError = 1e-3;
  static constexpr Index kMostInexact = 8;
  double nu_;
  Cosines cosines_;
  bool is_exact_enough_ = cosines_.less_exact_than(kUsefulError) <= kMostInexact;
};

FourierDirections directions_of(std::span<const Atom> atoms) {
  const auto n_inputs = static_cast<Index>(atoms[0].parameters.size()) - 1;
  FourierDirections directions;
  directions.frequencies = Matrix(static_cast<Index>(atoms.size()), n_inputs);
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    directions.phases.push_back(atoms[i].parameters[0]);
    std::copy_n(atoms[i].parameters.begin() + 1, n_inputs, directions.frequencies.row(static_cast<Index>(i)));
  }
  return directions;
}

std::vector<double> factors_of(std::span<const Atom> atoms) {
  std::vector<double> factors;
  for (const Atom& atom : atoms) factors.push_back(std::sqrt(atom.nu));
  return factors;
}

class FourierEvaluator final : public AtomEvaluator {
 public:
  explicit FourierEvaluator(std::span<const Atom> atoms)
      : cosines_(directions_of(atoms), factors_of(atoms)) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    cosines_.evaluate(block, first, count, out, out_stride, arena);
  }

 private:
  Cosines cosines_;
};

// The derivative of a cosine is the cosine a quarter of a turn earlier.
FourierDirections quarter_turn_earlier(FourierDirections directions) {
  for (double& phase : directions.phases) phase += std::numbers::pi / 2;
  return directions;
}

class FourierDerivatives final : public AtomDerivatives {
 public:
  explicit FourierDerivatives(std::span<const Atom> atoms)
      : slopes_(quarter_turn_earlier(directions_of(atoms)), factors_of(atoms)) {}

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* coordinates,
                 double* inputs, Arena& arena) const override {
    const Index n_coordinates = 1 + block.inputs;  // of an atom: phase and frequencies
    slopes_.for_each_tile(block, arena, [&](Index first, Index count, double* by_angles) {
      for (Index i = 0; i < count; ++i)
        multiply(weights + (first + i) * weight_stride, block.rows, by_angles + i * block.stride);
      double* own = coordinates == nullptr ? nullptr : coordinates + first * n_coordinates;
      for (Index i = 0; own != nullptr && i < count; ++i)
        own[i * n_coordinates] += row_sum(by_angles + i * block.stride, block.rows);
      pull_back_projections(block, slopes_.frequency(first).data(), count, by_angles,
                            own == nullptr ? nullptr : own + 1, n_coordinates, inputs);
    });
  }

 private:
  Cosines slopes_;
};

class FourierFamily final : public ProjectedFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "fourier"; }
  [[nodiscard]] std::string_view help() const override {
    return "random Fourier features of a kernel: cos(<w, x> + b), w and b drawn from the seed";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override {
    static constexpr std::array<FamilyOption, 4> kOptions = {kCountOption, kSigmaOption, kKernelOption,
                                                             kFourierDrawOption};
    return kOptions;
  }
  void check(const FamilyOptionValues& values) const override {
    ProjectedFamily::check(values);
    check_fourier_draw(parse_kernel(values[2], kFourierKernels), parse_fourier_draw(values[3]));
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const Index count = count_of(values);
    Kernel kernel = parse_kernel(values[2], kFourierKernels);
    kernel.sigma = sigma_of(values).resolve(context.auto_sigma);
    return std::make_unique<FourierCandidates>(
        draw_fourier_directions(kernel, parse_fourier_draw(values[3]), count, context.n_inputs, context.seed),
        count, nu * 2 / static_cast<double>(count));
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<FourierEvaluator>(atoms);
  }
  // The phase and the frequencies: with all of these a unit off, angles on standardised inputs are about one
  // off.
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    const double frequency_unit = 1 / std::sqrt(static_cast<double>(atom.parameters.size() - 1));
    std::vector<Coordinate> result;
    for (const double value : atom.parameters) result.push_back({value, result.empty() ? 1 : frequency_unit});
    return result;
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Atom result = atom;
    result.parameters.assign(values.begin(), values.end());
    return result;
  }
  [[nodiscard]] std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const override {
    return std::make_unique<FourierDerivatives>(atoms);
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    const std::span<const double> frequency = std::span(atom.parameters).subspan(1);
    return {std::sqrt(atom.nu), fmt::format("cos({})", writer.shifted(writer.sum(frequency, writer.names()),
                                                                      atom.parameters[0]))};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    const std::span<const double> frequency = std::span(atom.parameters).subspan(1);
    return graph.times(graph.cos(graph.sum(inputs, frequency, atom.parameters[0])), std::sqrt(atom.nu));
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 2> kFields = {
        {{"phase"}, {"frequency", ParameterField::Size::kPerInput}}};
    return kFields;
  }
};

}  // namespace

const FeatureFamily& fourier_family() {
  static const FourierFamily family;
  return family;
}

}  // namespace mfga
