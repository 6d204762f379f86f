#include "features/projected.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mfga/error.hpp"

namespace mfga {

void project(const Matrix& vectors, const RowBlock& block, Index first, Index count, double* out,
             Index out_stride) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(count),
              static_cast<int>(block.rows), static_cast<int>(block.inputs), 1.0, vectors.row(first),
              static_cast<int>(block.inputs), block.values, static_cast<int>(block.stride), 0.0, out,
              static_cast<int>(out_stride));
}

void evaluate_directions(const Directions& directions, const ProjectionValues& values, const RowBlock& block,
                         Index first, Index count, double* out, Index out_stride) {
  project(directions.vectors, block, first, count, out, out_stride);
  values.finish(block, first, count, out, out_stride);
}

namespace {

// Calls use(first, count, values) for tiles of directions, with their values on the block's rows.
template <class Use>
void for_each_tile(const Directions& directions, const ProjectionValues& values, const RowBlock& block,
                   Arena& arena, Use use) {
  constexpr Index kTile = 64;  // their values stay in the second-level cache
  const Arena::Scope scope(arena);
  double* tile = arena.take(kTile * block.stride);
  for (Index first = 0; first < directions.size(); first += kTile) {
    const Index count = std::min(kTile, directions.size() - first);
    evaluate_directions(directions, values, block, first, count, tile, block.stride);
    use(first, count, tile);
  }
}

}  // namespace

void correlate_directions(const Directions& directions, const ProjectionValues& values, const RowBlock& block,
                          const double* weights, Index weight_stride, Index columns, double* out,
                          Index out_stride, Arena& arena) {
  for_each_tile(directions, values, block, arena, [&](Index first, Index count, const double* tile) {
    for (Index c = 0; c < columns; ++c) {
      cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(count), static_cast<int>(block.rows), 1.0,
                  tile, static_cast<int>(block.stride), weights + c * weight_stride, 1, 1.0,
                  out + c * out_stride + first, 1);
    }
  });
}

void add_squares_of_directions(const Directions& directions, const ProjectionValues& values,
                               const RowBlock& block, double* out, Arena& arena) {
  for_each_tile(directions, values, block, arena, [&](Index first, Index count, const double* tile) {
    for (Index i = 0; i < count; ++i) {
      const double norm = cblas_dnrm2(static_cast<int>(block.rows), tile + i * block.stride, 1);
      out[first + i] += norm * norm;
    }
  });
}

Index ProjectedFamily::count_of(const FamilyOptionValues& values) {
  constexpr int kMostAtoms = 10000000;
  return parse_small_integer("count", values[0], 1, kMostAtoms);
}

SigmaChoice ProjectedFamily::sigma_of(const FamilyOptionValues& values) { return parse_sigma(values[1]); }

void ProjectedFamily::check(const FamilyOptionValues& values) const {
  static_cast<void>(count_of(values));
  static_cast<void>(sigma_of(values));
}

bool ProjectedFamily::needs_sigma(const FamilyOptionValues& values) const {
  return sigma_of(values).automatic;
}

double ProjectedFamily::candidates(const FamilyOptionValues& values, Index /*n_inputs*/) const {
  return static_cast<double>(count_of(values));
}

void ProjectedFamily::validate(const Atom& atom, Index /*n_inputs*/) const {
  if (!atom.inputs.empty()) {
    throw Error(ErrorKind::kBadData, fmt::format("a {} term has no list of inputs", atom.family));
  }
}

std::string largest_entries_text(std::span<const double> vector, std::span<const std::string> names) {
  constexpr std::size_t kShown = 3;
  std::vector<std::size_t> order(vector.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(vector[a]) > std::abs(vector[b]); });
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    const double entry = vector[order[i]];
    text += fmt::format("{}{:.3g} {}", i == 0 ? (entry < 0 ? "-" : "") : (entry < 0 ? " - " : " + "),
                        std::abs(entry), names[order[i]]);
  }
  if (order.size() > kShown) text += fmt::format(" + {} more", order.size() - kShown);
  return text;
}

}  // namespace mfga
