#include "solve/gram_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/test_devices.hpp"
#include "losses/squared.hpp"
#include "reference_matrices.hpp"
#include "solve/gram_moments.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 4700;
constexpr Index kInputs = 5;

struct Sample {
  Matrix x = reference::random_matrix(kRows, kInputs, 1);
  std::vector<double> y = reference::random_vector(kRows, 2);
  BlockedRows rows{x.view(), reference::plain_inputs(kInputs)};

  [[nodiscard]] std::vector<std::shared_ptr<const GramSums>> sums(const Candidates& candidates,
                                                                  std::span<const Index> group_ends,
                                                                  int threads) const {
    Workers workers(threads);
    return gram_sums({rows, y, squared_loss(), Intercept::kNone, workers}, candidates, group_ends);
  }
};

// By moments: several kernels, squares or none, more candidates than a tile has. By panels: features that are
// no monomials, alone and beside others, and too few to be worth it.
const std::vector<std::string> kByMoments = {
    "linear + gaussian(order=3, sigma=2) + gaussian(order=2, sigma=3.5, nu=0.3)",
    "gaussian(order=2, squares=no, sigma=2) + gaussian(order=3, sigma=2)",
    "gaussian(order=6, sigma=2)",
    "polynomial(degree=4) + linear",
};
const std::vector<std::string> kByPanels = {
    "fourier(count=300, sigma=2)",
    "gaussian(order=3, sigma=2) + landmark(count=9, sigma=2)",
    "linear + gaussian(order=4, squares=no, sigma=2)",
    "gaussian(order=0, sigma=2)",
    "polynomial + step(knots=5) + hinge(knots=2, interactions=2)",
};

std::vector<std::string> dictionaries() {
  std::vector<std::string> all = kByMoments;
  all.insert(all.end(), kByPanels.begin(), kByPanels.end());
  return all;
}

TEST(GramSums, AreTheSameOnDevices) {
  Sample sample;
  const std::vector<Index> ends = {1000, 1000, 4700};
  const std::vector<double> weights(kRows, 0.5);
  for (const bool weighted : {false, true}) {
    if (weighted) sample.rows = sample.rows.weighted(weights);
    for (const std::string& dictionary :
         {std::string("polynomial(degree=2) + landmark(count=9, sigma=2)"), kByMoments[0]}) {
      const Candidates candidates(Dictionary(dictionary), {kInputs, 1, 0, &sample.rows});
      const auto expected = sample.sums(candidates, ends, 2);
      for (const auto& device : test_devices()) {
        Workers workers(2);
        workers.set_device(device.get());
        const Problem problem{sample.rows, sample.y, squared_loss(), Intercept::kNone, workers};
        const auto found = gram_sums(problem, candidates, ends);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t g = 0; g < ends.size(); ++g) {
          EXPECT_EQ(found[g]->rows, expected[g]->rows);
          for (Index i = 0; i < candidates.size(); ++i) {
            const auto row = static_cast<std::size_t>(i);
            EXPECT_NEAR(found[g]->sums[row], expected[g]->sums[row], 1e-8);
            EXPECT_NEAR(found[g]->target_products[row], expected[g]->target_products[row], 1e-8);
            for (Index j = 0; j < candidates.size(); ++j)
              EXPECT_NEAR(found[g]->gram(i, j), expected[g]->gram(i, j),
                          1e-8 * (1 + expected[g]->gram(i, i)));
          }
        }
      }
    }
  }
}

TEST(GramSums, UseMomentsWhereTheyPay) {
  const Sample sample;
  Workers workers(2);
  for (const std::string& dictionary : dictionaries()) {
    const Candidates candidates(Dictionary(dictionary), {kInputs, 1, 0, &sample.rows});
    std::vector<Atom> atoms;
    for (Index j = 0; j < candidates.size(); ++j) atoms.push_back(candidates.atom(j));
    const bool by_moments = sum_by_moments({sample.rows, sample.y, squared_loss(), Intercept::kNone, workers},
                                           atoms, {}, {}, [](double) {});
    EXPECT_EQ(by_moments, std::ranges::count(kByMoments, dictionary) == 1) << dictionary;
  }
}

TEST(GramSums, AddUpTheRowsOfEachGroup) {
  const Sample sample;
  const Eigen::Map<const Eigen::VectorXd> targets(sample.y.data(), kRows);
  // Groups that end inside of blocks and of panels of blocks, one of them longer than a panel, one empty.
  const std::vector<Index> ends = {3, 1000, 1000, 4650, kRows};
  for (const std::string& dictionary : dictionaries()) {
    SCOPED_TRACE(dictionary);
    const Candidates candidates(Dictionary(dictionary), {kInputs, 1, 0, &sample.rows});
    const Eigen::MatrixXd features = reference::materialise(candidates, sample.x);
    const auto groups = sample.sums(candidates, ends, 2);
    ASSERT_EQ(groups.size(), ends.size());
    Index first = 0;
    for (std::size_t g = 0; g < ends.size(); ++g) {
      const Index count = ends[g] - first;
      const Eigen::MatrixXd part = features.middleRows(first, count);
      const Eigen::VectorXd part_targets = targets.segment(first, count);
      const GramSums& sums = *groups[g];
      EXPECT_EQ(sums.rows, count);
      EXPECT_NEAR(sums.target_sum, part_targets.sum(), 1e-9);
      EXPECT_NEAR(sums.target_square, part_targets.squaredNorm(), 1e-9);
      const Index size = candidates.size();
      const Eigen::Map<const Eigen::MatrixXd> gram(sums.gram.values.data(), size, size);
      EXPECT_LT((gram - part.transpose() * part).cwiseAbs().maxCoeff(), 1e-9) << "group " << g;
      const Eigen::Map<const Eigen::VectorXd> with_one(sums.sums.data(), size);
      EXPECT_LT((with_one - part.colwise().sum().transpose()).cwiseAbs().maxCoeff(), 1e-9);
      const Eigen::Map<const Eigen::VectorXd> with_target(sums.target_products.data(), size);
      EXPECT_LT((with_target - part.transpose() * part_targets).cwiseAbs().maxCoeff(), 1e-9);
      first = ends[g];
    }
  }
}

TEST(GramSums, DoNotDependOnThreads) {
  const Sample sample;
  const std::vector<Index> ends = {700, kRows};
  for (const std::string& dictionary : dictionaries()) {
    const Candidates candidates(Dictionary(dictionary), {kInputs, 1, 0, &sample.rows});
    const auto one = sample.sums(candidates, ends, 1);
    const auto more = sample.sums(candidates, ends, 3);
    for (std::size_t g = 0; g < ends.size(); ++g) {  // to the last bit
      EXPECT_EQ(one[g]->gram.values, more[g]->gram.values) << dictionary;
      EXPECT_EQ(one[g]->sums, more[g]->sums);
      EXPECT_EQ(one[g]->target_products, more[g]->target_products);
    }
  }
}

TEST(GramSums, ReportTheirProgress) {
  const Sample sample;
  Workers workers(2);
  for (const std::string& dictionary : dictionaries()) {
    const Candidates candidates(Dictionary(dictionary), {kInputs, 1, 0, &sample.rows});
    double last = 0;
    const Index all = kRows;
    static_cast<void>(gram_sums({sample.rows, sample.y, squared_loss(), Intercept::kNone, workers},
                                candidates, {&all, 1}, [&](double part) {
                                  EXPECT_GT(part, last);
                                  last = part;
                                }));
    EXPECT_EQ(last, 1);
  }
}

}  // namespace
}  // namespace mfga
