#include "mfga/generate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "mfga/error.hpp"

namespace mfga {
namespace {

struct Rows {
  Matrix x;
  std::vector<double> y;
};

Rows make(const Generator& generator, Index first, Index count, int threads = 1) {
  Rows rows{Matrix(count, generator.options().inputs), {}};
  generator.make_rows(first, rows.x, rows.y, threads);
  return rows;
}

GenerateOptions small_options(Task task) {
  GenerateOptions options;
  options.task = task;
  options.inputs = 4;
  options.terms = 3;
  options.seed = 11;
  return options;
}

TEST(Generator, RowsDoNotDependOnChunksOrThreads) {
  for (const Task task : {Task::kRegression, Task::kClassification}) {
    const Generator generator(small_options(task));
    const Rows all = make(generator, 0, 1500);
    for (const int threads : {1, 2, 5}) {
      for (const Index chunk : {1500, 700, 257}) {
        for (Index first = 0; first < 1500; first += chunk) {
          const Index count = std::min(chunk, 1500 - first);
          const Rows part = make(generator, first, count, threads);
          for (Index i = 0; i < count; ++i) {
            ASSERT_EQ(part.y[static_cast<std::size_t>(i)], all.y[static_cast<std::size_t>(first + i)]);
            for (Index j = 0; j < 4; ++j) ASSERT_EQ(part.x(i, j), all.x(first + i, j));
          }
        }
      }
    }
  }
}

TEST(Generator, WithoutNoiseTargetsAreTheTruth) {
  GenerateOptions options = small_options(Task::kRegression);
  options.noise = 0;
  const Generator regression(options);
  const Rows numbers = make(regression, 100, 300);
  EXPECT_EQ(numbers.y, regression.truth().predict(numbers.x.view()));
  options.task = Task::kClassification;
  const Generator classification(options);
  const Rows classes = make(classification, 100, 300);
  EXPECT_EQ(classes.y, classification.truth().predict(classes.x.view()));
}

TEST(Generator, NoiseHasTheAskedSize) {
  GenerateOptions options = small_options(Task::kRegression);
  options.noise = 0.5;
  const Generator generator(options);
  const Rows rows = make(generator, 0, 20000);
  const std::vector<double> signal = generator.truth().predict(rows.x.view());
  const auto deviation = [](const std::vector<double>& values) {
    const double count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double square = 0;
    for (const double value : values) square += (value - mean) * (value - mean) / count;
    return std::sqrt(square);
  };
  std::vector<double> noise;
  for (std::size_t n = 0; n < signal.size(); ++n) noise.push_back(rows.y[n] - signal[n]);
  // The signal's deviation is known from 4096 rows: a relative standard error of about a percent.
  EXPECT_NEAR(deviation(noise) / deviation(signal), 0.5, 0.03);
}

TEST(Generator, InputsAreStandardNormal) {
  const Rows rows = make(Generator(small_options(Task::kRegression)), 0, 10000);
  double sum = 0;
  double square = 0;
  double fourth = 0;
  for (const double value : rows.x.values) {
    sum += value;
    square += value * value;
    fourth += value * value * value * value;
  }
  // Five standard errors for 40,000 numbers.
  EXPECT_NEAR(sum / 40000, 0, 0.025);
  EXPECT_NEAR(square / 40000, 1, 0.036);
  EXPECT_NEAR(fourth / 40000, 3, 0.25);
}

TEST(Generator, ClassesAreBalanced) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    GenerateOptions options;
    options.task = Task::kClassification;
    options.seed = seed;
    const Rows rows = make(Generator(options), 0, 2000);
    const double share = std::accumulate(rows.y.begin(), rows.y.end(), 0.0) / 2000;
    EXPECT_GT(share, 0.4) << "seed " << seed;
    EXPECT_LT(share, 0.6) << "seed " << seed;
  }
}

TEST(Generator, OtherSeedsGiveOtherRowsAndTruths) {
  GenerateOptions options = small_options(Task::kRegression);
  const Generator first(options);
  const Generator same(options);
  options.seed = 12;
  const Generator other(options);
  EXPECT_EQ(model_to_json(first.truth()), model_to_json(same.truth()));
  EXPECT_EQ(make(first, 0, 10).y, make(same, 0, 10).y);
  EXPECT_NE(model_to_json(first.truth()), model_to_json(other.truth()));
  EXPECT_NE(make(first, 0, 10).x.values, make(other, 0, 10).x.values);
}

TEST(Generator, TruthHasTheAskedTerms) {
  GenerateOptions options;
  options.inputs = 20;
  options.terms = 12;
  options.features = "gaussian(order=3, sigma=4)";
  const Generator generator(options);
  ASSERT_EQ(generator.truth().terms.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(generator.truth().terms[i].atom.family, "gaussian");
    EXPECT_NE(generator.truth().terms[i].coefficients[0], 0);
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(generator.truth().terms[i].atom == generator.truth().terms[j].atom);
  }
}

TEST(Generator, RefusesWhatItCannotMake) {
  const auto message = [](const std::function<void(GenerateOptions&)>& change) -> std::string {
    GenerateOptions options;
    change(options);
    try {
      const Generator generator(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
      return error.what();
    }
    return "no error";
  };
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(message([](GenerateOptions& options) { options.rows = 0; }), "`rows` is 0");
  expect(message([](GenerateOptions& options) { options.inputs = 0; }), "`inputs` is 0");
  expect(message([](GenerateOptions& options) { options.noise = -1; }), "`noise` is -1");
  expect(message([](GenerateOptions& options) { options.noise = NAN; }), "`noise` is nan");
  expect(message([](GenerateOptions& options) { options.features = "gaussian"; }), "sigma=auto needs data");
  expect(message([](GenerateOptions& options) { options.terms = 60; }), "`terms` is 60");
  expect(message([](GenerateOptions& options) { options.features = "gaussian(sigma=0.001)"; }),
         "are constant");
}

}  // namespace
}  // namespace mfga
