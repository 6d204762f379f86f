// Random Fourier features of the Gaussian kernel (Rahimi and Recht 2007): cos(<w, x> + b) with w drawn from
// sigma^-1 N(0, I) and b uniform on [0, 2 pi). With a factor sqrt(2 / count) their inner products converge to
// the kernel as count grows.
#include "features/fourier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/random.hpp"
#include "core/row_kernels.hpp"
#include "features/projected.hpp"

namespace mfga {
namespace {

constexpr FamilyOption kCountOption = {"count", "1 to 10000000", "500", "number of random features"};

// sqrt(nu) cos(projection + phase)
class CosineValues final : public ProjectionValues {
 public:
  CosineValues(const Directions& directions, std::vector<double> factors)
      : directions_(directions), factors_(std::move(factors)) {}

  void finish(const RowBlock& block, Index first, Index count, double* projections,
              Index stride) const override {
    for (Index i = 0; i < count; ++i) {
      const auto position = static_cast<std::size_t>(first + i);
      double* value = projections + i * stride;
      for (Index n = 0; n < block.rows; ++n) value[n] += directions_.offsets[position];
      cosines(value, factors_[position], block.rows, value);
    }
  }

 private:
  const Directions& directions_;
  std::vector<double> factors_;
};

class FourierCandidates final : public CandidateFamily {
 public:
  FourierCandidates(Directions directions, double nu)
      : directions_(std::move(directions)),
        nu_(nu),
        values_(directions_,
                std::vector<double>(static_cast<std::size_t>(directions_.size()), std::sqrt(nu))) {}

  [[nodiscard]] Index size() const override { return directions_.size(); }
  [[nodiscard]] Atom atom(Index candidate) const override {
    Atom atom{"fourier", nu_, {}, {}, {directions_.offsets[static_cast<std::size_t>(candidate)]}};
    const double* frequency = directions_.vectors.row(candidate);
    atom.parameters.insert(atom.parameters.end(), frequency, frequency + directions_.vectors.cols);
    return atom;
  }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    correlate_directions(directions_, values_, block, weights, weight_stride, columns, out, out_stride,
                         arena);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    add_squares_of_directions(directions_, values_, block, out, arena);
  }

 private:
  Directions directions_;
  double nu_;
  CosineValues values_;
};

class FourierEvaluator final : public AtomEvaluator {
 public:
  explicit FourierEvaluator(std::span<const Atom> atoms)
      : directions_(directions_of(atoms)), values_(directions_, factors_of(atoms)) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& /*arena*/) const override {
    evaluate_directions(directions_, values_, block, first, count, out, out_stride);
  }

 private:
  static Directions directions_of(std::span<const Atom> atoms) {
    const auto n_inputs = static_cast<Index>(atoms[0].parameters.size()) - 1;
    Directions directions{Matrix(static_cast<Index>(atoms.size()), n_inputs), {}};
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      directions.offsets.push_back(atoms[i].parameters[0]);
      std::copy_n(atoms[i].parameters.begin() + 1, n_inputs, directions.vectors.row(static_cast<Index>(i)));
    }
    return directions;
  }
  static std::vector<double> factors_of(std::span<const Atom> atoms) {
    std::vector<double> factors;
    for (const Atom& atom : atoms) factors.push_back(std::sqrt(atom.nu));
    return factors;
  }

  Directions directions_;
  CosineValues values_;
};

class FourierFamily final : public ProjectedFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "fourier"; }
  [[nodiscard]] std::string_view help() const override {
    return "random Fourier features of the Gaussian kernel: cos(<w, x> + b), w and b drawn from the seed";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override {
    static constexpr std::array<FamilyOption, 2> kOptions = {kCountOption, kSigmaOption};
    return kOptions;
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const Index count = count_of(values);
    const double sigma = sigma_of(values).resolve(context.auto_sigma);
    return std::make_unique<FourierCandidates>(
        draw_fourier_directions(count, context.n_inputs, sigma, context.seed),
        nu * 2 / static_cast<double>(count));
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<FourierEvaluator>(atoms);
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom,
                                     std::span<const std::string> input_names) const override {
    const std::span<const double> frequency = std::span(atom.parameters).subspan(1);
    return {std::sqrt(atom.nu), fmt::format("cos({} + {:.4g})", largest_entries_text(frequency, input_names),
                                            atom.parameters[0])};
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 2> kFields = {
        {{"phase"}, {"frequency", ParameterField::Size::kPerInput}}};
    return kFields;
  }
};

}  // namespace

Directions draw_fourier_directions(Index count, Index n_inputs, double sigma, std::uint64_t seed) {
  const CounterRandom random(seed, RandomStream::kFourier);
  Directions directions{Matrix(count, n_inputs), {}};
  for (Index i = 0; i < count; ++i) {
    const auto first = static_cast<std::uint64_t>(i) << 24U;  // room for 16 million inputs per feature
    directions.offsets.push_back(2 * std::numbers::pi * random.uniform(first));
    for (Index j = 0; j < n_inputs; ++j) {
      directions.vectors(i, j) = random.normal(first + 1 + static_cast<std::uint64_t>(j)) / sigma;
    }
  }
  return directions;
}

const FeatureFamily& fourier_family() {
  static const FourierFamily family;
  return family;
}

}  // namespace mfga
