// The coordinates of a list of atoms of any families, as one vector, and the derivatives by them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "features/family.hpp"

namespace mfga {

class TunableAtoms {
 public:
  explicit TunableAtoms(std::span<const Atom> atoms);

  // Of all atoms, in their order.
  [[nodiscard]] std::span<const Coordinate> coordinates() const { return coordinates_; }
  // The atoms with their coordinates at these values.
  [[nodiscard]] std::vector<Atom> at(std::span<const double> values) const;

 private:
  std::vector<Atom> atoms_;
  std::vector<Coordinate> coordinates_;
  std::vector<std::size_t> offsets_{0};  // the first coordinate of each atom, and the total
};

// See AtomDerivatives; for atoms of any families, in the order of the list.
class DerivativesOfAtoms {
 public:
  explicit DerivativesOfAtoms(std::span<const Atom> atoms);

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* coordinates,
                 double* inputs, Arena& arena) const;

 private:
  // Consecutive atoms of one family are looked at together.
  struct Run {
    Index first;             // atom
    Index first_coordinate;  // of its atoms
    std::unique_ptr<AtomDerivatives> derivatives;
  };
  std::vector<Run> runs_;
};

}  // namespace mfga
