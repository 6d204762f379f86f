// Two ways to answer what the greedy loop asks of the data, with the same answers:
//
//   lazy  looks at the rows each time. Per step 2 N M0 operations for the gradient and N k M for the products
//         of the k atoms added with the M active ones; no memory that grows with N x M or N x M0.
//   gram  accumulates Phi^T Phi and Phi^T y once (at most N M0^2 operations, M0^2 numbers of memory); after
//         that nothing depends on N. Quadratic loss only.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "solve/gram_sums.hpp"
#include "solve/problem.hpp"

namespace mfga {

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // The sum of the losses at the active set.
  [[nodiscard]] virtual double loss_sum(const ActiveSet& active) = 0;
  // Also the gradient of that sum with respect to the coefficient of every candidate.
  virtual double gradient(const ActiveSet& active, std::span<double> out) = 0;
  // Products of some candidates, summed over rows: [added x (2 + active + added)], the columns being 1, y,
  // the active atoms and the added ones.
  [[nodiscard]] virtual Matrix products(const ActiveSet& active, std::span<const Index> added) = 0;
};

[[nodiscard]] std::unique_ptr<Engine> make_lazy_engine(const Problem& problem, const Candidates& candidates);
[[nodiscard]] std::unique_ptr<Engine> make_gram_engine(const Problem& problem, const Candidates& candidates);
// From sums that are there already, over several groups of rows taken together.
[[nodiscard]] std::unique_ptr<Engine> make_gram_engine(std::vector<std::shared_ptr<const GramSums>> parts);

// What each engine will need, known before any work.
struct EngineCost {
  double operations = 0;
  double bytes = 0;
};
struct ProblemSize {
  double rows = 0;
  double candidates = 0;
  double terms = 0;
  double per_step = 1;
};
[[nodiscard]] EngineCost lazy_engine_cost(const ProblemSize& size);
[[nodiscard]] EngineCost gram_engine_cost(const ProblemSize& size);

}  // namespace mfga
