// What a user should know about a fit that went through: the warnings of docs/defaults.md.
#pragma once

#include <string>
#include <vector>

#include "mfga/fit.hpp"
#include "solve/leverage.hpp"

namespace mfga {

// Rows of the table that the fit follows whatever the others say; most often something is wrong with them.
// `inputs` are the standardised columns of the data.
[[nodiscard]] std::vector<std::string> leverage_warnings(const std::vector<RowLeverage>& rows,
                                                         const TrainingData& data,
                                                         const std::vector<InputColumn>& inputs);

// Classes that can be told apart almost perfectly, compared with what a constant does: the coefficients are
// as large as the ridge lets them become, and probabilities say little. `risk` is the mean loss of the score.
[[nodiscard]] std::vector<std::string> separation_warnings(const Problem& problem, const ScoreFunction& score,
                                                           double risk, bool converged);

// The means of atoms over rows: what explanations compare a row with.
[[nodiscard]] std::vector<double> atom_means(std::span<const Atom> atoms, const BlockedRows& rows,
                                             Workers& workers);

// The part of the atoms of two lists that have one in the other list that they are strongly correlated with.
[[nodiscard]] double share_found_again(const Problem& problem, std::vector<Atom> atoms,
                                       const std::vector<Atom>& others);
// What that says of the first terms learned from each half of the rows.
[[nodiscard]] std::vector<std::string> stability_warnings(double share, Index terms);

}  // namespace mfga
