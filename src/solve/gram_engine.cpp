// The gram engine: with G = Phi^T Phi, s = Phi^T 1 and b = Phi^T y in memory, the loss and its gradient at
// any coefficients follow without another look at the rows. For one output.
#include <cblas.h>

#include <algorithm>
#include <unordered_map>

#include "solve/engine.hpp"

namespace mfga {
namespace {

using GramParts = std::vector<std::shared_ptr<const GramSums>>;

class GramEngine final : public Engine {
 public:
  explicit GramEngine(GramParts parts)
      : parts_(std::move(parts)), sums_(parts_[0]->sums.size()), target_products_(sums_.size()) {
    for (const auto& part : parts_) {
      rows_ += part->rows;
      target_sum_ += part->target_sum;
      target_square_ += part->target_square;
      for (std::size_t j = 0; j < sums_.size(); ++j) {
        sums_[j] += part->sums[j];
        target_products_[j] += part->target_products[j];
      }
    }
  }

  [[nodiscard]] std::string_view name() const override { return "gram"; }

  [[nodiscard]] double loss_sum(const ActiveSet& active) override {
    return loss_sum(active, [&](std::size_t a) {
      const double* row = gram_row(active.candidates[a]);
      double sum = 0;
      for (std::size_t b = 0; b < active.theta.size(); ++b)
        sum += row[active.candidates[b]] * active.theta[b];
      return sum + linear_part(active, active.candidates[a]);
    });
  }

  double gradient(const ActiveSet& active, Gradient& out) override {
    exact_gradient(active, out);
    return loss_sum(active, [&](std::size_t a) {
      return 0.5 * out.values[static_cast<std::size_t>(active.candidates[a])];
    });
  }

  void exact_gradient(const ActiveSet& active, Gradient& out) override {
    out.errors.clear();
    out.values.resize(sums_.size());
    for (std::size_t j = 0; j < out.values.size(); ++j)
      out.values[j] = 2 * linear_part(active, static_cast<Index>(j));
    for (std::size_t a = 0; a < active.theta.size(); ++a) {
      cblas_daxpy(static_cast<int>(out.values.size()), 2 * active.theta[a], gram_row(active.candidates[a]), 1,
                  out.values.data(), 1);
    }
  }

  [[nodiscard]] CandidateProducts products(const ActiveSet& active, std::span<const Index> added,
                                           bool /*with_curvature*/) override {
    CandidateProducts result;
    result.values =
        Matrix(static_cast<Index>(added.size()), 2 + active.size() + static_cast<Index>(added.size()));
    for (std::size_t i = 0; i < added.size(); ++i) {
      const double* row = gram_row(added[i]);
      double* out = result.values.row(static_cast<Index>(i));
      *out++ = at(sums_, added[i]);
      *out++ = at(target_products_, added[i]);
      for (const Index other : active.candidates) *out++ = row[other];
      for (const Index other : added) *out++ = row[other];
    }
    return result;
  }

  [[nodiscard]] Matrix correlations(const ActiveSet& active, const Matrix& combinations) override {
    const auto n_candidates = static_cast<Index>(sums_.size());
    Matrix result(combinations.rows, n_candidates);
    for (Index c = 0; c < combinations.rows; ++c) {
      const auto add = [&](double coefficient, const double* row) {
        cblas_daxpy(static_cast<int>(n_candidates), coefficient, row, 1, result.row(c), 1);
      };
      add(combinations(c, 0), sums_.data());
      for (Index m = 0; m < active.size(); ++m)
        add(combinations(c, 1 + m), gram_row(active.candidates[static_cast<std::size_t>(m)]));
    }
    return result;
  }

  [[nodiscard]] std::vector<double> square_norms() override {
    std::vector<double> result(sums_.size());
    for (const auto& part : parts_) {
      for (std::size_t j = 0; j < result.size(); ++j) {
        const auto position = static_cast<Index>(j);
        result[j] += part->gram(position, position);
      }
    }
    return result;
  }

 private:
  static double at(const std::vector<double>& values, Index i) { return values[static_cast<std::size_t>(i)]; }

  // The entry of c s - b.
  [[nodiscard]] double linear_part(const ActiveSet& active, Index candidate) const {
    return active.intercepts.front() * at(sums_, candidate) - at(target_products_, candidate);
  }

  // |y - Phi theta - c|^2, expanded; half_gradient(a) is the entry of G theta + c s - b at the active atom a.
  template <class HalfGradient>
  [[nodiscard]] double loss_sum(const ActiveSet& active, HalfGradient half_gradient) const {
    const double c = active.intercepts.front();
    double total = target_square_ - 2 * c * target_sum_ + rows_ * c * c;
    for (std::size_t a = 0; a < active.theta.size(); ++a)
      total += active.theta[a] * (half_gradient(a) + linear_part(active, active.candidates[a]));
    return std::max(total, 0.0);
  }

  // A row of G; of several parts it is summed when it is first needed, since few candidates ever are.
  [[nodiscard]] const double* gram_row(Index candidate) {
    if (parts_.size() == 1) return parts_[0]->gram.row(candidate);
    std::vector<double>& row = summed_rows_[candidate];
    if (row.empty()) {
      row.resize(sums_.size());
      for (const auto& part : parts_)
        cblas_daxpy(static_cast<int>(row.size()), 1.0, part->gram.row(candidate), 1, row.data(), 1);
    }
    return row.data();
  }

  GramParts parts_;
  double rows_ = 0;
  std::vector<double> sums_;             // Phi^T 1
  std::vector<double> target_products_;  // Phi^T y
  double target_sum_ = 0;
  double target_square_ = 0;
  std::unordered_map<Index, std::vector<double>> summed_rows_;
};

}  // namespace

std::unique_ptr<Engine> make_gram_engine(const Problem& problem, const Candidates& candidates) {
  const Index all = problem.rows.rows();
  return make_gram_engine(gram_sums(problem, candidates, {&all, 1}));
}

std::unique_ptr<Engine> make_gram_engine(GramParts parts) {
  return std::make_unique<GramEngine>(std::move(parts));
}

EngineCost gram_engine_cost(const ProblemSize& size) {
  return {size.rows * size.candidates * size.candidates + 2 * size.steps * size.terms * size.candidates,
          gram_sums_bytes(size.candidates, 1)};
}

}  // namespace mfga
