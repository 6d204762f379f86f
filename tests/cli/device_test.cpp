// The tool with a device: a copy of it beside a library for GPUs whose device is the processor.
#include <filesystem>

#include "cli/tool.hpp"

namespace mfga {
namespace {

namespace fs = std::filesystem;

class ToolWithDevice : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    fs::copy_file(MFGA_TOOL, tool_);
    fs::copy_file(MFGA_HOST_PLUGIN, fs::path(path("libmfga_cuda.so")));
    run_well({"generate", "--rows", "800", "--inputs", "3", "--output", table_, "--quiet"});
  }

  ToolResult train(const Arguments& more, const std::string& tables = "") const {
    Arguments words = {"/usr/bin/env"};
    if (!tables.empty()) words.push_back("MFGA_DEVICE_TABLES=" + tables);
    for (const std::string& word : {tool_, std::string("train"), table_, std::string("--target"),
                                    std::string("y"), std::string("--json")})
      words.push_back(word);
    words.insert(words.end(), more.begin(), more.end());
    return RunningProgram(words).wait();
  }
  Json train_well(const Arguments& more, const std::string& tables = "") const {
    const ToolResult result = train(more, tables);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
  }

  const std::string tool_ = path("mfga");
  const std::string table_ = path("table.csv");
};

TEST_F(ToolWithDevice, FindsTheModelOfTheProcessor) {
  for (const Arguments& options : {Arguments{"--terms", "8"}, Arguments{"--terms", "8", "--tune", "no"},
                                   Arguments{"--terms", "6", "--loss", "huber", "--tune", "no"}}) {
    Arguments on_device = options;
    on_device.insert(on_device.end(), {"--device", "cuda"});
    const Json here = train_well(options);
    const Json there = train_well(on_device);
    EXPECT_EQ(there["device"], "host");
    EXPECT_FALSE(here.contains("device"));
    EXPECT_EQ(here["path"].size(), there["path"].size());
    for (std::size_t i = 0; i < here["path"].size(); ++i)
      EXPECT_EQ(here["path"][i]["added"], there["path"][i]["added"]) << options.back();
    // Where atoms are moved, digits that differ lead to places nearby.
    const double part = options.size() == 2 ? 0.02 : 1e-6;
    const double expected = here["train"]["mse"];
    EXPECT_NEAR(there["train"]["mse"].get<double>(), expected, part * expected);
  }
}

// A fit goes on where it began, so that must have been said.
TEST_F(ToolWithDevice, NeedsAChoiceForCheckpoints) {
  const ToolResult result = train({"--terms", "6", "--device", "auto", "--checkpoint", path("c.bin")});
  EXPECT_EQ(result.exit_code, 2);
  expect_message(result.err, {"--checkpoint", "--device cpu", "--device cuda"});
}

// Nor is a library taken from the folder where the tool was started, even if that has a file of its name.
TEST_F(ToolWithDevice, LooksForItsLibraryWhereItIsItself) {
  fs::create_directory(path("elsewhere"));
  fs::rename(path("libmfga_cuda.so"), path("elsewhere/libmfga_cuda.so"));
  fs::copy_file(tool_, path("elsewhere/mfga"));
  const std::string command =
      "cd '" + path("elsewhere") + "' && PATH='" + path("") + "':\"$PATH\" mfga devices --json";
  const ToolResult result = RunningProgram({"/bin/sh", "-c", command}).wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("\"host\""), std::string::npos) << result.out;
}

TEST_F(ToolWithDevice, GoesOnWithoutADeviceThatFailsIfItMay) {
  const Arguments options = {"--terms", "6", "--tune", "no", "--device"};
  const auto with = [&](const std::string& choice) {
    Arguments words = options;
    words.push_back(choice);
    return words;
  };
  const Json expected = train_well(with("cpu"));
  for (const std::string tables : {"0", "1"}) {
    const Json found = train_well(with("auto"), tables);
    EXPECT_EQ(found["train"], expected["train"]);
    expect_warning(found, {"processor", "out of order"});
    const ToolResult failed = train(with("cuda"), tables);
    EXPECT_EQ(failed.exit_code, 3);
    expect_message(failed.err, {"out of order"});
  }
}

}  // namespace
}  // namespace mfga
