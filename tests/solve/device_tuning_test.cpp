// Derivatives and tuning on a device beside those of the processor.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "device/test_devices.hpp"
#include "features/expressions.hpp"
#include "features/tunable_atoms.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "reference.hpp"
#include "solve/device_problem.hpp"
#include "solve/tune.hpp"

namespace mfga {
namespace {

constexpr Index kInputs = 4;
constexpr Index kRows = 900;

struct Sample {
  Matrix x = reference::random_matrix(kRows, kInputs, 1);
  std::vector<double> y = reference::random_vector(kRows, 2);
  std::vector<double> weights = reference::random_vector(kRows, 3);
  BlockedRows rows{x.view(), reference::plain_inputs(kInputs)};
  Workers workers{2};

  explicit Sample(bool weighted = false) {
    for (double& weight : weights) weight = std::abs(weight);
    if (weighted) rows = rows.weighted(weights);
  }
};

ActiveSet some_atoms(const Candidates& candidates, Index count) {
  ActiveSet active;
  const Index distance = std::max<Index>(1, candidates.size() / count);
  for (Index j = 0; j < candidates.size(); j += distance) {
    active.candidates.push_back(j);
    active.atoms.push_back(candidates.atom(j));
    active.theta.push_back(0.3 - 0.1 * static_cast<double>(active.size() % 7));
  }
  active.intercepts.front() = 0.1;
  return active;
}

TEST(DevicePullBack, IsThatOfTheProcessorForAllFamilies) {
  Sample sample;
  const Problem problem{sample.rows, sample.y, squared_loss(), Intercept::kUnpenalised, sample.workers};
  const std::vector<double> stretch = {0.8, 1.2, 1, 1.5};
  const BlockedRows stretched = sample.rows.stretched(stretch);
  for (const auto& device : test_devices()) {
    DeviceProblem on_device(*device, problem);
    on_device.stretch(stretch);
    int derived = 0;
    for (const std::string& expression : kExpressions) {
      const Candidates candidates(Dictionary(expression), {kInputs, 1, 3, &stretched, {}, &sample.workers});
      const ActiveSet active = some_atoms(candidates, 12);
      const auto n_coordinates = TunableAtoms(active.atoms).coordinates().size();
      std::vector<double> coordinates(n_coordinates);
      std::vector<double> stretches(kInputs);
      static_cast<void>(on_device.derivatives(problem, active.intercepts.front(), active.theta,
                                              on_device.values(active.atoms), false));
      std::vector<double> first(kRows);
      on_device.rows().get(*on_device.first_derivatives().columns, on_device.first_derivatives().first,
                           first);
      if (!on_device.pull_back(active.atoms, active.theta, coordinates, stretches)) continue;
      ++derived;
      std::vector<double> expected(n_coordinates + kInputs);
      const DerivativesOfAtoms of_atoms(active.atoms);
      sum_over_blocks(
          stretched, sample.workers, expected, [&](const RowBlock& block, Arena& arena, double* out) {
            double* weights = arena.take(active.size() * block.stride);
            double* inputs = arena.take(kInputs * block.stride);
            std::fill_n(inputs, kInputs * block.stride, 0.0);
            for (Index m = 0; m < active.size(); ++m) {
              for (Index n = 0; n < block.rows; ++n)
                weights[m * block.stride + n] = active.theta[static_cast<std::size_t>(m)] *
                                                first[static_cast<std::size_t>(block.first_row + n)];
            }
            of_atoms.pull_back(block, weights, block.stride, out, inputs, arena);
            for (Index j = 0; j < kInputs; ++j) {
              const double* x = block.input(j);
              out[n_coordinates + static_cast<std::size_t>(j)] +=
                  std::inner_product(x, x + block.rows, inputs + j * block.stride, 0.0);
            }
          });
      double scale = 1;
      for (const double value : expected) scale = std::max(scale, std::abs(value));
      for (std::size_t k = 0; k < n_coordinates; ++k)
        EXPECT_NEAR(coordinates[k], expected[k], 1e-7 * scale) << expression << ", coordinate " << k;
      for (std::size_t j = 0; j < stretches.size(); ++j)
        EXPECT_NEAR(stretches[j], expected[n_coordinates + j], 1e-8 * scale) << expression << ", input " << j;
    }
    // Splines, structured draws and sums of several kernels in one atom are tuned by the processor.
    EXPECT_GE(derived, static_cast<int>(kExpressions.size()) - 5) << device->info().name;
  }
}

TEST(DeviceTuning, EndsWhereThatOfTheProcessorDoes) {
  for (const bool classes : {false, true}) {
    Sample sample(classes);
    for (Index n = 0; n < kRows; ++n) {
      const double* x = sample.x.row(n);
      double& y = sample.y[static_cast<std::size_t>(n)];
      y = 0.2 * y + std::exp(-x[0] * x[0] - x[1] * x[1]) * 3 + std::max(0.0, x[2] - 0.3) + 0.3 * x[3];
      if (classes) y = y > 1 ? 1 : -1;
    }
    const Loss& loss = classes ? logistic_loss() : squared_loss();
    const Problem problem{sample.rows, sample.y, loss, Intercept::kUnpenalised, sample.workers};
    const Candidates candidates(Dictionary("linear + hinge(knots=3) + landmark(count=6, sigma=1.5)"),
                                {kInputs, 1, 3, &sample.rows, {}, &sample.workers});
    const ActiveSet active = some_atoms(candidates, 10);
    const TuneOptions options{.ridge = 0.1, .most_steps = 15};
    const Tuned expected = tune(problem, active, options, {});
    for (const auto& device : test_devices()) {
      sample.workers.set_device(device.get());
      const Tuned found = tune(problem, active, options, {});
      sample.workers.set_device(nullptr);
      EXPECT_NEAR(found.objective, expected.objective, 1e-3 * expected.objective);
      EXPECT_LT(found.objective, 0.98 * tune(problem, active, {.ridge = 0.1, .most_steps = 0}, {}).objective);
    }
  }
}

}  // namespace
}  // namespace mfga
