#include "features/neighbour_width.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

BlockedRows plain_rows(const Matrix& x) { return {x.view(), reference::plain_inputs(x.cols)}; }

TEST(PaperWidth, IsTheMeanDistanceOfAllRowsToTheFiftiethNeighbour) {
  for (const Index n_rows : {2, 30, 51, 52, 128, 1500}) {
    const Matrix x = reference::random_matrix(n_rows, 6, 1);
    Workers one(1);
    Workers three(3);
    const KernelWidth width = paper_width(plain_rows(x), 1, three);
    EXPECT_EQ(width.queries, n_rows);
    EXPECT_NEAR(width.sigma, mean_distance_to_neighbour(x, 50), 1e-9);
    EXPECT_NEAR(width.standard_error, 0, 1e-12);
    EXPECT_EQ(width.sigma, paper_width(plain_rows(x), 1, one).sigma);
  }
}

TEST(PaperWidth, CopiesDoNotHarmIt) {
  // Every row occurs 60 times, so that the 50th neighbour is a copy, but for those of the last few.
  Matrix x(600 + 40, 3);
  const Matrix distinct = reference::random_matrix(50, 3, 3);
  for (Index i = 0; i < x.rows; ++i) {
    const Index source = i < 600 ? i % 10 : 10 + i - 600;
    for (Index j = 0; j < 3; ++j) x(i, j) = 5 + distinct(source, j);
  }
  Workers workers(2);
  EXPECT_NEAR(paper_width(plain_rows(x), 1, workers).sigma, mean_distance_to_neighbour(x, 50), 1e-9);
}

TEST(PaperWidth, RefusesRowsThatAreAllEqual) {
  Workers workers(1);
  const Matrix copies(100, 2);
  EXPECT_THROW(static_cast<void>(paper_width(plain_rows(copies), 1, workers)), Error);
  const Matrix single(1, 2);
  EXPECT_THROW(static_cast<void>(paper_width(plain_rows(single), 1, workers)), Error);
}

TEST(AutomaticWidth, IsTheMeanDistanceToTheRowThatOneInTwentyAreWithin) {
  for (const Index n_rows : {2, 30, 201, 1000}) {
    const Matrix x = reference::random_matrix(n_rows, 6, 1);
    Workers workers(2);
    const KernelWidth width = automatic_width(plain_rows(x), 1, workers);
    const auto neighbour = static_cast<Index>(std::ceil(0.05 * static_cast<double>(n_rows - 1)));
    EXPECT_EQ(width.queries, n_rows);
    EXPECT_NEAR(width.sigma, mean_distance_to_neighbour(x, neighbour), 1e-9);
    EXPECT_NEAR(width.standard_error, 0, 1e-12);
  }
}

TEST(AutomaticWidth, DoesNotDependOnTheNumberOfRowsOrThreads) {
  const Matrix x = reference::random_matrix(20000, 4, 2);
  Workers one(1);
  Workers three(3);
  const double sigma = automatic_width(plain_rows(x), 1, one).sigma;
  EXPECT_EQ(automatic_width(plain_rows(x), 1, three).sigma, sigma);
  for (const Index n_rows : {500, 5000}) {
    const Matrix fewer = reference::random_matrix(n_rows, 4, 3);
    EXPECT_NEAR(automatic_width(plain_rows(fewer), 1, one).sigma, sigma, 0.06 * sigma) << n_rows;
  }
  // As the paper's rule does.
  const Matrix few = reference::random_matrix(500, 4, 3);
  EXPECT_GT(paper_width(plain_rows(few), 1, one).sigma,
            1.5 * paper_width(plain_rows(reference::random_matrix(5000, 4, 3)), 1, three).sigma);
}

TEST(AutomaticWidth, SamplesOfCopiesHaveAWidthToo) {
  Matrix x(5000, 2);  // two rows differ from all others, and few samples have one of them
  x(17, 0) = x(4321, 1) = 1;
  Workers workers(2);
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_GT(automatic_width(plain_rows(x), seed, workers).sigma, 0) << seed;
}

TEST(AutomaticWidth, CopiesDoNotCount) {
  Matrix x(2000, 2);  // four different rows
  for (Index i = 0; i < x.rows; ++i) {
    x(i, 0) = 0.3 + static_cast<double>(i % 2);
    x(i, 1) = 0.7 + 3 * static_cast<double>(i / 2 % 2);
  }
  Workers workers(2);
  EXPECT_NEAR(automatic_width(plain_rows(x), 1, workers).sigma, 1, 1e-9);
  const Matrix copies(100, 2);
  EXPECT_EQ(automatic_width(plain_rows(copies), 1, workers).sigma, 2);  // as of two inputs of variance 1
  const Matrix single(1, 2);
  EXPECT_THROW(static_cast<void>(automatic_width(plain_rows(single), 1, workers)), Error);
}

}  // namespace
}  // namespace mfga
