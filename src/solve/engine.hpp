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

#include "mfga/options.hpp"
#include "solve/gram_sums.hpp"
#include "solve/problem.hpp"

namespace mfga {

// The gradient of the sum of the losses with respect to the coefficient of every candidate; with several
// outputs the length of that with respect to its coefficients.
struct Gradient {
  std::vector<double> values;
  std::vector<double> errors;  // what each value is off by at most; empty: nothing but double rounding

  [[nodiscard]] bool exact() const { return errors.empty(); }
};

// Products of some candidates, summed over rows.
struct CandidateProducts {
  Matrix values;     // [added x (1 + target columns + active + added)], the columns being 1, the targets, the
                     // active atoms and the added ones
  Matrix gradient;   // [added x outputs]: their part of the last gradient in double precision; empty if that
                     // was exact, and of one output
  Matrix curvature;  // [added x (1 + active + added)], if asked for: products with 1, the active atoms
                     // and the added ones, weighted by L'' at the last gradient
};

class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // The sum of the losses at the active set.
  [[nodiscard]] virtual double loss_sum(const ActiveSet& active) = 0;
  // Also the gradient of that sum, which may be inexact.
  virtual double gradient(const ActiveSet& active, Gradient& out) = 0;
  // The same, and what `correlations` says, from one look at the rows where that is possible.
  virtual double gradient_and_correlations(const ActiveSet& active, const Matrix& combinations, Gradient& out,
                                           Matrix& correlations_out) {
    correlations_out = correlations(active, combinations);
    return gradient(active, out);
  }
  // The gradient again, exactly.
  virtual void exact_gradient(const ActiveSet& active, Gradient& out) = 0;
  // Products of some candidates; `active` is that of the last gradient, but may have grown. Engines for the
  // squared loss only have no curvature: there it is twice the products.
  [[nodiscard]] virtual CandidateProducts products(const ActiveSet& active, std::span<const Index> added,
                                                   bool with_curvature) = 0;
  // Products of every candidate with combinations of 1 and the active atoms, [combinations x (1 + active)]:
  // [combinations x candidates].
  [[nodiscard]] virtual Matrix correlations(const ActiveSet& active, const Matrix& combinations) = 0;
  // |phi_j|^2 of every candidate.
  [[nodiscard]] virtual std::vector<double> square_norms() = 0;
  // What one search has found out about single precision is not for the next: each is as it is by itself.
  virtual void begin_search() {}
  // What it has found out in the search under way.
  virtual void archive(Archive& /*bytes*/) {}
};

// How many combinations Engine::correlations is asked about together, so that the accumulators of the lazy
// engine, one number for each of them and each candidate, stay small for any number of combinations.
[[nodiscard]] Index correlations_at_a_time(Index candidates);

// What the lazy engine may keep of candidates that take long to compute.
inline constexpr double kMostKeptBytes = 0x1p29;
[[nodiscard]] double kept_bytes(double memory_limit);

// Precision::kMixed: gradients in single precision with their error bounds. Everything that enters a model is
// computed in double precision in any case. Where the rows are in the memory of a device (Problem::device) it
// looks at them there, all in double precision.
[[nodiscard]] std::unique_ptr<Engine> make_lazy_engine(const Problem& problem, const Candidates& candidates,
                                                       Precision precision,
                                                       double most_kept_bytes = kMostKeptBytes);
[[nodiscard]] std::unique_ptr<Engine> make_device_engine(const Problem& problem,
                                                         const Candidates& candidates);
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
  double steps = 1;  // of the search
  Precision precision = Precision::kMixed;
  double outputs = 1;
};
[[nodiscard]] EngineCost lazy_engine_cost(const ProblemSize& size);
[[nodiscard]] EngineCost gram_engine_cost(const ProblemSize& size);

}  // namespace mfga
