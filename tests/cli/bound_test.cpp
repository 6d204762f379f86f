// mfga bound from the outside: what it prints, its JSON, and its refusals.
#include <gtest/gtest.h>

#ifdef MFGA_TOOL

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace mfga {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string text;  // of both streams
};

Outcome run(const std::string& arguments) {
  Outcome outcome;
  const std::string command = std::string(MFGA_TOOL) + " " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.text.append(buffer.data(), count);
  }
  outcome.exit_code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

class BoundCommandTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/mfga_bound_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    const std::string task = GetParam();
    ASSERT_EQ(run("generate --quiet --task " + task + " --rows 800 --inputs 4 --output " + file("train.csv"))
                  .exit_code,
              0);
    ASSERT_EQ(run("generate --quiet --task " + task + " --rows 1200 --inputs 4 --output " + file("test.csv"))
                  .exit_code,
              0);
    ASSERT_EQ(
        run("train --quiet --terms 6 --features 'linear + gaussian(order=2)' --scale standard --train " +
            file("train.csv") + " --model " + file("model.json"))
            .exit_code,
        0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] Outcome bound(const std::string& arguments) const {
    return run("bound " + file("model.json") + " " + arguments);
  }

 private:
  std::string folder_;
};

TEST_P(BoundCommandTest, ExplainsTheTerms) {
  const Outcome outcome = bound("--train " + file("train.csv") + " --test " + file("test.csv"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  for (const char* part : {"estimation", "approximation", "spectral", "total", "term dominates", "vacuous",
                           "Measured gap", "half of the estimation term"}) {
    EXPECT_NE(outcome.text.find(part), std::string::npos) << part << " in:\n" << outcome.text;
  }
}

TEST_P(BoundCommandTest, PrintsOneJsonObject) {
  const Outcome outcome =
      bound("--json --delta 0.01 --train " + file("train.csv") + " --test " + file("test.csv"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  const auto json = nlohmann::json::parse(outcome.text);
  EXPECT_EQ(json["constants"]["delta"], 0.01);
  EXPECT_EQ(json["constants"]["N"], 800);
  EXPECT_EQ(json["constants"]["M"], 6);
  EXPECT_EQ(json["constants"]["P"], 2);
  EXPECT_EQ(json["test_rows"], 1200);
  EXPECT_DOUBLE_EQ(json["total"].get<double>(), json["terms"]["estimation"].get<double>() +
                                                    json["terms"]["approximation"].get<double>() +
                                                    json["terms"]["spectral"].get<double>());
  EXPECT_DOUBLE_EQ(json["gap"].get<double>(),
                   json["test_risk"].get<double>() - json["train_risk"].get<double>());
}

TEST_P(BoundCommandTest, RefusesBadUse) {
  EXPECT_EQ(bound("").exit_code, 2);
  EXPECT_EQ(bound("--train " + file("absent.csv")).exit_code, 2);
  const Outcome outcome = bound("--delta 0 --train " + file("train.csv"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.text.find("--delta is 0; expected a number between 0 and 1"), std::string::npos);
  EXPECT_EQ(run("bound --help").exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Tasks, BoundCommandTest, testing::Values("regression", "classification"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace mfga

#endif  // MFGA_TOOL
