// The number of terms that held-out rows choose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

// Two bumps and a slope; with noise there is nothing more to be found.
struct Table {
  explicit Table(Index rows, double noise = 0.3) : x(rows, 3) {
    const CounterRandom random(7, RandomStream::kGeneratorInputs);
    for (Index n = 0; n < rows; ++n) {
      const auto at = [&](Index j) { return random.normal(static_cast<std::uint64_t>(4 * n + j)); };
      for (Index j = 0; j < 3; ++j) x(n, j) = at(j);
      y.push_back(x(n, 0) + std::exp(-2 * x(n, 1) * x(n, 1)) + noise * at(3));
    }
  }
  [[nodiscard]] TrainingData data() const { return {.x = x.view(), .y = y}; }
  Matrix x;
  std::vector<double> y;
};

const TriedSize& chosen_size(const FitReport& report) {
  return *std::ranges::find(report.sizes, true, &TriedSize::is_chosen);
}

TEST(Size, HeldOutRowsChooseASmallModelWhereThereIsLittleToLearn) {
  const Table table(1500);
  const FitResult result = fit(table.data());
  ASSERT_FALSE(result.report.sizes.empty());
  EXPECT_EQ(std::ranges::count(result.report.sizes, true, &TriedSize::is_chosen), 1);
  EXPECT_LE(result.model.terms.size(), 20U);
  EXPECT_LE(std::ssize(result.model.terms), chosen_size(result.report).terms);
  EXPECT_LT(result.model.training.risk, 0.1);  // the squared noise is 0.09
}

TEST(Size, TheBestIsNeverWorseThanTheSmallestWithinAnError) {
  const Table table(1500);
  FitOptions options;
  const FitResult small = fit(table.data(), options);
  options.choose = SizeChoice::kBest;
  const FitResult best = fit(table.data(), options);
  const TriedSize& of_best = chosen_size(best.report);
  const TriedSize& of_small = chosen_size(small.report);
  EXPECT_LE(of_small.terms, of_best.terms);
  EXPECT_LE(of_small.held_out, of_best.held_out + of_best.standard_error);
  for (const TriedSize& size : best.report.sizes) EXPECT_GE(size.held_out, of_best.held_out);
}

TEST(Size, IsChosenWithoutTuningAsWell) {
  const Table table(600);
  FitOptions options;
  options.tune = Tuning::none();
  options.features = "linear + step(knots=20) + hinge(knots=20)";
  const FitResult result = fit(table.data(), options);
  const TriedSize& chosen = chosen_size(result.report);
  EXPECT_EQ(std::ssize(result.model.terms), chosen.terms);
  EXPECT_LT(chosen.terms, 60);
  options.ridge = 0.5;  // a ridge that is given stays
  const FitResult given = fit(table.data(), options);
  EXPECT_EQ(given.model.training.ridge, 0.5);
  EXPECT_FALSE(given.report.sizes.empty());
}

TEST(Size, ANumberThatIsGivenStays) {
  const Table table(600);
  FitOptions options;
  options.terms = 7;
  options.tune = Tuning::none();
  const FitResult result = fit(table.data(), options);
  EXPECT_EQ(result.model.terms.size(), 7U);
  EXPECT_TRUE(result.report.sizes.empty());
}

TEST(Size, IsTheUsualOneWhereNoRowsCanBeHeldOut) {
  const Table table(30);
  const FitResult result = fit(table.data(), {.features = "linear + step(knots=20) + hinge(knots=20)"});
  EXPECT_TRUE(result.report.sizes.empty());
  EXPECT_LE(result.model.terms.size(), 40U);
}

TEST(Size, ThreadsDoNotChangeIt) {
  const Table table(700);
  std::vector<FitResult> results;
  for (const int threads : {1, 2}) results.push_back(fit(table.data(), {.threads = threads}));
  EXPECT_EQ(model_to_json(results[0].model), model_to_json(results[1].model));
}

}  // namespace
}  // namespace mfga
