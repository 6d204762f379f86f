// What statistics are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "features/candidates.hpp"
#include "mfga/statistics.hpp"
#include "solve/exact_gram.hpp"

namespace mfga {

// Memory for the sums of this many candidates, and for as many again in double precision, which an update
// adds and a fit looks at.
[[nodiscard]] double statistics_bytes(double candidates, double folds);

struct Statistics::Parts {
  // Without terms. Its intercept is what was subtracted from all targets for accuracy, the mean of the
  // sample's; `training` knows the dictionary and how many rows were added.
  Model model;
  std::vector<Atom> atoms;
  std::vector<Index> counts;    // of the atoms of each summand of the dictionary
  std::vector<double> weights;  // of each summand
  std::uint64_t seed = 0;
  std::vector<std::string> dropped_columns;  // constant in the sample
  std::shared_ptr<const GramUnits> units;
  std::vector<ExactGram> sums;  // of each fold
  std::shared_ptr<const Candidates> candidates;
  int threads = 0;
  double memory_limit = 0;  // MiB, as FitOptions has it

  [[nodiscard]] Index folds() const { return std::ssize(sums); }
  // What differs, in words, of what sums that are to be added must have in common; empty: nothing.
  [[nodiscard]] std::string_view difference(const Parts& other) const;
  // Makes the candidates of the atoms.
  void bind() { candidates = std::make_shared<const Candidates>(atoms, counts, weights); }
};

}  // namespace mfga
