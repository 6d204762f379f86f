// Tuning with coefficients that move along with the atoms: one look at the rows per step, where fitting them
// would take many. All is moved in units in which the objective is nearly round at the start: coefficients by
// the factors of their Hessians (OutputFactors), stretches and coordinates by the roots of the diagonal of
// theirs.
#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "core/row_combinations.hpp"
#include "core/row_kernels.hpp"
#include "solve/output_factors.hpp"
#include "solve/tuning_objective.hpp"

namespace mfga {
namespace {

class JointTuningObjective final : public TuningObjective {
 public:
  JointTuningObjective(const Problem& problem, const ActiveSet& active, const TuneOptions& options)
      : TuningObjective(problem, active, options),
        offset_(problem.intercept == Intercept::kUnpenalised ? 1 : 0),
        atoms_at_start_(active.atoms, offset_, problem),
        start_(fitted(problem, options.ridge)),
        factors_(problem, atoms_at_start_, start_, options.ridge),
        units_(units_of_moves()) {}

  [[nodiscard]] std::size_t size() const override { return n_moves() + start_.values.size(); }

  double evaluate(std::span<const double> values, std::span<double> gradient) override {
    std::vector<double> moves(values.begin(), values.end());
    const double unit = 1 / std::sqrt(scale_);
    for (std::size_t i = 0; i < moves.size(); ++i) moves[i] *= i < n_moves() ? units_[i] : unit;
    const BlockedRows rows = move(std::span(moves).first(n_moves()));
    const Problem there = problem_.with_rows(rows);
    const Matrix coefficients = factors_.moved(start_, moves.data() + n_moves());
    set_coefficients(coefficients);
    const Index n_values = coefficients.cols;  // the intercept and the atoms
    const Index outputs = coefficients.rows;
    const AtomValues atoms(last_.active.atoms);
    const DerivativesOfAtoms of_atoms(last_.active.atoms);
    // By the coordinates and stretches, by the coefficients, and the loss itself.
    const auto first_coefficient = static_cast<Index>(n_moves());
    std::vector<double> sums(n_moves() + coefficients.values.size() + 1);
    sum_over_blocks(rows, there.workers, sums, [&](const RowBlock& block, Arena& arena, double* out) {
      double* values_of_atoms = arena.take(n_values * block.stride);
      double* scores = arena.take(outputs * block.stride);
      double* first = arena.take(outputs * block.stride);
      if (offset_ == 1) std::fill_n(values_of_atoms, block.rows, 1.0);
      atoms.evaluate(block, 0, atoms.size(), values_of_atoms + offset_ * block.stride, block.stride, arena);
      set_combinations(coefficients.values.data(), outputs, values_of_atoms, n_values, block.stride,
                       block.rows, scores, block.stride);
      out[first_coefficient + outputs * n_values] += there.gradient_of(block, scores, first);
      add_row_products(first, outputs, block.stride, values_of_atoms, n_values, block.stride, block.rows,
                       out + first_coefficient, n_values);
      pull_back(block, of_atoms, first, out, arena);
    });
    last_.objective = sums.back();
    Matrix slopes(outputs, n_values);
    std::copy_n(sums.begin() + first_coefficient, slopes.values.size(), slopes.values.begin());
    for (Index k = 0; k < outputs; ++k) {
      for (Index m = offset_; m < n_values; ++m) {
        last_.objective += options_.ridge * problem_.cost.value(coefficients(k, m));
        slopes(k, m) += options_.ridge * problem_.cost.slope(coefficients(k, m));
      }
    }
    factors_.gradient_by_moves(std::move(slopes), gradient.data() + first_coefficient);
    const double objective = with_pull(std::span(moves).first(n_moves()), sums, gradient.first(n_moves()));
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] *= i < n_moves() ? units_[i] : scale_ * unit;
    return objective;
  }

 private:
  // [outputs x (intercept + atoms)], and those of last().
  [[nodiscard]] Matrix fitted(const Problem& problem, double ridge) {
    ActiveSet& active = last_.active;
    static_cast<void>(
        fit_coefficients(problem, ridge, refit_products(problem, active.atoms), active, Accuracy::kGood));
    const auto outputs = static_cast<Index>(active.outputs());
    Matrix result(outputs, offset_ + active.size());
    for (Index k = 0; k < outputs; ++k) {
      const auto output = static_cast<std::size_t>(k);
      if (offset_ == 1) result(k, 0) = active.intercepts[output];
      for (std::size_t m = 0; m < active.atoms.size(); ++m)
        result(k, offset_ + static_cast<Index>(m)) = active.theta_of(m)[output];
    }
    return result;
  }
  void set_coefficients(const Matrix& coefficients) {
    ActiveSet& active = last_.active;
    for (std::size_t k = 0; k < active.outputs(); ++k) {
      const double* own = coefficients.row(static_cast<Index>(k));
      if (offset_ == 1) active.intercepts[k] = own[0];
      for (std::size_t m = 0; m < active.atoms.size(); ++m)
        active.theta[m * active.outputs() + k] = own[static_cast<std::size_t>(offset_) + m];
    }
  }

  // One over the root of the second derivative of the objective by each move. That of the sum of the losses
  // is taken to be sum over rows and outputs of L'' (df/dmove)^2, the mean square of
  //
  //   sum over rows and outputs of s sqrt(L'') df/dmove
  //
  // for random signs s, which takes one look at the rows; each block of them is a draw.
  [[nodiscard]] std::vector<double> units_of_moves() const {
    constexpr Index kFewestDraws = 16;
    const Index outputs = start_.rows;
    const Index repeats = (kFewestDraws + problem_.rows.blocks() - 1) / problem_.rows.blocks();
    const CounterRandom random(0, RandomStream::kCurvatureSigns);
    const DerivativesOfAtoms of_atoms(last_.active.atoms);
    const std::vector<double> nowhere(n_moves());
    std::vector<double> squares(n_moves());
    sum_over_blocks(problem_.rows, problem_.workers, squares,
                    [&](const RowBlock& block, Arena& arena, double* out) {
                      double* scores = arena.take(outputs * block.stride);
                      double* first = arena.take(outputs * block.stride);
                      double* second = arena.take(outputs * block.stride);
                      set_combinations(start_.values.data(), outputs, atoms_at_start_.of(block, arena),
                                       start_.cols, block.stride, block.rows, scores, block.stride);
                      static_cast<void>(problem_.derivatives_of(block, scores, first, second));
                      std::vector<double> derivatives(n_moves());
                      std::vector<double> by_moves(n_moves());
                      for (Index repeat = 0; repeat < repeats; ++repeat) {
                        for (Index k = 0; k < outputs; ++k) {
                          for (Index n = 0; n < block.rows; ++n) {
                            const Index place = ((block.first_row + n) * repeats + repeat) * outputs + k;
                            const double root = std::sqrt(std::max(0.0, second[k * block.stride + n]));
                            first[k * block.stride + n] =
                                (random.bits(static_cast<std::uint64_t>(place)) & 1U) == 1 ? root : -root;
                          }
                        }
                        std::ranges::fill(derivatives, 0.0);
                        pull_back(block, of_atoms, first, derivatives.data(), arena);
                        derivatives_by_moves(nowhere, derivatives, by_moves);
                        for (std::size_t i = 0; i < by_moves.size(); ++i)
                          out[i] += by_moves[i] * by_moves[i] / static_cast<double>(repeats);
                      }
                    });
    for (double& value : squares) value = 1 / std::sqrt(scale_ * (value + curvature_of_pull()));
    return squares;
  }

  Index offset_;  // 1 if there is an intercept
  ActiveAtoms atoms_at_start_;
  Matrix start_;
  OutputFactors factors_;
  std::vector<double> units_;
};

}  // namespace

std::unique_ptr<TuningObjective> make_tuning_objective(const Problem& problem, const ActiveSet& active,
                                                       const TuneOptions& options) {
  if (make_refit(problem, {options.ridge, 0})->can_be_rough())
    return std::make_unique<JointTuningObjective>(problem, active, options);
  return std::make_unique<TuningObjective>(problem, active, options);
}

}  // namespace mfga
