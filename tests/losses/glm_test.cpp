// On fixed features the optimum is that of scikit-learn's generalised linear models; glm_reference.py made
// the figures.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "mfga/fit.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 60;

const std::map<std::string, std::vector<double>> kExpected = {
#include "losses/glm_reference.inc"
};

TEST(GeneralisedLinearModels, AgreeWithScikitLearn) {
  Matrix x(kRows, 3);
  std::map<std::string, std::vector<double>> targets;
  for (Index n = 0; n < kRows; ++n) {
    const auto i = static_cast<double>(n);
    x(n, 0) = std::sin(1.7 * i + 0.3);
    x(n, 1) = std::cos(0.9 * i * i);
    x(n, 2) = std::pow(std::sin(0.31 * i), 3);
    const double signal = 0.8 * x(n, 0) - 0.5 * x(n, 1) + 0.7 * x(n, 2) + 0.6 * std::sin(12.9 * i);
    targets["squared"].push_back(signal);
    targets["logistic"].push_back(signal > 0.1 ? 1 : 0);
    targets["poisson"].push_back(std::floor(std::exp(signal) * 2));
    targets["gamma"].push_back(std::exp(signal));
    targets["softmax"].push_back(signal < -0.4 ? 0 : signal < 0.5 ? 1 : 2);
    targets["one_vs_rest"].push_back(targets["softmax"].back());
  }
  for (const auto& [loss, expected] : kExpected) {
    SCOPED_TRACE(loss);
    FitOptions options;
    options.loss = loss;
    options.features = "linear";
    options.scale = ScaleKind::kStandard;
    options.terms = 3;
    options.ridge = 0.3;
    options.tune = Tuning::none();
    const Model model = fit({.x = x.view(), .y = targets.at(loss)}, options).model;
    ASSERT_EQ(model.terms.size(), 3U);
    const bool has_classes = model.task == Task::kClassification;
    const std::vector<double> found = has_classes ? model.probabilities(x.view()) : model.predict(x.view());
    const std::size_t stride = found.size() / kRows;
    for (std::size_t n = 0; n < expected.size(); ++n)
      EXPECT_NEAR(found[n * stride + stride - 1], expected[n], 1e-6) << "row " << n;
  }
}

}  // namespace
}  // namespace mfga
