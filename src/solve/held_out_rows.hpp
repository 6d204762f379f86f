// What rows that are held out say of models; see also tuned_search.hpp.
#pragma once

#include <span>
#include <vector>

#include "solve/tuned_search.hpp"

namespace mfga {

// Fits the coefficients of the folds' models with the ridges; those that suit the held-out rows of all folds
// best stay. Returns their mean loss.
double choose_held_out_ridge(std::span<const TuningFold> folds, std::span<const double> ridges,
                             const TunedSearchOptions& options, std::vector<TunedModel>& models);

}  // namespace mfga
