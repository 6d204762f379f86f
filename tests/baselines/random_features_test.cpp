// Which random features the three methods take, against scores of the materialised candidates.
#include "baselines/random_features.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/alignment_weights.hpp"
#include "core/blas.hpp"
#include "features/fourier_draws.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 3;
constexpr double kSigma = 1.4;

FourierDirections draw(Index count, std::uint64_t seed) {
  return draw_fourier_directions({Kernel::Name::kGaussian, 0, kSigma}, FourierDraw::kIndependent, count,
                                 kInputs, seed);
}

bool is_for_numbers(const Loss& loss) { return loss.task() == Task::kRegression; }

struct Setting {
  Matrix x = reference::random_matrix(600, kInputs, 41);
  BlockedRows rows{x.view(), reference::plain_inputs(kInputs)};
  std::vector<double> numbers;
  std::vector<double> classes;  // four fifths are positive, so that centring matters

  Setting() {
    for (Index i = 0; i < x.rows; ++i) {
      numbers.push_back(0.7 + std::sin(x(i, 0)) * x(i, 1) + 0.2 * x(i, 2));
      classes.push_back(numbers.back() > 0 ? 1 : -1);
    }
  }

  [[nodiscard]] std::vector<Atom> choose(const RandomFeatureOptions& options, const Loss& loss,
                                         int threads = 2) const {
    const SingleThreadedBlas blas;
    Workers workers(threads);
    return choose_random_features(
        {rows, is_for_numbers(loss) ? numbers : classes, loss,
         is_for_numbers(loss) ? Intercept::kNone : Intercept::kUnpenalised, workers},
        options);
  }

  // sum_n y_n cos(<w, x_n> + b) of the first candidates; the target less `shift`.
  [[nodiscard]] std::vector<double> correlations(Index count, std::uint64_t seed,
                                                 const std::vector<double>& target, double shift) const {
    const FourierDirections drawn = draw(count, seed);
    std::vector<double> sums;
    for (Index j = 0; j < count; ++j) {
      double& sum = sums.emplace_back(0);
      for (Index n = 0; n < x.rows; ++n) {
        double projection = drawn.phases[static_cast<std::size_t>(j)];
        for (Index i = 0; i < kInputs; ++i) projection += drawn.frequencies(j, i) * x(n, i);
        sum += (target[static_cast<std::size_t>(n)] - shift) * std::cos(projection);
      }
    }
    return sums;
  }
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Positions from the largest absolute value on.
std::vector<Index> by_size(const std::vector<double>& values) {
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return std::abs(values[static_cast<std::size_t>(a)]) > std::abs(values[static_cast<std::size_t>(b)]);
  });
  return order;
}

// The drawn feature as an atom with this factor under the root.
Atom drawn_atom(Index candidate, std::uint64_t seed, double nu) {
  const FourierDirections drawn = draw(candidate + 1, seed);
  Atom atom{"fourier", nu, {}, {}, {drawn.phases.back()}};
  atom.parameters.insert(atom.parameters.end(), drawn.frequencies.row(candidate),
                         drawn.frequencies.row(candidate) + kInputs);
  return atom;
}

TEST(RandomFeatures, RksTakesTheFrontOfTheDrawnList) {
  const Setting setting;
  const std::vector<Atom> atoms = setting.choose({paper::Method::kRks, 30, 0, kSigma, 9}, squared_loss());
  ASSERT_EQ(atoms.size(), 30U);
  for (Index j = 0; j < 30; ++j) EXPECT_EQ(atoms[static_cast<std::size_t>(j)], drawn_atom(j, 9, 1));
  const std::vector<Atom> fewer = setting.choose({paper::Method::kRks, 10, 0, kSigma, 9}, logistic_loss());
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), atoms.begin()));
}

TEST(RandomFeatures, EerfTakesTheLargestCorrelations) {
  const Setting setting;
  for (const Loss* loss : {&squared_loss(), &logistic_loss()}) {
    SCOPED_TRACE(loss->name());
    const std::vector<double>& target = is_for_numbers(*loss) ? setting.numbers : setting.classes;
    const double shift = is_for_numbers(*loss) ? 0 : mean(target);
    const std::vector<Index> expected = by_size(setting.correlations(200, 9, target, shift));
    const std::vector<Atom> atoms = setting.choose({paper::Method::kEerf, 20, 200, kSigma, 9}, *loss);
    ASSERT_EQ(atoms.size(), 20U);
    for (std::size_t k = 0; k < atoms.size(); ++k) EXPECT_EQ(atoms[k], drawn_atom(expected[k], 9, 1)) << k;
  }
  // Centring changes the choice here, so the test above tells the two apart.
  std::vector<Index> raw = by_size(setting.correlations(200, 9, setting.classes, 0));
  std::vector<Index> centred = by_size(setting.correlations(200, 9, setting.classes, mean(setting.classes)));
  raw.resize(20);
  centred.resize(20);
  EXPECT_NE(raw, centred);
}

TEST(RandomFeatures, LkrfScalesByTheAlignmentWeights) {
  const Setting setting;
  for (const Loss* loss : {&squared_loss(), &logistic_loss()}) {
    SCOPED_TRACE(loss->name());
    const std::vector<double>& target = is_for_numbers(*loss) ? setting.numbers : setting.classes;
    const std::vector<double> sums =
        setting.correlations(400, 9, target, is_for_numbers(*loss) ? 0 : mean(target));
    std::vector<double> scores(sums);
    for (double& score : scores) score *= score;
    const std::vector<double> q = alignment_weights(scores, 0.005 * 400);
    const std::vector<Index> expected = by_size(sums);
    const std::vector<Atom> atoms = setting.choose({paper::Method::kLkrf, 15, 400, kSigma, 9}, *loss);
    ASSERT_EQ(atoms.size(), 15U);
    for (std::size_t k = 0; k < atoms.size(); ++k) {
      const double weight = q[static_cast<std::size_t>(expected[k])];
      EXPECT_NEAR(atoms[k].nu, weight, 1e-8 * weight);
      EXPECT_EQ(atoms[k], drawn_atom(expected[k], 9, atoms[k].nu)) << k;
      // The value of the feature has the root of the weight as its factor.
      const double* x = setting.x.row(7);
      EXPECT_NEAR(reference::atom_value(atoms[k], x, kInputs),
                  std::sqrt(weight) * reference::atom_value(drawn_atom(expected[k], 9, 1), x, kInputs), 1e-9);
    }
    // Candidates without weight are no features, however many are asked for.
    const auto positive = std::count_if(q.begin(), q.end(), [](double w) { return w > 0; });
    if (is_for_numbers(*loss)) {
      EXPECT_LT(positive, 400);
    }
    EXPECT_EQ(static_cast<std::ptrdiff_t>(
                  setting.choose({paper::Method::kLkrf, 400, 400, kSigma, 9}, *loss).size()),
              positive);
  }
}

TEST(RandomFeatures, AreAFunctionOfTheSeedForAnyThreads) {
  const Setting setting;
  for (const paper::Method method : {paper::Method::kRks, paper::Method::kEerf, paper::Method::kLkrf}) {
    SCOPED_TRACE(static_cast<int>(method));
    const auto choose = [&](std::uint64_t seed, int threads) {
      return setting.choose({method, 12, 150, kSigma, seed}, logistic_loss(), threads);
    };
    const std::vector<Atom> first = choose(3, 1);
    EXPECT_EQ(choose(3, 1), first);
    EXPECT_EQ(choose(3, 2), first);
    EXPECT_EQ(choose(3, 5), first);
    EXPECT_NE(choose(4, 1), first);
  }
}

}  // namespace
}  // namespace mfga
