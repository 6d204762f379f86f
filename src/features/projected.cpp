#include "features/projected.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/row_combinations.hpp"
#include "core/row_kernels.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// The values of functions on all rows, block by block. Reading them back is several times as fast as
// computing them, and in double precision they need no bounds.
class KeptFunctions final : public CandidateFamily {
 public:
  KeptFunctions(const CandidateFamily& family, const FunctionTiles& functions, const BlockedRows& rows,
                Workers& workers)
      : family_(family), values_(new double[static_cast<std::size_t>(functions.size() * rows.rows())]) {
    for_each_block(rows, workers, [&](const RowBlock& block, Arena& arena) {
      for (Index first = 0; first < functions.size(); first += functions.tile()) {
        functions.evaluate(block, first, std::min(functions.tile(), functions.size() - first),
                           values(block) + first * block.rows, block.rows, arena);
      }
    });
  }

  [[nodiscard]] Index size() const override { return family_.size(); }
  [[nodiscard]] Atom atom(Index candidate) const override { return family_.atom(candidate); }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& /*arena*/) const override {
    add_row_products(weights, columns, weight_stride, values(block), size(), block.rows, block.rows, out,
                     out_stride);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& /*arena*/) const override {
    for (Index i = 0; i < size(); ++i) out[i] += weighted_square_norm(block, values(block) + i * block.rows);
  }

 private:
  // [functions x rows of the block]
  [[nodiscard]] double* values(const RowBlock& block) const {
    return values_.get() + block.first_row * family_.size();
  }

  const CandidateFamily& family_;
  std::unique_ptr<double[]> values_;
};

}  // namespace

void FunctionTiles::correlate(const RowBlock& block, const double* weights, Index weight_stride,
                              Index columns, double* out, Index out_stride, Arena& arena) const {
  for_each_tile(block, arena, [&](Index first, Index count, const double* values) {
    for (Index c = 0; c < columns; ++c) {
      cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(count), static_cast<int>(block.rows), 1.0,
                  values, static_cast<int>(block.stride), weights + c * weight_stride, 1, 1.0,
                  out + c * out_stride + first, 1);
    }
  });
}

void FunctionTiles::add_square_norms(const RowBlock& block, double* out, Arena& arena) const {
  for_each_tile(block, arena, [&](Index first, Index count, const double* values) {
    for (Index i = 0; i < count; ++i)
      out[first + i] += weighted_square_norm(block, values + i * block.stride);
  });
}

void FunctionTiles::correlate_single(const RowBlock& block, const double* weights, double* out,
                                     Arena& arena) const {
  const Arena::Scope scope(arena);
  float* rounded = arena.take_single(block.rows);
  const double scale = round_scaled(weights, block.rows, rounded);
  if (scale == 0) return;
  const Index most = 2 * tile();  // of half the size
  float* values = arena.take_single(most * block.stride);
  double* sums = arena.take(most);
  for (Index first = 0; first < size(); first += most) {
    const Index count = std::min(most, size() - first);
    evaluate_single(block, first, count, values, block.stride, arena);
    std::fill_n(sums, count, 0.0);
    add_row_products(rounded, 1, block.stride, values, count, block.stride, block.rows, sums, count);
    for (Index i = 0; i < count; ++i) out[first + i] += scale * sums[i];
  }
}

double TiledCandidates::kept_bytes(Index rows) const {
  return static_cast<double>(sizeof(double)) * static_cast<double>(size()) * static_cast<double>(rows);
}

std::unique_ptr<CandidateFamily> TiledCandidates::kept_for(const BlockedRows& rows, Workers& workers) const {
  return std::make_unique<KeptFunctions>(*this, tiles(), rows, workers);
}

double single_sum_error() {
  constexpr double kRounding = 0x1p-24;
  return single_product_error(kBlockRows) + 2 * kRounding;
}

void project(const RowBlock& block, const double* directions, Index count, double* out, Index out_stride) {
  set_combinations(directions, count, block.values, block.inputs, block.stride, block.rows, out, out_stride);
}

void project(const RowBlock& block, const float* directions, Index count, float* out, Index out_stride) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(count),
              static_cast<int>(block.rows), static_cast<int>(block.inputs), 1.0F, directions,
              static_cast<int>(block.inputs), block.single, static_cast<int>(block.stride), 0.0F, out,
              static_cast<int>(out_stride));
}

void pull_back_projections(const RowBlock& block, const double* directions, Index count,
                           const double* by_projections, double* by_directions, Index direction_stride,
                           double* inputs) {
  if (by_directions != nullptr) {
    add_row_products(by_projections, count, block.stride, block.values, block.inputs, block.stride,
                     block.rows, by_directions, direction_stride);
  }
  if (inputs != nullptr) {
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(block.inputs),
                static_cast<int>(block.rows), static_cast<int>(count), 1.0, directions,
                static_cast<int>(block.inputs), by_projections, static_cast<int>(block.stride), 1.0, inputs,
                static_cast<int>(block.stride));
  }
}

double single_projection_error(Index n_inputs) { return 0x1p-24 * static_cast<double>(n_inputs + 3); }

std::vector<float> rounded_to_single(const Matrix& values) {
  std::vector<float> rounded(values.values.size());
  std::transform(values.values.begin(), values.values.end(), rounded.begin(),
                 [](double value) { return static_cast<float>(value); });
  return rounded;
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

}  // namespace mfga
