// The gram engine: with G = Phi^T Phi, s = Phi^T 1 and b = Phi^T y in memory, the loss and its gradient at
// any coefficients follow without another look at the rows.
#include <cblas.h>

#include <algorithm>

#include "solve/engine.hpp"

namespace mfga {
namespace {

constexpr Index kPanelBlocks = 4;  // row blocks whose features are held at once
constexpr Index kTile = 256;       // G is accumulated in tiles of this many rows and columns

class GramEngine final : public Engine {
 public:
  GramEngine(const Problem& problem, const Candidates& candidates)
      : size_(candidates.size()),
        rows_(static_cast<double>(problem.rows.rows())),
        gram_(size_, size_),
        sums_(static_cast<std::size_t>(size_)),
        target_products_(static_cast<std::size_t>(size_)) {
    for (const double y : problem.targets) {
      target_sum_ += y;
      target_square_ += y * y;
    }
    accumulate(problem, candidates);
    for (Index i = 0; i < size_; ++i) {
      for (Index j = 0; j < i; ++j) gram_(i, j) = gram_(j, i);
    }
  }

  [[nodiscard]] std::string_view name() const override { return "gram"; }

  [[nodiscard]] double loss_sum(const ActiveSet& active) override {
    // |y - Phi theta - c|^2, expanded.
    const double c = active.intercept;
    double total = target_square_ - 2 * c * target_sum_ + rows_ * c * c;
    for (std::size_t a = 0; a < active.theta.size(); ++a) {
      const Index i = active.candidates[a];
      double row = 2 * c * at(sums_, i) - 2 * at(target_products_, i);
      for (std::size_t b = 0; b < active.theta.size(); ++b)
        row += gram_(i, active.candidates[b]) * active.theta[b];
      total += active.theta[a] * row;
    }
    return std::max(total, 0.0);
  }

  double gradient(const ActiveSet& active, Gradient& out) override {
    exact_gradient(active, out);
    return loss_sum(active);
  }

  void exact_gradient(const ActiveSet& active, Gradient& out) override {
    gradient_.resize(sums_.size());
    for (std::size_t j = 0; j < gradient_.size(); ++j)
      gradient_[j] = 2 * (active.intercept * sums_[j] - target_products_[j]);
    for (std::size_t a = 0; a < active.theta.size(); ++a) {
      cblas_daxpy(static_cast<int>(size_), 2 * active.theta[a], gram_.row(active.candidates[a]), 1,
                  gradient_.data(), 1);
    }
    out.values = gradient_;
    out.errors.clear();
  }

  [[nodiscard]] CandidateProducts products(const ActiveSet& active, std::span<const Index> added) override {
    CandidateProducts result;
    result.values =
        Matrix(static_cast<Index>(added.size()), 2 + active.size() + static_cast<Index>(added.size()));
    for (std::size_t i = 0; i < added.size(); ++i) {
      result.gradient.push_back(at(gradient_, added[i]));
      double* out = result.values.row(static_cast<Index>(i));
      *out++ = at(sums_, added[i]);
      *out++ = at(target_products_, added[i]);
      for (const Index other : active.candidates) *out++ = gram_(added[i], other);
      for (const Index other : added) *out++ = gram_(added[i], other);
    }
    return result;
  }

 private:
  static double at(const std::vector<double>& values, Index i) { return values[static_cast<std::size_t>(i)]; }

  // Panels of rows in order; within a panel each tile of G belongs to one task, so the order of additions
  // does not depend on the number of threads.
  void accumulate(const Problem& problem, const Candidates& candidates) {
    std::vector<Atom> atoms;
    atoms.reserve(static_cast<std::size_t>(size_));
    for (Index j = 0; j < size_; ++j) atoms.push_back(candidates.atom(j));
    const AtomValues values(atoms);
    const Index panel_rows = kPanelBlocks * kBlockRows;
    std::vector<double> panel(static_cast<std::size_t>(size_ * panel_rows));
    const Index n_tiles = (size_ + kTile - 1) / kTile;
    for (Index first_block = 0; first_block < problem.rows.blocks(); first_block += kPanelBlocks) {
      const Index n_blocks = std::min(kPanelBlocks, problem.rows.blocks() - first_block);
      problem.workers.pool.run(n_blocks, [&](Index b) {
        const auto lease = problem.workers.arenas.lend();
        const Arena::Scope scope(*lease);
        const RowBlock block = problem.rows.load(first_block + b, *lease);
        values.evaluate(block, 0, size_, panel.data() + b * kBlockRows, panel_rows, *lease);
      });
      const Index first_row = first_block * kBlockRows;
      const Index n_rows = std::min(n_blocks * kBlockRows, problem.rows.rows() - first_row);
      problem.workers.pool.run(n_tiles * (n_tiles + 1) / 2, [&](Index task) {
        Index i = 0;
        for (Index row_tiles = n_tiles; task >= row_tiles; --row_tiles, ++i) task -= row_tiles;
        add_tile(panel.data(), panel_rows, n_rows, i * kTile, (i + task) * kTile);
        if (task == 0)
          add_sums(panel.data(), panel_rows, n_rows, i * kTile, problem.targets.data() + first_row);
      });
    }
  }

  void add_tile(const double* panel, Index stride, Index n_rows, Index i, Index j) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(std::min(kTile, size_ - i)),
                static_cast<int>(std::min(kTile, size_ - j)), static_cast<int>(n_rows), 1.0,
                panel + i * stride, static_cast<int>(stride), panel + j * stride, static_cast<int>(stride),
                1.0, gram_.row(i) + j, static_cast<int>(size_));
  }

  void add_sums(const double* panel, Index stride, Index n_rows, Index first, const double* targets) {
    for (Index j = first; j < std::min(first + kTile, size_); ++j) {
      const double* value = panel + j * stride;
      double sum = 0;
      for (Index n = 0; n < n_rows; ++n) sum += value[n];
      sums_[static_cast<std::size_t>(j)] += sum;
      target_products_[static_cast<std::size_t>(j)] +=
          cblas_ddot(static_cast<int>(n_rows), value, 1, targets, 1);
    }
  }

  Index size_;
  double rows_;
  Matrix gram_;                          // Phi^T Phi
  std::vector<double> sums_;             // Phi^T 1
  std::vector<double> target_products_;  // Phi^T y
  double target_sum_ = 0;
  double target_square_ = 0;
  std::vector<double> gradient_;  // the last one
};

}  // namespace

std::unique_ptr<Engine> make_gram_engine(const Problem& problem, const Candidates& candidates) {
  return std::make_unique<GramEngine>(problem, candidates);
}

EngineCost gram_engine_cost(const ProblemSize& size) {
  const double steps = size.terms / size.per_step;
  const double panel = static_cast<double>(kPanelBlocks * kBlockRows);
  return {size.rows * size.candidates * size.candidates + 2 * steps * size.terms * size.candidates,
          sizeof(double) * size.candidates * (size.candidates + panel)};
}

}  // namespace mfga
