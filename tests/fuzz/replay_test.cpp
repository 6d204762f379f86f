// The seeds of every target, and what was found with them and is mended: each is read or refused, and nothing
// of what is promised is broken. `./dev fuzz` looks for more.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

std::filesystem::path corpus() { return MFGA_SOURCE_DIR "/tests/fuzz/corpus"; }

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

class FuzzReplayTest : public testing::TestWithParam<const Target*> {
 protected:
  static void expect_handled(const std::string& name, std::string_view bytes) {
    // In memory of just this size, so that a sanitizer sees who reads on.
    const std::vector<char> exact(bytes.begin(), bytes.end());
    try {
      GetParam()->run({exact.data(), exact.size()});
    } catch (const std::exception& finding) {
      ADD_FAILURE() << name << ": " << finding.what();
    }
  }
};

TEST_P(FuzzReplayTest, SeedsAndFindingsAreHandled) {
#ifdef __SANITIZE_ADDRESS__
  constexpr long kMost = 1000;  // AddressSanitizer holds on to much of what was given back
#else
  constexpr long kMost = 400;
#endif
  const long before = peak_mebibytes();
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus() / GetParam()->name)) {
    expect_handled(entry.path().filename().string(), content(entry.path()));
    ++seeds;
  }
  EXPECT_GE(seeds, 3);
  EXPECT_LT(peak_mebibytes() - before, kMost);
}

TEST_P(FuzzReplayTest, DamagedSeedsAreHandled) {
  constexpr int kOfEach = 20;
  std::mt19937 random(7);
  for (const auto& entry : std::filesystem::directory_iterator(corpus() / GetParam()->name)) {
    const std::string whole = content(entry.path());
    for (int i = 0; i < kOfEach; ++i) {
      std::string bytes = whole;
      if (GetParam()->mutate != nullptr && i % 2 == 0)
        bytes = GetParam()->mutate(whole, GetParam()->longest, random);
      if (!bytes.empty() && i % 4 != 0) bytes[random() % bytes.size()] = static_cast<char>(random());
      if (i % 5 == 1) bytes.resize(bytes.empty() ? 0 : random() % bytes.size());
      expect_handled(fmt::format("{} damaged, {}", entry.path().filename().string(), i), bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzReplayTest, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& target) { return std::string(target.param->name); });

TEST(FuzzCorpusTest, BelongsToTargets) {
  std::set<std::string> names;
  for (const Target* target : targets()) names.emplace(target->name);
  for (const auto& entry : std::filesystem::directory_iterator(corpus()))
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path();
}

}  // namespace
}  // namespace mfga::fuzz
