// The lazy engine: every question is one pass over the row blocks, and the values of the active atoms are
// computed again in each block. That costs about as much as reading them back from memory would, and
// nothing of size N x M is ever stored. Only of candidates that take long to compute, such as columns of
// kernels, the values are kept where there is room for them.
#include <algorithm>
#include <cmath>

#include "core/row_combinations.hpp"
#include "solve/atom_products.hpp"
#include "solve/engine.hpp"

namespace mfga {
namespace {

class LazyEngine final : public Engine {
 public:
  LazyEngine(const Problem& problem, const Candidates& candidates, Precision precision,
             double most_kept_bytes)
      : problem_(problem),
        candidates_(candidates.kept_for(problem.rows, problem.workers, most_kept_bytes)),
        outputs_(problem.outputs()),
        derivatives_(static_cast<std::size_t>(outputs_ * problem.rows.rows())) {
    // Of several outputs, nobody asks for the curvatures of single rows.
    if (outputs_ == 1 && !problem.loss.constant_curvature()) curvatures_.resize(problem.targets.size());
    if (outputs_ == 1 && precision == Precision::kMixed && candidates_.have_single())
      single_errors_ = candidates_.single_errors(problem.rows, problem.workers);
  }

  [[nodiscard]] std::string_view name() const override { return "lazy"; }

  [[nodiscard]] double loss_sum(const ActiveSet& active) override {
    return mfga::loss_sum(problem_, active.score());
  }

  double gradient(const ActiveSet& active, Gradient& out) override {
    const ScoreFunction score = active.score();
    const std::vector<double> sums = candidates_.sums(
        problem_.rows, problem_.workers, outputs_, 2,
        [&](const RowBlock& block, Arena& arena, double* loss_and_square) {
          double* columns = arena.take(outputs_ * block.stride);
          score.evaluate(block, columns, arena);
          to_derivatives(block, columns, loss_and_square, arena);
          return Candidates::BlockColumns{columns, block.stride};
        },
        is_single());
    return gradient_of_sums(active, sums, out);
  }

  double gradient_and_correlations(const ActiveSet& active, const Matrix& combinations, Gradient& out,
                                   Matrix& correlations_out) override {
    // Scores are combinations, too.
    Matrix with_scores(outputs_ + combinations.rows, combinations.cols);
    for (Index k = 0; k < outputs_; ++k) {
      with_scores(k, 0) = active.intercepts[static_cast<std::size_t>(k)];
      for (Index m = 0; m < active.size(); ++m)
        with_scores(k, 1 + m) = active.theta_of(static_cast<std::size_t>(m))[static_cast<std::size_t>(k)];
    }
    std::ranges::copy(combinations.values, with_scores.row(outputs_));
    const AtomValues values(active.atoms);
    const std::vector<double> sums = candidates_.sums(
        problem_.rows, problem_.workers, with_scores.rows, 2,
        [&](const RowBlock& block, Arena& arena, double* loss_and_square) {
          double* columns = combined(values, with_scores, block, arena);
          to_derivatives(block, columns, loss_and_square, arena);
          weight_columns(block, combinations.rows, columns + outputs_ * block.stride);
          return Candidates::BlockColumns{columns, block.stride};
        },
        is_single());
    correlations_out = Matrix(combinations.rows, candidates_.size());
    const auto first = sums.begin() + outputs_ * candidates_.size();
    std::copy_n(first, correlations_out.values.size(), correlations_out.values.begin());
    return gradient_of_sums(active, sums, out);
  }

  void exact_gradient(const ActiveSet& /*active*/, Gradient& out) override {
    ++failures_;
    const std::vector<double> sums = candidates_.sums(
        problem_.rows, problem_.workers, outputs_, 0,
        [&](const RowBlock& block, Arena& /*arena*/, double* /*more*/) {
          return Candidates::BlockColumns{derivatives_.data() + outputs_ * block.first_row, block.rows};
        });
    set_values(sums, out);
  }

  [[nodiscard]] CandidateProducts products(const ActiveSet& active, std::span<const Index> added,
                                           bool with_curvature) override {
    std::vector<Atom> atoms = active.atoms;
    for (const Index candidate : added) atoms.push_back(candidates_.atom(candidate));
    const auto n_added = static_cast<Index>(added.size());
    CurvedProducts products;
    if (with_curvature) {
      products = curved_atom_products(problem_.rows, problem_.targets, atoms, n_added, problem_.workers,
                                      derivatives_, curvatures_);
    } else {
      products.plain =
          atom_products(problem_.rows, problem_.targets, atoms, n_added, problem_.workers, derivatives_);
    }
    const Matrix& sums = products.plain;
    const Index n_values = sums.cols - outputs_;
    CandidateProducts result{Matrix(n_added, n_values), Matrix(n_added, outputs_), {}};
    for (Index i = 0; i < n_added; ++i) {
      std::copy_n(sums.row(i), n_values, result.values.row(i));
      std::copy_n(sums.row(i) + n_values, outputs_, result.gradient.row(i));
    }
    result.curvature = std::move(products.curvature);
    return result;
  }

  [[nodiscard]] Matrix correlations(const ActiveSet& active, const Matrix& combinations) override {
    const AtomValues values(active.atoms);
    const std::vector<double> sums =
        candidates_.sums(problem_.rows, problem_.workers, combinations.rows, 0,
                         [&](const RowBlock& block, Arena& arena, double* /*more*/) {
                           double* columns = combined(values, combinations, block, arena);
                           weight_columns(block, combinations.rows, columns);
                           return Candidates::BlockColumns{columns, block.stride};
                         });
    Matrix result(combinations.rows, candidates_.size());
    std::copy(sums.begin(), sums.end(), result.values.begin());
    return result;
  }

  [[nodiscard]] std::vector<double> square_norms() override {
    if (square_norms_.empty()) square_norms_ = candidates_.square_norms(problem_.rows, problem_.workers);
    return square_norms_;
  }

  void begin_search() override { failures_ = 0; }
  void archive(Archive& bytes) override { bytes(failures_); }

 private:
  // Where single precision does not decide, it is not worth trying for ever.
  [[nodiscard]] bool is_single() const {
    constexpr int kMostFailures = 3;
    return !single_errors_.empty() && failures_ < kMostFailures;
  }
  // Combinations of 1 and the atoms on the rows of a block, [combinations x block.stride].
  [[nodiscard]] static double* combined(const AtomValues& values, const Matrix& combinations,
                                        const RowBlock& block, Arena& arena) {
    double* atoms = arena.take((1 + values.size()) * block.stride);
    std::fill_n(atoms, block.rows, 1.0);
    values.evaluate(block, 0, values.size(), atoms + block.stride, block.stride, arena);
    double* columns = arena.take(combinations.rows * block.stride);
    set_combinations(combinations.values.data(), combinations.rows, atoms, combinations.cols, block.stride,
                     block.rows, columns, block.stride);
    return columns;
  }

  static void weight_columns(const RowBlock& block, Index count, double* columns) {
    for (Index c = 0; c < count; ++c) {
      double* column = columns + c * block.stride;
      static_cast<void>(times_weights(block, column, column));
    }
  }

  // Scores [outputs x block.stride] become the derivatives of the loss by them, which are remembered; adds
  // the loss and their square norm.
  void to_derivatives(const RowBlock& block, double* columns, double* loss_and_square, Arena& arena) {
    const Arena::Scope scope(arena);
    double* first = arena.take(outputs_ * block.stride);
    loss_and_square[0] += curvatures_.empty() ? problem_.gradient_of(block, columns, first)
                                              : problem_.derivatives_of(block, columns, first,
                                                                        curvatures_.data() + block.first_row);
    for (Index k = 0; k < outputs_; ++k) {
      const double* own = first + k * block.stride;
      for (Index n = 0; n < block.rows; ++n) loss_and_square[1] += own[n] * own[n];
      std::copy_n(own, block.rows, columns + k * block.stride);
      std::copy_n(own, block.rows, derivatives_.data() + outputs_ * block.first_row + k * block.rows);
    }
  }

  // Of sums that begin with those of each output.
  void set_values(const std::vector<double>& sums, Gradient& out) const {
    const auto n_candidates = static_cast<std::size_t>(candidates_.size());
    out.values.assign(sums.begin(), sums.begin() + candidates_.size());
    out.errors.clear();
    if (outputs_ == 1) return;
    for (std::size_t j = 0; j < n_candidates; ++j) {
      double square = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(outputs_); ++k)
        square += sums[k * n_candidates + j] * sums[k * n_candidates + j];
      out.values[j] = std::sqrt(square);
    }
  }

  // Of sums that begin with the gradient and end with the loss and the square norm of its derivatives.
  // Returns the loss.
  double gradient_of_sums(const ActiveSet& active, const std::vector<double>& sums, Gradient& out) {
    set_values(sums, out);
    const double loss = sums[sums.size() - 2];
    if (!is_single()) return loss;
    const double norm = std::sqrt(sums.back());
    for (const double error : single_errors_) out.errors.push_back(error * norm);
    // Products of large inputs may leave the range of single precision.
    if (!std::all_of(out.values.begin(), out.values.end(), [](double g) { return std::isfinite(g); }) ||
        !std::all_of(out.errors.begin(), out.errors.end(), [](double e) { return std::isfinite(e); }))
      exact_gradient(active, out);
    return loss;
  }

  Problem problem_;
  Candidates candidates_;
  Index outputs_;
  // Of the loss at the last gradient: [outputs x rows] of each block, one after the other.
  std::vector<double> derivatives_;
  std::vector<double> curvatures_;     // L'' there, where it depends on the row; else empty
  std::vector<double> square_norms_;   // of the candidates, once they are known
  std::vector<double> single_errors_;  // see Candidates::single_errors; empty: there are none
  int failures_ = 0;                   // of this search: how often single precision did not decide
};

}  // namespace

std::unique_ptr<Engine> make_lazy_engine(const Problem& problem, const Candidates& candidates,
                                         Precision precision, double most_kept_bytes) {
  if (problem.device != nullptr) return make_device_engine(problem, candidates);
  return std::make_unique<LazyEngine>(problem, candidates, precision, most_kept_bytes);
}

double kept_bytes(double memory_limit) { return std::min(kMostKeptBytes, memory_limit / 4); }

Index correlations_at_a_time(Index candidates) {
  constexpr Index kNumbers = Index{1} << 20;
  return (kNumbers - 1) / std::max<Index>(candidates, 1) + 1;
}

EngineCost lazy_engine_cost(const ProblemSize& size) {
  // Gradient passes, in single precision twice as fast; then scores and products evaluate the active atoms
  // twice per step (about four operations each), and the products themselves.
  const double pass =
      size.outputs * (size.precision == Precision::kMixed ? 1 : 2) * size.rows * size.candidates;
  const double operations =
      pass * (size.steps + 1) + 4 * size.rows * size.terms * size.steps + size.rows * size.terms * size.terms;
  const Index blocks = static_cast<Index>(size.rows) / kBlockRows + 1;
  constexpr double kFarTooMany = 1e12;  // what comes after is refused in any case
  const auto candidates = static_cast<Index>(std::min(size.outputs * size.candidates, kFarTooMany));
  const auto shards = [&](Index numbers) { return static_cast<double>(shard_count(blocks, numbers)); };
  // The gain of all candidates is kept up to date with some of the terms at a time.
  const double together = std::min(size.terms, static_cast<double>(correlations_at_a_time(candidates)));
  const double correlations = together * (shards(static_cast<Index>(together) * candidates) + 1);
  const double numbers = std::max(shards(candidates), correlations) + 3;
  return {operations,
          sizeof(double) * (numbers * size.outputs * size.candidates + 2 * size.outputs * size.rows)};
}

}  // namespace mfga
