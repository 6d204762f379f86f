// Our default in the report is `mfga train`.
#include "repro/experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "losses/squared.hpp"
#include "mfga/train.hpp"
#include "reference.hpp"

namespace mfga::repro {
namespace {

TEST(Experiment, OurDefaultIsWhatTrainDoes) {
  Setting setting;
  setting.loss = &squared_loss();
  setting.train.x = reference::random_matrix(120, 2, 1);
  setting.test.x = reference::random_matrix(50, 2, 2);
  for (Rows* rows : {&setting.train, &setting.test}) {
    for (Index i = 0; i < rows->size(); ++i) rows->y.push_back(std::sin(2 * rows->x(i, 0)) + rows->x(i, 1));
  }
  const DefaultFit fit = default_fit(setting, 4, 0, 1);

  TrainOptions options;
  options.fit.terms = 4;
  const TrainResult expected = train({setting.train.x.view(), setting.train.y}, options);
  ASSERT_TRUE(expected.cross_validation.has_value());
  EXPECT_EQ(fit.ridge, expected.fit.model.training.ridge);
  EXPECT_EQ(fit.candidates, expected.fit.report.candidates);
  EXPECT_EQ(fit.error, error_percent(Task::kRegression, expected.fit.model.scores(setting.test.x.view()),
                                     setting.test.y));
  EXPECT_NE(fit.error, default_fit(setting, 4, 60, 1).error);  // of the first 60 rows
}

}  // namespace
}  // namespace mfga::repro
