#include "mfga/statistics.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "model/statistics_samples.hpp"
#include "solve/dealt_folds.hpp"

namespace mfga {
namespace {

TEST(Statistics, GiveTheModelOfTheGramEngine) {
  const NoisySample sample(2100);
  for (const std::string features :
       {"linear + polynomial(degree=2, offset=0) + hinge(knots=5)", "gaussian(order=2)",
        "linear + landmark(count=40) + step(knots=9)", "nystrom(count=30) + linear"}) {
    SCOPED_TRACE(features);
    const Statistics statistics = statistics_of(sample.data(), with_features(features));
    const FitResult expected = fit_by_gram(sample.data(), some_terms(), features);
    const FitResult found = statistics.fit(some_terms());
    expect_same_model(found.model, expected.model, 1e-9);
    EXPECT_EQ(found.report.engine, "gram");
    EXPECT_EQ(found.report.features, features);
    EXPECT_EQ(found.report.candidates, expected.report.candidates);
    EXPECT_EQ(found.report.sigmas, expected.report.sigmas);
    EXPECT_EQ(found.report.kernel_weights, expected.report.kernel_weights);
    EXPECT_EQ(found.model.training.rows, 2100);
    EXPECT_NEAR(found.model.training.risk, expected.model.training.risk, 1e-10);
    ASSERT_EQ(found.report.path.size(), expected.report.path.size());
    EXPECT_EQ(found.report.path.back().added, expected.report.path.back().added);
  }
}

TEST(Statistics, GiveItWithOtherOptionsOfASearch) {
  NoisySample sample(1500);
  for (double& y : sample.y) y += 100;  // a mean that matters
  const Statistics statistics = statistics_of(sample.data());
  const auto expect_same = [&](const std::string& name, const std::string& value) {
    SCOPED_TRACE(name + "=" + value);
    AllOptions options;
    static_cast<FitOptions&>(options) = some_terms();
    set(options, name, value);
    expect_same_model(statistics.fit(options).model, fit_by_gram(sample.data(), options).model, 1e-9);
  };
  expect_same("select", "gradient");
  expect_same("intercept", "no");
  expect_same("refine", "yes");
}

TEST(Statistics, KnowWeightsAndMissingValues) {
  NoisySample sample(900);
  for (Index i = 0; i < 100; ++i) sample.x(9 * i, 2) = std::nan("");
  std::vector<double> weights;
  for (std::size_t n = 0; n < sample.y.size(); ++n) weights.push_back(static_cast<double>(n % 4));
  TrainingData data = sample.data();
  data.weights = weights;
  const FitResult found = statistics_of(data).fit(some_terms());
  const FitResult expected = fit_by_gram(data, some_terms());
  expect_same_model(found.model, expected.model, 1e-9);
  for (std::size_t j = 0; j < found.model.inputs.size(); ++j)
    EXPECT_EQ(found.model.inputs[j].missing, expected.model.inputs[j].missing);
  EXPECT_EQ(found.model.training.rows, expected.model.training.rows);
}

TEST(Statistics, RowsWithoutWeightAreNotThere) {
  const NoisySample sample(600);
  const Statistics empty(sample.data(), with_features());
  Statistics with(empty);
  Statistics without(empty);
  std::vector<double> weights(600, 1.0);
  std::fill(weights.begin() + 200, weights.begin() + 300, 0.0);
  with.update(sample.x.view(), sample.y, weights);
  const TableView parts[] = {rows_of(sample.x, 0, 200), rows_of(sample.x, 300, 300)};
  std::vector<double> y(sample.y.begin(), sample.y.begin() + 200);
  y.insert(y.end(), sample.y.begin() + 300, sample.y.end());
  without.update(TableView::of_pieces(parts), y, std::vector<double>(500, 1.0));
  EXPECT_EQ(with.to_bytes(), without.to_bytes());
  EXPECT_EQ(with.rows(), 500);
}

TEST(Statistics, DoNotDependOnHowRowsAreBatched) {
  const NoisySample sample(3000);
  const Statistics empty({.x = rows_of(sample.x, 0, 300), .y = std::span(sample.y).first(300)},
                         with_features());
  Statistics at_once(empty);
  at_once.update(sample.x.view(), sample.y);
  Statistics in_batches(empty);
  Index first = 0;
  for (const Index count : {1, 299, 700, 13, 1987}) {
    in_batches.update(
        rows_of(sample.x, first, count),
        std::span(sample.y).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    first += count;
  }
  ASSERT_EQ(first, 3000);
  EXPECT_EQ(in_batches.rows(), at_once.rows());
  expect_same_model(in_batches.fit(some_terms()).model, at_once.fit(some_terms()).model, 1e-11);
  // So do the choices by folds, for a row's fold depends on its position alone.
  const FitResult chosen = in_batches.fit();
  const FitResult expected = at_once.fit();
  expect_same_model(chosen.model, expected.model, 1e-10);
  for (std::size_t i = 0; i < expected.cross_validation->mean.values.size(); ++i)
    EXPECT_NEAR(chosen.cross_validation->mean.values[i], expected.cross_validation->mean.values[i], 1e-11);
}

TEST(Statistics, MergeToTheSameBitsInAnyGrouping) {
  const NoisySample sample(1000);
  const Statistics empty(sample.data(), with_features());
  std::vector<Statistics> parts;
  for (Index part = 0; part < 4; ++part) {
    Statistics& own = parts.emplace_back(empty);
    own.update(rows_of(sample.x, 250 * part, 250),
               std::span(sample.y).subspan(static_cast<std::size_t>(250 * part), 250));
  }
  const auto merged = [](Statistics a, const Statistics& b) {
    a.merge(b);
    return a;
  };
  const std::string one_by_one = merged(merged(merged(parts[0], parts[1]), parts[2]), parts[3]).to_bytes();
  EXPECT_EQ(merged(merged(parts[0], parts[1]), merged(parts[2], parts[3])).to_bytes(), one_by_one);
  EXPECT_EQ(merged(parts[3], merged(merged(parts[2], parts[0]), parts[1])).to_bytes(), one_by_one);
  EXPECT_EQ(merged(merged(empty, parts[1]), merged(merged(parts[3], parts[2]), parts[0])).to_bytes(),
            one_by_one);

  const Statistics all = Statistics::from_bytes(one_by_one, "bytes");
  EXPECT_EQ(all.rows(), 1000);
  expect_same_model(all.fit(some_terms()).model, fit_by_gram(sample.data(), some_terms()).model, 1e-9);
}

TEST(Statistics, DoNotDependOnThreads) {
  const NoisySample sample(1300);
  FitOptions options = with_features();
  options.threads = 1;
  const Statistics one = statistics_of(sample.data(), options);
  options.threads = 3;
  const Statistics three = statistics_of(sample.data(), options);
  EXPECT_EQ(one.to_bytes(), three.to_bytes());
  EXPECT_EQ(model_to_json(one.fit().model), model_to_json(three.fit().model));
}

TEST(Statistics, RefuseToMergeWhatDiffers) {
  const NoisySample sample(300);
  Statistics own(sample.data(), with_features());
  const auto message = [&](const TrainingData& data, const FitOptions& options) {
    return error_of_call([&] { own.merge(Statistics(data, options)); });
  };
  TrainingData data = sample.data();
  data.columns = {"a", "b", "c", "d"};
  EXPECT_NE(message(data, with_features()).find("their columns"), std::string::npos);
  data = sample.data();
  data.target_name = "price";
  EXPECT_NE(message(data, with_features()).find("their target"), std::string::npos);
  data = {.x = rows_of(sample.x, 0, 200), .y = std::span(sample.y).first(200)};
  EXPECT_NE(message(data, with_features()).find("their scales"), std::string::npos);
  EXPECT_NE(message(sample.data(), with_features("linear + hinge(knots=4)")).find("their dictionary"),
            std::string::npos);
  FitOptions options = with_features();
  options.ridge = Ridge::cross_validated({.folds = 4});
  EXPECT_NE(message(sample.data(), options).find("their folds"), std::string::npos);
  own.merge(Statistics(sample.data(), with_features()));
}

TEST(Statistics, CrossValidateAsFitsOfTheOtherRowsWould) {
  const NoisySample sample(400);
  const Index folds = 4;
  FitOptions made = with_features();
  made.ridge = Ridge::cross_validated({.folds = folds});
  made.seed = 3;
  const Statistics empty(sample.data(), made);
  Statistics all(empty);
  all.update(sample.x.view(), sample.y);
  FitOptions options;
  options.terms = 6;
  options.ridge =
      Ridge::cross_validated({.folds = 99, .ridges = {0.1, 10}});  // the folds are those of the sums
  const FitResult found = all.fit(options);
  ASSERT_TRUE(found.cross_validation);
  EXPECT_EQ(found.cross_validation->folds, folds);
  DealtFolds dealt(folds, 3);
  for (Index ridge = 0; ridge < 2; ++ridge) {
    double mean = 0;
    for (Index fold = 0; fold < folds; ++fold) {
      std::vector<double> held_out(sample.y.size());
      std::vector<double> learned_from(sample.y.size());
      for (std::size_t n = 0; n < sample.y.size(); ++n) {
        const bool is_own = dealt.of(static_cast<Index>(n)) == fold;
        (is_own ? held_out : learned_from)[n] = 1;
      }
      Statistics others(empty);
      others.update(sample.x.view(), sample.y, learned_from);
      FitOptions fixed = some_terms(6);
      fixed.ridge = ridge == 0 ? 0.1 : 10;
      const std::vector<double> predicted = others.fit(fixed).model.predict(sample.x.view());
      double sum = 0;
      for (std::size_t n = 0; n < predicted.size(); ++n)
        sum += held_out[n] * (predicted[n] - sample.y[n]) * (predicted[n] - sample.y[n]);
      mean += sum / std::accumulate(held_out.begin(), held_out.end(), 0.0) / folds;
    }
    EXPECT_NEAR(found.cross_validation->mean(ridge, 5), mean, 1e-9) << ridge;
  }
}

TEST(Statistics, ChooseRidgeAndSize) {
  const NoisySample sample(2000);
  const NoisySample test(2000);
  const FitResult result = statistics_of(sample.data(), {}).fit();
  ASSERT_TRUE(result.cross_validation);
  EXPECT_EQ(result.cross_validation->folds, 5);
  EXPECT_FALSE(result.report.sizes.empty());
  EXPECT_GE(result.model.terms.size(), 2);
  EXPECT_LT(result.model.terms.size(), 60);
  EXPECT_EQ(result.model.training.ridge, result.cross_validation->chosen.ridge);
  // The variance of the noise is 0.03 if it is uniform in [-1, 1], and that of the target some 0.4.
  EXPECT_LT(result.model.training.risk, 0.12);
  // Too few rows to hold some out.
  const NoisySample few(40);
  const FitResult small = statistics_of(few.data(), with_features("linear")).fit();
  EXPECT_FALSE(small.cross_validation);
  EXPECT_EQ(small.model.training.ridge, 1);
}

TEST(Statistics, HaveADictionaryOfTheirOwnOfSomeThousandAtMost) {
  const NoisySample sample(500);
  const Statistics few(sample.data());
  EXPECT_EQ(few.features(), "linear + polynomial(degree=2, offset=0) + hinge(knots=32)");
  for (const Index columns : {1, 30, 90, 600}) {
    const Matrix x = reference::random_matrix(200, columns, 1);
    const std::vector<double> y = reference::random_vector(200, 2);
    const Statistics statistics({.x = x.view(), .y = y});
    EXPECT_LE(statistics.candidates(), 1000) << statistics.features();
    EXPECT_GE(statistics.candidates(), columns);
  }
}

TEST(Statistics, RefuseWhatNeedsRows) {
  const NoisySample sample(200);
  const Statistics statistics = statistics_of(sample.data());
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"tune", "20"},
                                                        {"penalty", "logcosh"},
                                                        {"metric", "diagonal"},
                                                        {"search", "htp"},
                                                        {"nu", "norm"},
                                                        {"select", "normalised"},
                                                        {"engine", "lazy"},
                                                        {"loss", "huber"},
                                                        {"task", "classification"}}) {
    SCOPED_TRACE(name);
    AllOptions options;
    set(options, name, value);
    for (const std::string& message :
         {error_of_call([&] { static_cast<void>(statistics.fit(options)); }),
          error_of_call([&] { static_cast<void>(Statistics(sample.data(), options)); })}) {
      EXPECT_NE(message.find("`" + name), std::string::npos) << message;
      EXPECT_NE(message.find("the rows"), std::string::npos) << message;
    }
  }
  FitOptions other = some_terms();
  other.features = "linear";
  EXPECT_NE(error_of_call([&] { static_cast<void>(statistics.fit(other)); }).find("`features`"),
            std::string::npos);
  const Statistics empty(sample.data());
  EXPECT_NE(error_of_call([&] { static_cast<void>(empty.fit()); }).find("0 rows"), std::string::npos);
}

TEST(Statistics, RefuseTargetsTheyAreNotFor) {
  const NoisySample classes(100, true);
  EXPECT_NE(error_of_call([&] { static_cast<void>(Statistics(classes.data())); }).find("`task=regression`"),
            std::string::npos);
  FitOptions options;
  options.task = Task::kRegression;
  EXPECT_EQ(statistics_of(classes.data(), options).rows(), 100);
  const NoisySample sample(100);
  TrainingData data = sample.data();
  std::vector<double> two(sample.y);
  two.insert(two.end(), sample.y.begin(), sample.y.end());
  data.y = two;
  data.target_names = {"a", "b"};
  EXPECT_NE(error_of_call([&] { static_cast<void>(Statistics(data)); }).find("one target"),
            std::string::npos);
}

TEST(Statistics, StayWithinTheMemoryLimit) {
  const NoisySample sample(200);
  FitOptions options = with_features("linear + step(knots=100) + hinge(knots=100)");
  options.memory_limit = 10;
  const std::string message = error_of_call([&] { static_cast<void>(Statistics(sample.data(), options)); });
  EXPECT_NE(message.find("`features`"), std::string::npos) << message;
  EXPECT_NE(message.find("the limit is 10.0 MiB"), std::string::npos) << message;
}

// An update that is refused, or broken off, leaves everything as it was.
TEST(Statistics, AreUnchangedByUpdatesThatFail) {
  const NoisySample sample(400);
  Statistics statistics = statistics_of(sample.data());
  const std::string before = statistics.to_bytes();
  const auto expect_unchanged = [&](const std::string& part, auto call) {
    const std::string message = error_of_call(call);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(statistics.to_bytes(), before) << message;
  };
  NoisySample bad(400);
  bad.x(7, 2) = std::numeric_limits<double>::infinity();
  expect_unchanged("x2 has the value inf in row 7", [&] { statistics.update(bad.x.view(), bad.y); });
  bad.x(7, 2) = 1e40;
  expect_unchanged("overflow", [&] { statistics.update(bad.x.view(), bad.y); });
  bad = NoisySample(400);
  bad.y[11] = std::nan("");
  expect_unchanged("in row 11", [&] { statistics.update(bad.x.view(), bad.y); });
  expect_unchanged("399 values", [&] { statistics.update(sample.x.view(), std::span(sample.y).first(399)); });
  const Matrix wide = reference::random_matrix(400, 5, 1);
  expect_unchanged("5 columns", [&] { statistics.update(wide.view(), sample.y); });
  std::vector<double> weights(400, 1);
  weights[5] = -1;
  expect_unchanged("row 5", [&] { statistics.update(sample.x.view(), sample.y, weights); });
  for (const ProgressAction action : {ProgressAction::kAbort, ProgressAction::kStop}) {
    expect_unchanged("", [&] {
      statistics.update(sample.x.view(), sample.y, {}, {}, [&](const Progress&) { return action; });
    });
  }
  statistics.update(sample.x.view(), sample.y);
  EXPECT_NE(statistics.to_bytes(), before);
}

TEST(Statistics, TakeColumnsFromAnywhere) {
  const NoisySample sample(300);
  Matrix turned(300, 6);
  const std::vector<Index> columns = {5, 0, 3, 1};
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 4; ++j) turned(i, columns[static_cast<std::size_t>(j)]) = sample.x(i, j);
  }
  const Statistics empty(sample.data(), with_features());
  Statistics direct(empty);
  Statistics chosen(empty);
  direct.update(sample.x.view(), sample.y);
  chosen.update(turned.view(), sample.y, {}, columns);
  EXPECT_EQ(chosen.to_bytes(), direct.to_bytes());
}

TEST(Statistics, EndAFitSoonWithWhatThereIs) {
  const NoisySample sample(500);
  const Statistics statistics = statistics_of(sample.data());
  const FitResult result = statistics.fit({}, [](const Progress&) { return ProgressAction::kStop; });
  EXPECT_TRUE(result.report.stopped);
  EXPECT_FALSE(result.report.cut_short.empty());
  EXPECT_THROW(static_cast<void>(statistics.fit({}, [](const Progress&) { return ProgressAction::kAbort; })),
               Error);
  FitOptions options;
  options.time_limit = 1e-6;
  EXPECT_FALSE(statistics.fit(options).report.cut_short.empty());
}

TEST(Statistics, TakeASampleWhoseTargetIsConstant) {
  const NoisySample sample(400);
  const std::vector<double> constant(100, 3.0);
  Statistics statistics({.x = rows_of(sample.x, 0, 100), .y = constant}, with_features());
  statistics.update(sample.x.view(), sample.y);
  EXPECT_LT(statistics.fit(some_terms()).model.training.risk, 0.2);
}

}  // namespace
}  // namespace mfga
