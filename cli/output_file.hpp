// Files that commands write.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace mfga::cli {

// gzip where the file's name ends in .gz; models are plain, as they are read.
enum class Compression { kNone, kByName };

// An output file that is complete or absent, also after Ctrl-C; what is not a regular file is written
// through. A path of "-" or "" is standard output.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, Compression compression = Compression::kNone);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();
  void write(std::string_view text);
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The exit code where the system is out of something, and what is said where that is memory.
inline constexpr int kNoSystem = 3;
inline constexpr const char* kOutOfMemory = "mfga: out of memory\n";

// Signals that end the process remove the files being written first. Where a file can no longer be read, the
// process ends as after an error.
void handle_signals();
// For a run that fails: says which files were saved before. Takes no memory.
void tell_saved_files();
// For std::set_terminate: does so, too, and says so where memory is what was missing.
[[noreturn]] void end_by_terminate();

// While one of these lives, the first Ctrl-C only sets `requested`; the second one ends the process as usual.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  ~StopOnInterrupt();
  [[nodiscard]] static bool requested();
};

// The name of a file without .gz, which says what is in it.
[[nodiscard]] std::string_view uncompressed_name(std::string_view path);

// A file and what the user knows it by, such as --model.
struct NamedFile {
  std::string_view name;
  std::string path;  // empty: not given
};
// Throws where an output is an input or another output, or where standard input would be read twice.
void check_files(std::initializer_list<NamedFile> inputs, std::initializer_list<NamedFile> outputs);

}  // namespace mfga::cli
