// Our default in the report is `mfga train`.
#include "repro/experiment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "losses/squared.hpp"
#include "mfga/fit.hpp"
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
  const DefaultFit found = default_fit(setting, 4, 0, 1);

  FitOptions options;
  options.terms = 4;
  const FitResult expected = fit({setting.train.x.view(), setting.train.y}, options);
  ASSERT_TRUE(expected.report.tuning.is_tried);
  EXPECT_EQ(found.ridge, expected.model.training.ridge);
  EXPECT_EQ(found.candidates, expected.report.candidates);
  EXPECT_EQ(found.error,
            error_percent(Task::kRegression, expected.model.scores(setting.test.x.view()), setting.test.y));
  EXPECT_NE(found.error, default_fit(setting, 4, 60, 1).error);  // of the first 60 rows
}

}  // namespace
}  // namespace mfga::repro
