// Commands as a shell runs them: with pipes, redirections and closed streams.
#pragma once

#include <array>

#include "cli/tool.hpp"

namespace mfga {

class ShellTest : public ToolTest {
 protected:
  // Runs a script in the test's folder, in which mfga is the tool. A minute is too long for any of them.
  [[nodiscard]] ToolResult shell(const std::string& script) const {
    std::string text = fmt::format("cd '{}' && mfga() {{ '{}' \"$@\"; }}\n{}", path(""), MFGA_TOOL, script);
    std::FILE* const out = std::tmpfile();
    std::FILE* const err = std::tmpfile();
    std::array<char*, 6> words = {const_cast<char*>("timeout"),
                                  const_cast<char*>("60"),
                                  const_cast<char*>("sh"),
                                  const_cast<char*>("-c"),
                                  text.data(),
                                  nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawnp(&pid, "timeout", &actions, nullptr, words.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    waitpid(pid, &status, 0);
    ToolResult result{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_all(out),
                      read_all(err)};
    std::fclose(out);
    std::fclose(err);
    return result;
  }
  // A script that must succeed and say nothing on standard error.
  [[nodiscard]] std::string shell_well(const std::string& script) const {
    const ToolResult result = shell(script);
    EXPECT_EQ(result.exit_code, 0) << script;
    EXPECT_EQ(result.err, "") << script;
    return result.out;
  }

 private:
  static std::string read_all(std::FILE* file) {
    std::string text(static_cast<std::size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(fileno(file), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }
};

}  // namespace mfga
