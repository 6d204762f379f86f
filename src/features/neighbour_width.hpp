// Widths of kernels from the distances between training rows.
#pragma once

#include <cstdint>

#include "core/row_blocks.hpp"

namespace mfga {

struct KernelWidth {
  double sigma = 0;
  double standard_error = 0;  // of sigma, from the sampling of query rows; 0 if every row was one
  Index queries = 0;
};

// The paper's rule (section 4): the mean distance of a training row to its 50th nearest neighbour, which
// falls with the number of rows. Every row is asked, or 100,000 of them, and compared with all rows; each
// row counts once, whatever its weight.
[[nodiscard]] KernelWidth paper_width(const BlockedRows& rows, std::uint64_t seed, Workers& workers);

// The mean distance within which a row has one in twenty of the others. It does not depend on the number of
// rows, so at most 1,000 of them are looked at, drawn by the seed. Copies of a row do not count: tables with
// few distinct rows have a width too. Rows count by their weights.
[[nodiscard]] KernelWidth automatic_width(const BlockedRows& rows, std::uint64_t seed, Workers& workers);

enum class WidthRule { kAutomatic, kPaper };
[[nodiscard]] KernelWidth width_by(WidthRule rule, const BlockedRows& rows, std::uint64_t seed,
                                   Workers& workers);

inline constexpr double kPartWithinWidth = 0.05;

}  // namespace mfga
