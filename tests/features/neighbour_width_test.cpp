#include "features/neighbour_width.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mfga/error.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

double mean_distance_to_neighbour(const Matrix& x, Index neighbour) {
  double total = 0;
  for (Index i = 0; i < x.rows; ++i) {
    std::vector<double> distances;
    for (Index j = 0; j < x.rows; ++j) {
      double square = 0;
      for (Index k = 0; k < x.cols; ++k) square += (x(i, k) - x(j, k)) * (x(i, k) - x(j, k));
      if (i != j) distances.push_back(std::sqrt(square));
    }
    std::sort(distances.begin(), distances.end());
    total += distances[static_cast<std::size_t>(std::min(neighbour, x.rows - 1) - 1)];
  }
  return total / static_cast<double>(x.rows);
}

TEST(NeighbourWidth, IsTheMeanDistanceToTheFiftiethNeighbour) {
  for (const Index n_rows : {2, 30, 51, 52, 128}) {
    const Matrix x = reference::random_matrix(n_rows, 6, 1);
    Workers workers(2);
    const NeighbourWidth width = neighbour_width({x.view(), reference::plain_inputs(6)}, 1, workers);
    EXPECT_EQ(width.queries, n_rows);
    EXPECT_NEAR(width.sigma, mean_distance_to_neighbour(x, 50), 1e-9);
    EXPECT_NEAR(width.standard_error, 0, 1e-12);  // every row was asked
  }
}

TEST(NeighbourWidth, SamplingErrorIsHonestAndThreadsDoNotMatter) {
  const Matrix x = reference::random_matrix(1500, 3, 2);
  const double exact = mean_distance_to_neighbour(x, 50);
  double squared_errors = 0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Workers one(1);
    Workers three(3);
    const NeighbourWidth width = neighbour_width({x.view(), reference::plain_inputs(3)}, seed, one);
    const NeighbourWidth again = neighbour_width({x.view(), reference::plain_inputs(3)}, seed, three);
    EXPECT_EQ(width.sigma, again.sigma);
    EXPECT_LE(width.standard_error, kWidthAccuracy * width.sigma);
    EXPECT_LT(width.queries, 1500);
    squared_errors += std::pow((width.sigma - exact) / width.standard_error, 2);
  }
  EXPECT_LT(squared_errors / kSeeds, 3);  // about 1 if the reported error is right
  EXPECT_GT(squared_errors / kSeeds, 0.2);
}

TEST(NeighbourWidth, CopiesDoNotHarmIt) {
  // Every row occurs 60 times, so that the 50th neighbour is a copy, but for those of the last few.
  Matrix x(600 + 40, 3);
  const Matrix distinct = reference::random_matrix(50, 3, 3);
  for (Index i = 0; i < x.rows; ++i) {
    const Index source = i < 600 ? i % 10 : 10 + i - 600;
    for (Index j = 0; j < 3; ++j) x(i, j) = 5 + distinct(source, j);
  }
  Workers workers(2);
  const NeighbourWidth width = neighbour_width({x.view(), reference::plain_inputs(3)}, 1, workers);
  EXPECT_EQ(width.queries, 640);
  EXPECT_NEAR(width.sigma, mean_distance_to_neighbour(x, 50), 1e-9);
}

TEST(NeighbourWidth, RefusesRowsThatAreAllEqual) {
  Workers workers(1);
  const Matrix copies(100, 2);
  EXPECT_THROW(static_cast<void>(neighbour_width({copies.view(), reference::plain_inputs(2)}, 1, workers)),
               Error);
  const Matrix single(1, 2);
  EXPECT_THROW(static_cast<void>(neighbour_width({single.view(), reference::plain_inputs(2)}, 1, workers)),
               Error);
}

}  // namespace
}  // namespace mfga
