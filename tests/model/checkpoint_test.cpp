// Fits that are ended somewhere and go on from their checkpoint, with another number of threads: the model is
// that of a fit that was left alone, to the last bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "data/table_fixture.hpp"
#include "mfga/mfga.hpp"
#include "model/noisy_sample.hpp"
#include "model/plain_fit.hpp"

namespace mfga {
namespace {

// Counts what the work says; while it says nothing new, the callback is called now and then, which depends on
// the speed of the machine.
class News {
 public:
  int count(const Progress& state) {
    const std::string text = fmt::format("{} {} {} {} {}", state.phase, state.terms, state.tuning_steps,
                                         state.validated, state.risk);
    if (text != last_) ++count_;
    last_ = text;
    return count_;
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  std::string last_;
  int count_ = 0;
};

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    std::string pattern = (folder_in_memory() / "mfga_checkpoint_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    folder_ = pattern;
  }
  ~CheckpointTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "f").string(); }
  [[nodiscard]] Checkpoint checkpoint(bool resume) const {
    return {.path = path(), .every = 0, .resume = resume};
  }
  static FitResult fit_with(const TrainingData& data, AllOptions options, const ProgressCallback& progress,
                            const Checkpoint& checkpoint, int threads = 2) {
    options.threads = threads;
    return paper::fit(data, options, options, progress, nullptr, checkpoint);
  }
  // Whether it was ended by the progress with this number.
  bool is_ended_at(const TrainingData& data, const AllOptions& options, int call, bool resume,
                   FitResult* result = nullptr, int threads = 2) {
    News news;
    const auto abort = [&](const Progress& state) {
      return news.count(state) >= call ? ProgressAction::kAbort : ProgressAction::kContinue;
    };
    try {
      FitResult done = fit_with(data, options, abort, checkpoint(resume), threads);
      if (result != nullptr) *result = std::move(done);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInterrupted) << error.what();
      return true;
    }
    return false;
  }

  // Ends a fit at several places, and then one fit again and again.
  void expect_same_model(const TrainingData& data, const AllOptions& options) {
    News news;
    const auto count = [&](const Progress& state) {
      news.count(state);
      return ProgressAction::kContinue;
    };
    const FitResult whole = fit_with(data, options, count, {});
    const int calls = news.count();
    const std::string expected = model_to_json(whole.model);
    constexpr int kManyCalls = 20;  // of fewer, some may be about what is taken from the file
    int resumed = 0;
    for (const double part : {0.1, 0.35, 0.6, 0.8, 0.97}) {
      SCOPED_TRACE(part);
      std::filesystem::remove(path());
      if (!is_ended_at(data, options, std::max(1, static_cast<int>(part * calls)), false)) {
        EXPECT_GT(part, 0.7);  // how often progress is told depends a little on the clock
        continue;
      }
      const bool there_is_a_file = std::filesystem::exists(path());
      News left;
      const auto count_left = [&](const Progress& state) {
        left.count(state);
        return ProgressAction::kContinue;
      };
      const FitResult result = fit_with(data, options, count_left, checkpoint(true), 1 + resumed % 3);
      EXPECT_EQ(model_to_json(result.model), expected);
      EXPECT_FALSE(std::filesystem::exists(path()));
      EXPECT_EQ(result.report.warnings, whole.report.warnings);
      if (there_is_a_file) ++resumed;
      if (part > 0.5 && calls >= kManyCalls) {
        EXPECT_LT(left.count(), calls);
      }
    }
    EXPECT_GE(resumed, 3);
    FitResult result;
    int runs = 1;
    for (int most = std::max(2, calls / 5);
         is_ended_at(data, options, most, true, &result, 1 + runs % 3) && runs < 100; ++runs)
      most += most / 4 + 1;
    EXPECT_EQ(model_to_json(result.model), expected) << runs << " runs";
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
  }

 private:
  std::filesystem::path folder_;
};

AllOptions own_options(Index terms) {
  AllOptions options;
  options.terms = terms;
  return options;
}

AllOptions plain(Index terms, const std::string& features = "linear + hinge + gaussian(order=2)") {
  AllOptions options = plain_options();
  options.terms = terms;
  options.features = features;
  return options;
}

TEST_F(CheckpointTest, OfTheDefaults) {
  const NoisySample sample(300);
  expect_same_model(sample.data(), own_options(5));
}

TEST_F(CheckpointTest, OfAChosenNumberOfTerms) {
  const NoisySample sample(200);
  AllOptions options;
  options.features = "linear + step";
  expect_same_model(sample.data(), options);
}

TEST_F(CheckpointTest, OfTwoClasses) {
  const NoisySample sample(300, true);
  expect_same_model(sample.data(), own_options(4));
}

TEST_F(CheckpointTest, OfSeveralClasses) {
  NoisySample sample(300);
  for (double& y : sample.y) y = y < 0.3 ? 0 : y < 1.2 ? 1 : 2;
  TrainingData data = sample.data();
  data.labels = {"low", "mid", "far"};
  AllOptions options = own_options(4);
  options.features = "linear + hinge";
  expect_same_model(data, options);
}

TEST_F(CheckpointTest, OfSeveralTargets) {
  NoisySample sample(300);
  for (Index i = 0; i < 300; ++i) sample.y.push_back(sample.x(i, 3) + sample.y[static_cast<std::size_t>(i)]);
  TrainingData data = sample.data();
  data.target_names = {"a", "b"};
  expect_same_model(data, plain(12));
}

TEST_F(CheckpointTest, OfAThoroughFit) {
  const NoisySample sample(200);
  AllOptions options = own_options(4);
  options.effort = Effort::kThorough;
  options.features = "linear + fourier(count=20)";
  expect_same_model(sample.data(), options);
}

TEST_F(CheckpointTest, OfSteps) {
  const NoisySample sample(500);
  for (const std::string features : {"linear + hinge + gaussian(order=2)", "linear + nystrom(count=30)"})
    expect_same_model(sample.data(), plain(20, features));
  for (const std::string select : {"gradient", "normalised"}) {
    AllOptions options = plain(20);
    set(options, "select", select);
    options.per_step = 1;
    expect_same_model(sample.data(), options);
  }
}

TEST_F(CheckpointTest, OfStepsOfOtherLosses) {
  const NoisySample classes(400, true);
  expect_same_model(classes.data(), plain(15));
  NoisySample sample(400);
  AllOptions options = plain(15);
  options.loss = "huber";
  expect_same_model(sample.data(), options);
  options = plain(10);
  options.penalty = PenaltyKind::kLogCosh;
  expect_same_model(sample.data(), options);
}

TEST_F(CheckpointTest, OfOtherSearches) {
  const NoisySample sample(300);
  AllOptions options = plain(12);
  options.search = Search::kHardThresholding;
  expect_same_model(sample.data(), options);
  options = plain(12);
  options.refine = true;
  expect_same_model(sample.data(), options);
  const NoisySample classes(300, true);
  expect_same_model(classes.data(), options);
}

TEST_F(CheckpointTest, OfARidgeByCrossValidation) {
  const NoisySample sample(300);
  AllOptions options = plain(8);
  options.ridge = Ridge::cross_validated({.folds = 3, .ridges = {0.01, 1, 100}});
  options.engine = EngineKind::kGram;
  expect_same_model(sample.data(), options);
  options.engine = EngineKind::kLazy;
  expect_same_model(sample.data(), options);
  const NoisySample classes(300, true);
  expect_same_model(classes.data(), options);
}

TEST_F(CheckpointTest, OfTuningByGivenSteps) {
  const NoisySample sample(300);
  AllOptions options = plain(9, "linear + fourier(count=30)");
  options.tune = Tuning::by_steps(5);
  options.tune_every = 3;
  expect_same_model(sample.data(), options);
}

TEST_F(CheckpointTest, OfALearnedMetric) {
  const NoisySample sample(300);
  for (const Metric metric : {Metric::kDiagonal, Metric::kFull}) {
    AllOptions options = plain(6, "linear + fourier(count=40)");
    options.metric = metric;
    expect_same_model(sample.data(), options);
  }
}

TEST_F(CheckpointTest, OfWeightsOfKernels) {
  const NoisySample sample(300);
  AllOptions options = plain(6);
  options.nu = KernelWeights::kCrossValidated;
  options.select = Selection::kGradient;
  expect_same_model(sample.data(), options);
}

TEST_F(CheckpointTest, OfAModelToStartFrom) {
  const NoisySample sample(300);
  const Model start = fit(sample.data(), plain(4)).model;
  AllOptions options = plain(14);
  options.start = &start;
  expect_same_model(sample.data(), options);
}

TEST_F(CheckpointTest, OfThePapersMethods) {
  const NoisySample sample(300);
  AllOptions options = plain_options();
  options.terms = 10;
  options.method = paper::Method::kEerf;
  options.ridge = Ridge::cross_validated({.folds = 3, .ridges = {0.01, 1}});
  expect_same_model(sample.data(), options);
  options = plain(10);
  options.norm_bound = 2;
  options.ridge = Ridge::automatic();
  expect_same_model(sample.data(), options);
}

TEST_F(CheckpointTest, OfAFitWithTimeEnough) {
  const NoisySample sample(200);
  AllOptions options = own_options(4);
  options.features = "linear + hinge";
  options.time_limit = 100000;
  expect_same_model(sample.data(), options);
}

// A stop gives a model, and the fit can go on to the whole one.
TEST_F(CheckpointTest, StaysAfterAStop) {
  const NoisySample sample(300);
  const AllOptions options = own_options(5);
  News all;
  const auto count = [&](const Progress& state) {
    all.count(state);
    return ProgressAction::kContinue;
  };
  const std::string expected = model_to_json(fit_with(sample.data(), options, count, {}).model);
  for (const double part : {0.3, 0.6, 0.9}) {
    News news;
    const auto stop = [&](const Progress& state) {
      return news.count(state) >= part * all.count() ? ProgressAction::kStop : ProgressAction::kContinue;
    };
    const FitResult stopped = fit_with(sample.data(), options, stop, checkpoint(false));
    ASSERT_TRUE(stopped.report.stopped) << part;
    ASSERT_TRUE(std::filesystem::exists(path())) << part;
    const FitResult resumed = fit_with(sample.data(), options, {}, checkpoint(true), 1);
    EXPECT_EQ(model_to_json(resumed.model), expected) << part;
    EXPECT_GT(resumed.report.resumed_seconds, 0);
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
}

TEST_F(CheckpointTest, IsRefusedWhereTheFitIsAnotherOne) {
  const NoisySample sample(200);
  const AllOptions options = plain(8);
  ASSERT_TRUE(is_ended_at(sample.data(), options, 12, false));
  ASSERT_TRUE(std::filesystem::exists(path()));
  const auto message = [&](const TrainingData& data, const AllOptions& other) -> std::string {
    try {
      static_cast<void>(fit_with(data, other, {}, checkpoint(true)));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const auto expect_part = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find("what differs: " + part + ". "), std::string::npos) << text;
  };
  AllOptions other = options;
  other.terms = 9;
  expect_part(message(sample.data(), other), "`terms` (8 there, 9 here)");
  other = options;
  other.seed = 3;
  expect_part(message(sample.data(), other), "`seed` (0 there, 3 here)");
  other = options;
  other.norm_bound = 5;
  other.ridge = Ridge::automatic();
  EXPECT_NE(message(sample.data(), other).find("`norm_bound` (0 there, 5 here)"), std::string::npos);
  NoisySample changed = sample;
  changed.x(7, 2) = std::nextafter(changed.x(7, 2), 10);
  expect_part(message(changed.data(), options), "the numbers of the table");
  changed = sample;
  changed.y[100] += 1e-9;
  expect_part(message(changed.data(), options), "the targets");
  TrainingData data = sample.data();
  const std::vector<double> weights(200, 1.0);
  data.weights = weights;
  expect_part(message(data, options), "the weights");
  data = sample.data();
  data.columns = {"a", "b", "c", "d"};
  expect_part(message(data, options), "the names of the columns");
  const NoisySample more(201);
  EXPECT_NE(message(more.data(), options).find("the number of rows (200 there, 201 here)"),
            std::string::npos);
  // Where and how long it is computed may differ; and what lies behind the numbers.
  other = options;
  other.memory_limit = 900;
  other.time_limit = 1e6;
  const std::vector<TableView> parts = {TableView(sample.x.view().middle_rows(0, 50)),
                                        TableView(sample.x.view().middle_rows(50, 150))};
  data = sample.data();
  data.x = TableView::of_pieces(parts);
  EXPECT_EQ(model_to_json(fit_with(data, other, {}, checkpoint(true), 3).model),
            model_to_json(fit(sample.data(), options).model));
}

TEST_F(CheckpointTest, MayStayUntilTheModelIsSaved) {
  const NoisySample sample(200);
  Checkpoint kept = checkpoint(false);
  kept.keep = true;
  const FitResult first = fit_with(sample.data(), plain(8), {}, kept);
  ASSERT_TRUE(std::filesystem::exists(path()));
  kept.resume = true;
  const FitResult again = fit_with(sample.data(), plain(8), {}, kept);
  EXPECT_EQ(model_to_json(again.model), model_to_json(first.model));
  kept.remove();
  EXPECT_FALSE(std::filesystem::exists(path()));
  kept.remove();
}

}  // namespace
}  // namespace mfga
