// The one exception type of the library. The message names the parameter or file:line:column, the value
// that was found, and what was expected.
#pragma once

#include <stdexcept>
#include <string>

namespace mfga {

enum class ErrorKind {
  kInvalidArgument,  // an option or a call is wrong
  kBadData,          // a file or an array does not hold what it should
  kNumerical,        // the computation cannot go on
  kIo,               // a file cannot be opened or written there
  kSystem,           // the operating system is out of something: memory, threads, space on the disk
  kInterrupted,      // the progress callback asked to stop
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace mfga
