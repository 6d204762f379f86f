// What a long call is doing, and how its caller ends it.
#pragma once

#include <functional>
#include <string>

#include "mfga/views.hpp"

namespace mfga {

struct Progress {
  Index terms = 0;
  Index terms_wanted = 0;
  double risk = 0;
  double seconds = 0;
  double validated = 1;    // below 1: the part of a cross-validation that is done, and nothing else counts
  int tuning_steps = 0;    // while the terms are tuned: the moves so far
  std::string phase = {};  // which part of the work this is, if it is not the fit itself
  // Where held-out rows are asked: the part of all work that is done, roughly; below 0: not known.
  double done = -1;
};

enum class ProgressAction {
  kContinue,
  kStop,  // end soon, with the best model so far (FitReport::stopped)
  kAbort  // end soon, with Error(kInterrupted)
};

// Called on the thread that called the library, after each step and several times a second within long ones.
// What it throws ends the call, too.
using ProgressCallback = std::function<ProgressAction(const Progress&)>;

}  // namespace mfga
