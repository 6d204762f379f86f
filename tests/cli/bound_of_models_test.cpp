// mfga bound: whatever `mfga train` makes, there is a bound for it.
#include <cmath>

#include <random>

#include "cli/tool.hpp"

namespace mfga {
namespace {

// Two numbers, one of them with a heavy tail, and a text; the target bends and has a product in it.
std::string table_text(bool classes) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::string text = "a,b,kind,y\n";
  for (int i = 0; i < 150; ++i) {
    const double a = normal(random);
    const double b = std::exp(2 * normal(random));
    const char* kind = i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue";
    const double score =
        std::sin(3 * a) + 0.5 * a * std::log(b) + (i % 3 == 0 ? 1 : 0) + 0.2 * normal(random);
    text += classes ? fmt::format("{},{},{},{}\n", a, b, kind, score > 0.3 ? "yes" : "no")
                    : fmt::format("{},{},{},{}\n", a, b, kind, score);
  }
  return text;
}

class BoundOfModels : public ToolTest {
 protected:
  // Trains, and asks for the bound, as text and as JSON.
  Json bound_of(const std::string& file, const Arguments& more) {
    Arguments train = {"train", "--quiet", "--train", file, "--model", path("m.json")};
    train.insert(train.end(), more.begin(), more.end());
    run_well(train);
    expect_message(
        run_well({"bound", path("m.json"), "--train", file}).out,
        {"estimation", "approximation", "spectral", "total", "The largest K(x, x) of each kernel"});
    Json json = run_json({"bound", path("m.json"), "--train", file, "--test", file});
    for (const char* name : {"B", "C", "G", "beta", "mu"}) {
      EXPECT_TRUE(json.at("constants").at(name).is_number()) << name << " of " << json;
    }
    EXPECT_GT(json.at("constants").at("B"), 0);
    for (const Json& term : json.at("terms")) EXPECT_TRUE(term.is_number()) << json;
    EXPECT_TRUE(json.at("total").is_number());
    EXPECT_EQ(json.at("kernels").size(), json.at("constants").at("P"));
    EXPECT_LT(std::abs(json.at("gap").get<double>()), 1e-9);  // the rows are the same
    return json;
  }
  static bool has_note(const Json& json, const std::string& part) {
    return std::ranges::any_of(json.at("notes"), [&](const Json& note) {
      return note.get<std::string>().find(part) != std::string::npos;
    });
  }
};

TEST_F(BoundOfModels, TrainedWithDefaults) {
  for (const bool classes : {false, true}) {
    const Json json = bound_of(write(table_text(classes)), {});
    EXPECT_TRUE(has_note(json, "lie where the training rows are"));
  }
}

TEST_F(BoundOfModels, OfEveryFamily) {
  const std::string file = write(table_text(false));
  for (const std::string family :
       {"linear", "polynomial", "step", "hinge", "spline", "periodic", "additive", "gaussian", "fourier",
        "landmark", "nystrom", "maclaurin", "hinge(knots=3, interactions=2)",
        "landmark(kernel=polynomial(2))", "gaussian(sigma=[auto, auto*3])"}) {
    SCOPED_TRACE(family);
    const Json json = bound_of(file, {"--features", family, "--tune", "no", "--terms", "5"});
    EXPECT_FALSE(json.at("tuned").get<bool>());
    EXPECT_EQ(json.at("kernels")[0].at("kernel").get<std::string>().find(family.substr(0, 4)), 0U);
  }
}

TEST_F(BoundOfModels, OnOtherScales) {
  for (const char* scale : {"standard", "robust", "quantile"})
    bound_of(write(table_text(true)), {"--scale", scale, "--terms", "8"});
}

TEST_F(BoundOfModels, ThatWereTuned) {
  const std::string file = write(table_text(false));
  const Json tuned = bound_of(file, {"--features", "linear + gaussian", "--tune", "5", "--terms", "6"});
  EXPECT_TRUE(tuned.at("tuned").get<bool>());
  EXPECT_TRUE(has_note(tuned, "that of the untuned dictionary"));
  // Nothing is known about the tail: G B C.
  const Json& constants = tuned.at("constants");
  EXPECT_NEAR(
      tuned.at("terms").at("spectral").get<double>(),
      constants.at("G").get<double>() * constants.at("B").get<double>() * constants.at("C").get<double>(),
      1e-9 * tuned.at("terms").at("spectral").get<double>());
  const Json plain = bound_of(file, {"--features", "linear + gaussian", "--tune", "no", "--terms", "6"});
  EXPECT_EQ(constants.at("B"), plain.at("constants").at("B"));
  EXPECT_TRUE(bound_of(file, {"--metric", "diagonal", "--features", "linear + gaussian", "--tune", "no"})
                  .at("constants")
                  .at("B")
                  .is_number());
}

TEST_F(BoundOfModels, WithoutExplicitFeaturesAreRefused) {
  const std::string file = write(table_text(false));
  run_well({"train", "--quiet", "--train", file, "--method", "gk", "--model", path("m.json")});
  expect_message(run_refused({"bound", path("m.json"), "--train", file}),
                 {"explicit features", "gaussian kernel"});
}

}  // namespace
}  // namespace mfga
