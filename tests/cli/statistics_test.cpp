// mfga statistics, and mfga train from what it saves.
#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

using StatisticsCommand = ToolTest;

const std::string kFeatures = "linear + polynomial(degree=2, offset=0) + hinge(knots=4)";

void expect_message(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(StatisticsCommand, TrainsAsFromTheRows) {
  const std::string csv = write(regression_csv(400), "a.csv");
  const std::string sums = path("s.bin");
  const Json made = run_json({"statistics", csv, "-o", sums, "--features", kFeatures});
  EXPECT_EQ(made.at("rows"), 400);
  EXPECT_EQ(made.at("folds"), 5);
  EXPECT_EQ(made.at("target"), "y");
  EXPECT_EQ(made.at("features"), kFeatures);
  EXPECT_EQ(made.at("bytes"), content("s.bin").size());
  const Json found =
      run_json({"train", "--statistics", sums, "--terms", "6", "--ridge", "0.5", "--model", path("m.json")});
  const Json expected = run_json({"train", csv, "--features", kFeatures, "--engine", "gram", "--tune", "no",
                                  "--terms", "6", "--ridge", "0.5", "--model", path("rows.json")});
  EXPECT_EQ(found.at("n_train"), 400);
  EXPECT_EQ(found.at("engine"), "gram");
  EXPECT_NEAR(found.at("train").at("mse").get<double>(), expected.at("train").at("mse").get<double>(), 1e-9);
  EXPECT_NEAR(found.at("train").at("r2").get<double>(), expected.at("train").at("r2").get<double>(), 1e-9);
  const Model model = load_model(path("m.json"));
  const Model of_rows = load_model(path("rows.json"));
  ASSERT_EQ(model.terms.size(), of_rows.terms.size());
  for (std::size_t i = 0; i < model.terms.size(); ++i) {
    EXPECT_EQ(model.terms[i].atom, of_rows.terms[i].atom);
    EXPECT_NEAR(model.terms[i].coefficients[0], of_rows.terms[i].coefficients[0], 1e-9);
  }
  // It is a model like any other.
  EXPECT_EQ(run_json({"evaluate", path("m.json"), csv}).at("rows"), 400);
}

TEST_F(StatisticsCommand, ChoosesRidgeAndSizeByItsFolds) {
  const std::string sums = path("s.bin");
  run_json({"statistics", write(regression_csv(300)), "-o", sums, "--folds", "4"});
  const Json report = run_json({"train", "--statistics", sums, "--path", path("sizes.csv")});
  EXPECT_EQ(report.at("cross_validation").at("folds"), 4);
  EXPECT_GE(report.at("terms"), 2);
  EXPECT_EQ(lines("sizes.csv").size(), report.at("sizes").size() + 1);
  const Json chosen =
      run_json({"train", "--statistics", sums, "--ridge", "cv", "--ridges", "0.1,10", "--terms", "5"});
  EXPECT_EQ(chosen.at("cross_validation").at("ridges"), (std::vector<double>{0.1, 10}));
  const std::string text = run_well({"train", "--statistics", sums, "--terms", "4"}).out;
  expect_message(text,
                 {"statistics of 300 rows in 4 folds", "task: regression of \"y\"", "train: RMSE", "R2 "});
}

TEST_F(StatisticsCommand, AddsFilesAndMergesStatistics) {
  const std::string a = write(regression_csv(200, 1), "a.csv");
  // Columns are found by their names.
  std::string turned = "y,c,b,a\n";
  for (const SmallRow& row : small_rows(150, 2))
    turned += fmt::format("{},{},{},{}\n", row.signal(), row.c, row.b, row.a);
  const std::string b = write(turned, "b.csv");
  const Arguments options = {"--target", "y", "--features", kFeatures};
  const auto with_options = [&](Arguments arguments) {
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_json(arguments);
  };
  const Json both = with_options({"statistics", a, b, "-o", path("both.bin")});
  EXPECT_EQ(both.at("rows"), 350);
  EXPECT_EQ(both.at("files")[1].at("rows"), 150);
  // Going on with a file comes to the same, to the last bit.
  with_options({"statistics", a, "-o", path("a.bin")});
  EXPECT_EQ(run_json({"statistics", path("a.bin"), b, "-o", path("more.bin")}).at("rows"), 350);
  EXPECT_EQ(content("more.bin"), content("both.bin"));
  EXPECT_EQ(run_json({"statistics", path("a.bin"), path("more.bin"), "-o", path("all.bin")}).at("rows"), 550);
  EXPECT_EQ(run_json({"statistics", path("more.bin"), path("a.bin"), "-o", path("again.bin")}).at("rows"),
            550);
  EXPECT_EQ(content("all.bin"), content("again.bin"));
  run_json({"train", "--statistics", path("all.bin"), "--terms", "3"});

  run_json({"statistics", b, "-o", path("b.bin"), "--target", "y"});
  expect_message(run_refused({"statistics", path("a.bin"), path("b.bin"), "-o", path("no.bin")}),
                 {"b.bin", "their columns"});
  expect_message(run_refused({"statistics", path("a.bin"), b, "-o", path("no.bin"), "--features", "linear"}),
                 {"--features", "a.bin"});
}

TEST_F(StatisticsCommand, KnowsTextsMissingValuesAndWeights) {
  std::string first = "colour,size,w,price\n";
  std::string second = first;
  for (const SmallRow& row : small_rows(120)) {
    const std::string colour = row.b > 0 ? "red" : row.c > 0 ? "green" : "blue";
    first += fmt::format("{},{},2,{}\n", colour, row.a > 1 ? "NA" : fmt::format("{}", row.a), row.signal());
    second += fmt::format("{},{},1,{}\n", colour == "blue" ? "violet" : colour, row.a, row.signal());
  }
  const Json report = run_json({"statistics", write(first, "a.csv"), write(second, "b.csv"), "-o",
                                path("s.bin"), "--weight", "w", "--target", "price"});
  EXPECT_EQ(report.at("rows"), 240);
  expect_warning(report, {"b.csv", "\"colour\"", "texts"});
  const Json trained =
      run_json({"train", "--statistics", path("s.bin"), "--terms", "3", "--model", path("m.json")});
  EXPECT_EQ(trained.at("n_train"), 240);
  run_json({"evaluate", path("m.json"), path("a.csv")});
}

TEST_F(StatisticsCommand, RefusesWhatNeedsRows) {
  const std::string csv = write(regression_csv(100));
  const std::string sums = path("s.bin");
  run_json({"statistics", csv, "-o", sums});
  const auto refused = [&](Arguments arguments) {
    arguments.insert(arguments.begin(), {"train", "--statistics", sums});
    return run_refused(arguments);
  };
  expect_message(refused({csv}), {"the table", "--statistics"});
  for (const Arguments& given : {Arguments{"--test", csv},
                                 {"--test-fraction", "0.2"},
                                 {"--target", "y"},
                                 {"--repeats", "3"},
                                 {"--readable"},
                                 {"--start", "m.json"},
                                 {"--preset", "paper"},
                                 {"--loss", "huber"},
                                 {"--metric", "full"},
                                 {"--search", "htp"}})
    expect_message(refused(given), {given.front(), "--statistics", "rows"});
  for (const Arguments& given : {Arguments{"--features", "linear"}, {"--folds", "3"}, {"--scale", "robust"}})
    expect_message(refused(given), {given.front(), "mfga statistics"});
  expect_message(refused({"--tune", "20"}), {"--tune", "rows"});
  expect_message(refused({"--select", "normalised"}), {"--select normalised", "rows"});
  expect_message(refused({"--engine", "lazy"}), {"--engine lazy", "rows"});
  expect_message(refused({"--ridges", "1,2"}), {"--ridges", "--ridge cv"});
  expect_message(refused({"--model", sums}), {"--model", "overwrite"});
  run_json({"train", "--statistics", sums, "--terms", "3", "--tune", "no", "--engine", "gram"});
}

TEST_F(StatisticsCommand, RefusesBadFiles) {
  const std::string csv = write(regression_csv(100), "a.csv");
  expect_message(run_refused({"train", "--statistics", csv}), {"a.csv", "not a file of statistics"});
  expect_message(run_refused({"train", "--statistics", path("none")}), {"none", "no such file"});
  expect_message(run_refused({"statistics", csv, "-o", csv}), {"--output", "overwrite"});
  expect_message(run_refused({"statistics", csv, "-o", path("no/folder/s.bin")}), {"no/folder"});
  expect_message(run_refused({"statistics", write(classification_csv(100), "c.csv"), "-o", path("s.bin")}),
                 {"c.csv", "numbers"});
  expect_message(
      run_refused({"statistics", csv, write("a,b\n1,2\n2,3\n4,5\n", "few.csv"), "-o", path("s.bin")}),
      {"few.csv"});
  expect_message(run_refused({"statistics", csv, "-o", path("s.bin"), "--memory-limit", "1"}),
                 {"--features", "--folds", "--memory-limit"});
  EXPECT_EQ(std::ranges::count(files(), "s.bin"), 0);
  run_json({"statistics", csv, "-o", path("s.bin")});
  std::string bytes = content("s.bin");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  expect_message(run_refused({"train", "--statistics", write(bytes, "damaged.bin")}),
                 {"damaged.bin", "checksum"});
}

}  // namespace
}  // namespace mfga
