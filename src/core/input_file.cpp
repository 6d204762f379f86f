#include "core/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/system_error.hpp"

namespace mfga {

InputFile::InputFile(std::string path, std::string_view what) : path_(std::move(path)) {
  struct stat status {};
  // Looked at first, for to open a pipe may wait for ever.
  if (::stat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw Error(ErrorKind::kIo, fmt::format("{}: there is no such {}", path_, what));
    throw system_error(fmt::format("{}: cannot be opened", path_), errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::kIo,
                fmt::format("{}: is {}; expected a {}", path_,
                            S_ISDIR(status.st_mode) ? "a directory" : "not a regular file", what));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw system_error(fmt::format("{}: cannot be opened", path_), errno);
}

InputFile::~InputFile() { ::close(descriptor_); }

std::string InputFile::read(std::size_t most) {
  std::string bytes(most, '\0');
  std::size_t used = 0;
  while (used < most) {
    const ssize_t count = ::read(descriptor_, bytes.data() + used, most - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error(fmt::format("{}: cannot be read", path_), errno);
    if (count == 0) break;
    used += static_cast<std::size_t>(count);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace mfga
