// The lazy engine: every question is one pass over the row blocks, and the values of the active atoms are
// computed again in each block. That costs about as much as reading them back from memory would, and
// nothing of size N x M is ever stored.
#include <algorithm>

#include "solve/atom_products.hpp"
#include "solve/engine.hpp"

namespace mfga {
namespace {

class LazyEngine final : public Engine {
 public:
  LazyEngine(const Problem& problem, const Candidates& candidates)
      : problem_(problem), candidates_(candidates) {}

  [[nodiscard]] std::string_view name() const override { return "lazy"; }

  [[nodiscard]] double loss_sum(const ActiveSet& active) override {
    return mfga::loss_sum(problem_, active.score());
  }

  double gradient(const ActiveSet& active, std::span<double> out) override {
    const ScoreFunction score = active.score();
    const Index n_candidates = candidates_.size();
    totals_.resize(static_cast<std::size_t>(n_candidates + 1));
    sum_over_blocks(problem_.rows, problem_.workers, totals_,
                    [&](const RowBlock& block, Arena& arena, double* sums) {
                      double* scores = arena.take(block.rows);
                      double* first = arena.take(block.rows);
                      score.evaluate(block, scores, arena);
                      sums[n_candidates] += problem_.loss.gradient(scores, targets(block), block.rows, first);
                      candidates_.correlate(block, first, block.rows, 1, sums, n_candidates, arena);
                    });
    std::copy_n(totals_.begin(), n_candidates, out.begin());
    return totals_.back();
  }

  [[nodiscard]] Matrix products(const ActiveSet& active, std::span<const Index> added) override {
    std::vector<Atom> atoms = active.atoms;
    for (const Index candidate : added) atoms.push_back(candidates_.atom(candidate));
    return atom_products(problem_.rows, problem_.targets, atoms, static_cast<Index>(added.size()),
                         problem_.workers);
  }

 private:
  [[nodiscard]] const double* targets(const RowBlock& block) const {
    return problem_.targets.data() + block.first_row;
  }

  Problem problem_;
  const Candidates& candidates_;
  std::vector<double> totals_;
};

}  // namespace

std::unique_ptr<Engine> make_lazy_engine(const Problem& problem, const Candidates& candidates) {
  return std::make_unique<LazyEngine>(problem, candidates);
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
