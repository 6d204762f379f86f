// The shape of the house, read from the sources: dependencies point one way (HACKING.md), and files stay
// small enough to be read.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(MFGA_SOURCE_DIR) / folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".hpp" || extension == ".cpp") files.push_back(entry.path());
  }
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The folders whose headers a folder's files include.
std::set<std::string> included_folders(const fs::path& path) {
  const std::string include = "#include \"";
  std::set<std::string> folders;
  for (const std::string& line : lines_of(path)) {
    const std::size_t slash = line.find('/');
    if (line.starts_with(include) && slash != std::string::npos)
      folders.insert(line.substr(include.size(), slash - include.size()));
  }
  return folders;
}

TEST(Architecture, DependenciesPointOneWay) {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"src/device", {"device", "core", "mfga"}},
      {"src/core", {"core", "mfga"}},
      {"src/losses", {"losses", "device", "core", "mfga"}},
      {"src/features", {"features", "core", "mfga"}},
      {"src/data", {"data", "core", "mfga"}},
      {"src/solve", {"solve", "features", "losses", "device", "core", "mfga"}},
      {"src/baselines", {"baselines", "solve", "features", "losses", "core", "mfga"}},
      {"src/model", {"model", "data", "solve", "baselines", "features", "losses", "device", "core", "mfga"}},
      {"src/charts", {"charts", "mfga"}},
      {"src/report", {"report", "charts", "model", "losses", "features", "core", "mfga"}},
      {"src/export", {"export", "model", "features", "losses", "core", "mfga"}},
      {"src/theory", {"theory", "solve", "features", "losses", "core", "mfga"}},
      {"repro",
       {"repro", "charts", "model", "theory", "data", "solve", "baselines", "features", "losses", "core",
        "mfga"}},
      {"include/mfga", {"mfga"}},
      {"cli", {"cli", "repro", "model", "data", "features", "core", "mfga"}}};
  for (const auto& [folder, own] : allowed) {
    for (const fs::path& path : sources(folder)) {
      for (const std::string& included : included_folders(path))
        EXPECT_TRUE(own.contains(included)) << path << " includes headers of " << included;
    }
  }
}

// How an option is spelled is a matter of the front end.
TEST(Architecture, TheLibraryDoesNotSpellOptionsOfTheCommandLine) {
  for (const std::string folder : {"src", "include"}) {
    for (const fs::path& path : sources(folder)) {
      for (const std::string& line : lines_of(path)) {
        const std::size_t quote = line.find('"');
        if (quote == std::string::npos) continue;
        for (std::size_t at = line.find("--", quote); at != std::string::npos; at = line.find("--", at + 2)) {
          const bool names_one = at + 2 < line.size() && std::islower(line[at + 2]) != 0;
          EXPECT_FALSE(names_one) << path << ": " << line;
        }
      }
    }
  }
}

// Where glibc finds no memory for such a thing when a thread first looks at it, it ends the program.
TEST(Architecture, NothingIsLocalToAThread) {
  for (const std::string folder : {"src", "include", "cli", "repro", "python/src"}) {
    for (const fs::path& path : sources(folder)) {
      for (const std::string& line : lines_of(path)) {
        const std::string code = line.substr(0, line.find("//"));
        EXPECT_EQ(code.find("thread_local"), std::string::npos) << path << ": " << line;
      }
    }
  }
}

TEST(Architecture, FilesAreShort) {
  constexpr std::size_t kMostLines = 500;
  for (const std::string folder : {"src", "include", "cli", "repro"}) {
    for (const fs::path& path : sources(folder)) EXPECT_LE(lines_of(path).size(), kMostLines) << path;
  }
}

}  // namespace
