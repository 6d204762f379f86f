// Fits whose process is killed, at any time, and that go on in another one.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "cli/tool.hpp"

namespace mfga {
namespace {

class CheckpointToolTest : public ToolTest {
 protected:
  CheckpointToolTest() : ToolTest(folder_in_memory()) {}
  [[nodiscard]] Arguments fit(const Arguments& options, const std::string& model) const {
    Arguments all = {"train", path("t.csv"), "--target", "y", "--model", path(model), "--quiet"};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }
  // With a checkpoint after every step, to go on from.
  [[nodiscard]] Arguments resumed(const Arguments& options, const std::string& model, int threads) const {
    Arguments all = fit(options, model);
    for (const std::string& word :
         {std::string("--checkpoint"), path("c"), std::string("--resume"), std::string("--checkpoint-every"),
          std::string("0"), std::string("--threads"), std::to_string(threads)})
      all.push_back(word);
    return all;
  }

  // Kills the process after the checkpoint has been replaced about so many times, and some microseconds
  // more. Returns how often that was; nothing if the process came to its end before.
  [[nodiscard]] std::optional<int> killed(const Arguments& arguments, int replacements,
                                          int microseconds) const {
    RunningTool tool(arguments);
    int seen = 0;
    for (ino_t last = inode(); seen < replacements && !tool.has_ended();) {
      if (const ino_t now = inode(); now != last) {
        ++seen;
        last = now;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    tool.send(SIGKILL);
    if (tool.wait().exit_code == 128 + SIGKILL) return seen;
    return std::nullopt;
  }

  // Kills so many fits once each, and lets them go on.
  void expect_same_models(const Arguments& options, int kills, unsigned seed) {
    run_well(fit(options, "whole.json"));
    const std::string expected = content("whole.json");
    std::mt19937 random(seed);
    const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    int most = 8;  // replacements, as far as is known
    int resumed_fits = 0;
    const int usual = 1 + below(3);
    for (int done = 0, tries = 0; done < kills; ++tries) {
      ASSERT_LT(tries, 3 * kills);
      const std::optional<int> seen = killed(resumed(options, "m.json", usual), below(most), below(3000));
      if (!seen) {  // it had come to its end
        EXPECT_EQ(content("m.json"), expected);
        most = std::max(2, most - most / 4);
        std::filesystem::remove(path("m.json"));
        continue;
      }
      most = std::max(most, *seen + *seen / 3 + 2);
      ++done;
      if (std::filesystem::exists(path("m.json"))) {
        EXPECT_EQ(content("m.json"), expected);  // nothing is half written
        std::filesystem::remove(path("m.json"));
      }
      if (std::filesystem::exists(path("c"))) ++resumed_fits;
      run_well(resumed(options, "m.json", 1 + done % 3));
      EXPECT_EQ(content("m.json"), expected) << done;
      std::filesystem::remove(path("m.json"));
      EXPECT_EQ(files(), (std::vector<std::string>{"t.csv", "whole.json"}));
    }
    EXPECT_GT(resumed_fits, kills / 4);
  }

 private:
  [[nodiscard]] ino_t inode() const {
    struct stat status {};
    return stat(path("c").c_str(), &status) == 0 ? status.st_ino : 0;
  }
};

TEST_F(CheckpointToolTest, KilledDefaultFitsGoOn) {
  (void)write(regression_csv(200), "t.csv");
  expect_same_models({"--terms", "4", "--features", "linear + hinge + fourier(count=20)"}, 30, 1);
}

TEST_F(CheckpointToolTest, KilledFitsOfClassesGoOn) {
  (void)write(classification_csv(200), "t.csv");
  expect_same_models({"--terms", "4", "--features", "linear + hinge"}, 20, 2);
}

TEST_F(CheckpointToolTest, KilledFitsStepByStepGoOn) {
  (void)write(regression_csv(400), "t.csv");
  expect_same_models({"--terms", "30", "--tune", "no", "--ridge", "0.1", "--refine"}, 30, 3);
}

TEST_F(CheckpointToolTest, KilledFitsWithCrossValidationGoOn) {
  (void)write(regression_csv(300), "t.csv");
  expect_same_models({"--terms", "6", "--tune", "no", "--ridge", "cv", "--folds", "3", "--features",
                      "linear + hinge", "--engine", "lazy"},
                     20, 4);
}

// As where a queue of jobs gives each a little time only.
TEST_F(CheckpointToolTest, AFitThatIsKilledOverAndOverComesToItsEnd) {
  (void)write(regression_csv(2000), "t.csv");
  const Arguments options = {"--terms", "8", "--features", "linear + hinge"};
  run_well(fit(options, "whole.json"));
  int kills = 0;
  while (killed(resumed(options, "m.json", 1 + kills % 2), 1 + kills, 0)) ASSERT_LT(++kills, 100);
  EXPECT_GT(kills, 2);
  EXPECT_EQ(content("m.json"), content("whole.json"));
  EXPECT_EQ(files(), (std::vector<std::string>{"m.json", "t.csv", "whole.json"}));
}

TEST_F(CheckpointToolTest, SaysWhatIsWrong) {
  (void)write(regression_csv(2000), "t.csv");
  const Arguments options = {"--terms", "40", "--tune", "no", "--ridge", "1"};
  const auto with = [&](Arguments more, const std::string& table = "t.csv") {
    Arguments all = fit(options, "m.json");
    all[1] = path(table);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_message(run_refused(with({"--resume"})), {"--resume is for a --checkpoint"});
  expect_message(run_refused(with({"--checkpoint", path("t.csv")})), {"--checkpoint", "same file"});
  expect_message(run_refused(with({"--checkpoint", path("m.json")})), {"--checkpoint", "same file"});
  expect_message(run_refused(with({"--checkpoint", path("no/c")})), {"no/c", "cannot write"});
  expect_message(run_refused(with({"--checkpoint", path("c"), "--checkpoint-every", "-1"})),
                 {"--checkpoint-every"});
  (void)write("a,b\n", "other.csv");
  expect_message(run_refused(with({"--checkpoint", path("other.csv"), "--resume"})),
                 {"other.csv: not a checkpoint"});
  for (int tries = 0; !std::filesystem::exists(path("c")); ++tries) {
    ASSERT_LT(tries, 50);
    (void)killed(resumed(options, "m.json", 2), 1, 0);
  }
  const std::string whole = content("c");
  expect_message(run_refused(with({"--checkpoint", path("c")})), {"--resume goes on from it"});
  expect_message(run_refused(with({"--checkpoint", path("c"), "--resume", "--tolerance", "0.5"})),
                 {"another fit", "--tolerance (0 there, 0.5 here)"});
  (void)write(regression_csv(2000, 2), "u.csv");
  expect_message(run_refused(with({"--checkpoint", path("c"), "--resume"}, "u.csv")),
                 {"the numbers of the table, the targets"});
  EXPECT_EQ(content("c"), whole);
  (void)write(whole.substr(0, whole.size() - 9), "c");
  expect_message(run_refused(with({"--checkpoint", path("c"), "--resume"})), {"c: not a valid checkpoint"});
  // What a killed process was writing is removed by the next one that writes there.
  (void)write("half", "c.mfga-abcdefgh");
  (void)write("half", "m.json.mfga-abcdefgh");
  std::filesystem::remove(path("c"));
  const Json report = [&] {
    Arguments all = with({"--checkpoint", path("c"), "--resume"});
    std::erase(all, "--quiet");
    return run_json(all);
  }();
  EXPECT_EQ(report.at("seconds").at("resumed"), 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.json", "other.csv", "t.csv", "u.csv"}));
}

}  // namespace
}  // namespace mfga
