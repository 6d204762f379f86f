// What becomes of a fit whose caller wants it to end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "mfga/mfga.hpp"
#include "model/noisy_sample.hpp"
#include "model/plain_fit.hpp"

namespace mfga {
namespace {

struct Sample : NoisySample {
  explicit Sample(bool classes = false) : NoisySample(300, classes) {}
};

// What is being done, as far as the work itself says so. While it says nothing new, the callback is called
// now and then with the state it knows, which depends on the speed of the machine.
class Watch {
 public:
  // A word for what is being done; empty if nothing new is said.
  std::string phase_of(const Progress& state) {
    const std::string text = fmt::format("{} {} {} {} {}", state.phase, state.terms, state.tuning_steps,
                                         state.validated, state.risk);
    if (text == last_ || state.phase == "preparing") return "";
    last_ = text;
    if (state.validated < 1) return "validation";
    return state.phase.empty() ? "fit" : state.phase;
  }

 private:
  std::string last_;
};

std::set<std::string> phases_of(const TrainingData& data, const AllOptions& options) {
  std::set<std::string> phases;
  static_cast<void>(fit(data, options, [&, watch = Watch()](const Progress& state) mutable {
    if (const std::string phase = watch.phase_of(state); !phase.empty()) phases.insert(phase);
    return ProgressAction::kContinue;
  }));
  return phases;
}

TEST(Stop, EveryPhaseEndsSoonWithAModelOrAnError) {
  for (const bool classes : {false, true}) {
    const Sample sample(classes);
    AllOptions options;
    options.terms = 4;
    const std::set<std::string> phases = phases_of(sample.data(), options);
    EXPECT_GE(phases.size(), 5U);
    for (const std::string& phase : phases) {
      int news = 0;  // since the phase was reached
      const auto at_phase = [&](ProgressAction action) {
        return [&, action, watch = Watch()](const Progress& state) mutable {
          const std::string current = watch.phase_of(state);
          if (news > 0 && !current.empty()) ++news;
          if (current != phase) return ProgressAction::kContinue;
          news = std::max(news, 1);
          return action;
        };
      };
      const FitResult stopped = fit(sample.data(), options, at_phase(ProgressAction::kStop));
      EXPECT_TRUE(stopped.report.stopped) << phase;
      EXPECT_FALSE(stopped.report.cut_short.empty()) << phase;
      for (const double score : stopped.model.scores(sample.x.view())) EXPECT_TRUE(std::isfinite(score));
      EXPECT_EQ(model_from_json(model_to_json(stopped.model), "saved").terms.size(),
                stopped.model.terms.size());
      EXPECT_LT(news, 10) << phase;  // little is done after it
      news = 0;
      try {
        static_cast<void>(fit(sample.data(), options, at_phase(ProgressAction::kAbort)));
        ADD_FAILURE() << phase;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
      }
      EXPECT_EQ(news, 1) << phase;
    }
  }
}

TEST(Stop, KeepsTheStepsOfASearch) {
  const Sample sample;
  AllOptions options = plain_options();
  options.terms = 20;
  const FitResult whole = fit(sample.data(), options);
  const FitResult stopped = fit(sample.data(), options, [](const Progress& state) {
    return state.phase.empty() && state.terms >= 5 ? ProgressAction::kStop : ProgressAction::kContinue;
  });
  EXPECT_TRUE(stopped.report.stopped);
  EXPECT_FALSE(whole.report.stopped);
  ASSERT_EQ(stopped.model.terms.size(), 5U);
  for (std::size_t i = 0; i < stopped.model.terms.size(); ++i)
    EXPECT_EQ(stopped.report.path[i].added, whole.report.path[i].added);
}

TEST(Stop, KeepsTheTermsOfEverySearch) {
  const Sample sample;
  AllOptions options = plain_options();
  options.features = "linear + hinge(knots=9) + gaussian(order=2, sigma=2)";
  options.terms = 12;
  const auto stopped_after = [&](int calls) {
    return fit(sample.data(), options, [left = calls](const Progress& state) mutable {
      if (state.terms == 0) return ProgressAction::kContinue;
      return --left > 0 ? ProgressAction::kContinue : ProgressAction::kStop;
    });
  };
  options.refine = true;
  EXPECT_EQ(stopped_after(12).model.terms.size(), 12U);  // as the swaps begin
  EXPECT_EQ(stopped_after(5).model.terms.size(), 5U);
  options.refine = false;
  options.search = Search::kHardThresholding;
  EXPECT_EQ(stopped_after(2).model.terms.size(), 12U);
  options.search = Search::kGreedy;
  options.tune = Tuning::by_steps(3);
  options.tune_every = 3;
  EXPECT_GE(stopped_after(12).model.terms.size(), 3U);
}

TEST(Stop, ModelsOfSomeRowsAreKeptWhereThereIsNoOther) {
  const Sample sample;
  AllOptions options;
  options.terms = 6;
  const FitResult stopped = fit(sample.data(), options, [](const Progress& state) {
    return state.phase.find("tuning") != std::string::npos ? ProgressAction::kStop
                                                           : ProgressAction::kContinue;
  });
  EXPECT_GT(stopped.model.terms.size(), 0U);
  EXPECT_GT(regression_metrics(stopped.model.predict(sample.x.view()), sample.y).r2.value(), 0.5);
}

TEST(Stop, TheCallbackRunsOnTheCallingThreadAndWhatItThrowsArrives) {
  const Sample sample;
  AllOptions options;
  options.terms = 6;
  options.threads = 3;
  const std::thread::id here = std::this_thread::get_id();
  static_cast<void>(fit(sample.data(), options, [&](const Progress&) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    return ProgressAction::kContinue;
  }));
  EXPECT_THROW(
      static_cast<void>(fit(sample.data(), plain_options(),
                            [](const Progress&) -> ProgressAction { throw std::runtime_error("mine"); })),
      std::runtime_error);
}

// One pass over the rows takes far longer than a caller wants to wait.
TEST(Stop, LongPassesAreEndedWithin) {
  const Matrix x = reference::random_matrix(60000, 30, 1);
  std::vector<double> y = reference::random_vector(x.rows, 2);
  AllOptions options = plain_options();
  options.features = "landmark(count=3000)";
  options.engine = EngineKind::kLazy;
  const auto start = std::chrono::steady_clock::now();
  auto asked = start;
  const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
  try {
    static_cast<void>(fit({.x = x.view(), .y = y}, options, [&](const Progress&) {
      if (seconds(start, std::chrono::steady_clock::now()) < 0.5) return ProgressAction::kContinue;
      asked = std::chrono::steady_clock::now();
      return ProgressAction::kAbort;
    }));
    ADD_FAILURE() << "it was not asked";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInterrupted);
  }
  EXPECT_NE(asked, start);
}

TEST(SharedPool, FitsAtTheSameTimeFindWhatEachFindsAlone) {
  const Sample sample;
  AllOptions options = plain_options();
  options.terms = 8;
  options.tune = Tuning::automatic();
  const std::string alone = model_to_json(fit(sample.data(), options).model);
  ThreadPool pool(3);
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& model : found) {
    threads.emplace_back([&] { model = model_to_json(fit(sample.data(), options, {}, &pool).model); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& model : found) EXPECT_EQ(model, alone);
}

}  // namespace
}  // namespace mfga
