// Choosing the ridge, and learning what more or fewer terms would do, by k-fold cross-validation.
//
//   mfga::FitResult result = mfga::fit(data, {.ridge = mfga::Ridge::cross_validated({.folds = 10})});
//   result.model;                         // learned from all rows with the ridge that was chosen
//   result.cross_validation->best.terms;  // what would have been best of all
//
// docs/algorithm.md says what the folds share and how it is computed.
#pragma once

#include <string>
#include <vector>

#include "mfga/views.hpp"

namespace mfga {

struct CrossValidationOptions {
  Index folds = 5;
  std::vector<double> ridges = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4};
  Index used_folds = 0;        // how many of the folds are held out once; 0: all
  Index most_rows = 0;         // if there are more rows, so many of them are used, drawn at random; 0: all
  bool in_time_order = false;  // see FitOptions; either says it

  // Throws Error(kInvalidArgument) naming the first option that is out of bounds.
  void validate() const;
};

// A ridge and a number of terms, and the error of held-out rows there.
struct ValidatedChoice {
  double ridge = 0;
  Index terms = 0;
  double mean = 0;
  double standard_error = 0;
};

struct CrossValidation {
  Index folds = 0;
  std::vector<double> ridges;
  // Numbers of terms along the greedy path; methods that choose all terms at once have one.
  std::vector<Index> terms;
  std::string measure;     // of the error: mse, in the target's units, or log_loss
  Matrix mean;             // [ridges x terms]: mean over the folds of the error of their rows
  Matrix standard_error;   // of that mean
  ValidatedChoice chosen;  // the model's: the best ridge at the last number of terms, or, where that is
                           // chosen as well, at the one that was
  ValidatedChoice best;    // the best of all
  double seconds = 0;
};

}  // namespace mfga
