#include "reference.hpp"

#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "losses/logistic.hpp"
#include "losses/squared.hpp"

namespace mfga::reference {
namespace {

// The B-spline of the recursion of Cox and de Boor with knots[0 ... degree + 1].
double spline_value(const double* knots, std::size_t degree, double x) {
  if (degree == 0) return x >= knots[0] && x < knots[1] ? 1 : 0;
  return (x - knots[0]) / (knots[degree] - knots[0]) * spline_value(knots, degree - 1, x) +
         (knots[degree + 1] - x) / (knots[degree + 1] - knots[1]) * spline_value(knots + 1, degree - 1, x);
}

// Functions of single inputs and products of two of them. Empty for other families.
std::optional<double> function_of_inputs(const Atom& atom, const double* x) {
  const std::vector<double>& p = atom.parameters;
  const double first = atom.inputs.empty() ? 0 : x[atom.inputs[0]];
  double value = std::sqrt(atom.nu);
  if (atom.family == "step") return first >= p[0] ? value : 0;
  if (atom.family == "hinge") {
    for (std::size_t i = 0; i < atom.inputs.size(); ++i)
      value *= std::max(0.0, p[2 * i + 1] * (x[atom.inputs[i]] - p[2 * i]));
    return value;
  }
  if (atom.family == "spline") return value * spline_value(p.data(), p.size() - 2, first);
  if (atom.family == "periodic") {
    const double angle = 2 * std::numbers::pi * p[1] * first / p[0];
    return value * (p[2] == 0 ? std::cos(angle) : std::sin(angle));
  }
  if (atom.family == "additive") {
    const double u = p[1] * (first - p[0]);
    if (u <= 0) return 0;
    const double angle = p[2] * std::log(u);
    return value * std::sqrt(u) * (p[3] == 0 ? std::cos(angle) : std::sin(angle));
  }
  return std::nullopt;
}

}  // namespace

Matrix random_matrix(Index rows, Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Matrix matrix(rows, cols);
  for (double& value : matrix.values) value = normal(generator);
  return matrix;
}

// For targets of -1 and 1.
std::array<const Loss*, 2> both_losses() { return {&squared_loss(), &logistic_loss()}; }

std::vector<double> random_vector(Index size, unsigned seed) {
  const Matrix column = random_matrix(size, 1, seed);
  return {column.values.begin(), column.values.end()};
}

// Inputs that are columns of the matrix as they are.
std::vector<InputColumn> plain_inputs(Index cols) {
  std::vector<InputColumn> inputs;
  for (Index j = 0; j < cols; ++j) inputs.push_back({j, 0, 1});
  return inputs;
}

// Kernels of x and c, by their definitions.
double kernel_value(const std::string& kernel, double parameter, double sigma, const double* x,
                    const double* c, Index n_inputs) {
  double square = 0;
  double absolute = 0;
  double product = 0;
  double cauchy = 1;
  for (Index j = 0; j < n_inputs; ++j) {
    square += std::pow(x[j] - c[j], 2);
    absolute += std::abs(x[j] - c[j]);
    product += x[j] * c[j];
    cauchy /= 1 + std::pow((x[j] - c[j]) / sigma, 2);
  }
  if (kernel == "gaussian") return std::exp(-square / (2 * sigma * sigma));
  if (kernel == "laplace") return std::exp(-absolute / sigma);
  if (kernel == "cauchy") return cauchy;
  if (kernel == "polynomial") return std::pow(1 + product / (sigma * sigma), parameter);
  const double t = std::sqrt(2 * parameter * square) / sigma;  // matern
  if (t == 0) return 1;
  return std::pow(2, 1 - parameter) / std::tgamma(parameter) * std::pow(t, parameter) *
         std::cyl_bessel_k(parameter, t);
}

// With the kernel of an atom, {sigma, kernel, parameter, ...}.
double kernel_value(const Atom& atom, const double* x, const double* c, Index n_inputs) {
  const std::vector<std::string> names = {"gaussian", "laplace", "matern", "polynomial"};
  return kernel_value(names[static_cast<std::size_t>(atom.parameters[1])], atom.parameters[2],
                      atom.parameters[0], x, c, n_inputs);
}

// sqrt(nu) x_i, or sqrt(nu) exp(-|x|^2 / 2 sigma^2) x^a / (sigma^k sqrt(a!)).
double atom_value(const Atom& atom, const double* x, Index n_inputs) {
  if (const auto function = function_of_inputs(atom, x)) return *function;
  double value = std::sqrt(atom.nu);
  for (std::size_t i = 0; i < atom.inputs.size(); ++i)
    value *= std::pow(x[atom.inputs[i]], atom.exponents[i]);
  if (atom.family == "linear") return value;
  if (atom.family == "fourier") {  // sqrt(nu) cos(<w, x> + b)
    double projection = atom.parameters[0];
    for (Index j = 0; j < n_inputs; ++j)
      projection += atom.parameters[static_cast<std::size_t>(j) + 1] * x[j];
    return value * std::cos(projection);
  }
  if (atom.family == "landmark") return value * kernel_value(atom, x, &atom.parameters[3], n_inputs);
  if (atom.family == "nystrom") {  // sqrt(nu) sum_i weight_i k(x, z_i)
    double sum = 0;
    for (std::size_t i = 3; i < atom.parameters.size(); ++i) {
      const double* landmark = atom.shared.numbers().data() + (i - 3) * static_cast<std::size_t>(n_inputs);
      sum += atom.parameters[i] * kernel_value(atom, x, landmark, n_inputs);
    }
    return value * sum;
  }
  if (atom.family == "polynomial") {  // sqrt of binomial * multinomial coefficient * offset^(degree - k)
    const double degree = atom.parameters[0];
    double order = 0;
    for (const int exponent : atom.exponents) {
      order += exponent;
      value /= std::sqrt(std::tgamma(exponent + 1.0));
    }
    return value * std::sqrt(std::tgamma(degree + 1) / std::tgamma(degree - order + 1) *
                             std::pow(atom.parameters[1], degree - order));
  }
  if (atom.family == "maclaurin") {  // sqrt(nu) times a product of <signs, x> / sigma
    for (std::size_t i = 2; i < atom.parameters.size(); i += static_cast<std::size_t>(n_inputs)) {
      double projection = 0;
      for (Index j = 0; j < n_inputs; ++j)
        projection += atom.parameters[i + static_cast<std::size_t>(j)] * x[j];
      value *= projection / atom.parameters[0];
    }
    return value;
  }
  const double sigma = atom.parameters[0];
  double square_norm = 0;
  for (Index j = 0; j < n_inputs; ++j) square_norm += x[j] * x[j];
  value *= std::exp(-square_norm / (2 * sigma * sigma));
  for (const int exponent : atom.exponents) {
    value /= std::pow(sigma, exponent) * std::sqrt(std::tgamma(exponent + 1.0));
  }
  return value;
}

}  // namespace mfga::reference
