// An engine that tells what it was asked.
#pragma once

#include <algorithm>

#include "solve/engine.hpp"

namespace mfga {

// Counts the passes that compute products, and how many combinations a pass correlates with at most.
class CountingEngine final : public Engine {
 public:
  explicit CountingEngine(Engine& engine) : engine_(engine) {}
  [[nodiscard]] std::string_view name() const override { return engine_.name(); }
  [[nodiscard]] double loss_sum(const ActiveSet& active) override { return engine_.loss_sum(active); }
  double gradient(const ActiveSet& active, Gradient& out) override { return engine_.gradient(active, out); }
  void exact_gradient(const ActiveSet& active, Gradient& out) override {
    engine_.exact_gradient(active, out);
  }
  [[nodiscard]] CandidateProducts products(const ActiveSet& active, std::span<const Index> added,
                                           bool with_curvature) override {
    ++passes;
    return engine_.products(active, added, with_curvature);
  }
  [[nodiscard]] Matrix correlations(const ActiveSet& active, const Matrix& combinations) override {
    most_combinations = std::max(most_combinations, combinations.rows);
    return engine_.correlations(active, combinations);
  }
  [[nodiscard]] std::vector<double> square_norms() override { return engine_.square_norms(); }
  Index passes = 0;
  Index most_combinations = 0;

 private:
  Engine& engine_;
};

}  // namespace mfga
