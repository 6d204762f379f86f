// Fits that survive the end of their process.
#pragma once

#include <string>

namespace mfga {

// Where a fit keeps what it has found so far, so that another process can go on from there to the same model.
// The file is replaced as a whole, and is removed when the fit is done; after a stop it stays.
struct Checkpoint {
  std::string path = {};  // empty: none is kept
  double every = 10;      // seconds between writes, at least; 0: after every step
  // Whether to go on from the file. If there is none, the fit begins anew; if there is one, and this is not
  // set, the fit is refused, so that nothing is lost by mistake.
  bool resume = false;
  // Whether the file stays when the fit is done, for a caller who first saves the model, and then calls
  // remove().
  bool keep = false;

  // Throws Error where the file cannot be written, is not a checkpoint, or is there and not to be gone on
  // from. Removes what a killed process left of a file that it was writing.
  void validate() const;
  void remove() const;
};

}  // namespace mfga
