#include "solve/gram_moments.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/row_kernels.hpp"
#include "solve/moments.hpp"

namespace mfga {
namespace {

constexpr Index kPanelBlocks = 8;  // row blocks that are converted at once

// Moments whose weights are one product of envelopes, or that times the target.
struct Weighting {
  double rate;  // exp(-rate |x|^2)
  bool with_target;
  int order;        // the highest that is needed
  Index first = 0;  // where its moments begin
};

// Moments that one task accumulates.
struct MomentTask {
  std::size_t weighting;
  int order;
  Index middle_first;  // for orders from 3 on
};

class GramMoments {
 public:
  // Empty if an atom is no monomial.
  static std::optional<GramMoments> of(std::span<const Atom> atoms, Index n_inputs) {
    GramMoments result(n_inputs);
    for (const Atom& atom : atoms) {
      std::optional<Monomial> monomial = find_feature_family(atom.family)->monomial(atom);
      if (!monomial) return std::nullopt;
      result.add(*std::move(monomial));
    }
    result.list_weightings();
    return result;
  }

  [[nodiscard]] double count() const {
    double total = 0;
    for (const Weighting& weighting : weightings_) total += MomentLayout::count(n_inputs_, weighting.order);
    return total;
  }

  void fill(std::span<const std::shared_ptr<GramSums>> groups, std::span<const Index> group_ends,
            const Problem& problem, const std::function<void(double)>& on_part) {
    const MomentLayout layout(n_inputs_, highest_order());
    Index size = 0;
    for (Weighting& weighting : weightings_) {
      weighting.first = size;
      size += layout.first(weighting.order + 1);
    }
    std::vector<std::vector<double>> moments(groups.size(),
                                             std::vector<double>(static_cast<std::size_t>(size)));
    accumulate(layout, problem, group_ends, moments, on_part);
    problem.workers.run(static_cast<Index>(members_.size()),
                        [&](Index i) { gather_row(layout, moments, i, groups); });
  }

 private:
  struct Member {
    Monomial monomial;
    std::size_t rate;  // position in rates_
  };

  explicit GramMoments(Index n_inputs) : n_inputs_(n_inputs) {}

  void add(Monomial monomial) {
    const auto known = std::find(rates_.begin(), rates_.end(), monomial.rate);
    const auto rate = static_cast<std::size_t>(known - rates_.begin());
    if (known == rates_.end()) {
      rates_.push_back(monomial.rate);
      orders_.push_back(0);
    }
    orders_[rate] = std::max(orders_[rate], static_cast<int>(monomial.inputs.size()));
    members_.push_back({std::move(monomial), rate});
  }

  // For each pair of rates p <= q at [q (q + 1) / 2 + p]; after those, for each rate with the target.
  void list_weightings() {
    for (std::size_t q = 0; q < rates_.size(); ++q) {
      for (std::size_t p = 0; p <= q; ++p)
        weightings_.push_back({rates_[p] + rates_[q], false, orders_[p] + orders_[q]});
    }
    for (std::size_t p = 0; p < rates_.size(); ++p) weightings_.push_back({rates_[p], true, orders_[p]});
  }
  [[nodiscard]] const Weighting& of_pair(std::size_t p, std::size_t q) const {
    return weightings_[std::max(p, q) * (std::max(p, q) + 1) / 2 + std::min(p, q)];
  }
  [[nodiscard]] const Weighting& of_target(std::size_t p) const {
    return weightings_[weightings_.size() - rates_.size() + p];
  }

  [[nodiscard]] int highest_order() const { return 2 * *std::max_element(orders_.begin(), orders_.end()); }

  // Largest first.
  [[nodiscard]] std::vector<MomentTask> tasks() const {
    std::vector<MomentTask> result;
    for (int order = highest_order(); order >= 0; --order) {
      for (std::size_t w = 0; w < weightings_.size(); ++w) {
        if (weightings_[w].order < order) continue;
        for (Index input = 0; input < (order > 2 ? n_inputs_ : 1); ++input)
          result.push_back({w, order, input});
      }
    }
    return result;
  }

  // Panels of rows in order, and every moment belongs to one task: the order of additions does not depend on
  // the number of threads.
  void accumulate(const MomentLayout& layout, const Problem& problem, std::span<const Index> group_ends,
                  std::vector<std::vector<double>>& moments,
                  const std::function<void(double)>& on_part) const {
    const std::vector<MomentTask> all_tasks = tasks();
    const Index n_blocks = problem.rows.blocks();
    for (Index first_block = 0; first_block < n_blocks; first_block += kPanelBlocks) {
      const Index end_block = std::min(first_block + kPanelBlocks, n_blocks);
      std::vector<Arena> arenas(static_cast<std::size_t>(end_block - first_block));
      const std::vector<RowBlock> blocks = load_panel(problem, first_block, arenas);
      problem.workers.run(static_cast<Index>(all_tasks.size()), [&](Index t) {
        if (!is_own_task(problem.workers, t)) return;
        const auto lease = problem.workers.arenas.lend();
        for (const RowBlock& block : blocks) {
          for (const GroupRows& part : group_rows(group_ends, block.first_row, block.rows)) {
            const Arena::Scope scope(*lease);
            add_task(layout, all_tasks[static_cast<std::size_t>(t)], block, part, problem.targets, *lease,
                     moments[static_cast<std::size_t>(part.group)]);
          }
        }
      });
      on_part(static_cast<double>(end_block) / static_cast<double>(n_blocks));
    }
    for (std::vector<double>& own : moments) join_tasks(problem.workers, own);
  }

  void add_task(const MomentLayout& layout, const MomentTask& task, const RowBlock& block,
                const GroupRows& part, std::span<const double> targets, Arena& arena,
                std::vector<double>& moments) const {
    const Weighting& weighting = weightings_[task.weighting];
    double* weights = arena.take(block.stride);
    exponentials(block.square_norms + part.first, -weighting.rate, part.rows, weights);
    if (weighting.with_target) {
      const double* y = targets.data() + block.first_row + part.first;
      for (Index n = 0; n < part.rows; ++n) weights[n] *= y[n];
    }
    if (block.weights != nullptr) {
      for (Index n = 0; n < part.rows; ++n) weights[n] *= block.weights[part.first + n];
    }
    const RowMoments rows(block, part.first, part.rows, arena);
    double* out = moments.data() + weighting.first;
    if (task.order <= 2) {
      rows.add_low_order(task.order, weights, out + layout.first(task.order));
    } else {
      rows.add_with_middle(task.order, task.middle_first, weights,
                           out + layout.first_with_middle(task.order, task.middle_first));
    }
  }

  // The products of an atom with 1, the target, itself and the atoms after it.
  void gather_row(const MomentLayout& layout, const std::vector<std::vector<double>>& moments, Index i,
                  std::span<const std::shared_ptr<GramSums>> groups) const {
    const auto row = static_cast<std::size_t>(i);
    const auto& [monomial, rate] = members_[row];
    const auto moment = [&](std::size_t group, const Weighting& weighting, Index position) {
      return moments[group][static_cast<std::size_t>(weighting.first + position)];
    };
    const Index own = layout.position(monomial.inputs);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups[g]->sums[row] = monomial.factor * moment(g, of_pair(0, rate), own);
      groups[g]->target_products[row] = monomial.factor * moment(g, of_target(rate), own);
    }
    std::vector<Index> inputs;
    for (std::size_t j = row; j < members_.size(); ++j) {
      const Member& other = members_[j];
      inputs.clear();
      std::merge(monomial.inputs.begin(), monomial.inputs.end(), other.monomial.inputs.begin(),
                 other.monomial.inputs.end(), std::back_inserter(inputs));
      const Index position = layout.position(inputs);
      const double factor = monomial.factor * other.monomial.factor;
      for (std::size_t g = 0; g < groups.size(); ++g)
        groups[g]->gram(i, static_cast<Index>(j)) = factor * moment(g, of_pair(rate, other.rate), position);
    }
  }

  Index n_inputs_;
  std::vector<Member> members_;
  std::vector<double> rates_{0};  // of the envelopes of the constant 1, and of the atoms
  std::vector<int> orders_{0};    // highest order with each of the rates
  std::vector<Weighting> weightings_;
};

}  // namespace

bool sum_by_moments(const Problem& problem, std::span<const Atom> atoms, std::span<const Index> group_ends,
                    std::span<const std::shared_ptr<GramSums>> groups,
                    const std::function<void(double)>& on_part) {
  std::optional<GramMoments> moments = GramMoments::of(atoms, problem.rows.inputs());
  const auto size = static_cast<double>(atoms.size());
  if (!moments || moments->count() > kMomentsPerProduct * size * size) return false;
  moments->fill(groups, group_ends, problem, on_part);
  return true;
}

}  // namespace mfga
