// What the options come to for the rows and the task at hand, and what is refused before any work is done.
#pragma once

#include <string>
#include <vector>

#include "data/standardise.hpp"
#include "mfga/fit.hpp"
#include "solve/engine.hpp"
#include "solve/problem.hpp"
#include "solve/selector.hpp"

namespace mfga {

inline constexpr Index kFewestRows = 3;

void check_shapes(const TrainingData& data);
void check_folds(Index rows, Index folds);

// What the options "auto" come to for a task under the preset.
struct Settings {
  std::string features;  // empty: automatic
  std::string select;
  SelectionOptions selection;
  Intercept intercept;
  bool scale_target_by_range;
};
[[nodiscard]] Settings resolve_settings(const FitOptions& options, Task task);

[[nodiscard]] std::vector<ScaleKind> resolve_scales(const FitOptions& options, const ConstMatrixView& x,
                                                    const std::vector<InputColumn>& standardised,
                                                    Workers& workers);

[[nodiscard]] double memory_limit_bytes(const FitOptions& options);

struct EngineCosts {
  EngineCost lazy;
  EngineCost gram;
  bool cross_validated = false;
};
[[nodiscard]] std::string choose_engine(const FitOptions& options, const ProblemSize& size,
                                        const EngineCosts& costs, bool quadratic);

}  // namespace mfga
