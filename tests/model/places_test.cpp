// Places of terms in the units of the table.
#include <gtest/gtest.h>

#include "mfga/model.hpp"

namespace mfga {
namespace {

Model model_of(ModelInput input, Atom atom) {
  Model model;
  input.name = "age";
  model.inputs = {std::move(input)};
  model.n_columns = 1;
  model.terms = {{std::move(atom), {1}}};
  return model;
}

double score(const Model& model, double value) { return model.scores(ConstMatrixView{&value, 1, 1})[0]; }

class Scales : public testing::TestWithParam<ScaleKind> {
 protected:
  // Standardised values from -1.5 to 4 are 22 to 110 years.
  [[nodiscard]] static ModelInput input() {
    ModelInput input;
    input.mean = 46;
    input.deviation = 16;
    input.stretch = 0.4;
    if (GetParam() == ScaleKind::kRobust) input.warp.limit = 3;
    if (GetParam() == ScaleKind::kQuantile) {
      input.warp.knots = {-1.5, -0.5, 0.75, 2, 4};
      input.warp.values = {-2.5, -0.25, -0.25, 1, 2.5};
    }
    return input;
  }
};

TEST_P(Scales, AStepIsWhereItIsSaidToBe) {
  for (const double knot : {-0.5, 0.11, 0.3}) {
    const Model model = model_of(input(), {"step", 1, {0}, {1}, {knot}});
    const std::vector<Place> places = model.places(model.terms[0].atom);
    ASSERT_EQ(places.size(), 1U);
    EXPECT_EQ(places[0].column, "age");
    EXPECT_EQ(score(model, places[0].value - 1e-6), 0);
    EXPECT_EQ(score(model, places[0].value + 1e-6), 1);
  }
}

TEST_P(Scales, ABendIsWhereItIsSaidToBe) {
  const Model model = model_of(input(), {"hinge", 1, {0}, {1}, {0.2, 1}});
  const double place = model.places(model.terms[0].atom).at(0).value;
  EXPECT_EQ(score(model, place - 1e-6), 0);
  EXPECT_GT(score(model, place + 1e-6), 0);
}

INSTANTIATE_TEST_SUITE_P(Places, Scales,
                         testing::Values(ScaleKind::kStandard, ScaleKind::kRobust, ScaleKind::kQuantile),
                         [](const auto& instance) { return std::string(scale_name(instance.param)); });

TEST(Places, BeyondTheScaleAreItsEnds) {
  ModelInput input;
  input.mean = 10;
  input.warp.knots = {-1, 1};
  input.warp.values = {-2, 2};
  EXPECT_EQ(model_of(input, {"step", 1, {0}, {1}, {5}}).places({"step", 1, {0}, {1}, {5}}).at(0).value, 11);
  EXPECT_EQ(model_of(input, {"step", 1, {0}, {1}, {-5}}).places({"step", 1, {0}, {1}, {-5}}).at(0).value, 9);
}

TEST(Places, OfALandmarkThoseFarthestOutComeFirst) {
  Model model;
  model.inputs = {{"a", 0, 1, 2, {}, 1}, {"b", 1, 0, 1, {}, 0.5}, {"c", 2, 0, 1, {}, 1}};
  const std::vector<Place> places = model.places({"landmark", 1, {}, {}, {1.5, 1, 0, -0.5, 2, 1}});
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[0].column, "b");
  EXPECT_EQ(places[0].value, 4);
  EXPECT_EQ(places[1].column, "c");
  EXPECT_EQ(places[1].value, 1);
  EXPECT_EQ(places[2].column, "a");
  EXPECT_EQ(places[2].value, 0);
}

TEST(Places, TermsWithoutAnyAndCombinationsHaveNone) {
  Model model;
  model.inputs = {{"a", 0, 1, 2, {}, 1}};
  EXPECT_TRUE(model.places({"linear", 1, {0}, {1}, {}}).empty());
  EXPECT_FALSE(model.places({"step", 1, {0}, {1}, {0.5}}).empty());
  model.mixing = Matrix(1, 1);
  EXPECT_TRUE(model.places({"step", 1, {0}, {1}, {0.5}}).empty());
}

}  // namespace
}  // namespace mfga
