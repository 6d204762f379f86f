// The loss of a model in its file.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "mfga/mfga.hpp"

namespace mfga {
namespace {

TEST(SavedLoss, ComesBackAndSaysWhatAScoreMeans) {
  Model model;
  model.n_columns = 1;
  model.inputs = {{"a", 0, 1.0, 2.0}};
  model.outputs[0].intercept = 0.25;
  model.terms = {{{"linear", 1, {0}, {1}, {}}, {0.5}}};
  const double usual = model.prediction_from_score(0.5);
  model.loss = "huber(0.25)";
  EXPECT_EQ(nlohmann::json::parse(model_to_json(model)).at("version"), 4);
  EXPECT_EQ(model_from_json(model_to_json(model), "m.json").loss, "huber(0.25)");
  EXPECT_EQ(model.prediction_from_score(0.5), usual);
  model.loss = "poisson";
  const Model back = model_from_json(model_to_json(model), "m.json");
  EXPECT_EQ(back.loss, "poisson");
  EXPECT_DOUBLE_EQ(back.prediction_from_score(0.5),
                   model.outputs[0].shift + model.outputs[0].scale * std::exp(0.5));
  for (const std::string wrong : {"logistic", "huber(-1)", "none"}) {
    nlohmann::json json = nlohmann::json::parse(model_to_json(model));
    json["loss"] = wrong;
    try {
      static_cast<void>(model_from_json(json.dump(), "m.json"));
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_NE(std::string(error.what()).find("loss"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace mfga
