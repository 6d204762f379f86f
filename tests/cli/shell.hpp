// Commands as a shell runs them: with pipes, redirections and closed streams.
#pragma once

#include "cli/tool.hpp"

namespace mfga {

class ShellTest : public ToolTest {
 protected:
  // Runs a script in the test's folder, in which mfga is the tool. A minute is too long for any of them.
  [[nodiscard]] ToolResult shell(const std::string& script) const;
  // A script that must succeed and say nothing on standard error.
  [[nodiscard]] std::string shell_well(const std::string& script) const;
};

}  // namespace mfga
