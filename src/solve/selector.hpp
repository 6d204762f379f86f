// Lines 2 and 3 of Algorithm 1: which candidates join the active set.
//
// Candidates are ranked by the size of their entry of the gradient, as in the paper; if they were scaled to
// unit norm before (Candidates::normalise), that is by their correlation with it. With Rule::kGain each entry
// is also divided by the square root of the curvature of the objective along the candidate when all
// coefficients are fitted again; then the ranking is by the decrease of the objective, g_j^2 / (2 h_j). The
// curvature is
//
//   h_j = L'' s_j + 2 ridge,   s_j = |phi_j|^2 less what the intercept and the active atoms explain of it.
//
// For the squared loss s_j is kept up to date for all candidates, which costs one more correlation per atom
// added (Engine::correlations). For other losses L'' depends on the row and changes with every refit: there
// s_j is only less what the intercept explains, and the decrease in full is that of a shortlist of the best.
// With several outputs g_j has one number for each, and |g_j|^2 takes the place of g_j^2; L'' is taken to be
// the same for all rows (curvature_of_all_rows).
//
// Where several atoms are added per step, the later ones are ranked again given those picked before them,
// within a shortlist of the best: else they would be copies of one idea. For the same reason a candidate is
// on no shortlist if one of its neighbours in the list of all is better.
#pragma once

#include <optional>
#include <vector>

#include "solve/engine.hpp"
#include "solve/independent_atoms.hpp"
#include "solve/refit.hpp"

namespace mfga {

enum class Rule { kGradient, kGain };

struct SelectionOptions {
  Rule rule = Rule::kGradient;
  Index shortlist = 0;  // candidates looked at closely per step; at most the step's size: no second look
  // So many for each atom that is added, if there are several; of many atoms, two.
  Index shortlist_of_each = 0;
  double ridge = 0;  // of the objective; the searches fill it in
  // kGain with the squared loss: the remainders of all candidates, not of a shortlist only. For sets that
  // only grow.
  bool exact_gain = true;
};

// The active set while it grows, with what depends on its atoms.
struct GrowingSet {
  // Not an aggregate, whose parts GCC 12 destroys twice where making one of them fails.
  GrowingSet(const Problem& problem, Refit& its_refit) : independent(problem, its_refit), refit(its_refit) {}

  ActiveSet active;
  IndependentAtoms independent;
  Refit& refit;
};

class Selector {
 public:
  Selector(const Problem& problem, const Candidates& candidates, Engine& engine,
           const SelectionOptions& options);

  // Begins with another set, of which these candidates are a part already; what was found out about all
  // candidates is kept, so this is not for exact gains.
  void restart(std::span<const Index> candidates, Index shortlist);
  // The gradient at the set, as Engine::gradient gives it, and what the curvatures need to know of the atoms
  // that have joined. Returns the sum of the losses.
  double gradient(const GrowingSet& set, Gradient& out);
  // Adds up to `count` candidates, best first; `gradient` is that at the set. Returns those added; candidates
  // that depend on the atoms of the set are appended to `dependent`. None of either is ever added again.
  [[nodiscard]] std::vector<Index> add(Gradient& gradient, Index count, GrowingSet& set,
                                       std::vector<Index>& dependent);
  // All that it has found out, for one of the same problem.
  void archive(Archive& bytes) { bytes(excluded_, runners_up_, curvatures_, explained_); }
  // Whether what came from a file can be that of a set of so many atoms.
  [[nodiscard]] bool is_of(Index atoms) const;

 private:
  // Where one atom is added per step, products are computed for the runners-up as well: they are often the
  // next to be chosen, and a pass over the rows for a few atoms costs little more than one for a single atom.
  class RunnersUp {
   public:
    static constexpr Index kCount = 8;
    // `products` of the candidates, in ascending order, with the atoms active now and with one another.
    void set(std::vector<Index> candidates, Index n_active, Matrix products);
    // What Engine::products would say of the candidate alone; nothing if that does not follow, because it or
    // an atom added since is not one of them.
    [[nodiscard]] std::optional<Matrix> products(const ActiveSet& active, Index candidate) const;
    friend void archive(Archive& bytes, RunnersUp& all) {
      bytes(all.candidates_, all.n_active_, all.first_new_, all.products_);
    }
    [[nodiscard]] bool is_of(Index atoms, Index target_columns) const;

   private:
    [[nodiscard]] std::optional<Index> position(Index candidate) const;

    std::vector<Index> candidates_;
    Index n_active_ = 0;
    Index first_new_ = 0;  // among products: after those with 1, the targets and the active atoms
    Matrix products_;
  };

  // Candidates, best first, and their products.
  struct Batch {
    std::vector<Index> candidates;
    CandidateProducts products;
  };

  // What is looked for.
  struct Look {
    Index count;          // at most
    bool at_peaks;        // only candidates that are not beside_larger, if there are so many
    bool with_curvature;  // of the products
  };

  [[nodiscard]] Batch best(const ActiveSet& active, Gradient& gradient, const Look& look);
  // How many candidates are looked at closely where so many are to be added.
  [[nodiscard]] Index shortlist_for(Index count) const;
  // Some of a batch, by their positions.
  [[nodiscard]] static Batch chosen(const Batch& batch, const std::vector<std::size_t>& positions);
  [[nodiscard]] static Batch first_of(const Batch& batch, Index count);
  // Those of a batch that do not depend on the atoms of the set; the others are never asked again.
  [[nodiscard]] Batch without_dependent(const Batch& batch, const Gradient& gradient,
                                        const IndependentAtoms& independent, std::vector<Index>& dependent);
  // Of a shortlist, what pick_one_by_one says.
  [[nodiscard]] Batch picks(const Batch& shortlist, const Gradient& gradient, Index count,
                            Refit& refit) const;
  // Takes off what combinations explain, given their products with every candidate.
  void reduce_curvatures(const Matrix& correlations);
  // The same, given the combinations, [n x (1 + atoms)] as for Engine::correlations.
  void reduce_curvatures(const ActiveSet& active, const Matrix& combinations);
  // Of a constant and the atoms: those that say what the atoms that have joined since the last call explain.
  [[nodiscard]] Matrix new_combinations(const GrowingSet& set);
  [[nodiscard]] double ranking_weight(std::size_t candidate) const;
  [[nodiscard]] Gradient ranking(const Gradient& gradient) const;

  Problem problem_;
  const Candidates& candidates_;
  Engine& engine_;
  SelectionOptions options_;
  std::optional<double> curvature_of_rows_;  // see curvature_of_all_rows
  std::vector<bool> excluded_;
  RunnersUp runners_up_;
  // kGain: h_j / L'' of every candidate, and at the beginning; empty: not in use.
  std::vector<double> curvatures_;
  std::vector<double> whole_curvatures_;
  Index explained_ = 0;  // combinations of the set that the curvatures are already less
};

// The positions of up to `count` of a shortlist, one after the other by `rule`, each ranked given those
// before it. `curvature` [n x n] is the Hessian of the objective over the shortlist, given that all other
// coefficients are fitted again, the same for every output; `gradient` is [n x outputs].
[[nodiscard]] std::vector<std::size_t> pick_one_by_one(Matrix curvature, Matrix gradient, Rule rule,
                                                       Index count);

}  // namespace mfga
