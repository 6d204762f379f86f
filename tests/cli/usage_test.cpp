// Wrong usage: exit code 2 and a message that says what exists, before any work is done.
#include "cli/tool.hpp"

namespace mfga {
namespace {

class WrongUsage : public ToolTest {
 protected:
  // Trains on a good table with options that are wrong; returns the message.
  std::string refused(const Arguments& more, const std::string& table = regression_csv(40)) {
    Arguments arguments = {"train", "--train", write(table), "--model", path("m.json"), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::string message = run_refused(arguments);
    EXPECT_EQ(files(), std::vector<std::string>{"table.csv"});
    return message;
  }
};

TEST_F(WrongUsage, Commands) {
  expect_message(run_refused({}), {"subcommand", "mfga --help"});
  expect_message(run_refused({"fly"}), {"fly", "mfga --help"});
  expect_message(run_refused({"train", "--terms", "3"}), {"table is required"});
  expect_message(run_refused({"predict"}), {"model is required"});
  expect_message(run_refused({"predict", "m.json"}), {"data is required"});
  expect_message(run_refused({"evaluate", "m.json", "a.csv", "b.csv"}), {"b.csv"});
  expect_message(run_refused({"inspect", path("none.json")}), {"none.json", "no such"});
}

TEST_F(WrongUsage, UnknownOptionsAndChoices) {
  expect_message(refused({"--speed", "3"}), {"--speed"});
  expect_message(refused({"--engine", "fast"}), {"--engine", "\"fast\"", "auto|lazy|gram"});
  expect_message(refused({"--task", "ranking"}), {"--task", "\"ranking\"", "auto|regression|classification"});
  expect_message(refused({"--preset", "book"}), {"--preset", "\"book\"", "none|paper"});
  expect_message(refused({"--header", "maybe"}), {"--header", "\"maybe\"", "auto", "yes", "no"});
  expect_message(refused({"--format", "xls"}), {"--format", "\"xls\"", "csv", "libsvm"});
}

TEST_F(WrongUsage, NumbersOutOfBounds) {
  expect_message(refused({"--terms", "0"}), {"--terms is 0", "from 1 to"});
  expect_message(refused({"--terms", "-3"}), {"--terms is -3"});
  expect_message(refused({"--per-step", "0"}), {"--per-step is 0"});
  expect_message(refused({"--ridge", "-1"}), {"--ridge is -1", "from 0 to"});
  expect_message(refused({"--ridge", "nan"}), {"--ridge is nan"});
  expect_message(refused({"--ridge", "much"}), {"--ridge", "much"});
  expect_message(refused({"--norm-bound", "-0.5"}), {"--norm-bound is -0.5"});
  expect_message(refused({"--threads", "-1"}), {"--threads is -1"});
  expect_message(refused({"--n-features", "-1"}), {"--n-features", "-1"});
  expect_message(refused({"--test-fraction", "1.5"}), {"--test-fraction", "1.5"});
  expect_message(refused({"--test-fraction", "1"}), {"fraction", "between 0 and 1"});
}

TEST_F(WrongUsage, CrossValidation) {
  expect_message(refused({"--folds", "3"}), {"--folds and --ridges are for --ridge cv"});
  expect_message(refused({"--ridge", "2", "--ridges", "1,2"}), {"--ridge cv"});
  expect_message(refused({"--ridge", "cv", "--folds", "1"}), {"--folds is 1", "from 2"});
  expect_message(refused({"--ridge", "cv", "--folds", "41"}),
                 {"table.csv", "40 rows cannot be divided into 41 folds"});
  expect_message(refused({"--ridge", "cv", "--ridges", "1,-1"}), {"--ridges is -1"});
  expect_message(refused({"--ridge", "cv", "--ridges", "1,much"}), {"--ridges", "much"});
  expect_message(refused({"--ridge", "cv", "--norm-bound", "2"}), {"--norm-bound", "leave one of them out"});
  expect_message(refused({"--ridge", "cv", "--method", "gk", "--ridges", "0,1"}), {"--ridge", "positive"});
  expect_message(refused({"--ridge", "cv", "--engine", "gram", "--memory-limit", "0.1", "--features",
                          "linear + gaussian(order=2)"}),
                 {"13 candidates", "MiB", "--engine lazy", "--folds", "--memory-limit"});
}

TEST_F(WrongUsage, Features) {
  expect_message(refused({"--features", "sinc"}), {"\"sinc\"", "linear, polynomial"});
  expect_message(refused({"--features", "gaussian(degree=2)"}),
                 {"\"degree\"", "order", "squares", "sigma", "nu"});
  expect_message(refused({"--features", "gaussian(order=two)"}), {"order=two", "whole number from 0 to 12"});
  expect_message(refused({"--features", "gaussian(order=13)"}), {"order=13", "from 0 to 12"});
  expect_message(refused({"--features", "gaussian(squares=2)"}), {"squares=2", "yes or no"});
  expect_message(refused({"--features", "gaussian(sigma=-1)"}), {"sigma=-1", "auto", "positive number"});
  expect_message(refused({"--features", "gaussian(sigma=auto*0)"}), {"sigma=auto*0", "auto*2"});
  expect_message(refused({"--features", "linear(nu=0)"}), {"nu=0", "positive number"});
  expect_message(refused({"--features", "gaussian(order=2"}), {"position 17", "expected , or )"});
  expect_message(refused({"--features", "gaussian(order=1, order=2)"}), {"order is given twice"});
  expect_message(refused({"--features", "linear +"}), {"expected the name of a feature family", "position"});
}

TEST_F(WrongUsage, TooLargeARequestIsRefusedWithTheFigure) {
  std::string table;
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 60; ++column) table += fmt::format("{},", (row * 31 + column * 17) % 23);
    table += fmt::format("{}\n", row);
  }
  // binomial(60 + 12, 12)
  expect_message(refused({"--features", "gaussian(order=12)"}, table),
                 {"15363284301456 candidates", "MiB", "--ignore", "--memory-limit"});
  expect_message(refused({"--features", "gaussian(order=3)", "--memory-limit", "0.1"}, table),
                 {"39711 candidates", "the limit is 0.1 MiB"});
}

TEST_F(WrongUsage, GramEngineForClasses) {
  expect_message(refused({"--engine", "gram", "--task", "classification"}),
                 {"--engine gram", "--engine lazy"});
  expect_message(refused({"--engine", "gram"}, classification_csv(40)), {"--engine gram", "--engine lazy"});
}

TEST_F(WrongUsage, OptionsThatExcludeEachOther) {
  expect_message(refused({"--test", path("table.csv"), "--test-fraction", "0.5"}),
                 {"--test and --test-fraction exclude each other"});
}

TEST_F(WrongUsage, Columns) {
  expect_message(refused({"--ignore", "a,x"}), {"--ignore", "no column \"x\"", "a, b, c, y"});
  expect_message(refused({"--ignore", "y"}), {"--ignore", "\"y\" is the target"});
  expect_message(refused({"--ignore", "a,b,c"}), {"no predictors are left"});
}

TEST_F(WrongUsage, FilesThatCannotBeWritten) {
  const std::string table = write(regression_csv(40));
  std::filesystem::create_directory(path("folder"));
  const std::vector<std::string> before = files();
  for (const std::string& target : {path("none/m.json"), path("folder")}) {
    SCOPED_TRACE(target);
    expect_message(run_refused({"train", "--train", table, "--model", target, "--json"}), {target});
    expect_message(run_refused({"generate", "--rows", "5", "-o", target}), {target});
  }
  // Before any work: that there is no table is not even noticed.
  expect_message(run_refused({"train", "--train", path("none.csv"), "--model", path("none/m.json")}),
                 {"none/m.json"});
  (void)run_well({"train", "--train", table, "--model", path("m.json"), "--quiet"});
  expect_message(run_refused({"predict", path("m.json"), table, "-o", path("none/p.csv")}), {"none/p.csv"});
  std::filesystem::remove(path("m.json"));
  EXPECT_EQ(files(), before);
}

TEST_F(WrongUsage, FilesThatAreNoModel) {
  const std::string table = write(regression_csv(10));
  for (const std::string command : {"predict", "evaluate"}) {
    expect_message(run_refused({command, table, table}), {"table.csv: not a model file"});
    expect_message(run_refused({command, write("", "empty.json"), table}), {"empty.json: not a model file"});
    expect_message(run_refused({command, write("{}", "other.json"), table}),
                   {"other.json: not a valid model", "\"format\" is missing"});
    expect_message(run_refused({command, path(""), table}), {path("")});
  }
}

TEST_F(WrongUsage, OfGenerate) {
  expect_message(run_refused({"generate", "--rows", "0"}), {"--rows is 0"});
  expect_message(run_refused({"generate", "--noise", "-1"}), {"--noise is -1"});
  expect_message(run_refused({"generate", "--task", "ranking"}), {"--task", "\"ranking\""});
  expect_message(run_refused({"generate", "--features", "gaussian(sigma=auto)"}), {"sigma=auto needs data"});
  expect_message(run_refused({"generate", "--inputs", "2", "--terms", "5"}),
                 {"--terms is 5", "8 candidates"});
}

}  // namespace
}  // namespace mfga
