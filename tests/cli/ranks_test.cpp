// mfga train under mpirun: the model file is that of one process, byte by byte.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "cli/tool.hpp"

namespace mfga {
namespace {

bool can_run_mpi() {
  const auto ends_well = [](const Arguments& words) {
    try {
      return RunningProgram(words).wait().exit_code == 0;
    } catch (const std::runtime_error&) {  // there is no such program
      return false;
    }
  };
  return RunningProgram({MFGA_TOOL, "--version"}).wait().out.find("MPI") != std::string::npos &&
         ends_well({"mpirun", "--version"});
}

class RanksTest : public ToolTest {
 protected:
  void SetUp() override {
    static const bool can_run = can_run_mpi();
    if (!can_run) GTEST_SKIP() << "the tool was built without MPI, or there is no mpirun (openmpi-bin)";
  }
  // mpirun with so many ranks on this machine, however few cores it has, and all of these for each: two ranks
  // would have a core each otherwise.
  static Arguments under_mpirun(int ranks, const Arguments& arguments) {
    Arguments words = {"mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                       "-n",     std::to_string(ranks), MFGA_TOOL};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  static ToolResult run_on(int ranks, const Arguments& arguments) {
    return RunningProgram(under_mpirun(ranks, arguments)).wait();
  }
  // Trains with one process and with several; the files and what is told must agree.
  void expect_same_model(const Arguments& arguments) {
    Arguments one = {"train"};
    one.insert(one.end(), arguments.begin(), arguments.end());
    one.insert(one.end(), {"--threads", "1", "--quiet", "--model", path("one.json")});
    run_well(one);
    for (const int ranks : {2, 4}) {
      Arguments several = one;
      several.back() = path("several.json");
      const ToolResult result = run_on(ranks, several);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(content("several.json"), content("one.json")) << ranks << " ranks";
    }
  }
};

TEST_F(RanksTest, TheModelIsThatOfOneProcess) {
  static_cast<void>(write(regression_csv(2000), "r.csv"));
  expect_same_model({path("r.csv"), "--terms", "5"});
  expect_same_model({path("r.csv"), "--terms", "5", "--tune=no", "--engine", "lazy", "--features",
                     "linear + hinge(knots=6)", "--scale", "quantile"});
  static_cast<void>(write(classification_csv(900), "c.csv"));
  expect_same_model({path("c.csv"), "--terms", "4", "--tune=no", "--engine", "lazy"});
}

TEST_F(RanksTest, EachReadsItsPartOfAnyTable) {
  // Comments, blank lines, quotes with line ends, missing values, weights and groups; fewer rows at the end.
  std::string text = "# made by hand\n\"first\nname\",b,w,g,y\n";
  for (int i = 0; i < 300; ++i) {
    const double a = (i * 37 % 101) / 50.0 - 1;
    const double b = (i * 53 % 89) / 40.0 - 1;
    if (i % 50 == 7) text += "# a comment\n\n";
    text += fmt::format("{},{},{},{},\"{}\"\n", i % 11 == 3 ? "" : fmt::format("{}", a), b, 1 + i % 3, i / 10,
                        a * b + a);
  }
  static_cast<void>(write(text, "odd.csv"));
  expect_same_model({path("odd.csv"), "--target", "y", "--weight", "w", "--group", "g", "--terms", "3",
                     "--tune=no", "--engine", "lazy"});
  // On disk, too.
  static_cast<void>(write(regression_csv(1500), "d.csv"));
  expect_same_model({path("d.csv"), "--terms", "3", "--tune=no", "--engine", "lazy", "--cache", path("")});
  // More ranks than some have rows.
  static_cast<void>(write(regression_csv(12), "few.csv"));
  expect_same_model({path("few.csv"), "--terms", "1", "--tune=no", "--engine", "lazy", "--features", "linear",
                     "--ridge", "1"});
}

// Whether a target is one of labels is judged by all rows, whatever a part of the file holds.
TEST_F(RanksTest, ATargetOfTextMayBeginWithNumbers) {
  std::string text = "a,b,y\n";
  const auto add_rows = [&](int first, int end, const std::vector<std::string>& labels) {
    for (int i = first; i < end; ++i) {
      const double a = (i * 37 % 101) / 50.0 - 1;
      const std::size_t label = (a > 0 ? 1U : 0U) + (i % 13 == 0 ? 1U : 0U);
      text += fmt::format("{},{},{}\n", a, (i * 53 % 89) / 40.0 - 1, labels[label % labels.size()]);
    }
  };
  add_rows(0, 400, {"1", "2"});
  add_rows(400, 600, {"low", "high"});
  static_cast<void>(write(text, "labels.csv"));
  const Arguments options = {"--terms", "3", "--tune=no", "--engine", "lazy", "--ridge", "1"};
  Arguments arguments = {path("labels.csv")};
  arguments.insert(arguments.end(), options.begin(), options.end());
  expect_same_model(arguments);
  arguments.insert(arguments.end(), {"--cache", path("")});
  expect_same_model(arguments);
  // Half of the rows of the last rank are texts, but few of all.
  text = "a,b,y\n";
  add_rows(0, 760, {"1", "2"});
  add_rows(760, 800, {"3", "high"});
  static_cast<void>(write(text, "numbers.csv"));
  arguments.front() = path("numbers.csv");
  arguments.insert(arguments.begin(), "train");
  const std::string expected = run_refused(arguments);
  expect_message(expected, {"numbers.csv:76", "of 800 rows"});
  for (const int ranks : {2, 20}) EXPECT_EQ(run_on(ranks, arguments).err.find(expected), 0U);
}

// Ranks that would not find the same to the last bit.
TEST_F(RanksTest, ComputeAlikeOrNotAtAll) {
#ifdef __x86_64__
  static_cast<void>(write(regression_csv(600), "r.csv"));
  const Arguments train = {MFGA_TOOL, "train",     path("r.csv"), "--terms",
                           "2",       "--tune=no", "--model",     path("m.json")};
  Arguments words = {"mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "1"};
  words.insert(words.end(), train.begin(), train.end());
  words.insert(words.end(), {":", "-n", "1", "env", "OPENBLAS_CORETYPE=Prescott"});
  words.insert(words.end(), train.begin(), train.end());
  const ToolResult result = RunningProgram(words).wait();
  EXPECT_EQ(result.exit_code, 2);
  expect_message(result.err, {"rank 1", "OpenBLAS", "\"Prescott\"", "OPENBLAS_CORETYPE"});
  EXPECT_FALSE(std::filesystem::exists(path("m.json")));
#else
  GTEST_SKIP() << "the other kernels are those of x86";
#endif
}

// As if another MPI had started several processes: each would be alone, and all would write one file.
TEST_F(RanksTest, MustBeStartedByTheMpiThatTheyKnow) {
  static_cast<void>(write(regression_csv(60), "r.csv"));
  const ToolResult result = RunningProgram({"env", "MV2_COMM_WORLD_SIZE=4", MFGA_TOOL, "train", path("r.csv"),
                                            "--model", path("m.json")})
                                .wait();
  EXPECT_EQ(result.exit_code, 2);
  expect_message(result.err, {"4 processes were started together", "knows of 1"});
  EXPECT_FALSE(std::filesystem::exists(path("m.json")));
}

TEST_F(RanksTest, TellOnce) {
  static_cast<void>(write(regression_csv(600), "r.csv"));
  const Arguments train = {"train", path("r.csv"), "--terms", "2", "--tune=no", "--engine", "lazy"};
  const ToolResult result = run_on(3, train);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::size_t first = result.out.find("600 rows, 3 predictors");
  EXPECT_NE(first, std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("600 rows, 3 predictors", first + 1), std::string::npos) << result.out;

  const auto expect_one_message = [](const ToolResult& failed, const std::string& part) {
    EXPECT_EQ(failed.exit_code, 2) << failed.err;
    const std::size_t place = failed.err.find(part);
    EXPECT_NE(place, std::string::npos) << failed.err;
    EXPECT_EQ(failed.err.find(part, place + 1), std::string::npos) << failed.err;
  };
  expect_one_message(run_on(2, {"train", path("none.csv")}), "none.csv");
  expect_one_message(run_on(2, {"train", path("r.csv"), "--unknown"}), "--unknown");
  expect_one_message(run_on(2, {"inspect", path("m.json")}), "several ranks");
  expect_one_message(run_on(2, {"train", path("r.csv"), "--test-fraction", "0.5"}), "--test-fraction");
  expect_one_message(run_on(2, {"train", path("r.csv"), "--method", "rks"}), "one process");
  // The line is that of the whole file, though another rank read it.
  std::string text = regression_csv(400);
  text += "1,oops,2,3\n";
  static_cast<void>(write(text, "bad.csv"));
  expect_one_message(run_on(3, {"train", path("bad.csv")}), "bad.csv:402:2");
  static_cast<void>(write("a,b,y\n1,red,1\n2,blue,2\n3,red,3\n4,blue,5\n", "text.csv"));
  expect_one_message(run_on(2, {"train", path("text.csv")}), "\"b\"");
}

// One rank is killed in the middle: all end soon, and another run goes on from the checkpoint.
TEST_F(RanksTest, ADeadRankEndsAllAndLeavesAWholeCheckpoint) {
  static_cast<void>(write(regression_csv(20000), "r.csv"));
  const auto train = [&](const std::string& model, const Arguments& more) {
    Arguments words = {"train",    path("r.csv"), "--terms",
                       "60",       "--tune=no",   "--engine",
                       "lazy",     "--features",  "linear + gaussian(order=2)",
                       "--ridge",  "1",           "--threads",
                       "1",        "--quiet",     "--model",
                       path(model)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Arguments kept = {"--checkpoint", path("kept"), "--checkpoint-every", "0", "--resume"};
  RunningProgram running(under_mpirun(2, train("killed.json", kept)));
  while (!std::filesystem::exists(path("kept")) && !running.has_ended())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_FALSE(running.has_ended());
  // The last of the processes that have this table open.
  pid_t victim = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream arguments(entry.path() / "cmdline", std::ios::binary);
    const std::string words((std::istreambuf_iterator<char>(arguments)), {});
    if (words.starts_with(MFGA_TOOL) && words.find(path("killed.json")) != std::string::npos)
      victim = std::max(victim, static_cast<pid_t>(std::stol(entry.path().filename().string())));
  }
  ASSERT_GT(victim, 0);
  ::kill(victim, SIGKILL);
  const ToolResult killed = running.wait();
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_NE(killed.err, "");
  EXPECT_FALSE(std::filesystem::exists(path("killed.json")));
  EXPECT_TRUE(std::filesystem::exists(path("kept")));

  run_well(train("one.json", {}));
  const ToolResult resumed = run_on(3, train("resumed.json", kept));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(content("resumed.json"), content("one.json"));
  EXPECT_FALSE(std::filesystem::exists(path("kept")));
}

}  // namespace
}  // namespace mfga
