// Columns of a kernel at data points c: k(x, c). A combination of them is what an exact kernel method learns,
// and a sparse one is kernel matching pursuit (Vincent and Bengio 2002).
#include "features/landmark.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "features/kernel_columns.hpp"
#include "features/landmark_choice.hpp"

namespace mfga {
namespace {

constexpr FamilyOption kCountOption = {"count", "1 to 10000000", "500",
                                       "number of training rows that become landmarks"};

class LandmarkCandidates final : public TiledCandidates {
 public:
  LandmarkCandidates(const Matrix& centres, const Kernel& kernel, double nu)
      : kernel_(kernel),
        nu_(nu),
        columns_(centres, std::vector<KernelColumns::Column>(static_cast<std::size_t>(centres.rows),
                                                             {kernel, std::sqrt(nu)})) {}

  [[nodiscard]] Atom atom(Index candidate) const override {
    return landmark_atom(columns_.centre(candidate), kernel_, nu_);
  }
  [[nodiscard]] const SingleCorrelator* single() const override { return this; }
  void add_square_errors(const RowBlock& block, double* out, Arena& arena) const override {
    columns_.add_square_errors(block, out, arena);
  }

 private:
  [[nodiscard]] const FunctionTiles& tiles() const override { return columns_; }

  Kernel kernel_;
  double nu_;
  KernelColumns columns_;
};

KernelColumns columns_of(std::span<const Atom> atoms) {
  Matrix centres(static_cast<Index>(atoms.size()),
                 static_cast<Index>(parameters_after_kernel(atoms[0]).size()));
  std::vector<KernelColumns::Column> columns;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    std::ranges::copy(parameters_after_kernel(atoms[i]), centres.row(static_cast<Index>(i)));
    columns.push_back({kernel_of(atoms[i]), std::sqrt(atoms[i].nu)});
  }
  return {std::move(centres), std::move(columns)};
}

class LandmarkEvaluator final : public AtomEvaluator {
 public:
  explicit LandmarkEvaluator(std::span<const Atom> atoms) : columns_(columns_of(atoms)) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    columns_.evaluate(block, first, count, out, out_stride, arena);
  }

 private:
  KernelColumns columns_;
};

class LandmarkDerivatives final : public AtomDerivatives {
 public:
  explicit LandmarkDerivatives(std::span<const Atom> atoms) : columns_(columns_of(atoms)) {}

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* coordinates,
                 double* inputs, Arena& arena) const override {
    columns_.pull_back(block, weights, weight_stride, coordinates, inputs, arena);
  }

 private:
  KernelColumns columns_;
};

class LandmarkFamily final : public ProjectedFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "landmark"; }
  [[nodiscard]] std::string_view help() const override {
    return "columns of a kernel at training rows: exp(-|x - c|^2 / 2 sigma^2) or another";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override {
    static constexpr std::array<FamilyOption, 4> kOptions = {kCountOption, kSigmaOption, kColumnKernelOption,
                                                             kLandmarkChoiceOption};
    return kOptions;
  }
  void check(const FamilyOptionValues& values) const override {
    ProjectedFamily::check(values);
    static_cast<void>(parse_column_kernel(values[2]));
    static_cast<void>(parse_landmark_choice(values[3]));
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    Kernel kernel = parse_column_kernel(values[2]);
    kernel.sigma = sigma_of(values).resolve(context.auto_sigma);
    return std::make_unique<LandmarkCandidates>(
        choose_landmarks(parse_landmark_choice(values[3]), count_of(values), kernel, context, name()), kernel,
        nu);
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<LandmarkEvaluator>(atoms);
  }
  // log(sigma) and the centre.
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    const Kernel kernel = kernel_of(atom);
    const double unit = kernel.name == Kernel::Name::kPolynomial
                            ? kernel.sigma * kernel.sigma / kernel.parameter
                            : kernel.sigma;
    std::vector<Coordinate> result = {{std::log(kernel.sigma)}};
    for (const double place : parameters_after_kernel(atom))
      result.push_back({place, unit, static_cast<Index>(result.size()) - 1});
    return result;
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Kernel kernel = kernel_of(atom);
    kernel.sigma = positive_from_logarithm(values[0]);
    return landmark_atom(values.subspan(1), kernel, atom.nu);
  }
  [[nodiscard]] std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const override {
    return std::make_unique<LandmarkDerivatives>(atoms);
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    return {std::sqrt(atom.nu), column_text(kernel_of(atom), parameters_after_kernel(atom), writer)};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    return graph.times(column_expression(kernel_of(atom), parameters_after_kernel(atom), inputs, graph),
                       std::sqrt(atom.nu));
  }
  void validate(const Atom& atom, Index n_inputs) const override {
    ProjectedFamily::validate(atom, n_inputs);
    validate_column_kernel(atom);
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 4> kFields = {
        kColumnKernelFields[0], kColumnKernelFields[1], kColumnKernelFields[2],
        ParameterField{"centre", ParameterField::Size::kPerInput}};
    return kFields;
  }
};

}  // namespace

Atom landmark_atom(std::span<const double> centre, const Kernel& kernel, double nu) {
  Atom atom{"landmark", nu, {}, {}, kernel_parameters(kernel)};
  atom.parameters.insert(atom.parameters.end(), centre.begin(), centre.end());
  return atom;
}

const FeatureFamily& landmark_family() {
  static const LandmarkFamily family;
  return family;
}

}  // namespace mfga
