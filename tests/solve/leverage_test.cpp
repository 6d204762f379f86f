#include "solve/leverage.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "reference_matrices.hpp"
#include "solve/refit.hpp"

namespace mfga {
namespace {

// Linear atoms on rows of which two are far from all others, in different columns.
struct Setting {
  Matrix x;
  std::vector<double> y;
  ActiveSet active;

  Setting(Index inputs, bool classes) : x(reference::random_matrix(900, inputs, 4)) {
    x(100, 1) = 80;
    x(700, 0) = -80;
    const std::vector<double> noise = reference::random_vector(x.rows, 9);
    for (Index i = 0; i < x.rows; ++i) {
      const double value = noise[static_cast<std::size_t>(i)];
      y.push_back(classes ? (value > 0 ? 1 : -1) : value);
    }
    for (Index j = 0; j < inputs; ++j) {
      active.candidates.push_back(j);
      active.atoms.push_back({"linear", 1, {j}, {1}, {}});
    }
    active.theta.assign(static_cast<std::size_t>(inputs), 0.0);
  }
};

TEST(Leverage, IsThatOfTheFormula) {
  constexpr double kRidge = 0.5;
  for (const bool classes : {false, true}) {
    for (const Index inputs : {4, 40}) {  // fewer and more than there are random combinations
      Setting setting(inputs, classes);
      const Loss& loss = classes ? logistic_loss() : squared_loss();
      const BlockedRows rows(setting.x.view(), reference::plain_inputs(inputs));
      Workers workers(2);
      const Problem problem{rows, setting.y, loss, Intercept::kUnpenalised, workers};
      const auto refit = make_newton_refit(problem, {kRidge, 0});
      EXPECT_TRUE(refit->solve(setting.active).converged);

      // The same with matrices.
      Eigen::MatrixXd a(setting.x.rows, inputs + 1);
      Eigen::VectorXd weights(setting.x.rows);
      for (Index n = 0; n < setting.x.rows; ++n) {
        double score = setting.active.intercepts.front();
        a(n, 0) = 1;
        for (Index j = 0; j < inputs; ++j) {
          a(n, j + 1) = setting.x(n, j);
          score += setting.active.theta[static_cast<std::size_t>(j)] * setting.x(n, j);
        }
        double first = 0;
        (void)loss.derivatives(&score, &setting.y[static_cast<std::size_t>(n)], nullptr, 1, &first,
                               &weights[n]);
      }
      Eigen::MatrixXd hessian = a.transpose() * weights.asDiagonal() * a;
      hessian.diagonal().tail(inputs).array() += 2 * kRidge;
      const std::vector<double> found = refit->hessian(kRidge);
      for (Index i = 0; i <= inputs; ++i) {
        for (Index j = 0; j <= i; ++j)
          EXPECT_NEAR(found[static_cast<std::size_t>(i * (inputs + 1) + j)], hessian(i, j),
                      (classes ? 0.03 : 1e-12) * hessian.norm());
      }
      const std::vector<double> exact(hessian.data(), hessian.data() + hessian.size());
      const Eigen::MatrixXd inverse = hessian.inverse();
      std::vector<Index> expected;
      for (Index n = 0; n < a.rows(); ++n) {
        if (weights[n] * a.row(n).dot(inverse * a.row(n).transpose()) > 0.5) expected.push_back(n);
      }
      EXPECT_FALSE(expected.empty());
      std::vector<Index> high;
      for (const auto& [row, leverage] : high_leverages(problem, setting.active, exact, 1)) {
        high.push_back(row);
        EXPECT_NEAR(leverage, weights[row] * a.row(row).dot(inverse * a.row(row).transpose()), 1e-9);
      }
      std::ranges::sort(high);
      EXPECT_EQ(high, expected) << classes << ", " << inputs;
    }
  }
}

}  // namespace
}  // namespace mfga
