#include "core/row_blocks.hpp"

#include <cblas.h>
#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>

#include "core/ranked_rows.hpp"
#include "core/row_combinations.hpp"
#include "core/vectorise.hpp"

namespace mfga {
namespace {

Index to_whole_tiles(Index rows) { return (rows + kRowTile - 1) / kRowTile * kRowTile; }

// |x_n|^2 for n < count.
MFGA_VECTORISED void sum_squares(const double* values, Index stride, Index inputs, Index count, double* out) {
  std::fill_n(out, count, 0.0);
  for (Index j = 0; j < inputs; ++j) {
    const double* input = values + j * stride;
    for (Index n = 0; n < count; ++n) out[n] += input[n] * input[n];
  }
}

MFGA_VECTORISED void multiply(const double* a, const double* b, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] = a[n] * b[n];
}

MFGA_VECTORISED void round_to_single(const double* values, Index count, float* out) {
  for (Index i = 0; i < count; ++i) out[i] = static_cast<float>(values[i]);
}

}  // namespace

const double* times_weights(const RowBlock& block, const double* values, double* out) {
  if (block.weights == nullptr) return values;
  multiply(values, block.weights, block.rows, out);
  return out;
}

double weighted_square_norm(const RowBlock& block, const double* values) {
  if (block.weights == nullptr) {
    const double norm = cblas_dnrm2(static_cast<int>(block.rows), values, 1);
    return norm * norm;
  }
  double sum = 0;
  for (Index n = 0; n < block.rows; ++n) sum += block.weights[n] * values[n] * values[n];
  return sum;
}

RowBlock with_single(const RowBlock& block, Arena& arena) {
  RowBlock result = block;
  float* single = arena.take_single(block.inputs * block.stride);
  for (Index j = 0; j < block.inputs; ++j)
    round_to_single(block.input(j), block.rows, single + j * block.stride);
  result.single = single;
  return result;
}

double round_scaled(const double* weights, Index count, float* out) {
  double largest = 0;
  for (Index n = 0; n < count; ++n) largest = std::max(largest, std::abs(weights[n]));
  if (largest == 0) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  const double inverse = std::ldexp(1.0, -exponent);
  // What is far too small to matter would only slow the arithmetic down, as denormal numbers do.
  constexpr double kNegligible = 0x1p-100;
  for (Index n = 0; n < count; ++n) {
    const double scaled = weights[n] * inverse;
    out[n] = static_cast<float>(std::abs(scaled) < kNegligible ? 0.0 : scaled);
  }
  return std::ldexp(1.0, exponent);
}

BlockedRows::BlockedRows(const TableView& table, const std::vector<InputColumn>& inputs)
    : table_(std::make_shared<const TableView>(table)),
      rows_(table.rows),
      total_weight_(static_cast<double>(table.rows)) {
  elsewhere_ = rows_elsewhere(table);
  look_at_pieces();
  for (const InputColumn& input : inputs) {
    const bool is_warped = input.warp.kind() != ScaleKind::kStandard;
    if (is_warped)
      warped_.emplace_back(static_cast<Index>(standardiser_.columns.size()), input.warp, input.stretch);
    if (input.is_missing) missing_marks_.push_back(std::ssize(standardiser_.columns));
    is_plain_.push_back(!is_warped && !input.is_missing);
    standardiser_.columns.push_back(input.column);
    standardiser_.means.push_back(input.mean);
    standardiser_.inverse_deviations.push_back((is_warped ? 1.0 : input.stretch) / input.deviation);
  }
}

void BlockedRows::look_at_pieces() {
  is_direct_ = true;
  has_sources_ = false;
  bool is_first = true;
  for (const TableView::Piece& piece : table_->pieces) {
    if (piece.source != nullptr && piece.source == elsewhere_) continue;
    if (std::exchange(is_first, false)) col_stride_ = piece.col_stride;
    is_direct_ = is_direct_ && piece.doubles != nullptr && piece.col_stride == col_stride_;
    has_sources_ = has_sources_ || piece.source != nullptr;
  }
}

Index BlockedRows::first_own_row() const {
  return elsewhere_ == nullptr ? 0 : elsewhere_->ranks().own_blocks(blocks()).first * kBlockRows;
}

Index BlockedRows::end_of_own_rows() const {
  return elsewhere_ == nullptr ? rows_
                               : std::min(elsewhere_->ranks().own_blocks(blocks()).end * kBlockRows, rows_);
}

BlockedRows BlockedRows::unscaled(const TableView& table) {
  std::vector<InputColumn> inputs;
  for (Index j = 0; j < table.cols; ++j) inputs.push_back({j});
  BlockedRows rows(table, inputs);
  rows.fills_missing_ = false;
  return rows;
}

BlockedRows BlockedRows::weighted(std::vector<double> weights) const {
  BlockedRows result = *this;
  result.weights_ = nullptr;
  result.total_weight_ = static_cast<double>(rows_);
  if (weights.empty()) return result;
  result.total_weight_ = std::accumulate(weights.begin(), weights.end(), 0.0);
  result.weights_ = std::make_shared<const std::vector<double>>(std::move(weights));
  return result;
}

BlockedRows BlockedRows::without_inputs() const {
  BlockedRows result = *this;
  result.standardiser_ = {};
  result.warped_.clear();
  result.missing_marks_.clear();
  result.warped_values_ = nullptr;
  result.mixing_ = nullptr;
  result.kept_blocks_ = nullptr;
  return result;
}

BlockedRows BlockedRows::kept(Workers& workers) const {
  constexpr Index kMostNumbers = Index{1} << 23U;  // 64 MiB
  constexpr std::size_t kAlignment = 64;           // as that of an arena
  const Index in_block = (inputs() + 1) * kBlockStride;
  if (kept_blocks_ != nullptr || blocks() > kMostNumbers / in_block) return *this;
  const std::shared_ptr<double> all(
      static_cast<double*>(::operator new (static_cast<std::size_t>(blocks() * in_block) * sizeof(double),
                                           std::align_val_t{kAlignment})),
      [](double* numbers) { ::operator delete (numbers, std::align_val_t{kAlignment}); });
  for_each_block(*this, workers, [&](const RowBlock& block, Arena& /*arena*/) {
    double* own = all.get() + block.first_row / kBlockRows * in_block;
    const Index tiled = to_whole_tiles(block.rows);
    for (Index j = 0; j < block.inputs; ++j, own += block.stride) std::copy_n(block.input(j), tiled, own);
    std::copy_n(block.square_norms, tiled, own);
  });
  BlockedRows result = *this;
  result.kept_blocks_ = all;
  return result;
}

BlockedRows BlockedRows::subset(std::span<const Index> positions, Workers* workers) const {
  BlockedRows result = *this;
  result.kept_blocks_ = nullptr;
  result.rows_ = static_cast<Index>(positions.size());
  std::vector<Index> chosen;
  for (const Index position : positions) chosen.push_back(row_of_all(position));
  if (all_table_ != nullptr) result.table_ = all_table_;
  result.all_table_ = nullptr;
  result.all_chosen_ = nullptr;
  result.chosen_ = std::make_shared<const std::vector<Index>>(std::move(chosen));
  std::vector<double> some_weights;
  if (weights_ != nullptr) {
    for (const Index position : positions)
      some_weights.push_back((*weights_)[static_cast<std::size_t>(position)]);
  }
  result = result.weighted(std::move(some_weights));
  if (elsewhere_ != nullptr) {
    result.bring_own_rows();
  } else {
    result.copy_into_memory();
  }
  result.keep_warped_values(workers);
  return result;
}

void BlockedRows::bring_own_rows() {
  if (rows_ == 0) return;
  if (rows_ <= elsewhere_->most_copied() / std::max<Index>(table_->cols, 1)) {
    copied_rows_ = std::make_shared<const Matrix>(elsewhere_->collect(*table_, *chosen_));
    table_ = std::make_shared<const TableView>(copied_rows_->view());
    chosen_ = nullptr;
    elsewhere_ = nullptr;
    look_at_pieces();
    return;
  }
  copied_rows_ = std::make_shared<const Matrix>(elsewhere_->fetch(*table_, *chosen_));
  all_table_ = table_;
  all_chosen_ = chosen_;
  // Those that came are behind all others.
  TableView table = *table_;
  if (copied_rows_->rows > 0) {
    TableView::Piece piece = TableView(copied_rows_->view()).pieces.front();
    piece.first_row = table.rows;
    table.pieces.push_back(piece);
    table.rows += piece.rows;
  }
  std::vector<Index> chosen = *chosen_;
  Index next = table_->rows;
  for (Index n = first_own_row(); n < end_of_own_rows(); ++n) {
    Index& row = chosen[static_cast<std::size_t>(n)];
    if (table_->piece_of(row).source == elsewhere_) row = next++;
  }
  chosen_ = std::make_shared<const std::vector<Index>>(std::move(chosen));
  table_ = std::make_shared<const TableView>(std::move(table));
  look_at_pieces();
}

void BlockedRows::copy_into_memory() {
  if (!has_sources_ || rows_ == 0) return;
  Index affordable = 0;
  for (const TableView::Piece& piece : table_->pieces)
    if (piece.source != nullptr) affordable = std::max(affordable, piece.source->most_copied());
  if (rows_ > affordable / std::max<Index>(table_->cols, 1)) return;
  // Each part of the table is read once, whatever the order of the rows.
  std::vector<Index> order(static_cast<std::size_t>(rows_));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index position) { return row_of_table(position); });
  Matrix copy = Matrix::uninitialised(rows_, table_->cols);
  std::vector<double> block(static_cast<std::size_t>(kBlockRows * table_->cols));
  std::vector<Index> read;
  for (Index first = 0; first < rows_; first += kBlockRows) {
    const Index count = std::min(kBlockRows, rows_ - first);
    read.clear();
    for (Index n = 0; n < count; ++n)
      read.push_back(row_of_table(order[static_cast<std::size_t>(first + n)]));
    table_->read(read, kBlockRows, block.data());
    for (Index n = 0; n < count; ++n) {
      double* const row = copy.row(order[static_cast<std::size_t>(first + n)]);
      for (Index j = 0; j < copy.cols; ++j) row[j] = block[static_cast<std::size_t>(j * kBlockRows + n)];
    }
  }
  copied_rows_ = std::make_shared<const Matrix>(std::move(copy));
  table_ = std::make_shared<const TableView>(copied_rows_->view());
  chosen_ = nullptr;
  is_direct_ = true;
  has_sources_ = false;
  col_stride_ = 1;
}

void BlockedRows::keep_warped_values(Workers* workers) {
  constexpr Index kMostNumbers = Index{1} << 23U;  // 64 MiB
  warped_values_ = nullptr;
  const auto n_warped = static_cast<Index>(warped_.size());
  if (n_warped == 0 || rows_ > kMostNumbers / n_warped) return;
  Matrix values = Matrix::uninitialised(n_warped, rows_);
  // What is not in memory is read once for all inputs.
  std::vector<double> block(static_cast<std::size_t>(has_sources_ ? kBlockRows * table_->cols : 0));
  std::vector<Index> read;
  const Index own_end = end_of_own_rows();
  for (Index first = first_own_row(); first < own_end && has_sources_; first += kBlockRows) {
    read.clear();
    for (Index n = first; n < std::min(first + kBlockRows, own_end); ++n) read.push_back(row_of_table(n));
    table_->read(read, kBlockRows, block.data());
    for (Index i = 0; i < n_warped; ++i) {
      const auto j = static_cast<std::size_t>(warped_[static_cast<std::size_t>(i)].position());
      std::copy_n(block.data() + standardiser_.columns[j] * kBlockRows, std::ssize(read),
                  values.row(i) + first);
    }
  }
  const auto keep = [&](Index i) {
    const WarpedInput& input = warped_[static_cast<std::size_t>(i)];
    const auto j = static_cast<std::size_t>(input.position());
    const Index own_first = first_own_row();
    for (Index n = own_first; n < own_end; ++n) {
      const double value = has_sources_ ? values(i, n) : (*table_)(row_of_table(n), standardiser_.columns[j]);
      values(i, n) = (value - standardiser_.means[j]) * standardiser_.inverse_deviations[j];
    }
    input.warp(values.row(i) + own_first, own_end - own_first);
  };
  if (workers != nullptr) {
    workers->run(n_warped, keep);
  } else {
    for (Index i = 0; i < n_warped; ++i) keep(i);
  }
  warped_values_ = std::make_shared<const Matrix>(std::move(values));
}

template <class Position>
RowBlock BlockedRows::convert(Index count, Arena& arena, Position position) const {
  RowBlock block;
  block.rows = count;
  block.inputs = inputs();
  block.stride = padded_rows(count);
  double* values = arena.take(std::max<Index>(block.inputs, 1) * block.stride);
  double* norms = arena.take(block.stride);
  const Index tiled = to_whole_tiles(count);
  // Where all inputs are warped and kept, the table has nothing to add.
  if (block.inputs == 0) std::fill_n(norms, tiled, 0.0);
  if (block.inputs > 0 && (warped_values_ == nullptr || static_cast<Index>(warped_.size()) < block.inputs)) {
    std::vector<const double*> rows(static_cast<std::size_t>(tiled + kRowsAhead));
    Index col_stride = is_direct_ ? col_stride_ : 1;
    if (has_sources_) {
      col_stride = count;
      double* copies = arena.take(count * table_->cols);
      std::vector<Index> positions(static_cast<std::size_t>(count));
      for (Index r = 0; r < count; ++r) positions[static_cast<std::size_t>(r)] = row_of_table(position(r));
      table_->read(positions, count, copies);
      for (Index r = 0; r < tiled + kRowsAhead; ++r)
        rows[static_cast<std::size_t>(r)] = copies + std::min(r, count - 1);
    } else if (is_direct_) {
      for (Index r = 0; r < tiled + kRowsAhead; ++r) rows[static_cast<std::size_t>(r)] = row(position(r));
    } else {
      double* copies = arena.take(count * table_->cols);
      for (Index r = 0; r < count; ++r) copy_row(row_of_table(position(r)), copies + r * table_->cols);
      for (Index r = 0; r < tiled + kRowsAhead; ++r)
        rows[static_cast<std::size_t>(r)] = copies + std::min(r, count - 1) * table_->cols;
    }
    standardise_rows(rows.data(), tiled, col_stride, standardiser_, values, block.stride, norms);
    if (fills_missing_) fill_missing(values, block.stride, tiled, norms);
  }
  const Index first = position(0);
  bool are_neighbours = true;
  for (Index r = 1; r < count && are_neighbours; ++r) are_neighbours = position(r) == first + r;
  for (std::size_t i = 0; i < warped_.size(); ++i) {
    double* own = values + warped_[i].position() * block.stride;
    if (warped_values_ == nullptr) {
      warped_[i].apply(own, tiled);
      continue;
    }
    const double* kept = warped_values_->row(static_cast<Index>(i));
    const Index copied = are_neighbours ? count : 0;
    std::copy_n(kept + first, copied, own);
    for (Index r = copied; r < tiled; ++r) own[r] = kept[position(r)];
    warped_[i].stretch(own, tiled);
  }
  if (mixing_ != nullptr) {
    double* combined = arena.take(block.inputs * block.stride);
    set_combinations(mixing_->values.data(), block.inputs, values, block.inputs, block.stride, tiled,
                     combined, block.stride);
    values = combined;
  }
  if (sums_squares_again()) sum_squares(values, block.stride, block.inputs, tiled, norms);
  block.values = values;
  block.square_norms = norms;
  return block;
}

void BlockedRows::fill_missing(double* values, Index stride, Index count, double* norms) const {
  for (const Index j : missing_marks_) {
    const auto i = static_cast<std::size_t>(j);
    const double present = -standardiser_.means[i] * standardiser_.inverse_deviations[i];
    const double missing = (1 - standardiser_.means[i]) * standardiser_.inverse_deviations[i];
    double* const mark = values + j * stride;
    // What is infinite stays to be seen.
    for (Index n = 0; n < count; ++n) mark[n] = std::isnan(mark[n]) ? missing : present + 0.0 * mark[n];
  }
  for (Index n = 0; n < count; ++n) {
    if (!std::isnan(norms[n])) continue;
    for (Index j = 0; j < inputs(); ++j) {
      double& value = values[j * stride + n];
      if (std::isnan(value) && is_plain_[static_cast<std::size_t>(j)]) value = 0;
    }
    sum_squares(values + n, stride, inputs(), 1, norms + n);
  }
}

void BlockedRows::copy_row(Index row, double* out) const {
  const TableView::Piece& piece = table_->piece_of(row);
  for (const Index column : standardiser_.columns) out[column] = piece.number(row - piece.first_row, column);
}

BlockedRows BlockedRows::mixed(const Matrix& matrix) const {
  BlockedRows result = *this;
  result.kept_blocks_ = nullptr;
  Matrix product = matrix;
  if (mixing_ != nullptr) {
    const auto n = static_cast<int>(matrix.rows);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, matrix.values.data(), n,
                mixing_->values.data(), n, 0.0, product.values.data(), n);
  }
  result.mixing_ = std::make_shared<const Matrix>(std::move(product));
  return result;
}

BlockedRows BlockedRows::stretched(std::span<const double> factors) const {
  BlockedRows result = *this;
  result.kept_blocks_ = nullptr;
  if (mixing_ != nullptr) {
    Matrix matrix = *mixing_;
    for (Index j = 0; j < matrix.rows; ++j)
      std::transform(matrix.row(j), matrix.row(j) + matrix.cols, matrix.row(j),
                     [&](double entry) { return entry * factors[static_cast<std::size_t>(j)]; });
    result.mixing_ = std::make_shared<const Matrix>(std::move(matrix));
    return result;
  }
  std::vector<bool> is_warped(factors.size());
  for (WarpedInput& input : result.warped_) {
    const auto j = static_cast<std::size_t>(input.position());
    is_warped[j] = true;
    input.stretch_by(factors[j]);
  }
  for (std::size_t j = 0; j < factors.size(); ++j) {
    if (!is_warped[j]) result.standardiser_.inverse_deviations[j] *= factors[j];
  }
  return result;
}

double BlockedRows::standardised(Index input, double value) const {
  const auto j = static_cast<std::size_t>(input);
  value = (value - standardiser_.means[j]) * standardiser_.inverse_deviations[j];
  const auto warped = std::ranges::find(warped_, input, &WarpedInput::position);
  if (warped != warped_.end()) warped->apply(&value, 1);
  return value;
}

RowBlock BlockedRows::load(Index block, Arena& arena) const {
  const Index first = block * kBlockRows;
  const Index count = std::min(kBlockRows, rows_ - first);
  RowBlock result;
  if (kept_blocks_ != nullptr) {
    result.rows = count;
    result.inputs = inputs();
    result.stride = padded_rows(count);
    result.values = kept_blocks_.get() + block * (inputs() + 1) * kBlockStride;
    result.square_norms = result.input(result.inputs);
  } else {
    // Past the end of a full block come the first rows of the next.
    const Index last = count == kBlockRows ? end_of_own_rows() - 1 : first + count - 1;
    result = convert(count, arena, [&](Index r) { return std::min(first + r, last); });
  }
  result.first_row = first;
  if (weights_ != nullptr) result.weights = weights_->data() + first;
  return result;
}

RowBlock BlockedRows::gather_from_ranks(std::span<const Index> rows, Arena& arena) const {
  std::vector<Index> of_all;
  for (const Index row : rows) of_all.push_back(row_of_all(row));
  BlockedRows here = *this;
  here.elsewhere_ = nullptr;
  const Matrix numbers = elsewhere_->collect(all_table_ != nullptr ? *all_table_ : *table_, of_all);
  here.table_ = std::make_shared<const TableView>(numbers.view());
  here.chosen_ = nullptr;
  here.warped_values_ = nullptr;
  here.look_at_pieces();
  const auto count = static_cast<Index>(rows.size());
  return here.convert(count, arena, [&](Index r) { return std::min(r, count - 1); });
}

RowBlock BlockedRows::gather(std::span<const Index> rows, Arena& arena) const {
  const auto count = static_cast<Index>(rows.size());
  RowBlock result =
      elsewhere_ != nullptr ? gather_from_ranks(rows, arena) : convert(count, arena, [&](Index r) {
        return rows[static_cast<std::size_t>(std::min(r, count - 1))];
      });
  if (weights_ != nullptr) {
    double* some = arena.take(result.stride);
    for (Index r = 0; r < count; ++r)
      some[r] = (*weights_)[static_cast<std::size_t>(rows[static_cast<std::size_t>(r)])];
    result.weights = some;
  }
  return result;
}

RowBlock BlockedRows::single_row(const double* row, Arena& arena) const {
  RowBlock block;
  block.rows = 1;
  block.inputs = inputs();
  block.stride = 1;
  double* values = arena.take(std::max<Index>(block.inputs, 1));
  double* norm = arena.take(1);
  for (Index j = 0; j < block.inputs; ++j) {
    const auto i = static_cast<std::size_t>(j);
    values[j] =
        (row[standardiser_.columns[i]] - standardiser_.means[i]) * standardiser_.inverse_deviations[i];
  }
  set_combinations(values, 1, values, block.inputs, 1, 1, norm, 1);
  fill_missing(values, 1, 1, norm);
  for (const WarpedInput& input : warped_) input.apply(values + input.position(), 1);
  if (mixing_ != nullptr) {
    double* combined = arena.take(block.inputs);
    set_combinations(mixing_->values.data(), block.inputs, values, block.inputs, 1, 1, combined, 1);
    values = combined;
  }
  // Each as for the rows of a block, so that the last bit is the same.
  if (sums_squares_again()) sum_squares(values, 1, block.inputs, 1, norm);
  block.values = values;
  block.square_norms = norm;
  return block;
}

}  // namespace mfga
