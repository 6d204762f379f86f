#include "features/hinge_products.hpp"

#include <algorithm>

#include "core/vectorise.hpp"

namespace mfga {
namespace {

// Sums over the rows of a bin of the first input and a bin of the second.
struct alignas(64) Cell {
  WeightedRow sum;         // of weighted rows
  WeightedRow from_lower;  // times the distance to the knot below on the second input
};

MFGA_VECTORISED void add_rows(const std::uint16_t* first_bins, const WeightedRow* weighted,
                              const std::uint16_t* second_bins, const double* second_distances,
                              std::uint32_t second_count, Index rows, Cell* cells) {
  for (Index n = 0; n < rows; ++n) {
    Cell& cell = cells[first_bins[n] * second_count + second_bins[n]];
    const WeightedRow row = weighted[n];
    const double distance = second_distances[n];
    cell.sum.weight += row.weight;
    cell.sum.from_lower += row.from_lower;
    cell.from_lower.weight += row.weight * distance;
    cell.from_lower.from_lower += row.from_lower * distance;
  }
}

}  // namespace

MFGA_VECTORISED void set_weighted_rows(const double* weights, const double* more_weights,
                                       const BinnedRows& input, Index rows, WeightedRow* out) {
  for (Index n = 0; n < rows; ++n) {
    const Two both = {weights[n], more_weights[n]};
    out[n] = {both, both * input.from_lower[n]};
  }
}

MFGA_VECTORISED void set_hinge_products(const BinnedRows& first, const WeightedRow* weighted,
                                        const BinnedRows& second, Index rows, Two* out, Arena& arena) {
  const Arena::Scope scope(arena);
  const Index first_bins = first.knots->count();
  const Index second_bins = second.knots->count();
  const Index second_hinges = 2 * (second_bins - 1);
  Cell* cells = arena.take_array<Cell>(first_bins * second_bins);
  std::fill_n(cells, first_bins * second_bins, Cell{});
  add_rows(first.bins, weighted, second.bins, second.from_lower, static_cast<std::uint32_t>(second_bins),
           rows, cells);
  // Of each bin of the first input, the sums with hinges of the second: [hinges x bins of the first].
  auto* halves = arena.take_array<WeightedRow>(second_hinges * first_bins);
  for (Index bin = 0; bin < first_bins; ++bin) {
    const Cell* own = cells + bin * second_bins;
    for_each_hinge(
        *second.knots, Two{}, [&](std::size_t b) { return own[b].sum.weight; },
        [&](std::size_t b) { return own[b].from_lower.weight; },
        [&](std::size_t j, const Two& sum) {
          halves[static_cast<Index>(j) * first_bins + bin].weight = sum;
        });
    for_each_hinge(
        *second.knots, Two{}, [&](std::size_t b) { return own[b].sum.from_lower; },
        [&](std::size_t b) { return own[b].from_lower.from_lower; },
        [&](std::size_t j, const Two& sum) {
          halves[static_cast<Index>(j) * first_bins + bin].from_lower = sum;
        });
  }
  for (Index j = 0; j < second_hinges; ++j) {
    const WeightedRow* own = halves + j * first_bins;
    for_each_hinge(
        *first.knots, Two{}, [&](std::size_t b) { return own[b].weight; },
        [&](std::size_t b) { return own[b].from_lower; },
        [&](std::size_t i, const Two& sum) { out[static_cast<Index>(i) * second_hinges + j] = sum; });
  }
}

}  // namespace mfga
