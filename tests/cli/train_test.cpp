// mfga train: what it reports, what it saves, and that neither depends on chance or threads.
#include <cmath>
#include <limits>

#include <random>

#include "cli/tool.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

using TrainCommand = ToolTest;

void expect_positive_numbers(const Json& json, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    ASSERT_TRUE(json.contains(key)) << key;
    ASSERT_TRUE(json[key].is_number()) << key;
    EXPECT_GT(json[key].get<double>(), 0) << key;
  }
}

void expect_seconds(const Json& seconds) {
  double parts = 0;
  for (const std::string key : {"load", "prepare", "validate", "tune", "score", "fit", "leverage",
                                "stability", "predict", "repeat", "save", "other"}) {
    ASSERT_TRUE(seconds.contains(key) && seconds[key].is_number()) << key;
    EXPECT_GE(seconds[key].get<double>(), -1e-6) << key;
    parts += seconds[key].get<double>();
  }
  EXPECT_NEAR(seconds.at("total").get<double>(), parts, 1e-6);
}

void expect_path(const Json& report) {
  double risk = report.at("initial_risk");
  std::int64_t terms = 0;
  for (const Json& step : report.at("path")) {
    terms += static_cast<std::int64_t>(step.at("added").size());
    EXPECT_EQ(step.at("terms"), terms);
    EXPECT_LE(step.at("risk").get<double>(), risk * (1 + 1e-12));
    risk = step.at("risk");
    expect_positive_numbers(step, {"risk", "largest_gradient", "ridge", "seconds"});
    for (const Json& formula : step.at("added")) EXPECT_TRUE(formula.is_string());
  }
  EXPECT_EQ(report.at("terms"), terms);
  EXPECT_EQ(report.at("train").at("risk"), risk);
}

TEST_F(TrainCommand, ReportsARegressionAsJson) {
  const Json report =
      run_json({"train", "--train", write(regression_csv(120)), "--test",
                write(regression_csv(40, 2), "test.csv"), "--terms", "6", "--per-step", "2", "--ridge", "0.5",
                "--tune", "no", "--features", "linear + gaussian(order=2)"});
  EXPECT_EQ(report.at("task"), "regression");
  EXPECT_EQ(report.at("loss"), "squared");
  EXPECT_TRUE(report.at("engine") == "lazy" || report.at("engine") == "gram");
  EXPECT_EQ(report.at("candidates"), 3 + 1 + 3 + 6);  // linear, and the orders 0, 1 and 2 of three inputs
  EXPECT_EQ(report.at("terms"), 6);
  EXPECT_EQ(report.at("n_train"), 120);
  EXPECT_EQ(report.at("n_test"), 40);
  EXPECT_EQ(report.at("ridge"), 0.5);
  EXPECT_EQ(report.at("path").size(), 3U);
  EXPECT_TRUE(report.at("model").is_null());
  expect_positive_numbers(report, {"sigma", "peak_rss_mib"});
  expect_seconds(report.at("seconds"));
  expect_path(report);
  for (const std::string part : {"train", "test"}) {
    SCOPED_TRACE(part);
    const Json& metrics = report.at(part);
    expect_positive_numbers(metrics, {"mse", "rmse", "mae", "r2"});
    EXPECT_NEAR(std::pow(metrics.at("rmse").get<double>(), 2), metrics.at("mse"), 1e-12);
    EXPECT_LE(metrics.at("mae").get<double>(), metrics.at("rmse").get<double>());
    EXPECT_GT(metrics.at("r2").get<double>(), 0.9);
    EXPECT_LT(metrics.at("r2").get<double>(), 1);
  }
}

TEST_F(TrainCommand, ReportsAClassificationAsJson) {
  const Json report =
      run_json({"train", "--train", write(classification_csv(120)), "--test",
                write(classification_csv(40, "no", "yes", 2), "test.csv"), "--terms", "4", "--tune", "no"});
  EXPECT_EQ(report.at("task"), "classification");
  EXPECT_EQ(report.at("loss"), "logistic");
  EXPECT_EQ(report.at("engine"), "lazy");
  EXPECT_EQ(report.at("labels"), (Json{"no", "yes"}));
  EXPECT_GT(report.at("ridge").get<double>(), 0);
  expect_path(report);
  for (const std::string part : {"train", "test"}) {
    SCOPED_TRACE(part);
    const Json& metrics = report.at(part);
    expect_positive_numbers(metrics, {"error_percent", "log_loss", "auc"});
    EXPECT_LT(metrics.at("error_percent").get<double>(), 25);
    EXPECT_GT(metrics.at("auc").get<double>(), 0.75);
    EXPECT_LT(metrics.at("auc").get<double>(), 1);
    EXPECT_LT(metrics.at("log_loss").get<double>(), std::log(2.0));
  }
}

TEST_F(TrainCommand, SaysNullWhereThereIsNothingToReport) {
  const Json report = run_json({"train", "--train", write(regression_csv(30)), "--features", "linear"});
  EXPECT_TRUE(report.at("test").is_null());
  EXPECT_TRUE(report.at("sigma").is_null());
  EXPECT_TRUE(report.at("auto_sigma").is_null());
  EXPECT_EQ(report.at("n_test"), 0);
  EXPECT_EQ(report.at("terms"), 3);
}

TEST_F(TrainCommand, PrintsTheFormulaAndTheErrors) {
  const ToolResult result =
      run_well({"train", "--train", write(regression_csv(60)), "--test-fraction", "0.2", "--terms", "5",
                "--show", "3", "--model", path("m.json"), "--features", "linear + gaussian(order=2)"});
  expect_message(
      result.out,
      {"48 rows, 3 predictors", "12 more of its rows are held out", "task: regression of \"y\" (inferred",
       "linear + gaussian(order=2), 13 candidates", "sigma=auto: ", "fitted 5 terms in 5 steps",
       "... and 2 more terms", "train: RMSE", "test:  RMSE", "model: " + path("m.json")});
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

TEST_F(TrainCommand, QuietPrintsNothing) {
  EXPECT_EQ(run_well({"train", "--train", write(regression_csv(30)), "--quiet"}).out, "");
}

TEST_F(TrainCommand, SavesTheReportedFit) {
  const std::string file = write(regression_csv(80));
  const Json report = run_json({"train", "--train", file, "--terms", "4", "--ridge", "1", "--model",
                                path("m.json"), "--threads", "1", "--tune", "no"});
  EXPECT_EQ(report.at("model"), path("m.json"));
  EXPECT_EQ(files(), (std::vector<std::string>{"m.json", "table.csv"}));
  const Table table = TableFile(file, {}).read_for_training("", {});
  FitOptions options;
  options.terms = 4;
  options.ridge = 1;
  options.tune = Tuning::none();
  const FitResult expected =
      fit({table.values.view(), table.target, table.columns, table.target_name, table.labels}, options);
  EXPECT_EQ(content("m.json"), model_to_json(expected.model));
}

// A bump that no input shows alone, and an input that does not matter.
std::string bump_csv(int rows, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  std::string text = "east,north,other,height\n";
  for (int i = 0; i < rows; ++i) {
    const double east = 3 * uniform();
    const double north = 3 * uniform();
    const double height = 10 * std::exp(-(east * east + (north - 1) * (north - 1)) / 2) + 0.3 * uniform();
    text += fmt::format("{},{},{},{}\n", east, north, 5 * uniform(), height);
  }
  return text;
}

TEST_F(TrainCommand, TunesByDefaultWhereHeldOutRowsGain) {
  const std::string file = write(bump_csv(600, 1));
  const std::string test = write(bump_csv(300, 2), "test.csv");
  const auto train = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",   "--train", file,      "--test",      test,
                                          "--terms", "4",       "--model", path("m.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  };
  const Json plain = train({"--tune", "no"});
  EXPECT_TRUE(plain.at("tuning").is_null());
  const Json tuned = train({});
  EXPECT_EQ(tuned.at("tuning").at("used"), true);
  EXPECT_LT(tuned.at("tuning").at("held_out").at("with"), tuned.at("tuning").at("held_out").at("without"));
  EXPECT_LT(tuned.at("test").at("rmse").get<double>(), 0.5 * plain.at("test").at("rmse").get<double>());
  EXPECT_LT(tuned.at("test").at("rmse").get<double>(), 0.3) << "the noise has 0.17";
  const Model model = load_model(path("m.json"));
  EXPECT_GT(model.training.tuning_steps, 5);
  EXPECT_LT(model.inputs[2].stretch, 0.5 * model.inputs[0].stretch) << "the input that does not matter";

  const Json evaluated = run_json({"evaluate", path("m.json"), test});
  EXPECT_NEAR(evaluated.at("metrics").at("rmse").get<double>(), tuned.at("test").at("rmse").get<double>(),
              1e-12);
  const std::string shown = run_well({"inspect", path("m.json")}).out;
  EXPECT_NE(shown.find("stretch of the columns"), std::string::npos) << shown;
  EXPECT_NE(shown.find("tuned in"), std::string::npos) << shown;
  const Json inspected = run_json({"inspect", path("m.json")});
  EXPECT_EQ(inspected.at("stretch").at("east"), model.inputs[0].stretch);

  const Json again = train({"--threads", "1"});
  EXPECT_EQ(again.at("test"), tuned.at("test"));
}

TEST_F(TrainCommand, TunesForAGivenNumberOfSteps) {
  const Json report =
      run_json({"train", "--train", write(bump_csv(400, 1)), "--terms", "4", "--tune", "3", "--tune-every",
                "2", "--features", "landmark(count=50)", "--ridge", "0.1", "--model", path("m.json")});
  ASSERT_EQ(report.at("path").size(), 2U);
  for (const Json& step : report.at("path")) EXPECT_EQ(step.at("tuning_steps"), 3);
  EXPECT_EQ(load_model(path("m.json")).training.tuning_steps, 6);
}

TEST_F(TrainCommand, LearnsAMetric) {
  const std::string file = write(bump_csv(600, 1));
  for (const std::string metric : {"diagonal", "full"}) {
    const Json report =
        run_json({"train", "--train", file, "--terms", "20", "--per-step", "2", "--tune", "no", "--features",
                  "landmark(count=100)", "--metric", metric, "--model", path("m.json")});
    EXPECT_GT(report.at("metric_rounds"), 0) << metric;
    const Model model = load_model(path("m.json"));
    if (metric == "full") {
      EXPECT_LT(std::abs(model.mixing(2, 2)), 0.5 * std::abs(model.mixing(0, 0)));
    } else {
      EXPECT_LT(model.inputs[2].stretch, 0.5 * model.inputs[0].stretch);
    }
    EXPECT_NEAR(run_json({"evaluate", path("m.json"), file}).at("metrics").at("rmse").get<double>(),
                report.at("train").at("rmse").get<double>(), 1e-12);
  }
}

TEST_F(TrainCommand, RefusesTuningThatIsNotPossible) {
  const std::string file = write(bump_csv(100, 1));
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& parts) {
    std::vector<std::string> arguments = {"train", "--train", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_message(run_refused(arguments), parts);
  };
  refused({"--tune", "often"}, {"--tune", "often"});
  refused({"--tune", "-3"}, {"--tune"});
  refused({"--tune", "5", "--refine"}, {"--tune", "--refine"});
  refused({"--tune", "5", "--search", "htp"}, {"--tune", "--search htp"});
  refused({"--metric", "full", "--norm-bound", "1"}, {"--metric", "--norm-bound"});
  refused({"--tune", "5", "--ridge", "0"}, {"--tune", "--ridge"});
  refused({"--tune", "5", "--method", "rks"}, {"--tune", "rks"});
  refused({"--metric", "squared"}, {"--metric", "squared"});
}

TEST_F(TrainCommand, WithoutATermAndAnInterceptTheModelIsZero) {
  const std::string file = write(classification_csv(120));
  // The loss of zero is log 2, which this tolerance allows.
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--tune", "auto"}, {"--metric", "diagonal"}, {"--tune", "no", "--refine"}}) {
    std::vector<std::string> arguments = {"train", "--train", file,           "--tolerance",
                                          "1",     "--model", path("m.json"), "--no-intercept"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    (void)run_well(arguments);
    const Model model = load_model(path("m.json"));
    EXPECT_TRUE(model.terms.empty());
    EXPECT_EQ(model.outputs[0].intercept, 0);
  }
  // Swapping the only term leaves none for a moment.
  (void)run_well({"train", "--train", file, "--no-intercept", "--terms", "1", "--refine"});
}

TEST_F(TrainCommand, SaysTheRidgeOfTheModel) {
  const std::string file = write(bump_csv(600, 1));
  const ToolResult shown = run_well({"train", "--train", file, "--terms", "4", "--model", path("m.json")});
  const double ridge = load_model(path("m.json")).training.ridge;
  expect_message(shown.out, {fmt::format(" steps, with ridge {:g}; mean loss of held-out rows", ridge)});
}

TEST_F(TrainCommand, AmongTheRidgesOfACrossValidationMayBeZero) {
  const std::string file = write(regression_csv(90));
  const std::vector<std::string> arguments = {"train",   "--train", file,       "--terms", "4",
                                              "--ridge", "cv",      "--ridges", "0,1,10"};
  EXPECT_TRUE(run_json(arguments).at("tuning").is_null());  // which needs a ridge
  std::vector<std::string> tuned = arguments;
  tuned.insert(tuned.end(), {"--tune", "5"});
  expect_message(run_refused(tuned), {"--tune needs all of --ridges above 0", "--tune no"});
}

TEST_F(TrainCommand, GoesOnFromAModel) {
  const std::string file = write(regression_csv(200));
  (void)run_well({"train", file, "--terms", "3", "--tune", "no", "--model", path("m.json")});
  (void)run_well({"train", file, "--terms", "6", "--start", path("m.json"), "--model", path("m.json")});
  EXPECT_EQ(load_model(path("m.json")).terms.size(), 6U);
  expect_message(run_refused({"train", file, "--start", path("m.json"), "--tune", "3"}),
                 {"--tune", "--start"});
  expect_message(run_refused({"train", file, "--start", path("none.json")}), {"none.json"});
}

TEST_F(TrainCommand, ReplacesAnOlderFile) {
  (void)write("old", "m.json");
  (void)run_well({"train", "--train", write(regression_csv(30)), "--terms", "2", "--model", path("m.json")});
  EXPECT_EQ(load_model(path("m.json")).terms.size(), 2U);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.json", "table.csv"}));
}

// Of the entries of a surface in one column, the smallest; of all columns if it is null.
double smallest_mean(const Json& validation, const Json& column) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Json& row : validation.at("mean")) {
    for (std::size_t t = 0; t < row.size(); ++t) {
      if (column.is_null() || column == t) smallest = std::min(smallest, row[t].get<double>());
    }
  }
  return smallest;
}

TEST_F(TrainCommand, CrossValidatesTheRidge) {
  for (const std::string& data : {regression_csv(150), classification_csv(150)}) {
    const std::string file = write(data);
    const Json report =
        run_json({"train", "--train", file, "--terms", "5", "--per-step", "2", "--ridge", "cv", "--folds",
                  "3", "--ridges", "0.001,0.1,10,1e3", "--tune", "no", "--model", path("m.json")});
    const Json& validation = report.at("cross_validation");
    EXPECT_EQ(validation.at("folds"), 3);
    EXPECT_EQ(validation.at("measure"), report.at("task") == "regression" ? "mse" : "log_loss");
    EXPECT_EQ(validation.at("ridges"), (Json{0.001, 0.1, 10, 1e3}));
    EXPECT_EQ(validation.at("terms"), (Json{2, 4, 5}));
    expect_positive_numbers(validation, {"seconds"});
    for (const std::string table : {"mean", "standard_error"}) {
      ASSERT_EQ(validation.at(table).size(), 4U);
      for (const Json& row : validation.at(table)) {
        ASSERT_EQ(row.size(), 3U);
        for (const Json& value : row) EXPECT_GT(value.get<double>(), 0);
      }
    }
    const Json& chosen = validation.at("chosen");
    expect_positive_numbers(chosen, {"ridge", "mean", "standard_error"});
    EXPECT_EQ(chosen.at("terms"), 5);
    EXPECT_EQ(chosen.at("mean"), smallest_mean(validation, 2));
    EXPECT_EQ(validation.at("best").at("mean"), smallest_mean(validation, Json()));
    EXPECT_EQ(report.at("ridge"), chosen.at("ridge"));
    EXPECT_EQ(load_model(path("m.json")).training.ridge, chosen.at("ridge"));
    // The same model as with that ridge.
    const Json plain = run_json({"train", "--train", file, "--tune", "no", "--terms", "5", "--per-step", "2",
                                 "--ridge", chosen.at("ridge").dump()});
    EXPECT_TRUE(plain.at("cross_validation").is_null());
    EXPECT_EQ(plain.at("path").back().at("added"), report.at("path").back().at("added"));
    EXPECT_NEAR(plain.at("train").at("risk"), report.at("train").at("risk"), 1e-9);
  }
}

TEST_F(TrainCommand, PrintsTheCrossValidation) {
  const ToolResult result =
      run_well({"train", "--train", write(regression_csv(90)), "--terms", "20", "--ridge", "cv", "--ridges",
                "0.25,4", "--features", "linear + gaussian(order=2)"});
  expect_message(result.out, {"cross-validation: mean squared error of held-out rows, mean over 5 folds",
                              "     ridge ", "\n        0.25 ", "\n           4 ",
                              "chosen: ridge 0.25 with 13 terms, ", " +- ", "it is the smallest of --ridges",
                              " would have been better: ridge 0.25 with", "validate 0."});
  // The ridge of the first seed serves the others.
  const Json repeated = run_json({"train", "--train", path("table.csv"), "--terms", "3", "--ridge", "cv",
                                  "--ridges", "0.25,4", "--repeats", "2"});
  EXPECT_EQ(repeated.at("repeats").at("count"), 2) << repeated.at("repeats");
}

TEST_F(TrainCommand, SameModelForAnyThreads) {
  struct Case {
    std::string data, engine, preset;
  };
  const std::string numbers = regression_csv(700);
  for (const Case& c : {Case{numbers, "lazy", "none"}, Case{numbers, "gram", "paper"},
                        Case{classification_csv(700), "lazy", "paper"}}) {
    const std::string file = write(c.data);
    std::string first;
    for (const std::string threads : {"1", "2", "3"}) {
      (void)run_well({"train", "--train", file, "--test-fraction", "0.1", "--engine", c.engine, "--preset",
                      c.preset, "--terms", "6", "--per-step", "2", "--threads", threads, "--model",
                      path("m.json"), "--quiet"});
      if (first.empty()) first = content("m.json");
      EXPECT_FALSE(first.empty());
      EXPECT_EQ(content("m.json"), first) << threads << " threads, " << c.engine;
    }
  }
}

TEST_F(TrainCommand, BothEnginesPickTheSameTerms) {
  const std::string file = write(regression_csv(150));
  const auto path_of = [&](const std::string& engine) {
    const Json report =
        run_json({"train", "--train", file, "--terms", "6", "--engine", engine, "--tune", "no"});
    EXPECT_EQ(report.at("engine"), engine);
    Json added;
    for (const Json& step : report.at("path")) added.push_back(step.at("added"));
    return added;
  };
  EXPECT_EQ(path_of("lazy"), path_of("gram"));
}

TEST_F(TrainCommand, HoldsOutRowsByTheSeed) {
  const std::string file = write(regression_csv(100));
  const auto report_for = [&](const std::string& seed) {
    return run_json({"train", "--train", file, "--test-fraction", "0.3", "--terms", "3", "--seed", seed,
                     "--model", path("m" + seed + ".json")});
  };
  const Json first = report_for("5");
  const std::string model = content("m5.json");
  const Json again = report_for("5");
  const Json other = report_for("6");
  EXPECT_EQ(first.at("n_train"), 70);
  EXPECT_EQ(first.at("n_test"), 30);
  EXPECT_EQ(first.at("test"), again.at("test"));
  EXPECT_EQ(content("m5.json"), model);
  EXPECT_NE(first.at("test").at("mse"), other.at("test").at("mse"));
  EXPECT_NE(content("m6.json"), model);
}

TEST_F(TrainCommand, DropsConstantColumnsByName) {
  const std::string file = write("a,flat,b,y\n1,7,2,3\n2,7,1,5\n3,7,5,4\n5,7,4,9\n");
  EXPECT_EQ(run_json({"train", "--train", file}).at("dropped_columns"), Json{"flat"});
  expect_message(run_well({"train", "--train", file}).out, {"dropped: 1 constant column: flat"});
}

TEST_F(TrainCommand, ReportsTermsThatDependOnOthers) {
  const std::string file = write("a,twin,y\n1,2,3\n2,4,5\n3,6,4\n5,10,9\n6,12,8\n");
  // Both in one step: after the first, rounding decides whether the second has a gradient left.
  const Json report = run_json({"train", "--train", file, "--features", "linear", "--ridge", "0", "--select",
                                "gradient", "--per-step", "2", "--shortlist", "2"});
  EXPECT_EQ(report.at("terms"), 1);
  EXPECT_EQ(report.at("dependent_atoms").size(), 1U);
}

TEST_F(TrainCommand, PaperPresetScalesTheTargetAndHasNoIntercept) {
  const Json report =
      run_json({"train", "--train", write(regression_csv(60)), "--preset", "paper", "--terms", "5"});
  EXPECT_EQ(report.at("features"), "linear + gaussian(order=2, squares=no)");
  EXPECT_EQ(report.at("intercept"), 0);
  EXPECT_GT(report.at("train").at("scaled_error_percent").get<double>(), 0);
}

TEST_F(TrainCommand, NormBoundTakesThePlaceOfTheRidge) {
  const Json report = run_json({"train", "--train", write(regression_csv(60)), "--terms", "4", "--norm-bound",
                                "0.5", "--model", path("m.json")});
  EXPECT_EQ(report.at("norm_bound"), 0.5);
  EXPECT_EQ(report.at("ridge"), report.at("path").back().at("ridge"));
  double norm = 0;
  for (const Term& term : load_model(path("m.json")).terms)
    norm += term.coefficients[0] * term.coefficients[0];
  EXPECT_NEAR(std::sqrt(norm), 0.5, 1e-6);
}

TEST_F(TrainCommand, StopsAtTheTolerance) {
  const Json report =
      run_json({"train", "--train", write(regression_csv(60)), "--terms", "10", "--tolerance", "0.2"});
  EXPECT_LT(report.at("terms").get<int>(), 10);
  EXPECT_LE(report.at("path").back().at("risk").get<double>(), 0.2);
}

TEST_F(TrainCommand, FindsTheTargetOfTheTestFileByName) {
  // The last column of the test file is another one, and the order differs.
  std::string test = "y,id,c,b,a,last\n";
  for (const SmallRow& row : small_rows(40, 2))
    test += fmt::format("{:.4f},text,{},{},{},0\n", row.signal(), row.c, row.b, row.a);
  const std::string file = write(regression_csv(80));
  const std::string same_order = write(regression_csv(40, 2), "test.csv");
  const std::string other_order = write(test, "other.csv");
  for (const std::string target : {"", "y", "-1", "3"}) {
    const auto metrics = [&](const std::string& test_file) {
      Arguments arguments = {"train", "--train", file, "--test", test_file, "--terms", "4"};
      if (!target.empty()) arguments.insert(arguments.end(), {"--target", target});
      return run_json(arguments).at("test");
    };
    EXPECT_EQ(metrics(other_order), metrics(same_order)) << target;
  }
}

}  // namespace
}  // namespace mfga
