// Searches and refits on a device beside those of the processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/test_devices.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "reference.hpp"
#include "solve/device_problem.hpp"
#include "solve/greedy.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 4;
constexpr Index kRows = 1300;
constexpr const char* kFeatures =
    "linear + step(knots=10) + hinge(knots=10) + polynomial(offset=0) + gaussian(order=3, sigma=2) + "
    "landmark(count=20, sigma=1.5)";

struct Sample {
  Matrix x = reference::random_matrix(kRows, kInputs, 3);
  std::vector<double> y = reference::random_vector(kRows, 4);
  std::vector<double> weights = reference::random_vector(kRows, 5);
  BlockedRows rows;
  Candidates candidates;
  Workers workers{2};

  Sample(bool weighted, bool classes)
      : rows(BlockedRows(x.view(), reference::plain_inputs(kInputs))),
        candidates(Dictionary(kFeatures), {kInputs, 1, 0, &rows}) {
    std::ranges::transform(weights, weights.begin(), [](double w) { return std::abs(w); });
    if (weighted) rows = rows.weighted(weights);
    for (Index n = 0; n < kRows; ++n) {
      const double* row = x.row(n);
      double& y_n = y[static_cast<std::size_t>(n)];
      y_n += std::exp(-row[0] * row[0] - row[1] * row[1]) * 6 + std::max(0.0, row[2]) * 2 + row[0] * row[3];
      if (classes) y_n = y_n > 2 ? 1 : -1;
    }
  }
};

ActiveSet some_active(const Candidates& candidates, Index count) {
  ActiveSet active;
  for (Index i = 0; i < count; ++i) {
    const Index candidate = (37 * i + 1) % candidates.size();
    active.candidates.push_back(candidate);
    active.atoms.push_back(candidates.atom(candidate));
    active.theta.push_back(0.1 * static_cast<double>(i + 1));
  }
  active.intercepts.front() = 0.7;
  return active;
}

void expect_near(std::span<const double> a, std::span<const double> b, double scale) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-9 * (scale + std::abs(b[i]))) << i;
}

// A device of its own for the same problem, and the engine on it.
struct OnDevice {
  OnDevice(Device& device, const Problem& of, const Candidates& candidates) : rows(device, of), problem(of) {
    problem.device = &rows;
    engine = make_lazy_engine(problem, candidates, Precision::kMixed);
  }
  DeviceProblem rows;
  Problem problem;
  std::unique_ptr<Engine> engine;
};

TEST(DeviceEngine, AnswersAsTheProcessorDoes) {
  for (const auto& device : test_devices()) {
    for (const bool classes : {false, true}) {
      for (const bool weighted : {false, true}) {
        Sample sample(weighted, classes);
        const Loss& loss = classes ? logistic_loss() : squared_loss();
        const Problem problem{sample.rows, sample.y, loss, Intercept::kUnpenalised, sample.workers};
        const auto lazy = make_lazy_engine(problem, sample.candidates, Precision::kDouble);
        const OnDevice on_device(*device, problem, sample.candidates);
        expect_near(on_device.engine->square_norms(), lazy->square_norms(), kRows);
        // A set that grows, one that begins otherwise, and one that becomes smaller.
        for (const Index size : {3, 90, 0, 7}) {
          const ActiveSet active = some_active(sample.candidates, size);
          EXPECT_NEAR(on_device.engine->loss_sum(active), lazy->loss_sum(active),
                      1e-10 * lazy->loss_sum(active));
          const Matrix combinations = reference::random_matrix(3, 1 + size, 6);
          Gradient here;
          Gradient there;
          Matrix correlations_here;
          Matrix correlations_there;
          const double loss_here =
              lazy->gradient_and_correlations(active, combinations, here, correlations_here);
          const double loss_there =
              on_device.engine->gradient_and_correlations(active, combinations, there, correlations_there);
          EXPECT_NEAR(loss_there, loss_here, 1e-10 * loss_here);
          EXPECT_TRUE(there.exact());
          const double length = std::sqrt(loss_here * kRows);
          expect_near(there.values, here.values, length);
          expect_near(correlations_there.values, correlations_here.values, 100 * kRows);
          const std::vector<Index> added = {5, 60, sample.candidates.size() - 1};
          const CandidateProducts products_here = lazy->products(active, added, classes);
          const CandidateProducts products_there = on_device.engine->products(active, added, classes);
          expect_near(products_there.values.values, products_here.values.values, kRows);
          expect_near(products_there.gradient.values, products_here.gradient.values, length);
          expect_near(products_there.curvature.values, products_here.curvature.values, kRows);
        }
      }
    }
  }
}

TEST(DeviceEngine, FindsTheSameTermsAndCoefficients) {
  for (const auto& device : test_devices()) {
    for (const char* name : {"squared", "logistic", "poisson"}) {
      const bool classes = std::string(name) == "logistic";
      for (const Index per_step : {1, 5}) {
        Sample sample(per_step == 5, classes);
        const std::shared_ptr<const Loss> loss = find_loss(name);
        if (std::string(name) == "poisson")
          std::ranges::transform(sample.y, sample.y.begin(),
                                 [](double y) { return std::floor(std::abs(y)); });
        const Problem problem{sample.rows, sample.y, *loss, Intercept::kUnpenalised, sample.workers};
        const GreedyOptions options{20, per_step, 0, {0.1, 0}, {Rule::kGain, 32}};
        const auto engine = make_lazy_engine(problem, sample.candidates, Precision::kMixed);
        const auto refit = make_refit(problem, options.penalty);
        const ActiveSet expected =
            run_greedy(problem, sample.candidates, *engine, *refit, options, {}).active;
        const OnDevice on_device(*device, problem, sample.candidates);
        const auto device_refit = make_refit(on_device.problem, options.penalty);
        const ActiveSet found =
            run_greedy(on_device.problem, sample.candidates, *on_device.engine, *device_refit, options, {})
                .active;
        EXPECT_EQ(found.candidates, expected.candidates) << name << " on " << device->info().name;
        expect_near(found.theta, expected.theta, 1e3);
      }
    }
  }
}

// Candidates for which there is no room are computed again in every pass.
TEST(DeviceEngine, NeedsNoRoomForCandidates) {
  Sample sample(false, false);
  const Problem problem{sample.rows, sample.y, squared_loss(), Intercept::kUnpenalised, sample.workers};
  const auto lazy = make_lazy_engine(problem, sample.candidates, Precision::kDouble);
  const ActiveSet active = some_active(sample.candidates, 4);
  Gradient expected;
  static_cast<void>(lazy->gradient(active, expected));
  for (const double columns : {0.0, 7.0}) {
    HostDevice device(columns * 8 * kRows / 0.7);
    const OnDevice on_device(device, problem, sample.candidates);
    Gradient gradient;
    static_cast<void>(on_device.engine->gradient(active, gradient));
    expect_near(gradient.values, expected.values, kRows);
    expect_near(on_device.engine->square_norms(), lazy->square_norms(), kRows);
  }
}

TEST(DeviceProblem, IsForManyRowsAndOneOutputOnly) {
  Sample sample(false, false);
  const Problem problem{sample.rows, sample.y, squared_loss(), Intercept::kUnpenalised, sample.workers};
  constexpr Index kMany = 1'000'000;
  EXPECT_EQ(DeviceProblem::if_worthwhile(problem, kMany), nullptr);
  HostDevice device(1e12, 1e6);
  sample.workers.set_device(&device);
  EXPECT_EQ(DeviceProblem::if_worthwhile(problem, 10), nullptr);
  EXPECT_NE(DeviceProblem::if_worthwhile(problem, kMany), nullptr);
  std::vector<double> two_targets = sample.y;
  two_targets.insert(two_targets.end(), sample.y.begin(), sample.y.end());
  const Problem of_two{sample.rows, two_targets, squared_loss(), Intercept::kUnpenalised, sample.workers};
  EXPECT_EQ(DeviceProblem::if_worthwhile(of_two, kMany), nullptr);
}

TEST(Devices, OneThatIsNotThereIsAnErrorOnlyIfItWasAskedForByName) {
  const Sample sample(false, false);
  const TrainingData data{.x = sample.x.view(), .y = sample.y};
  FitOptions options{.features = "linear", .tune = Tuning::none(), .terms = 2};
  options.device = DeviceChoice::kAuto;
  const FitResult automatic = fit(data, options);
  EXPECT_EQ(automatic.model.terms.size(), 2U);
  options.device = DeviceChoice::kCuda;
  const DeviceList list = list_devices();
  if (!list.devices.empty()) {
    EXPECT_EQ(fit(data, options).report.device, "");  // it had nothing to do
    return;
  }
  EXPECT_FALSE(list.why_none.empty());
  EXPECT_EQ(automatic.report.device, "");
  try {
    static_cast<void>(fit(data, options));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kSystem);
    EXPECT_NE(std::string(error.what()).find("`device=cpu`"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace mfga
