// Tables with missing values, from training to prediction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mfga/columns.hpp"
#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "mfga/predictor.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The target is x0 and, where x1 is missing, 3 more; else x1.
struct Sample {
  Matrix x = reference::random_matrix(900, 4, 1);
  std::vector<double> y;

  Sample() {
    for (Index n = 0; n < x.rows; ++n) {
      if (n % 5 == 2) x(n, 1) = kNan;
      if (n % 100 == 3) x(n, 2) = kNan;
      y.push_back(x(n, 0) + (std::isnan(x(n, 1)) ? 3 : x(n, 1)));
    }
  }
};

TEST(MissingInModels, InputsTellOfThem) {
  const Sample sample;
  for (const ScaleKind scale : {ScaleKind::kStandard, ScaleKind::kRobust, ScaleKind::kQuantile}) {
    FitOptions options;
    options.features = "linear";
    options.terms = 5;
    options.ridge = 1e-6;
    options.tune = Tuning::none();
    options.scale = scale;
    const Model model = fit({.x = sample.x.view(), .y = sample.y}, options).model;
    ASSERT_EQ(model.inputs.size(), 5U);
    EXPECT_EQ(model.inputs[2].name, "x1=missing");
    EXPECT_EQ(model.inputs[2].column_name(), "x1");
    EXPECT_EQ(model.inputs[1].missing, 180);
    EXPECT_EQ(model.inputs[0].missing, 0);
    const std::vector<double> predictions = model.predict(sample.x.view());
    double square = 0;
    for (std::size_t n = 0; n < predictions.size(); ++n)
      square += (predictions[n] - sample.y[n]) * (predictions[n] - sample.y[n]);
    EXPECT_LT(square / 900, scale == ScaleKind::kStandard ? 1e-9 : 0.05);

    // Through a file, and a row by itself, to the last bit.
    const Model loaded = model_from_json(model_to_json(model), "m.json");
    EXPECT_EQ(loaded.inputs[2].is_missing, true);
    EXPECT_EQ(loaded.inputs[1].missing, 180);
    EXPECT_EQ(loaded.predict(sample.x.view()), predictions);
    const Predictor predictor(loaded);
    for (Index n = 0; n < 40; ++n)
      EXPECT_EQ(predictor.predict({sample.x.row(n), 4}), predictions[static_cast<std::size_t>(n)]);
    // Columns are found by their names.
    const std::vector<std::string> names = {"x3", "x2", "x1", "x0"};
    EXPECT_EQ(match_columns(loaded, names), (std::vector<Index>{3, 2, 2, 1, 0}));
  }
}

TEST(MissingInModels, CountAsTheCentreWhereTheyAreNew) {
  Sample sample;
  for (Index n = 0; n < sample.x.rows; ++n) sample.x(n, 3) = std::exp(3 * sample.x(n, 3));
  for (const ScaleKind scale : {ScaleKind::kStandard, ScaleKind::kRobust, ScaleKind::kQuantile}) {
    FitOptions options;
    options.features = "linear + landmark(count=20)";
    options.terms = 8;
    options.ridge = 1;
    options.tune = Tuning::none();
    options.scale = scale;
    Matrix x = sample.x;
    for (Index n = 0; n < x.rows; ++n) sample.y[static_cast<std::size_t>(n)] += std::sin(x(n, 3));
    const Model model = fit({.x = x.view(), .y = sample.y}, options).model;
    const ModelInput& last = model.inputs.back();
    ASSERT_EQ(last.name, "x3");
    double centre = last.mean;
    if (scale == ScaleKind::kQuantile) {  // where the scale is 0
      const auto above = std::ranges::lower_bound(last.warp.values, 0.0) - last.warp.values.begin();
      const auto i = static_cast<std::size_t>(above);
      centre = std::lerp(last.warp.knots[i - 1], last.warp.knots[i],
                         -last.warp.values[i - 1] / (last.warp.values[i] - last.warp.values[i - 1]));
    }
    Matrix filled = x;
    for (Index n = 0; n < x.rows; n += 3) {
      x(n, 3) = kNan;
      filled(n, 3) = centre;
    }
    const std::vector<double> found = model.predict(x.view());
    const std::vector<double> expected = model.predict(filled.view());
    for (std::size_t n = 0; n < found.size(); ++n) EXPECT_NEAR(found[n], expected[n], 1e-9);
  }
}

TEST(MissingInModels, AreKnownToSavedModelsOfClasses) {
  const Sample sample;
  FitOptions options;
  options.features = "linear";
  options.terms = 3;
  options.tune = Tuning::none();
  options.task = Task::kClassification;
  for (const double classes : {2.0, 3.0}) {
    std::vector<double> y;
    for (std::size_t n = 0; n < sample.y.size(); ++n)
      y.push_back(std::clamp(std::floor(sample.y[n] + 0.5 * classes), 0.0, classes - 1));
    const Model model = fit({.x = sample.x.view(), .y = y}, options).model;
    const std::string text = model_to_json(model);
    EXPECT_NE(text.find("\"version\": 6"), std::string::npos);
    const Model loaded = model_from_json(text, "m.json");
    EXPECT_EQ(loaded.outputs.size(), classes == 2 ? 1U : 3U);
    EXPECT_EQ(loaded.predict(sample.x.view()), model.predict(sample.x.view()));
    EXPECT_EQ(model_to_json(loaded), text);
  }
}

TEST(MissingInModels, WrongFieldsOfSavedModelsAreRefused) {
  Model model;
  model.n_columns = 3;
  model.text_columns = {{"t", 1, {"other", "p"}, {"q", "r"}}};
  model.inputs = {{"a=missing", 0, 0.5, 0.5}, {"t=p", 2, 0.5, 0.5}};
  model.inputs[0].is_missing = true;
  model.missing_texts = {"-1"};
  const std::string text = model_to_json(model);
  const Model loaded = model_from_json(text, "m.json");
  EXPECT_EQ(loaded.text_columns, model.text_columns);
  EXPECT_EQ(loaded.missing_texts, model.missing_texts);
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    EXPECT_THROW(static_cast<void>(model_from_json(changed, "m.json")), Error) << to;
  };
  refused("a=missing", "a");
  refused("\"is_missing\":true", "\"is_missing\":1");
  refused("[\"q\",\"r\"]", "[\"r\",\"q\"]");
  refused("[\"other\",\"p\"]", "[\"others\",\"p\"]");
  refused("[\"-1\"]", "[1]");
}

TEST(MissingInModels, DoNotDependOnThreads) {
  const Sample sample;
  FitOptions options;
  options.terms = 12;
  options.threads = 1;
  const Model one = fit({.x = sample.x.view(), .y = sample.y}, options).model;
  options.threads = 3;
  EXPECT_EQ(model_to_json(one), model_to_json(fit({.x = sample.x.view(), .y = sample.y}, options).model));
}

}  // namespace
}  // namespace mfga
