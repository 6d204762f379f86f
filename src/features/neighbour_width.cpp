#include "features/neighbour_width.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/random.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr Index kNeighbour = 50;
constexpr Index kBatch = 256;  // query rows per pass over the table
constexpr Index kMostQueries = 2048;

// The smallest `capacity` of the numbers seen, as a heap with the largest of them on top.
class SmallestNumbers {
 public:
  explicit SmallestNumbers(Index capacity) : capacity_(static_cast<std::size_t>(capacity)) {}
  [[nodiscard]] double threshold() const {
    return heap_.size() < capacity_ ? std::numeric_limits<double>::infinity() : heap_.front();
  }
  void add(double value) {
    if (value >= threshold()) return;
    if (heap_.size() == capacity_) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back(value);
    std::push_heap(heap_.begin(), heap_.end());
  }
  void add_all(const SmallestNumbers& other) {
    for (const double value : other.heap_) add(value);
  }

 private:
  std::size_t capacity_;
  std::vector<double> heap_;
};

// The distance of each query row to its k-th nearest neighbour, itself not counted.
std::vector<double> neighbour_distances(const BlockedRows& rows, std::span<const Index> queries, Index k,
                                        Workers& workers) {
  const auto n_queries = static_cast<Index>(queries.size());
  const auto query_lease = workers.arenas.lend();
  const Arena::Scope query_scope(*query_lease);
  const RowBlock query = rows.gather(queries, *query_lease);
  // The k smallest numbers of a union are the same however the rows were shared out, so the result does not
  // depend on the number of threads.
  const Index shards = std::min<Index>(workers.pool.threads(), rows.blocks());
  std::vector<std::vector<SmallestNumbers>> nearest(
      static_cast<std::size_t>(shards), std::vector<SmallestNumbers>(queries.size(), SmallestNumbers(k)));
  workers.pool.run(shards, [&](Index shard) {
    std::vector<SmallestNumbers>& mine = nearest[static_cast<std::size_t>(shard)];
    const auto lease = workers.arenas.lend();
    for (Index b = shard; b < rows.blocks(); b += shards) {
      const Arena::Scope scope(*lease);
      const RowBlock block = rows.load(b, *lease);
      double* products = (*lease).take(n_queries * block.rows);
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(n_queries),
                  static_cast<int>(block.rows), static_cast<int>(block.inputs), 1.0, query.values,
                  static_cast<int>(query.stride), block.values, static_cast<int>(block.stride), 0.0, products,
                  static_cast<int>(block.rows));
      for (Index q = 0; q < n_queries; ++q) {
        SmallestNumbers& heap = mine[static_cast<std::size_t>(q)];
        const double* product = products + q * block.rows;
        const double square_norm = query.square_norms[q];
        const Index self = queries[static_cast<std::size_t>(q)] - block.first_row;
        double threshold = heap.threshold();
        for (Index n = 0; n < block.rows; ++n) {
          const double square = square_norm + block.square_norms[n] - 2 * product[n];
          if (square < threshold && n != self) {
            heap.add(square);
            threshold = heap.threshold();
          }
        }
      }
    }
  });
  std::vector<double> distances(queries.size());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (std::size_t shard = 1; shard < nearest.size(); ++shard) nearest[0][q].add_all(nearest[shard][q]);
    distances[q] = std::sqrt(std::max(0.0, nearest[0][q].threshold()));
  }
  return distances;
}

}  // namespace

NeighbourWidth neighbour_width(const BlockedRows& rows, std::uint64_t seed, Workers& workers) {
  const Index k = std::min(kNeighbour, rows.rows() - 1);
  if (k < 1)
    throw Error(ErrorKind::kBadData, "sigma=auto needs at least 2 training rows; give sigma as a number");
  const Index most = std::min(kMostQueries, rows.rows());
  const std::vector<Index> order = random_rows(rows.rows(), most, seed, RandomStream::kSigmaQueries);

  NeighbourWidth width;
  std::vector<double> distances;
  while (width.queries < most) {
    const Index count = std::min(kBatch, most - width.queries);
    const auto batch = neighbour_distances(
        rows,
        std::span(order).subspan(static_cast<std::size_t>(width.queries), static_cast<std::size_t>(count)), k,
        workers);
    distances.insert(distances.end(), batch.begin(), batch.end());
    width.queries += count;
    const double n = static_cast<double>(width.queries);
    width.sigma = std::accumulate(distances.begin(), distances.end(), 0.0) / n;
    double variance = 0;
    for (const double d : distances) variance += (d - width.sigma) * (d - width.sigma) / std::max(1.0, n - 1);
    // The factor is that of sampling without replacement.
    width.standard_error = std::sqrt(variance / n * (1 - n / static_cast<double>(rows.rows())));
    if (width.standard_error <= kWidthAccuracy * width.sigma) break;
  }
  if (!(width.sigma > 0)) {
    throw Error(
        ErrorKind::kBadData,
        "sigma=auto found a width of 0: most training rows are copies of each other; give sigma as a number");
  }
  return width;
}

}  // namespace mfga
