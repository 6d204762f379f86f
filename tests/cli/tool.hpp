// Runs the command-line tool as a user would: a process of its own, without a shell, in a folder of its own.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
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

// A program at work. What it prints goes to unnamed files, so that it never waits for its reader.
class RunningProgram {
 public:
  // Found as a shell would find it.
  explicit RunningProgram(Arguments words);
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram();

  void send(int signal) const;
  [[nodiscard]] bool has_ended() const;
  ToolResult wait();

 private:
  std::FILE* out_ = std::tmpfile();
  std::FILE* err_ = std::tmpfile();
  pid_t pid_ = -1;
};

class RunningTool : public RunningProgram {
 public:
  explicit RunningTool(Arguments arguments);
};

// One of the warnings of a report has all these parts.
void expect_warning(const nlohmann::json& report, const std::vector<std::string>& parts);

class ToolTest : public TableTest {
 protected:
  using TableTest::TableTest;
  static ToolResult run(const Arguments& arguments);
  // Runs a command that must succeed and say nothing on standard error.
  static ToolResult run_well(const Arguments& arguments);
  // The one JSON object that is all of standard output.
  static Json run_json(Arguments arguments);
  // Runs a command that must be refused with exit code 2 and print nothing; returns its message.
  static std::string run_refused(const Arguments& arguments);

  // The names of the files in the test's folder, sorted.
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] std::string content(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> lines(const std::string& name) const;
};

// Rows of a small problem with the inputs a, b and c.
struct SmallRow {
  double a, b, c;
  [[nodiscard]] double signal() const { return 2 * a + a * b - 0.5 * c; }
};
std::vector<SmallRow> small_rows(std::size_t count, unsigned seed = 1);

// a,b,c,y with a header; y is a number.
std::string regression_csv(std::size_t count, unsigned seed = 1);
// a,b,c,y with a header; y is one of two labels, and not a function of the inputs alone.
std::string classification_csv(std::size_t count, const std::string& negative = "no",
                               const std::string& positive = "yes", unsigned seed = 1);

}  // namespace mfga
