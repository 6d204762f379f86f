// Products of atoms, summed over rows by their weights: the entries of A^T W A and A^T W y that a refit
// needs.
#pragma once

#include <span>

#include "core/row_blocks.hpp"
#include "features/candidates.hpp"
#include "solve/problem.hpp"

namespace mfga {

// For the last `n_new` of the atoms: [n_new x (1 + target columns + atoms)], the columns being 1, the
// targets, [target columns x rows], and every atom. The values of the atoms exist for one block of rows at a
// time. If `derivatives` are given, one number per row and output, [outputs x rows] of each block, their
// products with the new atoms are more columns, the last; weights are a part of them already.
[[nodiscard]] Matrix atom_products(const BlockedRows& rows, std::span<const double> targets,
                                   std::span<const Atom> atoms, Index n_new, Workers& workers,
                                   std::span<const double> derivatives = {});

// The same with derivatives of one output, and products of the new atoms that are weighted by `curvatures`,
// one number per row: [n_new x (1 + atoms)], the columns being 1 and every atom.
struct CurvedProducts {
  Matrix plain;
  Matrix curvature;
};
[[nodiscard]] CurvedProducts curved_atom_products(const BlockedRows& rows, std::span<const double> targets,
                                                  std::span<const Atom> atoms, Index n_new, Workers& workers,
                                                  std::span<const double> derivatives,
                                                  std::span<const double> curvatures);

}  // namespace mfga
