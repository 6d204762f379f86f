// The lazy engine: every question is one pass over the row blocks, and the values of the active atoms are
// computed again in each block. That costs about as much as reading them back from memory would, and
// nothing of size N x M is ever stored.
#include <cblas.h>

#include <algorithm>

#include "core/row_kernels.hpp"
#include "solve/engine.hpp"

namespace mfga {
namespace {

class LazyEngine final : public Engine {
 public:
  explicit LazyEngine(const Problem& problem) : problem_(problem) {}

  [[nodiscard]] std::string_view name() const override { return "lazy"; }

  [[nodiscard]] double loss_sum(const ActiveSet& active) override {
    const ScoreFunction score = active.score();
    double total = 0;
    sum_over_blocks(problem_.rows, problem_.workers, {&total, 1},
                    [&](const RowBlock& block, Arena& arena, double* sum) {
                      double* scores = arena.take(block.rows);
                      score.evaluate(block, scores, arena);
                      *sum += problem_.loss.sum(scores, targets(block), block.rows);
                    });
    return total;
  }

  double gradient(const ActiveSet& active, std::span<double> out) override {
    const ScoreFunction score = active.score();
    const Index n_candidates = problem_.candidates.size();
    totals_.resize(static_cast<std::size_t>(n_candidates + 1));
    sum_over_blocks(problem_.rows, problem_.workers, totals_,
                    [&](const RowBlock& block, Arena& arena, double* sums) {
                      double* scores = arena.take(block.rows);
                      double* first = arena.take(block.rows);
                      score.evaluate(block, scores, arena);
                      sums[n_candidates] += problem_.loss.gradient(scores, targets(block), block.rows, first);
                      problem_.candidates.correlate(block, first, block.rows, 1, sums, n_candidates, arena);
                    });
    std::copy_n(totals_.begin(), n_candidates, out.begin());
    return totals_.back();
  }

  [[nodiscard]] Matrix products(const ActiveSet& active, std::span<const Index> added) override {
    std::vector<Atom> atoms = active.atoms;
    for (const Index candidate : added) atoms.push_back(problem_.candidates.atom(candidate));
    const AtomValues all(atoms);
    const AtomValues news(std::span<const Atom>(atoms).subspan(active.atoms.size()));
    std::vector<double> sums(static_cast<std::size_t>((2 + all.size()) * news.size()));  // transposed
    sum_over_blocks(problem_.rows, problem_.workers, sums,
                    [&](const RowBlock& block, Arena& arena, double* out) {
                      add_products(block, all, news, out, arena);
                    });
    Matrix result(news.size(), 2 + all.size());
    for (Index i = 0; i < result.rows; ++i) {
      for (Index j = 0; j < result.cols; ++j)
        result(i, j) = sums[static_cast<std::size_t>(j * result.rows + i)];
    }
    return result;
  }

 private:
  [[nodiscard]] const double* targets(const RowBlock& block) const {
    return problem_.targets.data() + block.first_row;
  }

  // out[0]: products with 1, out[1]: with y, then with every atom; news.size() numbers each.
  void add_products(const RowBlock& block, const AtomValues& all, const AtomValues& news, double* out,
                    Arena& arena) const {
    constexpr Index kTile = 48;  // atoms whose values stay in the second-level cache
    double* new_values = arena.take(news.size() * block.stride);
    double* tile_values = arena.take(kTile * block.stride);
    news.evaluate(block, 0, news.size(), new_values, block.stride, arena);
    for (Index i = 0; i < news.size(); ++i) {
      const double* value = new_values + i * block.stride;
      double sum = 0;
      for (Index n = 0; n < block.rows; ++n) sum += value[n];
      out[i] += sum;
      out[news.size() + i] += cblas_ddot(static_cast<int>(block.rows), value, 1, targets(block), 1);
    }
    for (Index first = 0; first < all.size(); first += kTile) {
      const Index count = std::min(kTile, all.size() - first);
      all.evaluate(block, first, count, tile_values, block.stride, arena);
      add_row_products(tile_values, count, block.stride, new_values, news.size(), block.stride, block.rows,
                       out + (2 + first) * news.size(), news.size());
    }
  }

  Problem problem_;
  std::vector<double> totals_;
};

}  // namespace

std::unique_ptr<Engine> make_lazy_engine(const Problem& problem) {
  return std::make_unique<LazyEngine>(problem);
}

EngineCost lazy_engine_cost(const ProblemSize& size) {
  const double steps = size.terms / size.per_step;
  // Gradient passes; then scores and products evaluate the active atoms twice per step (about four
  // operations each), and the products themselves.
  const double operations = 2 * size.rows * size.candidates * (steps + 1) +
                            4 * size.rows * size.terms * steps + size.rows * size.terms * size.terms;
  const double shards = static_cast<double>(
      shard_count(static_cast<Index>(size.rows) / kBlockRows + 1, static_cast<Index>(size.candidates)));
  return {operations, sizeof(double) * ((shards + 3) * size.candidates + 2 * size.rows)};
}

}  // namespace mfga
