#include "baselines/kernel_machine.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/row_kernels.hpp"
#include "features/landmark.hpp"
#include "mfga/error.hpp"
#include "solve/rounding.hpp"
#include "solve/tiled_cholesky.hpp"

namespace mfga {
namespace {

constexpr Index kTileRows = 256;  // rows of the kernel matrix per task

std::vector<double> linear_combination(const std::vector<double>& a, double length,
                                       const std::vector<double>& b) {
  std::vector<double> result(a);
  cblas_daxpy(static_cast<int>(a.size()), length, b.data(), 1, result.data(), 1);
  return result;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return cblas_ddot(static_cast<int>(a.size()), a.data(), 1, b.data(), 1);
}

}  // namespace

double KernelMachine::bytes(double rows, double inputs) {
  return sizeof(double) * rows * (rows + inputs + 8);
}

KernelMachine::KernelMachine(const BlockedRows& rows, std::span<const Index> chosen, double sigma,
                             Workers& workers)
    : workers_(workers),
      sigma_(sigma),
      centres_(static_cast<Index>(chosen.size()), rows.inputs()),
      gram_(static_cast<Index>(chosen.size()), static_cast<Index>(chosen.size())),
      diagonal_(chosen.size(), 1.0) {
  Arena arena;
  const RowBlock block = rows.gather(chosen, arena);
  for (Index i = 0; i < centres_.rows; ++i) {
    for (Index j = 0; j < centres_.cols; ++j) centres_(i, j) = block.input(j)[i];
  }
  square_norms_.assign(block.square_norms, block.square_norms + block.rows);
  if (block.weights != nullptr) weights_.assign(block.weights, block.weights + block.rows);
  workers_.run((size() + kTileRows - 1) / kTileRows, [&](Index task) {
    const Index first = task * kTileRows;
    const Index height = std::min(kTileRows, size() - first);
    const Index width = size() - first;  // from the diagonal on
    std::vector<double> products(static_cast<std::size_t>(height * width));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(height), static_cast<int>(width),
                static_cast<int>(centres_.cols), 1.0, centres_.row(first), static_cast<int>(centres_.cols),
                centres_.row(first), static_cast<int>(centres_.cols), 0.0, products.data(),
                static_cast<int>(width));
    for (Index i = 0; i < height; ++i) {
      double* product = products.data() + i * width;
      const double norm = square_norms_[static_cast<std::size_t>(first + i)];
      for (Index j = i + 1; j < width; ++j) {
        product[j] =
            std::max(0.0, norm + square_norms_[static_cast<std::size_t>(first + j)] - 2 * product[j]);
      }
      exponentials(product + i + 1, -0.5 / (sigma_ * sigma_), width - i - 1,
                   gram_.row(first + i) + first + i + 1);
    }
  });
}

void KernelMachine::add_linear_kernel() {
  kind_ = KernelKind::kGaussianAndLinear;
  workers_.run((size() + kTileRows - 1) / kTileRows, [&](Index task) {
    const Index first = task * kTileRows;
    const Index height = std::min(kTileRows, size() - first);
    const Index width = size() - first;
    std::vector<double> products(static_cast<std::size_t>(height * width));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(height), static_cast<int>(width),
                static_cast<int>(centres_.cols), 0.5, centres_.row(first), static_cast<int>(centres_.cols),
                centres_.row(first), static_cast<int>(centres_.cols), 0.0, products.data(),
                static_cast<int>(width));
    for (Index i = 0; i < height; ++i) {
      double* kernel = gram_.row(first + i) + first;
      for (Index j = i + 1; j < width; ++j)
        kernel[j] = 0.5 * kernel[j] + products[static_cast<std::size_t>(i * width + j)];
      diagonal_[static_cast<std::size_t>(first + i)] =
          0.5 + products[static_cast<std::size_t>(i * width + i)];
    }
  });
}

std::vector<double> KernelMachine::kernel_times(std::span<const double> alpha) const {
  // Row i of the strict upper triangle gives both K(i, j) alpha_j and, transposed, K(j, i) alpha_i.
  const Index n_tasks = (size() + kTileRows - 1) / kTileRows;
  std::vector<std::vector<double>> partial(static_cast<std::size_t>(n_tasks));
  workers_.run(n_tasks, [&](Index task) {
    std::vector<double>& out = partial[static_cast<std::size_t>(task)];
    out.assign(alpha.size(), 0.0);
    for (Index i = task * kTileRows; i < std::min(size(), (task + 1) * kTileRows); ++i) {
      const auto count = static_cast<int>(size() - i - 1);
      const double* row = gram_.row(i) + i + 1;
      const auto position = static_cast<std::size_t>(i);
      out[position] +=
          diagonal_[position] * alpha[position] + cblas_ddot(count, row, 1, alpha.data() + i + 1, 1);
      cblas_daxpy(count, alpha[position], row, 1, out.data() + i + 1, 1);
    }
  });
  std::vector<double> result(alpha.size());
  for (const std::vector<double>& part : partial) {
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += part[i];
  }
  return result;
}

void KernelMachine::factorise_with_diagonal(std::span<const double> added) {
  workers_.run((size() + kTileRows - 1) / kTileRows, [&](Index task) {
    // Copied in squares, so that neither the reads along rows nor the writes along columns leave the cache.
    for (Index first = 0; first <= task; ++first) {
      for (Index i = task * kTileRows; i < std::min(size(), (task + 1) * kTileRows); ++i) {
        for (Index j = first * kTileRows; j < std::min(i, (first + 1) * kTileRows); ++j)
          gram_(i, j) = gram_(j, i);
      }
    }
    for (Index i = task * kTileRows; i < std::min(size(), (task + 1) * kTileRows); ++i) {
      gram_(i, i) = diagonal_[static_cast<std::size_t>(i)] + added[static_cast<std::size_t>(i)];
    }
  });
  if (!factorise_in_place(gram_, workers_)) {
    throw Error(ErrorKind::kNumerical, "the kernel matrix is singular; use a larger ridge");
  }
}

KernelSolution KernelMachine::solve_system(std::span<const double> added, std::span<const double> right,
                                           Intercept intercept) {
  factorise_with_diagonal(added);
  const Index columns = intercept == Intercept::kUnpenalised ? 2 : 1;
  std::vector<double> solutions(right.size() * static_cast<std::size_t>(columns),
                                1.0);  // the second column is 1
  for (std::size_t i = 0; i < right.size(); ++i) solutions[i * static_cast<std::size_t>(columns)] = right[i];
  solve_factorised(gram_, solutions.data(), columns);
  KernelSolution result;
  result.alpha.resize(right.size());
  double sum = 0;
  double sum_of_ones = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    result.alpha[i] = solutions[i * static_cast<std::size_t>(columns)];
    sum += result.alpha[i];
    if (columns == 2) sum_of_ones += solutions[2 * i + 1];
  }
  if (columns == 2) {
    result.intercept = sum / sum_of_ones;
    for (std::size_t i = 0; i < right.size(); ++i) result.alpha[i] -= result.intercept * solutions[2 * i + 1];
  }
  return result;
}

KernelSolution KernelMachine::solve(std::span<const double> targets, const Loss& loss, double ridge,
                                    Intercept intercept, const KernelSolution* start) {
  const auto count = static_cast<Index>(targets.size());
  const double* const weights = weights_.empty() ? nullptr : weights_.data();
  if (const std::optional<double> curvature = loss.constant_curvature()) {
    std::vector<double> added(targets.size(), 2 * ridge / *curvature);
    for (std::size_t i = 0; i < weights_.size(); ++i) added[i] /= weights_[i];
    KernelSolution solution = solve_system(added, targets, intercept);
    // K alpha + c = y - added alpha at the solution.
    std::vector<double> scores(targets.begin(), targets.end());
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] -= added[i] * solution.alpha[i];
    solution.loss_sum = loss.sum(scores.data(), targets.data(), weights, count);
    return solution;
  }
  KernelSolution here =
      start != nullptr ? *start : KernelSolution{std::vector<double>(targets.size()), 0, 0, 0, true};
  here.newton_steps = 0;
  std::vector<double> kernel_alpha = kernel_times(here.alpha);
  std::vector<double> first(targets.size());
  std::vector<double> second(targets.size());
  const auto objective = [&](const std::vector<double>& alpha, const std::vector<double>& product, double c,
                             double& sum) {
    std::vector<double> scores(product);
    for (double& score : scores) score += c;
    sum = loss.sum(scores.data(), targets.data(), weights, count);
    return sum + ridge * dot(alpha, product);
  };
  double value = objective(here.alpha, kernel_alpha, here.intercept, here.loss_sum);
  here.converged = false;
  for (int step = 0; step < 100 && !here.converged; ++step) {
    // The Newton step as a weighted least-squares problem: (K + 2 ridge / h) alpha + c = f - g / h.
    std::vector<double> scores(kernel_alpha);
    for (double& score : scores) score += here.intercept;
    loss.derivatives(scores.data(), targets.data(), weights, count, first.data(), second.data());
    std::vector<double> added(targets.size());
    std::vector<double> response(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const double curvature = std::max(second[i], 1e-10);
      added[i] = 2 * ridge / curvature;
      response[i] = scores[i] - first[i] / curvature;
    }
    const KernelSolution full = solve_system(added, response, intercept);
    ++here.newton_steps;
    const std::vector<double> full_product = kernel_times(full.alpha);
    // The derivative of the objective along the step.
    double slope = 2 * ridge * (dot(full.alpha, kernel_alpha) - dot(here.alpha, kernel_alpha));
    for (std::size_t i = 0; i < targets.size(); ++i)
      slope += first[i] * (full_product[i] + full.intercept - scores[i]);
    double length = 1;
    for (; length > 1e-6; length /= 2) {
      const std::vector<double> alpha =
          linear_combination(linear_combination(here.alpha, -length, here.alpha), length, full.alpha);
      const std::vector<double> product =
          linear_combination(linear_combination(kernel_alpha, -length, kernel_alpha), length, full_product);
      const double c = (1 - length) * here.intercept + length * full.intercept;
      double loss_sum = 0;
      const double there = objective(alpha, product, c, loss_sum);
      if (!(there <= value)) continue;
      here.converged = value - there <= 1e-9 * value;
      here.alpha = alpha;
      kernel_alpha = product;
      here.intercept = c;
      here.loss_sum = loss_sum;
      value = there;
      break;
    }
    if (length <= 1e-6) {
      here.converged = is_hidden_by_rounding(slope, value);
      return here;
    }
  }
  return here;
}

Matrix KernelMachine::scores(const BlockedRows& rows, std::span<const KernelSolution> solutions) const {
  const auto n_solutions = static_cast<Index>(solutions.size());
  Matrix result(n_solutions, rows.rows());
  Matrix alphas(size(), n_solutions);
  for (Index s = 0; s < n_solutions; ++s) {
    for (Index i = 0; i < size(); ++i)
      alphas(i, s) = solutions[static_cast<std::size_t>(s)].alpha[static_cast<std::size_t>(i)];
  }
  const double weight = kind_ == KernelKind::kGaussian ? 1.0 : 0.5;
  for_each_block(rows, workers_, [&](const RowBlock& block, Arena& arena) {
    double* values = arena.take(kTileRows * block.stride);  // products, then kernel values: [centres x rows]
    double* exponents = arena.take(block.stride);
    double* sums = arena.take(block.rows * n_solutions);  // [rows x solutions]
    std::fill(sums, sums + block.rows * n_solutions, 0.0);
    for (Index first = 0; first < size(); first += kTileRows) {
      const Index tile = std::min(kTileRows, size() - first);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(tile),
                  static_cast<int>(block.rows), static_cast<int>(block.inputs), 1.0, centres_.row(first),
                  static_cast<int>(centres_.cols), block.values, static_cast<int>(block.stride), 0.0, values,
                  static_cast<int>(block.stride));
      for (Index i = 0; i < tile; ++i) {
        double* value = values + i * block.stride;
        const double norm = square_norms_[static_cast<std::size_t>(first + i)];
        for (Index n = 0; n < block.rows; ++n)
          exponents[n] = std::max(0.0, norm + block.square_norms[n] - 2 * value[n]);
        exponentials(exponents, -0.5 / (sigma_ * sigma_), block.rows, exponents);
        const double linear = 1 - weight;
        for (Index n = 0; n < block.rows; ++n) value[n] = weight * exponents[n] + linear * value[n];
      }
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(block.rows),
                  static_cast<int>(n_solutions), static_cast<int>(tile), 1.0, values,
                  static_cast<int>(block.stride), alphas.row(first), static_cast<int>(n_solutions), 1.0, sums,
                  static_cast<int>(n_solutions));
    }
    for (Index s = 0; s < n_solutions; ++s) {
      for (Index n = 0; n < block.rows; ++n) {
        result(s, block.first_row + n) =
            solutions[static_cast<std::size_t>(s)].intercept + sums[n * n_solutions + s];
      }
    }
  });
  return result;
}

std::vector<Term> KernelMachine::terms(const KernelSolution& solution) const {
  const double weight = kind_ == KernelKind::kGaussian ? 1.0 : 0.5;
  std::vector<Term> terms;
  for (Index i = 0; i < size(); ++i) {
    const std::span<const double> centre(centres_.row(i), static_cast<std::size_t>(centres_.cols));
    // The atom has the factor sqrt(weight); the kernel has the factor weight.
    terms.push_back({landmark_atom(centre, {Kernel::Name::kGaussian, 0, sigma_}, weight),
                     {solution.alpha[static_cast<std::size_t>(i)] * std::sqrt(weight)}});
  }
  if (kind_ == KernelKind::kGaussianAndLinear) {
    for (Index j = 0; j < centres_.cols; ++j) {
      double slope = 0;
      for (Index i = 0; i < size(); ++i)
        slope += solution.alpha[static_cast<std::size_t>(i)] * centres_(i, j);
      terms.push_back({Atom{"linear", weight, {j}, {1}, {}}, {slope * std::sqrt(weight)}});
    }
  }
  return terms;
}

}  // namespace mfga
