// The model's file: what is written is exact and stable, and what is read is believed in nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "data/table_fixture.hpp"
#include "mfga/mfga.hpp"
#include "model/plain_fit.hpp"

namespace mfga {
namespace {

using Json = nlohmann::ordered_json;
using Edit = std::function<void(Json&)>;

Model small_model() {
  Model model;
  model.target_name = "price \"net\"";
  model.outputs[0].shift = 0.1;
  model.outputs[0].scale = 2;
  model.n_columns = 4;
  model.unnamed_columns = 6;
  model.inputs = {{"age", 0, 40.25, 12.5}, {"größe", 2, -1e-7, 3.0000000000000004}, {"a,b", 3, 1e21, 1e-300}};
  model.outputs[0].intercept = -1.0 / 3;
  model.terms = {{{"linear", 0.5, {1}, {1}, {}}, {1.5}},
                 {{"gaussian", 0.25, {}, {}, {2.5}}, {-0.1}},
                 {{"gaussian", 0.25, {0, 2}, {2, 1}, {0.8}}, {1e-12}}};
  model.training = {1000, "linear + gaussian(order=3)", 0.5, 0, 0.125};
  return model;
}

Model small_classifier() {
  Model model = small_model();
  model.task = Task::kClassification;
  model.outputs[0].shift = 0;
  model.outputs[0].scale = 1;
  model.labels = {"no", "yes"};
  return model;
}

// With a text column and every scale, which need version 2.
Model small_text_model() {
  Model model = small_model();
  model.text_columns = {{"colour", 2, {"green", "red"}}};
  model.inputs = {{"age", 0, 40, 12, {5, {}, {}}},
                  {"größe", 1, 0, 1, {0, {1, 2.5, 1e6}, {-2, 0.1, 2}}},
                  {"colour=red", 3, 0.25, 0.4}};
  return model;
}

std::string error_of_text(const std::string& text) {
  try {
    (void)model_from_json(text, "m.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData) << error.what();
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("m.json: ")) << message;
    return message;
  }
  ADD_FAILURE() << "was loaded: " << text;
  return {};
}

std::string error_after(const Edit& edit, const Model& model = small_model()) {
  Json json = Json::parse(model_to_json(model));
  edit(json);
  return error_of_text(json.dump());
}

Matrix some_rows(Index columns) {
  std::mt19937_64 random(3);
  Matrix x(200, columns);
  for (double& value : x.values) value = static_cast<double>(random() % 20001) / 1000 - 10;
  return x;
}

// Also stretched and mixed, which needs version 3.
Model small_tuned_model() {
  Model model = small_text_model();
  model.inputs[0].stretch = 0.25;
  model.inputs[1].stretch = 3;
  model.mixing = Matrix(3, 3);
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) model.mixing(i, j) = static_cast<double>(3 * i + j) - 2.5;
  }
  model.training.tuning_steps = 17;
  return model;
}

TEST(SavedJson, StretchesAndMixingComeBackAndCount) {
  const Model model = small_tuned_model();
  const Json json = Json::parse(model_to_json(model));
  EXPECT_EQ(json.at("version"), 3);
  EXPECT_FALSE(json.at("inputs")[2].contains("stretch")) << "a stretch of 1 is not written";
  const Model back = model_from_json(model_to_json(model), "m.json");
  EXPECT_EQ(back.inputs[1].stretch, 3);
  EXPECT_EQ(back.mixing.values, model.mixing.values);
  EXPECT_EQ(back.training.tuning_steps, 17);
  const Matrix x = some_rows(4);
  EXPECT_EQ(back.scores(x.view()), model.scores(x.view()));

  Model unmixed = model;
  unmixed.mixing = {};
  EXPECT_NE(unmixed.scores(x.view()), model.scores(x.view()));
  Model unstretched = unmixed;
  for (ModelInput& input : unstretched.inputs) input.stretch = 1;
  EXPECT_NE(unstretched.scores(x.view()), unmixed.scores(x.view()));
  EXPECT_EQ(Json::parse(model_to_json(unstretched)).at("version"), 2) << "older programs can read it";
}

TEST(SavedJson, BadStretchesAndMixingsAreRefused) {
  const auto error = [](const Edit& edit) { return error_after(edit, small_tuned_model()); };
  expect_message(error([](Json& json) { json["inputs"][0]["stretch"] = 0; }), {"inputs[0].stretch"});
  expect_message(error([](Json& json) { json["inputs"][0]["stretch"] = "1"; }), {"inputs[0].stretch"});
  expect_message(error([](Json& json) { json["mixing"].erase(1); }), {"mixing", "3 rows"});
  expect_message(error([](Json& json) { json["mixing"][1].erase(0); }), {"mixing[1]", "3 numbers"});
  expect_message(error([](Json& json) { json["mixing"][1][2] = nullptr; }), {"mixing[1][2]"});
  expect_message(error([](Json& json) { json["training"]["tuning_steps"] = -1; }), {"tuning_steps"});
}

TEST(SavedJson, FittedScoresComeBackBitByBit) {
  const std::vector<std::string> dictionaries = {
      "linear",
      "gaussian(order=3, squares=no)",
      "linear(nu=3) + gaussian(order=2, sigma=auto*2) + gaussian(order=1, sigma=0.7)",
      "polynomial(degree=3)",
      "step + hinge(interactions=2, knots=3)",
      "spline(knots=3) + periodic",
      "additive(order=2) + maclaurin(count=30)",
      "fourier(count=20, draw=orthogonal)",
      "landmark(count=20) + landmark(count=20, kernel=matern(1.5))",
      "nystrom(count=20, kernel=laplace, sigma=[auto, auto*0.5])"};
  const Matrix x = some_rows(3);
  for (const std::string task : {"regression", "classification"}) {
    for (const std::string& features : dictionaries) {
      std::vector<double> y;
      for (Index n = 0; n < x.rows; ++n) {
        const double value = x(n, 0) * x(n, 1) / 7 - x(n, 2) + static_cast<double>(n % 7);
        y.push_back(task == "regression" ? value : (value > 0 ? 1 : 0));
      }
      AllOptions options = plain_options();
      set(options, "task", task);
      options.features = features;
      options.terms = 6;
      options.scale_target = paper::TargetScale::kRange;
      const Model model = fit({x.view(), y}, options).model;
      const std::string text = model_to_json(model);
      const Model loaded = model_from_json(text, "m.json");
      EXPECT_EQ(loaded.scores(x.view()), model.scores(x.view()));
      EXPECT_EQ(loaded.predict(x.view()), model.predict(x.view()));
      EXPECT_EQ(loaded.labels, model.labels);
      EXPECT_EQ(model_to_json(loaded), text);
    }
  }
}

TEST(SavedJson, EveryFieldComesBack) {
  for (const Model& model : {small_model(), small_classifier(), small_text_model()}) {
    const Model loaded = model_from_json(model_to_json(model), "m.json");
    EXPECT_EQ(loaded.task, model.task);
    EXPECT_EQ(loaded.target_name, model.target_name);
    EXPECT_EQ(loaded.outputs[0].shift, model.outputs[0].shift);
    EXPECT_EQ(loaded.outputs[0].scale, model.outputs[0].scale);
    EXPECT_EQ(loaded.labels, model.labels);
    EXPECT_EQ(loaded.n_columns, model.n_columns);
    EXPECT_EQ(loaded.unnamed_columns, model.unnamed_columns);
    EXPECT_EQ(loaded.text_columns, model.text_columns);
    ASSERT_EQ(loaded.inputs.size(), model.inputs.size());
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      EXPECT_EQ(loaded.inputs[i].name, model.inputs[i].name);
      EXPECT_EQ(loaded.inputs[i].column, model.inputs[i].column);
      EXPECT_EQ(loaded.inputs[i].mean, model.inputs[i].mean);
      EXPECT_EQ(loaded.inputs[i].deviation, model.inputs[i].deviation);
      EXPECT_TRUE(loaded.inputs[i].warp == model.inputs[i].warp);
    }
    EXPECT_EQ(loaded.outputs[0].intercept, model.outputs[0].intercept);
    ASSERT_EQ(loaded.terms.size(), model.terms.size());
    for (std::size_t i = 0; i < model.terms.size(); ++i) {
      EXPECT_TRUE(loaded.terms[i].atom == model.terms[i].atom);
      EXPECT_EQ(loaded.terms[i].coefficients[0], model.terms[i].coefficients[0]);
    }
    EXPECT_EQ(loaded.training.rows, model.training.rows);
    EXPECT_EQ(loaded.training.features, model.training.features);
    EXPECT_EQ(loaded.training.ridge, model.training.ridge);
    EXPECT_EQ(loaded.training.norm_bound, model.training.norm_bound);
    EXPECT_EQ(loaded.training.risk, model.training.risk);
  }
}

Model shared_model() {
  Model model = small_model();
  model.inputs.resize(2);
  const SharedNumbers landmarks(std::vector<double>{1, 2, 3, 4});
  const SharedNumbers same(std::vector<double>{1, 2, 3, 4});
  const SharedNumbers other(std::vector<double>{5, 6});
  model.terms = {{{"nystrom", 1, {}, {}, {1.5, 0, 0, 0.5, -0.25}, landmarks}, {1}},
                 {{"nystrom", 1, {}, {}, {1.5, 2, 2.5, 3}, other}, {2}},
                 {{"nystrom", 1, {}, {}, {1.5, 0, 0, 0.75, 1}, same}, {3}},
                 {{"landmark", 1, {}, {}, {1.5, 1, 0, 0.75, 1}}, {4}}};
  return model;
}

TEST(SavedJson, SharedNumbersAreWrittenOnce) {
  const Model model = shared_model();
  const std::string text = model_to_json(model);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["shared"], Json::parse("[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0]]"));
  EXPECT_EQ(json["terms"][0]["shared"], 0);
  EXPECT_EQ(json["terms"][1]["shared"], 1);
  EXPECT_EQ(json["terms"][2]["shared"], 0);
  EXPECT_FALSE(json["terms"][0].contains("kernel"));  // the usual one
  EXPECT_EQ(json["terms"][1]["kernel"], "matern");
  EXPECT_EQ(json["terms"][1]["kernel_parameter"], 2.5);
  EXPECT_EQ(json["terms"][3]["kernel"], "laplace");
  const Model loaded = model_from_json(text, "m.json");
  for (std::size_t i = 0; i < model.terms.size(); ++i)
    EXPECT_TRUE(loaded.terms[i].atom == model.terms[i].atom);
  EXPECT_EQ(model_to_json(loaded), text);
}

TEST(SavedJson, SharedNumbersMustBeThere) {
  const auto refused = [](const Edit& edit, const std::vector<std::string>& parts) {
    expect_message(error_after(edit, shared_model()), parts);
  };
  refused([](Json& json) { json.erase("shared"); }, {"terms[0].shared", "no list"});
  refused([](Json& json) { json["shared"] = 3; }, {"shared", "list"});
  refused([](Json& json) { json["shared"][0][1] = "text"; }, {"shared[0][1]", "number"});
  refused([](Json& json) { json["shared"][0].push_back(1); }, {"terms[0]", "2 weights", "5 numbers"});
  refused([](Json& json) { json["terms"][0]["shared"] = 2; }, {"terms[0].shared", "from 0 to 1"});
  refused([](Json& json) { json["terms"][0]["shared"] = -1; }, {"terms[0].shared", "from 0 to 1"});
  refused([](Json& json) { json["terms"][0].erase("shared"); }, {"terms[0]", "\"shared\" is missing"});
  refused([](Json& json) { json["terms"][0]["weights"] = Json::array(); }, {"terms[0]", "0 weights"});
  refused([](Json& json) { json["terms"][1]["kernel"] = "cauchy"; }, {"terms[1].kernel", "matern", "cauchy"});
  refused([](Json& json) { json["terms"][1]["kernel"] = 2; }, {"terms[1].kernel", "text"});
  refused([](Json& json) { json["terms"][1].erase("kernel_parameter"); }, {"terms[1]", "0.5, 1.5 or 2.5"});
  refused([](Json& json) { json["terms"][1]["kernel_parameter"] = 2; }, {"terms[1]", "0.5, 1.5 or 2.5"});
  refused([](Json& json) { json["terms"][3]["kernel_parameter"] = 2; }, {"terms[3]", "none for others"});
  refused([](Json& json) { json["terms"][3]["sigma"] = 0; }, {"terms[3]", "sigma of a landmark term"});
}

// Files that are out in the world must stay readable: a change here is a new version of the format.
TEST(SavedJson, TextIsTheGoldenFile) {
  std::ifstream file(MFGA_SOURCE_DIR "/tests/model/golden_model.json", std::ios::binary);
  std::string golden{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string written_by = "\"mfga_version\":\"0.1.0\"";
  const std::size_t position = golden.find(written_by);
  ASSERT_NE(position, std::string::npos);
  golden.replace(position, written_by.size(), "\"mfga_version\":\"" + std::string(version()) + "\"");
  EXPECT_EQ(model_to_json(small_model()), golden);
}

TEST(SavedJson, OtherFormatsAndVersionsAreRefused) {
  expect_message(error_after([](Json& json) { json["version"] = 7; }),
                 {"format version 7", std::string(version()), "reads versions 1 to 6"});
  expect_message(error_after([](Json& json) { json["version"] = 0; }), {"format version 0"});
  expect_message(error_after([](Json& json) { json["version"] = "1"; }), {"version", "whole number"});
  expect_message(error_after([](Json& json) { json["format"] = "other"; }),
                 {"format", "mfga-model", "other"});
  expect_message(error_after([](Json& json) { json["task"] = "ranking"; }),
                 {"task", "regression", "ranking"});
  for (const std::string text : {"", "[]", "null", "3", "\"mfga-model\"", "{}", "<html>", "a,b\n1,2\n"})
    (void)error_of_text(text);
}

TEST(SavedJson, TruncatedTextIsRefusedAtEveryByte) {
  std::string text = model_to_json(small_model());
  text.erase(text.find_last_not_of('\n') + 1);
  for (std::size_t size = 0; size < text.size(); ++size) (void)error_of_text(text.substr(0, size));
}

TEST(SavedJson, EveryFieldIsRequired) {
  const auto remove_each = [](const Model& model, const Json::json_pointer& where) {
    const Json json = Json::parse(model_to_json(model));
    for (const auto& [key, value] : json.at(where).items()) {
      if (key == "mfga_version") continue;  // for the reader alone
      const std::string name = key;
      expect_message(error_after([&](Json& changed) { changed.at(where).erase(name); }, model),
                     {"the field \"" + name + "\" is missing"});
    }
  };
  for (const Model& model : {small_model(), small_classifier()}) {
    for (const char* const where : {"", "/target", "/inputs/1", "/terms/0", "/terms/2", "/training"})
      remove_each(model, Json::json_pointer(where));
  }
  for (const char* const where : {"", "/inputs/0", "/inputs/1", "/inputs/2", "/text_columns/0"})
    remove_each(small_text_model(), Json::json_pointer(where));
}

TEST(SavedJson, TextColumnsAndScalesMustBeWhole) {
  const auto refused = [](const Edit& edit, const std::vector<std::string>& parts) {
    expect_message(error_after(edit, small_text_model()), parts);
  };
  refused([](Json& json) { json["inputs"][2]["name"] = "colour=blue"; },
          {"inputs[2].name", "\"colour=red\""});
  refused([](Json& json) { json["text_columns"][0]["levels"] = {"red", "blue"}; }, {"levels[1]", "sorted"});
  refused([](Json& json) { json["text_columns"][0]["levels"] = {"", "blue"}; }, {"levels[0]", "not empty"});
  refused([](Json& json) { json["text_columns"][0]["levels"] = Json::array(); }, {"levels", "1 to 2"});
  refused([](Json& json) { json["text_columns"][0]["levels"].push_back("teal"); }, {"levels", "1 to 2"});
  refused([](Json& json) { json["text_columns"][0]["first"] = 4; }, {"text_columns[0].first"});
  refused([](Json& json) { json["text_columns"].push_back(json["text_columns"][0]); },
          {"text_columns[1].first"});
  refused([](Json& json) { json["inputs"][0]["scale"] = "log"; }, {"inputs[0].scale", "\"log\""});
  refused([](Json& json) { json["inputs"][0]["limit"] = 0; }, {"inputs[0].limit", "positive"});
  refused([](Json& json) { json["inputs"][1]["knots"] = {0, 2, 1}; }, {"inputs[1].knots[2]", "rise"});
  refused([](Json& json) { json["inputs"][1]["values"] = {-1, 1}; }, {"inputs[1].values", "3 values"});
  refused(
      [](Json& json) {
        json["inputs"][1]["knots"] = {1};
        json["inputs"][1]["values"] = {1};
      },
      {"inputs[1].knots", "two knots"});
}

TEST(SavedJson, OtherTypesAreRefused) {
  for (const Model& model : {small_model(), small_classifier()}) {
    const Json json = Json::parse(model_to_json(model)).flatten();
    for (const auto& [where, value] : json.items()) {
      if (where.ends_with("mfga_version")) continue;
      const Json::json_pointer place(where);
      const std::vector<Json> others = {nullptr, true, Json::object(), Json::array({1}),
                                        value.is_string() ? Json(1) : Json("text")};
      for (const Json& other : others)
        (void)error_after([&](Json& changed) { changed[place] = other; }, model);
    }
  }
}

TEST(SavedJson, NumbersMustBeFiniteAndInTheirRange) {
  const auto error_with = [](const std::string& pointer, const std::string& number) {
    Json json = Json::parse(model_to_json(small_model()));
    json[Json::json_pointer(pointer)] = "@";
    std::string text = json.dump();
    text.replace(text.find("\"@\""), 3, number);
    return error_of_text(text);
  };
  for (const std::string where :
       {"/intercept", "/inputs/0/mean", "/inputs/0/deviation", "/terms/0/coefficient", "/terms/0/nu",
        "/terms/2/sigma", "/target/scale", "/training/risk"}) {
    for (const std::string number : {"NaN", "Infinity", "1e999", "-1e999", "null"})
      (void)error_with(where, number);
  }
  for (const std::string where : {"/inputs/0/deviation", "/terms/0/nu", "/terms/2/sigma", "/target/scale"}) {
    for (const std::string number : {"0", "-1", "-1e-300"})
      expect_message(error_with(where, number), {"positive number"});
  }
  for (const std::string number : {"0", "-4", "1e3", "2.5", "99999999999999999999", "9223372036854775807"})
    expect_message(error_with("/n_columns", number), {"n_columns", "whole number"});
  for (const std::string number : {"-1", "4", "18446744073709551615", "1.5"})
    expect_message(error_with("/inputs/2/column", number), {"inputs[2].column", "whole number"});
  for (const std::string number : {"0", "-1", "1001", "0.5"})
    expect_message(error_with("/terms/2/exponents/0", number), {"terms[2].exponents[0]", "whole number"});
}

TEST(SavedJson, TermsMustFitTheInputs) {
  const auto refused = [](const Edit& edit, const std::vector<std::string>& parts) {
    expect_message(error_after(edit), parts);
  };
  refused(
      [](Json& json) {
        json["terms"][2]["inputs"] = {"a,b", "age"};
      },
      {"terms[2].inputs[1]", "order of the model's inputs"});
  refused(
      [](Json& json) {
        json["terms"][2]["inputs"] = {"age", "age"};
      },
      {"terms[2].inputs[1]", "each once"});
  refused([](Json& json) { json["terms"][2]["inputs"][0] = "weight"; },
          {"terms[2].inputs[0]", "\"weight\" is not an input"});
  refused([](Json& json) { json["terms"][2]["exponents"] = {1}; }, {"terms[2].exponents", "2 exponents"});
  refused([](Json& json) { json["terms"][2]["exponents"] = {1, 1, 1}; }, {"terms[2].exponents"});
  refused([](Json& json) { json["terms"][2]["exponents"] = {12, 1}; }, {"terms[2]", "order", "13"});
  refused([](Json& json) { json["terms"][0]["exponents"] = {2}; }, {"terms[0]", "linear term"});
  refused([](Json& json) { json["terms"][0]["family"] = "sinc"; }, {"terms[0].family", "\"sinc\""});
  refused([](Json& json) { json["inputs"][1]["name"] = "age"; }, {"inputs[1]", "\"age\" occurs twice"});
}

TEST(SavedJson, LabelsMustBeTwoAndDiffer) {
  for (const Json& labels : {Json{"a", "a"}, Json{"a"}, Json{"a", "b", "c"}, Json::array()}) {
    expect_message(error_after([&](Json& json) { json["target"]["labels"] = labels; }, small_classifier()),
                   {"target.labels", labels.size() == 2 ? "occurs twice" : "two different labels"});
  }
}

TEST(SavedJson, DeepNestingIsRefused) {
  for (const std::string open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += open;
    (void)error_of_text(text);
  }
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  (void)error_of_text(deep);
  Json json = Json::parse(model_to_json(small_model()));
  json["terms"] = "@";
  std::string text = json.dump();
  text.replace(text.find("\"@\""), 3, deep);
  expect_message(error_of_text(text), {"nested more than"});
}

TEST(SavedJson, NamesThatAreNotUtf8CannotBeSaved) {
  Model model = small_model();
  model.inputs[0].name = "gr\xF6";
  EXPECT_THROW((void)model_to_json(model), Error);
}

// Random edits of one to three bytes: whatever loads must also evaluate.
TEST(SavedJson, RandomEditsLoadOrAreRefused) {
  std::mt19937 random(20);
  const auto below = [&](std::size_t n) { return random() % n; };
  constexpr std::string_view alphabet =
      "0123456789-+.eE\"{}[],: \\u\n\xFF"
      "aflnrstux";
  const Matrix x = some_rows(4);
  const ConstMatrixView two_rows = x.view().middle_rows(0, 2);
  const std::string texts[] = {model_to_json(small_model()), model_to_json(small_classifier()),
                               model_to_json(small_text_model())};
  int loaded = 0;
  int refused = 0;
  for (int trial = 0; trial < 30'000; ++trial) {
    std::string text = texts[trial % 3];
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
      const std::size_t position = below(text.size());
      const char c = alphabet[below(alphabet.size())];
      switch (below(3)) {
        case 0:
          text[position] = c;
          break;
        case 1:
          text.insert(position, 1, c);
          break;
        default:
          text.erase(position, 1 + below(4));
      }
    }
    try {
      const Model model = model_from_json(text, "m.json");
      ++loaded;
      if (model.n_columns == 4 && trial % 16 == 0) {
        EXPECT_EQ(model.predict(two_rows, 1).size(), 2U);
      }
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(loaded, 1000);
  EXPECT_GT(refused, 1000);
}

using SavedFile = TableTest;

TEST_F(SavedFile, IsWrittenWholeAndLoaded) {
  save_model(small_model(), path("m.json"));
  EXPECT_EQ(model_to_json(load_model(path("m.json"))), model_to_json(small_model()));
  Model other = small_model();
  other.terms.clear();
  save_model(other, path("m.json"));
  EXPECT_TRUE(load_model(path("m.json")).terms.empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("")), {}), 1);
}

TEST_F(SavedFile, NumbersThatAreNotFiniteAreNotWritten) {
  const std::vector<std::function<void(Model&, double)>> places = {
      [](Model& model, double bad) { model.outputs[0].intercept = bad; },
      [](Model& model, double bad) { model.inputs[1].mean = bad; },
      [](Model& model, double bad) { model.terms[0].coefficients[0] = bad; },
      [](Model& model, double bad) { model.terms[0].atom.nu = bad; },
      [](Model& model, double bad) { model.training.risk = bad; }};
  for (const auto& place : places) {
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      Model model = small_model();
      place(model, bad);
      expect_message(error_of(ErrorKind::kNumerical, [&] { save_model(model, path("m.json")); }),
                     {fmt::format("the number {}", bad)});
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

TEST_F(SavedFile, OtherFilesAreRefused) {
  const auto error = [&](ErrorKind kind, const std::string& file) {
    return error_of(kind, [&] { (void)load_model(file); });
  };
  expect_message(error(ErrorKind::kIo, path("none.json")), {"none.json", "no such"});
  expect_message(error(ErrorKind::kIo, path("")), {path("")});
  expect_message(error(ErrorKind::kBadData, write("", "empty.json")), {"empty.json", "not a model file"});
  expect_message(error(ErrorKind::kBadData, write("a,b\n1,2\n")), {"table.csv", "not a model file"});
  expect_message(error_of(ErrorKind::kIo, [&] { save_model(small_model(), path("none/m.json")); }),
                 {"none/m.json", "cannot write"});
}

}  // namespace
}  // namespace mfga
