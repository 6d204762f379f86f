// Regenerates the paper's Tables 2 and 3 and Figure 1, method by method, and keeps what is done in a file, so
// that an interrupted run can go on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "repro/results.hpp"

namespace mfga::repro {

struct ReproduceOptions {
  std::vector<std::string> data_sets;  // names; empty: all
  std::string data_folder;
  bool quick = false;  // fewer rows, seeds, ridges and points
  int threads = 0;
};

struct ReproduceProgress {
  std::string data_set;
  std::string method;
  double done = 0;          // part of the whole, 0 to 1
  double seconds_left = 0;  // an estimate; 0: not known yet
};

struct ReproduceCallbacks {
  std::function<void(const ReproduceProgress&)> progress;
  // After each method: the results so far, to be saved for a later run.
  std::function<void(const Results&)> save;
};

// Methods that `earlier` has for a data set are not run again.
[[nodiscard]] Results reproduce(const ReproduceOptions& options, const Results& earlier,
                                const ReproduceCallbacks& callbacks);

}  // namespace mfga::repro
