#include "features/tunable_atoms.hpp"

namespace mfga {

TunableAtoms::TunableAtoms(std::span<const Atom> atoms) : atoms_(atoms.begin(), atoms.end()) {
  for (const Atom& atom : atoms_) {
    const std::vector<Coordinate> own = find_feature_family(atom.family)->coordinates(atom);
    coordinates_.insert(coordinates_.end(), own.begin(), own.end());
    offsets_.push_back(coordinates_.size());
  }
}

std::vector<Atom> TunableAtoms::at(std::span<const double> values) const {
  std::vector<Atom> result;
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    const std::size_t count = offsets_[i + 1] - offsets_[i];
    result.push_back(
        count == 0
            ? atoms_[i]
            : find_feature_family(atoms_[i].family)->moved(atoms_[i], values.subspan(offsets_[i], count)));
  }
  return result;
}

DerivativesOfAtoms::DerivativesOfAtoms(std::span<const Atom> atoms) {
  Index coordinates = 0;
  for (std::size_t first = 0; first < atoms.size();) {
    const FeatureFamily& family = *find_feature_family(atoms[first].family);
    const Index first_coordinate = coordinates;
    std::size_t end = first;
    for (; end < atoms.size() && atoms[end].family == atoms[first].family; ++end)
      coordinates += std::ssize(family.coordinates(atoms[end]));
    runs_.push_back(
        {static_cast<Index>(first), first_coordinate, family.derivatives(atoms.subspan(first, end - first))});
    first = end;
  }
}

void DerivativesOfAtoms::pull_back(const RowBlock& block, const double* weights, Index weight_stride,
                                   double* coordinates, double* inputs, Arena& arena) const {
  for (const Run& run : runs_) {
    run.derivatives->pull_back(block, weights + run.first * weight_stride, weight_stride,
                               coordinates == nullptr ? nullptr : coordinates + run.first_coordinate, inputs,
                               arena);
  }
}

}  // namespace mfga
