// Naive versions of what the library computes, straight from the definitions.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/row_blocks.hpp"
#include "features/candidates.hpp"
#include "losses/loss.hpp"
#include "mfga/dictionary.hpp"
#include "mfga/views.hpp"
#include "solve/problem.hpp"

namespace mfga::reference {

Matrix random_matrix(Index rows, Index cols, unsigned seed);
std::vector<double> random_vector(Index size, unsigned seed);

// For targets of -1 and 1.
std::array<const Loss*, 2> both_losses();

// Inputs that are columns of the matrix as they are.
std::vector<InputColumn> plain_inputs(Index cols);

// Kernels of x and c, by their definitions.
double kernel_value(const std::string& kernel, double parameter, double sigma, const double* x,
                    const double* c, Index n_inputs);
// With the kernel of an atom, {sigma, kernel, parameter, ...}.
double kernel_value(const Atom& atom, const double* x, const double* c, Index n_inputs);

// sqrt(nu) x_i, or sqrt(nu) exp(-|x|^2 / 2 sigma^2) x^a / (sigma^k sqrt(a!)).
double atom_value(const Atom& atom, const double* x, Index n_inputs);

}  // namespace mfga::reference
