// When a descent has converged and when it has failed, for all that descend by Newton steps.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>

#include "baselines/kernel_machine.hpp"
#include "core/blas.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "reference.hpp"
#include "solve/refit.hpp"

namespace mfga {
namespace {

// The logistic loss with derivatives that are wrong by factors.
class WrongLoss final : public SeparableLoss {
 public:
  explicit WrongLoss(double factor, double second_factor = 1)
      : factor_(factor), second_factor_(second_factor) {}
  [[nodiscard]] std::string name() const override { return "wrong"; }
  [[nodiscard]] Task task() const override { return Task::kClassification; }
  [[nodiscard]] std::string_view measure() const override { return "wrong"; }
  [[nodiscard]] double of_likelihood(double mean_loss) const override { return mean_loss; }
  [[nodiscard]] double constant_of_one(const TargetColumn& targets) const override {
    return logistic_loss().best_constant(targets);
  }
  [[nodiscard]] double sum_of_one(const double* scores, const double* targets, const double* weights,
                                  Index count) const override {
    return logistic_loss().sum(scores, targets, weights, count);
  }
  double gradient_of_one(const double* scores, const double* targets, const double* weights, Index count,
                         double* first) const override {
    const double sum = logistic_loss().gradient(scores, targets, weights, count, first);
    for (Index n = 0; n < count; ++n) first[n] *= factor_;
    return sum;
  }
  double derivatives_of_one(const double* scores, const double* targets, const double* weights, Index count,
                            double* first, double* second) const override {
    const double sum = logistic_loss().derivatives(scores, targets, weights, count, first, second);
    for (Index n = 0; n < count; ++n) first[n] *= factor_;
    for (Index n = 0; n < count; ++n) second[n] *= second_factor_;
    return sum;
  }

 private:
  double factor_;
  double second_factor_;
};

struct Classes {
  Matrix x = reference::random_matrix(300, 3, 4);
  BlockedRows rows{x.view(), reference::plain_inputs(3)};
  std::vector<double> y;

  Classes() {
    const std::vector<double> noise = reference::random_vector(x.rows, 5);
    for (Index i = 0; i < x.rows; ++i)
      y.push_back(x(i, 0) + x(i, 1) + noise[static_cast<std::size_t>(i)] > 0.5 ? 1 : -1);
  }
};

bool refit_converges(const Classes& classes, const Loss& loss, const Penalty& penalty = {0.1, 0}) {
  Workers workers(1);
  const Candidates candidates(Dictionary("linear"), {3, 1});
  ActiveSet active;
  for (Index j = 0; j < 3; ++j) {
    active.candidates.push_back(j);
    active.atoms.push_back(candidates.atom(j));
  }
  const Problem problem{classes.rows, classes.y, loss, Intercept::kUnpenalised, workers};
  return make_newton_refit(problem, penalty)->solve(active).converged;
}

bool kernel_machine_converges(const Classes& classes, const Loss& loss) {
  const SingleThreadedBlas blas;
  Workers workers(1);
  std::vector<Index> chosen(static_cast<std::size_t>(classes.x.rows));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  KernelMachine machine(classes.rows, chosen, 2, workers);
  return machine.solve(classes.y, loss, 0.1, Intercept::kUnpenalised).converged;
}

TEST(Descent, ConvergesToTheMinimum) {
  const Classes classes;
  EXPECT_TRUE(refit_converges(classes, logistic_loss()));
  EXPECT_TRUE(kernel_machine_converges(classes, logistic_loss()));
}

TEST(Descent, AStepThatPromisesMuchAndDecreasesNothingIsAFailure) {
  const Classes classes;
  EXPECT_FALSE(refit_converges(classes, WrongLoss(-1)));
  EXPECT_FALSE(kernel_machine_converges(classes, WrongLoss(-1)));
}

TEST(Descent, ASlopeThatIsNoNumberIsAFailure) {
  const Classes classes;
  const WrongLoss loss(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(refit_converges(classes, loss));
}

TEST(Descent, AdviceIsAboutThePenaltyThatIsGiven) {
  const Classes classes;
  const WrongLoss loss(1, std::numeric_limits<double>::quiet_NaN());
  for (const Penalty penalty : {Penalty{0.1, 0}, Penalty{0, 2}}) {
    try {
      static_cast<void>(refit_converges(classes, loss, penalty));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(
          std::string(error.what()).find(penalty.norm_bound > 0 ? "smaller norm bound" : "larger ridge"),
          std::string::npos)
          << error.what();
    }
  }
}

TEST(Descent, NothingToFitIsFittedAtOnce) {
  const Classes classes;
  Workers workers(1);
  for (const Loss* loss : reference::both_losses()) {
    for (const Penalty penalty : {Penalty{0.1, 0}, Penalty{0, 2}}) {
      const Problem problem{classes.rows, classes.y, *loss, Intercept::kNone, workers};
      ActiveSet none;
      const auto refit = make_refit(problem, penalty);
      EXPECT_TRUE(refit->solve(none).converged) << loss->name();
      EXPECT_EQ(none.intercepts, (std::vector<double>{0}));
      EXPECT_TRUE(none.theta.empty());
      EXPECT_TRUE(refit->hessian(0.1).empty());
    }
  }
}

}  // namespace
}  // namespace mfga
