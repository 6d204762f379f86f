#include "features/kernel_columns.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/row_kernels.hpp"
#include "core/typed_arena.hpp"
#include "core/vectorise.hpp"

namespace mfga {
namespace {

constexpr double kRounding = 0x1p-24;
// Square distances below this part of |x|^2 + |c|^2 have lost digits to cancellation. Kernels with a kink at
// distance 0 would show it, so for these the distance is computed again from differences.
constexpr double kNearDouble = 0x1p-20;
constexpr double kNearSingle = 0x1p-6;

// values = |x|^2 + |c|^2 - 2 values
MFGA_VECTORISED void square_distances(const double* square_norms, double square_norm, Index count,
                                      double* values) {
  for (Index n = 0; n < count; ++n) values[n] = std::max(0.0, square_norms[n] + square_norm - 2 * values[n]);
}

MFGA_VECTORISED void square_distances(const double* square_norms, double square_norm, Index count,
                                      float* values) {
  for (Index n = 0; n < count; ++n) {
    const auto norms = static_cast<float>(square_norms[n] + square_norm);
    values[n] = std::max(0.0F, norms - 2 * values[n]);
  }
}

MFGA_VECTORISED void scaled_roots(double factor, Index count, double* values) {
  for (Index n = 0; n < count; ++n) values[n] = factor * std::sqrt(values[n]);
}

MFGA_VECTORISED void scaled_roots(float factor, Index count, float* values) {
  for (Index n = 0; n < count; ++n) values[n] = factor * std::sqrt(values[n]);
}

// values = (1 + linear t + square t^2) * decays, with t = values
MFGA_VECTORISED void multiply_polynomial(double linear, double square, const double* decays, Index count,
                                         double* values) {
  for (Index n = 0; n < count; ++n) values[n] = (1 + values[n] * (linear + values[n] * square)) * decays[n];
}

MFGA_VECTORISED void multiply_polynomial(float linear, float square, const float* decays, Index count,
                                         float* values) {
  for (Index n = 0; n < count; ++n) values[n] = (1 + values[n] * (linear + values[n] * square)) * decays[n];
}

MFGA_VECTORISED void multiply(double factor, Index count, double* values) {
  for (Index n = 0; n < count; ++n) values[n] *= factor;
}

MFGA_VECTORISED void multiply(float factor, Index count, float* values) {
  for (Index n = 0; n < count; ++n) values[n] *= factor;
}

// values = (1 + factor values)^degree
MFGA_VECTORISED void powers(double factor, int degree, Index count, double* values) {
  for (Index n = 0; n < count; ++n) {
    const double base = 1 + factor * values[n];
    double power = base;
    for (int k = 1; k < degree; ++k) power *= base;
    values[n] = power;
  }
}

MFGA_VECTORISED void powers(float factor, int degree, Index count, float* values) {
  for (Index n = 0; n < count; ++n) {
    const float base = 1 + factor * values[n];
    float power = base;
    for (int k = 1; k < degree; ++k) power *= base;
    values[n] = power;
  }
}

// values *= factor * weights
MFGA_VECTORISED void weight(double factor, const double* weights, Index count, double* values) {
  for (Index n = 0; n < count; ++n) values[n] *= factor * weights[n];
}

// out -= a * b
MFGA_VECTORISED void subtract_product(const double* a, const double* b, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] -= a[n] * b[n];
}

// out = values with the signs of x - centre
MFGA_VECTORISED void set_signed(const double* x, double centre, const double* values, Index count,
                                double* out) {
  for (Index n = 0; n < count; ++n) {
    const double above = x[n] > centre ? values[n] : 0;
    out[n] = x[n] < centre ? -values[n] : above;
  }
}

// values = factor * decays / t, with t = values, and 0 at the kink
MFGA_VECTORISED void divide_off_kink(double factor, const double* decays, Index count, double* values) {
  constexpr double kNearest = 1e-10;  // below, the direction of x - c is lost to rounding
  for (Index n = 0; n < count; ++n)
    values[n] = values[n] < kNearest ? 0 : factor * decays[n] / std::max(kNearest, values[n]);
}

// out = the derivative of (1 + factor * projection)^degree by the projection
MFGA_VECTORISED void power_slopes(double factor, int degree, const double* projections, Index count,
                                  double* out) {
  for (Index n = 0; n < count; ++n) {
    const double base = 1 + factor * projections[n];
    double slope = degree * factor;
    for (int k = 1; k < degree; ++k) slope *= base;
    out[n] = slope;
  }
}

// Whether the kernel is exp(rate * distance), of a square or an absolute one.
bool is_exponential(const Kernel& kernel) {
  return kernel.name == Kernel::Name::kGaussian || kernel.name == Kernel::Name::kLaplace;
}

double exponential_rate(const Kernel& kernel) {
  return kernel.name == Kernel::Name::kGaussian ? -0.5 / (kernel.sigma * kernel.sigma) : -1 / kernel.sigma;
}

// Turns square distances into values of a Gaussian or Matern kernel, absolute distances into those of a
// Laplace kernel.
template <class T>
void radial_values(const Kernel& kernel, Index count, T* values, Arena& arena) {
  if (is_exponential(kernel)) {
    exponentials(values, static_cast<T>(exponential_rate(kernel)), count, values);
    return;
  }
  scaled_roots(static_cast<T>(std::sqrt(2 * kernel.parameter) / kernel.sigma), count, values);
  if (kernel.parameter == 0.5) {
    exponentials(values, T{-1}, count, values);
    return;
  }
  const Arena::Scope scope(arena);
  T* decays = take(arena, count, values);
  exponentials(values, T{-1}, count, decays);
  const double square = kernel.parameter == 2.5 ? 1.0 / 3 : 0;
  multiply_polynomial(T{1}, static_cast<T>(square), decays, count, values);
}

// out = -2 times the derivative of a Gaussian or Matern kernel by the square distance.
void radial_slopes(const Kernel& kernel, const double* square_distances, Index count, double* out,
                   Arena& arena) {
  const double inverse = 1 / (kernel.sigma * kernel.sigma);
  if (kernel.name == Kernel::Name::kGaussian) {
    exponentials(square_distances, -0.5 * inverse, count, out);
    multiply(inverse, count, out);
    return;
  }
  const Arena::Scope scope(arena);
  double* decays = arena.take(count);
  std::copy_n(square_distances, count, out);
  scaled_roots(std::sqrt(2 * kernel.parameter) / kernel.sigma, count, out);
  exponentials(out, -1.0, count, decays);
  if (kernel.parameter == 0.5) {
    divide_off_kink(inverse, decays, count, out);
    return;
  }
  const bool is_smoother = kernel.parameter == 2.5;
  multiply_polynomial(is_smoother ? 1 : 0, 0, decays, count, out);
  multiply((is_smoother ? 5.0 / 3 : 3) * inverse, count, out);
}

// out = the derivative of the kernel by what its columns start from: for a polynomial by the projection, for
// a Laplace kernel by minus the absolute distance, else by the projection that the square distance contains.
void set_slopes(const Kernel& kernel, const double* started, Index count, double* out, Arena& arena) {
  if (kernel.name == Kernel::Name::kPolynomial) {
    power_slopes(1 / (kernel.sigma * kernel.sigma), static_cast<int>(kernel.parameter), started, count, out);
  } else if (kernel.name == Kernel::Name::kLaplace) {
    exponentials(started, -1 / kernel.sigma, count, out);
    multiply(1 / kernel.sigma, count, out);
  } else {
    radial_slopes(kernel, started, count, out, arena);
  }
}

// For an F with the derivatives `slopes` by minus the absolute distances of the rows to a centre: adds those
// by the centre and by the inputs.
void pull_back_absolute(const RowBlock& block, std::span<const double> centre, const double* slopes,
                        double* by_centre, double* inputs, Arena& arena) {
  const Arena::Scope scope(arena);
  double* with_signs = arena.take(block.rows);
  for (Index j = 0; j < block.inputs; ++j) {
    set_signed(block.input(j), centre[static_cast<std::size_t>(j)], slopes, block.rows, with_signs);
    if (by_centre != nullptr) by_centre[j] += row_sum(with_signs, block.rows);
    if (inputs != nullptr)
      cblas_daxpy(static_cast<int>(block.rows), -1.0, with_signs, 1, inputs + j * block.stride, 1);
  }
}

// Square distances of near rows from differences; see kNearDouble.
template <class T>
void refine_near(const RowBlock& block, std::span<const double> centre, double square_norm, double near,
                 T* values) {
  for (Index n = 0; n < block.rows; ++n) {
    if (static_cast<double>(values[n]) >= near * (block.square_norms[n] + square_norm)) continue;
    double square = 0;
    for (Index j = 0; j < block.inputs; ++j) {
      const double difference = block.input(j)[n] - centre[static_cast<std::size_t>(j)];
      square += difference * difference;
    }
    values[n] = static_cast<T>(square);
  }
}

}  // namespace

KernelColumns::KernelColumns(Matrix centres, std::vector<Column> columns)
    : centres_(std::move(centres)),
      columns_(std::move(columns)),
      single_centres_(rounded_to_single(centres_)),
      all_absolute_(std::all_of(columns_.begin(), columns_.end(), [](const Column& column) {
        return column.kernel.name == Kernel::Name::kLaplace;
      })) {
  for (Index i = 0; i < size(); ++i) {
    const std::span<const double> c = centre(i);
    square_norms_.push_back(std::inner_product(c.begin(), c.end(), c.begin(), 0.0));
    absolute_norms_.push_back(
        std::accumulate(c.begin(), c.end(), 0.0, [](double sum, double x) { return sum + std::abs(x); }));
  }
  if (std::ranges::all_of(columns_, is_exponential, &Column::kernel)) {
    for (const Column& column : columns_) rates_.push_back(exponential_rate(column.kernel));
  }
}

// Projections for polynomials, absolute distances for Laplace kernels, else square distances.
void KernelColumns::start(const RowBlock& block, Index first, Index count, double* out,
                          Index out_stride) const {
  if (!all_absolute_) project(block, centres_.row(first), count, out, out_stride);
  for (Index i = 0; i < count; ++i) {
    const auto position = static_cast<std::size_t>(first + i);
    const Kernel& kernel = columns_[position].kernel;
    double* value = out + i * out_stride;
    if (kernel.name == Kernel::Name::kPolynomial) continue;
    if (kernel.name == Kernel::Name::kLaplace) {
      absolute_distances(block.values, block.inputs, block.stride, centres_.row(first + i), block.rows,
                         value);
      continue;
    }
    square_distances(block.square_norms, square_norms_[position], block.rows, value);
    if (kernel.name == Kernel::Name::kMatern)
      refine_near(block, centre(first + i), square_norms_[position], kNearDouble, value);
  }
}

// The same operations as for a block, but the numbers of the columns lie side by side, so that their
// exponentials are computed together.
void KernelColumns::evaluate_row(const RowBlock& row, Index first, Index count, double* out) const {
  if (!all_absolute_) project(row, centres_.row(first), count, out, 1);
  for (Index i = 0; i < count; ++i) {
    const auto position = static_cast<std::size_t>(first + i);
    if (columns_[position].kernel.name == Kernel::Name::kLaplace) {
      absolute_distances(row.values, row.inputs, row.stride, centres_.row(first + i), 1, out + i);
    } else {
      out[i] = std::max(0.0, row.square_norms[0] + square_norms_[position] - 2 * out[i]);
    }
    out[i] *= rates_[position];
  }
  exponentials(out, 1.0, count, out);
  for (Index i = 0; i < count; ++i) out[i] *= columns_[static_cast<std::size_t>(first + i)].factor;
}

void KernelColumns::evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                             Arena& arena) const {
  if (block.rows == 1 && out_stride == 1 && !rates_.empty()) {
    evaluate_row(block, first, count, out);
    return;
  }
  start(block, first, count, out, out_stride);
  for (Index i = 0; i < count; ++i) {
    const auto& [kernel, factor] = columns_[static_cast<std::size_t>(first + i)];
    double* value = out + i * out_stride;
    if (kernel.name == Kernel::Name::kPolynomial) {
      powers(1 / (kernel.sigma * kernel.sigma), static_cast<int>(kernel.parameter), block.rows, value);
    } else {
      radial_values(kernel, block.rows, value, arena);
    }
    multiply(factor, block.rows, value);
  }
}

// All kernels but Laplace's are functions of projections and norms, as |x - c|^2 = |x|^2 + |c|^2 - 2 <x, c>:
// the derivatives by the projections are computed for a tile of columns at a time, those by the norms are
// their opposites halved.
void KernelColumns::pull_back(const RowBlock& block, const double* weights, Index weight_stride,
                              double* coordinates, double* inputs, Arena& arena) const {
  const Index n_coordinates = 1 + block.inputs;  // of a column
  const auto rows = static_cast<int>(block.rows);
  const Arena::Scope scope(arena);
  double* started = arena.take(tile() * block.stride);
  double* slopes = arena.take(tile() * block.stride);
  double* norm_slopes = arena.take(block.rows);
  std::fill_n(norm_slopes, block.rows, 0.0);
  for (Index first = 0; first < size(); first += tile()) {
    const Index count = std::min(tile(), size() - first);
    start(block, first, count, started, block.stride);
    for (Index i = 0; i < count; ++i) {
      const auto& [kernel, factor] = columns_[static_cast<std::size_t>(first + i)];
      double* slope = slopes + i * block.stride;
      double* own = coordinates == nullptr ? nullptr : coordinates + (first + i) * n_coordinates;
      const bool is_polynomial = kernel.name == Kernel::Name::kPolynomial;
      set_slopes(kernel, started + i * block.stride, block.rows, slope, arena);
      weight(factor, weights + (first + i) * weight_stride, block.rows, slope);
      if (own != nullptr)  // projections and square distances are divided by sigma^2, absolute ones by sigma
        own[0] += (is_polynomial ? -2 : 1) * cblas_ddot(rows, slope, 1, started + i * block.stride, 1);
      if (is_polynomial) continue;
      if (kernel.name == Kernel::Name::kLaplace) {
        pull_back_absolute(block, centre(first + i), slope, own == nullptr ? nullptr : own + 1, inputs,
                           arena);
        std::fill_n(slope, block.rows, 0.0);  // none by projections
        continue;
      }
      cblas_daxpy(rows, 1.0, slope, 1, norm_slopes, 1);
      if (own != nullptr) {
        cblas_daxpy(static_cast<int>(block.inputs), -row_sum(slope, block.rows), centres_.row(first + i), 1,
                    own + 1, 1);
      }
    }
    if (all_absolute_) continue;
    pull_back_projections(block, centres_.row(first), count, slopes,
                          coordinates == nullptr ? nullptr : coordinates + first * n_coordinates + 1,
                          n_coordinates, inputs);
  }
  if (inputs == nullptr || all_absolute_) return;
  for (Index j = 0; j < block.inputs; ++j)
    subtract_product(block.input(j), norm_slopes, block.rows, inputs + j * block.stride);
}

void KernelColumns::evaluate_single(const RowBlock& block, Index first, Index count, float* out,
                                    Index out_stride, Arena& arena) const {
  const float* centres = single_centres_.data() + first * centres_.cols;
  if (!all_absolute_) project(block, centres, count, out, out_stride);
  for (Index i = 0; i < count; ++i) {
    const auto position = static_cast<std::size_t>(first + i);
    const auto& [kernel, factor] = columns_[position];
    float* value = out + i * out_stride;
    if (kernel.name == Kernel::Name::kPolynomial) {
      powers(static_cast<float>(1 / (kernel.sigma * kernel.sigma)), static_cast<int>(kernel.parameter),
             block.rows, value);
    } else {
      if (kernel.name == Kernel::Name::kLaplace) {
        absolute_distances(block.single, block.inputs, block.stride, centres + i * centres_.cols, block.rows,
                           value);
      } else {
        square_distances(block.square_norms, square_norms_[position], block.rows, value);
        if (kernel.name == Kernel::Name::kMatern)
          refine_near(block, centre(first + i), square_norms_[position], kNearSingle, value);
      }
      radial_values(kernel, block.rows, value, arena);
    }
    multiply(static_cast<float>(factor), block.rows, value);
  }
}

// Distances are off by at most some margin, and kernels fall with the distance: so values are off by at most
// k(distance - margin) - k(distance + margin), and what the rounding of the functions adds.
void KernelColumns::single_errors(const RowBlock& block, Index first, Index count, double* out,
                                  Index out_stride, Arena& arena) const {
  const auto n_inputs = static_cast<double>(centres_.cols);
  const double projection_error = single_projection_error(centres_.cols);
  const double relative = single_sum_error() + 32 * kRounding;
  const Arena::Scope scope(arena);
  double* least = arena.take(block.rows);
  start(block, first, count, out, out_stride);
  for (Index i = 0; i < count; ++i) {
    const auto position = static_cast<std::size_t>(first + i);
    const auto& [kernel, factor] = columns_[position];
    const double square_norm = square_norms_[position];
    double* value = out + i * out_stride;
    if (kernel.name == Kernel::Name::kPolynomial) {
      const double inverse = 1 / (kernel.sigma * kernel.sigma);
      const int degree = static_cast<int>(kernel.parameter);
      for (Index n = 0; n < block.rows; ++n) {
        const double base = std::abs(1 + inverse * value[n]);
        const double norms = std::sqrt(block.square_norms[n] * square_norm);
        const double margin = (projection_error * norms + 4 * kRounding * std::abs(value[n])) * inverse +
                              4 * kRounding * (1 + base);
        double power = 1;
        double largest = 1;
        for (int k = 0; k < degree; ++k) {
          power *= base;
          largest *= base + margin;
        }
        value[n] = factor * (largest - power + (degree * kRounding + relative) * largest);
      }
      continue;
    }
    for (Index n = 0; n < block.rows; ++n) {
      const double distance = value[n];
      const double norms = block.square_norms[n] + square_norm;
      double margin = projection_error * norms + 16 * kRounding * norms;
      if (kernel.name == Kernel::Name::kLaplace) {
        margin = projection_error * distance +
                 4 * kRounding * (std::sqrt(n_inputs * block.square_norms[n]) + absolute_norms_[position]);
      } else if (kernel.name == Kernel::Name::kMatern && distance < kNearSingle / 2 * norms) {
        margin = 0;  // computed again
      }
      margin += 8 * kRounding * distance;
      least[n] = std::max(0.0, distance - margin);
      value[n] = distance + margin;
    }
    radial_values(kernel, block.rows, least, arena);
    radial_values(kernel, block.rows, value, arena);
    // What exponentials leaves of the smallest, times the polynomial of a Matern kernel.
    const double smallest = std::exp(static_cast<double>(kLowestExponent)) * 1e10;
    for (Index n = 0; n < block.rows; ++n)
      value[n] = factor * (least[n] - value[n] + relative * least[n] + smallest);
  }
}

void KernelColumns::add_square_errors(const RowBlock& block, double* out, Arena& arena) const {
  const Arena::Scope scope(arena);
  double* errors = arena.take(tile() * block.stride);
  for (Index first = 0; first < size(); first += tile()) {
    const Index count = std::min(tile(), size() - first);
    single_errors(block, first, count, errors, block.stride, arena);
    for (Index i = 0; i < count; ++i) {
      const double* error = errors + i * block.stride;
      out[first + i] += std::inner_product(error, error + block.rows, error, 0.0);
    }
  }
}

}  // namespace mfga
