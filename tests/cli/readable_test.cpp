// mfga train --readable.
#include <cmath>
#include <set>

#include "cli/tool.hpp"
#include "mfga/model.hpp"

namespace mfga {
namespace {

class ReadableCommand : public ToolTest {
 protected:
  // Bends at 30 in age and jumps at 2500 in pay, with noise.
  [[nodiscard]] static std::string table(std::size_t count) {
    std::string text = "age,pay,town,y\n";
    for (std::size_t i = 0; i < count; ++i) {
      const double t = static_cast<double>(i);
      const double age = 45 + 25 * std::sin(1.3 * t);
      const double pay = 3000 + 1500 * std::sin(0.7 * t * t);
      const double noise = std::sin(917 * t);
      text += fmt::format("{:.2f},{:.1f},{},{}\n", age, pay, i % 3 == 0 ? "Bonn" : "Kiel",
                          std::max(0.0, age - 30) + (pay >= 2500 ? 20 : 0) + (i % 3 == 0 ? 5 : 0) + noise);
    }
    return text;
  }
};

TEST_F(ReadableCommand, HasPlainTermsWithRoundedThresholds) {
  const Json report = run_json({"train", write(table(1500)), "--readable", "--terms", "6", "--test-fraction",
                                "0.2", "--model", path("m.json")});
  EXPECT_GT(report.at("test").at("r2").get<double>(), 0.97);
  expect_message(report.at("remarks").dump(), {"thresholds are rounded to a power of ten"});
  const Model model = load_model(path("m.json"));
  const std::set<std::string> readable = {"linear", "step", "hinge", "polynomial"};
  int thresholds = 0;
  for (const Term& term : model.terms) {
    EXPECT_TRUE(readable.contains(term.atom.family)) << term.atom.family;
    for (const Place& place : model.places(term.atom)) {
      ++thresholds;
      const double unit = place.column == "age" ? 0.1 : 10;  // a hundredth of a deviation, or less
      EXPECT_NEAR(place.value / unit, std::round(place.value / unit), 1e-6)
          << place.column << " " << place.value;
    }
  }
  EXPECT_GT(thresholds, 0);
  for (const ModelInput& input : model.inputs) {
    EXPECT_EQ(input.stretch, 1);
    EXPECT_EQ(input.warp.kind(), ScaleKind::kStandard);
  }
}

TEST_F(ReadableCommand, ClassesAndFewRowsWork) {
  std::string text = "a,b,label\n";
  for (int i = 0; i < 300; ++i)
    text += fmt::format("{},{},{}\n", i * i % 97, i % 13, (i * i % 97) + i % 13 > 55 ? "yes" : "no");
  const Json report =
      run_json({"train", write(text), "--readable", "--terms", "5", "--class-weights", "balanced"});
  EXPECT_LT(report.at("train").at("error_percent").get<double>(), 15);
  run_well({"train", write(table(30)), "--readable", "--terms", "3", "--quiet"});
}

TEST_F(ReadableCommand, DoesNotGoWithOtherChoicesOfTerms) {
  const std::string file = write(table(60));
  const std::vector<Arguments> others = {
      {"--features", "linear"}, {"--scale", "robust"}, {"--tune", "5"}, {"--preset", "paper"}};
  for (const Arguments& other : others) {
    Arguments arguments = {"train", file, "--readable"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    expect_message(run_refused(arguments), {"--readable", other[0]});
  }
}

TEST_F(ReadableCommand, KeepsTheModelWhereNoRowsCanBeHeldOut) {
  std::string text = "a,g,y\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{},{},{}\n", i % 31, i % 2, std::max(0, i % 31 - 12));
  const Json report = run_json(
      {"train", write(text), "--readable", "--terms", "3", "--group", "g", "--model", path("m.json")});
  expect_message(report.at("remarks").dump(), {"thresholds are not rounded"});
  EXPECT_EQ(load_model(path("m.json")).terms.size(), 3U);
  expect_message(run_refused({"train", path("table.csv"), "--readable", "--refine"}),
                 {"--readable", "--refine"});
}

}  // namespace
}  // namespace mfga
