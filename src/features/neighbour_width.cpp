#include "features/neighbour_width.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "core/vectorise.hpp"
#include "core/weight_unit.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr Index kNeighbour = 50;
constexpr Index kBatch = 128;           // query rows per pass over the table
constexpr Index kMostQueries = 100000;  // of larger tables, for a standard error of about 0.1 %
constexpr Index kSpareRows = 14;  // beyond the neighbour, that may come before it when looked at closely

// A row and its square distance to a query, less the query's square norm. The row decides between equal ones.
struct Neighbour {
  float distance = 0;
  Index row = 0;
  friend auto operator<=>(const Neighbour&, const Neighbour&) = default;
};

// The `count` nearest of the rows seen. Rows are collected and thinned out now and then, which takes less
// time than keeping them in order.
class NearestRows {
 public:
  explicit NearestRows(Index count) : count_(static_cast<std::size_t>(count)) {}
  // Rows at this distance or further away need not be added.
  [[nodiscard]] float limit() const { return limit_; }
  void add(Neighbour neighbour) {
    rows_.push_back(neighbour);
    if (rows_.size() >= kCollected * count_) thin_out();
  }
  // From the nearest on. At least `count` rows must have been added.
  [[nodiscard]] const std::vector<Neighbour>& sorted() {
    thin_out();
    std::ranges::sort(rows_);
    return rows_;
  }

 private:
  static constexpr std::size_t kCollected = 2;

  void thin_out() {
    const auto last = rows_.begin() + static_cast<Index>(count_) - 1;
    std::nth_element(rows_.begin(), last, rows_.end());
    rows_.resize(count_);
    // The next float up: rows as far away as the last one may come before it.
    limit_ = std::nextafter(rows_.back().distance, std::numeric_limits<float>::infinity());
  }

  std::size_t count_;
  std::vector<Neighbour> rows_;
  float limit_ = std::numeric_limits<float>::infinity();
};

MFGA_VECTORISED bool any_below(const float* values, Index count, float limit) {
  unsigned found = 0;
  for (Index n = 0; n < count; ++n) found |= values[n] < limit ? 1U : 0U;
  return found != 0;
}

// The inputs of a block times `factor` in single precision, and one more row: `last`, or 1 where that is
// null.
float* with_last_row(const RowBlock& block, float factor, const double* last, Arena& arena) {
  auto* values = reinterpret_cast<float*>(arena.take(((block.inputs + 1) * block.stride + 1) / 2));
  for (Index j = 0; j < block.inputs; ++j) {
    for (Index n = 0; n < block.rows; ++n)
      values[j * block.stride + n] = factor * static_cast<float>(block.input(j)[n]);
  }
  float* const last_row = values + block.inputs * block.stride;
  for (Index n = 0; n < block.rows; ++n) last_row[n] = last == nullptr ? 1.0F : static_cast<float>(last[n]);
  return values;
}

// Adds the rows of the block that are among the nearest ones of a query; distances are those of the block.
void add_near_rows(const RowBlock& block, const float* distances, Index query_row, NearestRows& nearest) {
  constexpr Index kTogether = 16;  // few rows are near: they are looked for together
  for (Index first = 0; first < block.rows; first += kTogether) {
    const Index end = std::min(block.rows, first + kTogether);
    if (!any_below(distances + first, end - first, nearest.limit())) continue;
    for (Index n = first; n < end; ++n) {
      if (distances[n] < nearest.limit() && block.first_row + n != query_row)
        nearest.add({distances[n], block.first_row + n});
    }
  }
}

// Of the nearest rows, sorted, those that may be the k-th: products in single precision cannot tell them
// apart. Returns the first of them and one past the last.
std::pair<Index, Index> rows_about(const std::vector<Neighbour>& nearest, Index k, double query_norm) {
  constexpr float kRounding = 4e-6F;  // of such a product, as a part of the norms
  const float distance = nearest[static_cast<std::size_t>(k - 1)].distance;
  const auto norm = static_cast<float>(query_norm);
  const float margin = kRounding * (norm + std::max(0.0F, distance + norm));
  const auto first = std::ranges::lower_bound(nearest, distance - margin, {}, &Neighbour::distance);
  const auto last = std::ranges::upper_bound(nearest, distance + margin, {}, &Neighbour::distance);
  return {first - nearest.begin(), last - nearest.begin()};
}

// The distance of each query row to its k-th nearest neighbour, itself not counted. The few rows that may be
// that one are found with products in single precision; the distances to them are then computed in full.
std::vector<double> neighbour_distances(const BlockedRows& rows, std::span<const Index> queries, Index k,
                                        Arena& arena) {
  const auto n_queries = static_cast<Index>(queries.size());
  const Arena::Scope query_scope(arena);
  const RowBlock query = rows.gather(queries, arena);
  // |x|^2 - 2 <q, x> is one product: of (-2 q, 1) and (x, |x|^2).
  const float* const query_values = with_last_row(query, -2, nullptr, arena);
  std::vector<NearestRows> nearest(queries.size(), NearestRows(std::min(k + kSpareRows, rows.rows() - 1)));
  for (Index b = 0; b < rows.blocks(); ++b) {
    const Arena::Scope scope(arena);
    const RowBlock block = rows.load(b, arena);
    const float* const values = with_last_row(block, 1, block.square_norms, arena);
    auto* const distances = reinterpret_cast<float*>(arena.take((n_queries * block.stride + 1) / 2));
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(n_queries),
                static_cast<int>(block.rows), static_cast<int>(block.inputs + 1), 1.0F, query_values,
                static_cast<int>(query.stride), values, static_cast<int>(block.stride), 0.0F, distances,
                static_cast<int>(block.stride));
    for (Index q = 0; q < n_queries; ++q) {
      const auto position = static_cast<std::size_t>(q);
      add_near_rows(block, distances + q * block.stride, queries[position], nearest[position]);
    }
  }
  std::vector<double> result;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const std::vector<Neighbour>& sorted = nearest[q].sorted();
    const auto [first, last] = rows_about(sorted, k, query.square_norms[q]);
    std::vector<Index> possible;
    for (Index i = first; i < last; ++i) possible.push_back(sorted[static_cast<std::size_t>(i)].row);
    const Arena::Scope scope(arena);
    const RowBlock block = rows.gather(possible, arena);
    std::vector<double> squares(possible.size());
    for (Index j = 0; j < block.inputs; ++j) {
      for (std::size_t i = 0; i < squares.size(); ++i) {
        const double difference = block.input(j)[i] - query.input(j)[q];
        squares[i] += difference * difference;
      }
    }
    std::ranges::nth_element(squares, squares.begin() + (k - 1 - first));
    result.push_back(std::sqrt(squares[static_cast<std::size_t>(k - 1 - first)]));
  }
  return result;
}

// The mean of distances of some of the rows by their weights (none: 1), and how far it may be from that of
// all.
KernelWidth mean_of(const std::vector<double>& distances, std::span<const double> weights, Index rows) {
  KernelWidth width;
  width.queries = std::ssize(distances);
  const auto n = static_cast<double>(width.queries);
  width.sigma = weights.empty()
                    ? std::accumulate(distances.begin(), distances.end(), 0.0) / n
                    : std::inner_product(distances.begin(), distances.end(), weights.begin(), 0.0) /
                          std::accumulate(weights.begin(), weights.end(), 0.0);
  double variance = 0;
  for (const double d : distances) variance += (d - width.sigma) * (d - width.sigma) / std::max(1.0, n - 1);
  // The factor is that of sampling without replacement.
  width.standard_error = std::sqrt(variance / n * (1 - n / static_cast<double>(rows)));
  return width;
}

[[noreturn]] void refuse_copies() {
  throw Error(
      ErrorKind::kBadData,
      "sigma=auto found a width of 0: most training rows are copies of each other; give sigma as a number");
}

void refuse_single_row(const BlockedRows& rows) {
  if (rows.rows() < 2)
    throw Error(ErrorKind::kBadData, "sigma=auto needs at least 2 training rows; give sigma as a number");
}

// A square distance to another row, and the weight of that.
struct WeightedSquare {
  double square = 0;
  double weight = 1;
};

// Of square distances to other rows, the one that `part` of those that are not copies are within. 0: all are
// copies.
double square_within(std::vector<WeightedSquare>& squares, double part, double unit) {
  std::erase_if(squares, [](const WeightedSquare& other) { return other.square == 0; });
  if (squares.empty()) return 0;
  double total = 0;
  for (const WeightedSquare& other : squares) total += other.weight;
  const double wanted = unit * std::max(1.0, std::ceil(part * total / unit * (1 - 1e-12)));
  // Only the nearest are put in order, and more of them if they weigh too little.
  const auto size = std::ssize(squares);
  std::ptrdiff_t in_order = 0;
  double within = 0;
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    if (i == in_order) {
      in_order = std::min(size, 4 * in_order + size / 16 + 1);
      std::ranges::partial_sort(squares.begin() + i, squares.begin() + in_order, squares.end(), {},
                                &WeightedSquare::square);
    }
    const WeightedSquare& other = squares[static_cast<std::size_t>(i)];
    within += other.weight;
    if (within >= wanted * (1 - 1e-12)) return other.square;
  }
  return squares.back().square;
}

// The same where all weigh the same.
double square_within(std::vector<double>& squares, double part) {
  std::erase(squares, 0.0);
  if (squares.empty()) return 0;
  const auto wanted = std::max(1.0, std::ceil(part * static_cast<double>(squares.size()) * (1 - 1e-12)));
  const auto place = squares.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
  std::ranges::nth_element(squares, place);
  return *place;
}

}  // namespace

KernelWidth paper_width(const BlockedRows& rows, std::uint64_t seed, Workers& workers) {
  refuse_single_row(rows);
  const Index k = std::min(kNeighbour, rows.rows() - 1);
  const Index count = std::min(kMostQueries, rows.rows());
  const std::vector<Index> queries = random_rows(rows.rows(), count, seed, RandomStream::kSigmaQueries);
  // Every batch of queries looks at all rows.
  const BlockedRows kept = rows.kept(workers);
  std::vector<double> distances(queries.size());
  workers.run((count + kBatch - 1) / kBatch, [&](Index batch) {
    const auto lease = workers.arenas.lend();
    const Index first = batch * kBatch;
    const auto own = std::span(queries).subspan(static_cast<std::size_t>(first),
                                                static_cast<std::size_t>(std::min(kBatch, count - first)));
    std::ranges::copy(neighbour_distances(kept, own, k, *lease), distances.begin() + first);
  });
  const KernelWidth width = mean_of(distances, {}, rows.rows());
  if (!(width.sigma > 0)) refuse_copies();
  return width;
}

KernelWidth automatic_width(const BlockedRows& rows, std::uint64_t seed, Workers& workers) {
  constexpr Index kMostRows = 1000;
  constexpr Index kMostNumbers = 1 << 24;  // of very wide tables fewer rows
  constexpr Index kQueriesAtOnce = 64;
  constexpr double kRounding = 1e-13;  // of a square distance by products, as a part of the norms
  refuse_single_row(rows);
  const Index most = std::clamp<Index>(kMostNumbers / rows.inputs(), 100, kMostRows);
  const Index count = std::min(most, rows.rows());
  const std::vector<Index> sample = random_rows(rows.rows(), count, seed, RandomStream::kSigmaQueries);
  const auto sample_lease = workers.arenas.lend();
  const Arena::Scope sample_scope(*sample_lease);
  const RowBlock block = rows.gather(sample, *sample_lease);
  std::vector<double> within(sample.size());
  const double unit = weight_unit(rows.weights());
  workers.run((count + kQueriesAtOnce - 1) / kQueriesAtOnce, [&](Index part) {
    const Index first = part * kQueriesAtOnce;
    const Index queries = std::min(kQueriesAtOnce, count - first);
    const auto lease = workers.arenas.lend();
    const Arena::Scope scope(*lease);
    double* const products = (*lease).take(queries * count);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(queries), static_cast<int>(count),
                static_cast<int>(block.inputs), 1.0, block.values + first, static_cast<int>(block.stride),
                block.values, static_cast<int>(block.stride), 0.0, products, static_cast<int>(count));
    std::vector<double> squares;
    std::vector<WeightedSquare> weighted;
    for (Index q = 0; q < queries; ++q) {
      squares.resize(static_cast<std::size_t>(count));
      for (Index n = 0; n < count; ++n) {
        const double norms = block.square_norms[first + q] + block.square_norms[n];
        const double square = norms - 2 * products[q * count + n];
        squares[static_cast<std::size_t>(n)] = square > kRounding * norms ? square : 0;
      }
      squares[static_cast<std::size_t>(first + q)] = 0;  // like a copy, it does not count
      double square = 0;
      if (block.weights == nullptr) {
        square = square_within(squares, kPartWithinWidth);
      } else {
        weighted.clear();
        for (std::size_t n = 0; n < squares.size(); ++n) weighted.push_back({squares[n], block.weights[n]});
        square = square_within(weighted, kPartWithinWidth, unit);
      }
      within[static_cast<std::size_t>(first + q)] = std::sqrt(square);
    }
  });
  std::vector<double> distances;
  std::vector<double> weights;
  for (Index q = 0; q < count; ++q) {
    if (within[static_cast<std::size_t>(q)] == 0) continue;
    distances.push_back(within[static_cast<std::size_t>(q)]);
    if (block.weights != nullptr) weights.push_back(block.weights[q]);
  }
  // Only copies among them, as where few rows differ from the others: the distance of rows whose inputs have
  // variance 1.
  if (distances.empty()) return {std::sqrt(2.0 * static_cast<double>(rows.inputs())), 0, count};
  return mean_of(distances, weights, rows.rows());
}

KernelWidth width_by(WidthRule rule, const BlockedRows& rows, std::uint64_t seed, Workers& workers) {
  return rule == WidthRule::kPaper ? paper_width(rows, seed, workers) : automatic_width(rows, seed, workers);
}

}  // namespace mfga
