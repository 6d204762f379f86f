// Runs the command-line tool as a user would: a process of its own, without a shell, in a folder of its own.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "data/table_fixture.hpp"

namespace mfga {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

struct ToolResult {
  int exit_code = -1;  // 128 + the signal if one ended the process, as a shell reports it
  std::string out;
  std::string err;
};

// The tool at work. What it prints goes to unnamed files, so that it never waits for its reader.
class RunningTool {
 public:
  explicit RunningTool(const Arguments& arguments) {
    std::vector<std::string> words = arguments;
    words.insert(words.begin(), MFGA_TOOL);
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(out_), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(err_), STDERR_FILENO);
    const int error = posix_spawn(&pid_, MFGA_TOOL, &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " MFGA_TOOL);
  }
  RunningTool(const RunningTool&) = delete;
  RunningTool& operator=(const RunningTool&) = delete;
  ~RunningTool() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    std::fclose(out_);
    std::fclose(err_);
  }

  void send(int signal) const { kill(pid_, signal); }
  [[nodiscard]] bool has_ended() {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }
  ToolResult wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out_), content(err_)};
  }

 private:
  static std::string content(std::FILE* file) {
    std::string text(static_cast<std::size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
    const ssize_t count = pread(fileno(file), text.data(), text.size(), 0);
    EXPECT_EQ(count, static_cast<ssize_t>(text.size()));
    return text;
  }

  std::FILE* out_ = std::tmpfile();
  std::FILE* err_ = std::tmpfile();
  pid_t pid_ = -1;
};

// One of the warnings of a report has all these parts.
inline void expect_warning(const nlohmann::json& report, const std::vector<std::string>& parts) {
  for (const nlohmann::json& warning : report.at("warnings")) {
    const std::string text = warning;
    const auto is_in = [&](const std::string& part) { return text.find(part) != std::string::npos; };
    if (std::all_of(parts.begin(), parts.end(), is_in)) return;
  }
  ADD_FAILURE() << "no such warning in " << report.at("warnings");
}

class ToolTest : public TableTest {
 protected:
  static ToolResult run(const Arguments& arguments) { return RunningTool(arguments).wait(); }

  // Runs a command that must succeed and say nothing on standard error.
  static ToolResult run_well(const Arguments& arguments) {
    ToolResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result;
  }
  // The one JSON object that is all of standard output.
  static Json run_json(Arguments arguments) {
    arguments.emplace_back("--json");
    const ToolResult result = run_well(arguments);
    Json json = Json::parse(result.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << result.out;
    return json;
  }
  // Runs a command that must be refused with exit code 2 and print nothing; returns its message.
  static std::string run_refused(const Arguments& arguments) {
    const ToolResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("mfga: ")) << result.err;
    return result.err;
  }

  // The names of the files in the test's folder, sorted.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::vector<std::string> lines(const std::string& name) const {
    std::ifstream file(path(name));
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }
};

// Rows of a small problem with the inputs a, b and c.
struct SmallRow {
  double a, b, c;
  [[nodiscard]] double signal() const { return 2 * a + a * b - 0.5 * c; }
};

inline std::vector<SmallRow> small_rows(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  const auto draw = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  std::vector<SmallRow> rows(count);
  for (SmallRow& row : rows) {
    row.a = draw();
    row.b = draw();
    row.c = draw();
  }
  return rows;
}

// a,b,c,y with a header; y is a number.
inline std::string regression_csv(std::size_t count, unsigned seed = 1) {
  std::string text = "a,b,c,y\n";
  for (const SmallRow& row : small_rows(count, seed))
    text += fmt::format("{},{},{},{:.4f}\n", row.a, row.b, row.c, row.signal());
  return text;
}

// a,b,c,y with a header; y is one of two labels, and not a function of the inputs alone.
inline std::string classification_csv(std::size_t count, const std::string& negative = "no",
                                      const std::string& positive = "yes", unsigned seed = 1) {
  std::string text = "a,b,c,y\n";
  std::size_t n = 0;
  for (const SmallRow& row : small_rows(count, seed)) {
    const bool is_positive = (row.signal() > 0) != (n++ % 10 == 0);
    text += fmt::format("{},{},{},{}\n", row.a, row.b, row.c, is_positive ? positive : negative);
  }
  return text;
}

}  // namespace mfga
