#include "cli/tool.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

#include "cli/shell.hpp"

namespace mfga {
namespace {

std::string content_of(std::FILE* file) {
  std::string text(static_cast<std::size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
  const ssize_t count = pread(fileno(file), text.data(), text.size(), 0);
  EXPECT_EQ(count, static_cast<ssize_t>(text.size()));
  return text;
}

Arguments with_tool(Arguments arguments) {
  arguments.insert(arguments.begin(), MFGA_TOOL);
  return arguments;
}

}  // namespace

RunningProgram::RunningProgram(Arguments words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(out_), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err_), STDERR_FILENO);
  const int error = posix_spawnp(&pid_, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
}

RunningProgram::~RunningProgram() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::fclose(out_);
  std::fclose(err_);
}

void RunningProgram::send(int signal) const { kill(pid_, signal); }

bool RunningProgram::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

ToolResult RunningProgram::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out_),
          content_of(err_)};
}

RunningTool::RunningTool(Arguments arguments) : RunningProgram(with_tool(std::move(arguments))) {}

void expect_warning(const nlohmann::json& report, const std::vector<std::string>& parts) {
  for (const nlohmann::json& warning : report.at("warnings")) {
    const std::string text = warning;
    const auto is_in = [&](const std::string& part) { return text.find(part) != std::string::npos; };
    if (std::all_of(parts.begin(), parts.end(), is_in)) return;
  }
  ADD_FAILURE() << "no such warning in " << report.at("warnings");
}

ToolResult ToolTest::run(const Arguments& arguments) { return RunningTool(arguments).wait(); }

ToolResult ToolTest::run_well(const Arguments& arguments) {
  ToolResult result = run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result;
}

Json ToolTest::run_json(Arguments arguments) {
  arguments.emplace_back("--json");
  const ToolResult result = run_well(arguments);
  Json json = Json::parse(result.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << result.out;
  return json;
}

std::string ToolTest::run_refused(const Arguments& arguments) {
  const ToolResult result = run(arguments);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("mfga: ")) << result.err;
  return result.err;
}

std::vector<std::string> ToolTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path("")))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::string ToolTest::content(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> ToolTest::lines(const std::string& name) const {
  std::ifstream file(path(name));
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) all.push_back(line);
  return all;
}

ToolResult ShellTest::shell(const std::string& script) const {
  return RunningProgram(
             {"timeout", "60", "sh", "-c",
              fmt::format("cd '{}' && mfga() {{ '{}' \"$@\"; }}\n{}", path(""), MFGA_TOOL, script)})
      .wait();
}

std::string ShellTest::shell_well(const std::string& script) const {
  const ToolResult result = shell(script);
  EXPECT_EQ(result.exit_code, 0) << script;
  EXPECT_EQ(result.err, "") << script;
  return result.out;
}

std::vector<SmallRow> small_rows(std::size_t count, unsigned seed) {
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

std::string regression_csv(std::size_t count, unsigned seed) {
  std::string text = "a,b,c,y\n";
  for (const SmallRow& row : small_rows(count, seed))
    text += fmt::format("{},{},{},{:.4f}\n", row.a, row.b, row.c, row.signal());
  return text;
}

std::string classification_csv(std::size_t count, const std::string& negative, const std::string& positive,
                               unsigned seed) {
  std::string text = "a,b,c,y\n";
  std::size_t n = 0;
  for (const SmallRow& row : small_rows(count, seed)) {
    const bool is_positive = (row.signal() > 0) != (n++ % 10 == 0);
    text += fmt::format("{},{},{},{}\n", row.a, row.b, row.c, is_positive ? positive : negative);
  }
  return text;
}

}  // namespace mfga
