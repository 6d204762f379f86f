// Columns of kernels, k(x, c) as functions of x, at given centres c: what the landmark and Nystrom families
// are made of.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "features/kernel.hpp"
#include "features/projected.hpp"

namespace mfga {

// The kernels that have columns, by closed formulas.
inline constexpr std::array<Kernel::Name, 4> kColumnKernels = {
    Kernel::Name::kGaussian, Kernel::Name::kLaplace, Kernel::Name::kMatern, Kernel::Name::kPolynomial};
inline constexpr FamilyOption kColumnKernelOption = {
    "kernel", "gaussian|laplace|matern(0.5)|matern(1.5)|matern(2.5)|polynomial(DEGREE)", "gaussian",
    "with r = |x - c|: exp(-r^2 / 2 sigma^2), exp(-|x - c|_1 / sigma), a Matern kernel of r / sigma, or "
    "(1 + <x, c> / sigma^2)^DEGREE"};
[[nodiscard]] Kernel parse_column_kernel(std::string_view text);

// Atoms hold such a kernel as their first parameters.
inline constexpr std::array<ParameterField, 3> kColumnKernelFields = {
    {{"sigma"},
     {"kernel", ParameterField::Size::kOne, std::span(kKernelNames).first<kColumnKernels.size()>(), 0},
     {"kernel_parameter", ParameterField::Size::kOne, {}, 0}}};
[[nodiscard]] std::vector<double> kernel_parameters(const Kernel& kernel);
[[nodiscard]] Kernel kernel_of(const Atom& atom);
[[nodiscard]] std::span<const double> parameters_after_kernel(const Atom& atom);
// Throws Error(kBadData) if an atom's kernel is none of these.
void validate_column_kernel(const Atom& atom);

// `near(a = 0.31, b = -0.2, 5 more; sigma)` and the like.
[[nodiscard]] std::string column_text(const Kernel& kernel, std::span<const double> centre,
                                      FormulaWriter& writer);

// The column as a function of the inputs.
[[nodiscard]] Expression column_expression(const Kernel& kernel, std::span<const double> centre,
                                           std::span<const Expression> inputs, ExpressionGraph& graph);

class KernelColumns final : public FunctionTiles {
 public:
  struct Column {
    Kernel kernel;
    double factor = 1;
  };
  KernelColumns(Matrix centres, std::vector<Column> columns);

  [[nodiscard]] Index size() const override { return centres_.rows; }
  [[nodiscard]] std::span<const double> centre(Index i) const {
    return {centres_.row(i), static_cast<std::size_t>(centres_.cols)};
  }
  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override;
  void evaluate_single(const RowBlock& block, Index first, Index count, float* out, Index out_stride,
                       Arena& arena) const override;
  // See AtomDerivatives. The coordinates of a column are log(sigma) and its centre.
  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* coordinates,
                 double* inputs, Arena& arena) const;
  // What a row's share of a sum in single precision is off by at most, per unit of its weight.
  void single_errors(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                     Arena& arena) const;
  // See SingleCorrelator.
  void add_square_errors(const RowBlock& block, double* out, Arena& arena) const;

 private:
  void evaluate_row(const RowBlock& row, Index first, Index count, double* out) const;
  void start(const RowBlock& block, Index first, Index count, double* out, Index out_stride) const;

  Matrix centres_;
  std::vector<Column> columns_;
  std::vector<double> square_norms_;    // of the centres
  std::vector<double> absolute_norms_;  // |c|_1
  std::vector<double> rates_;           // if all kernels are exp(rate * distance); else empty
  std::vector<float> single_centres_;
  bool all_absolute_;  // no kernel needs projections
};

}  // namespace mfga
