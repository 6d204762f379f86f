#include "core/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "mfga/error.hpp"

namespace mfga {
namespace {

[[noreturn]] void throw_io(std::string_view what, const std::string& path) {
  throw Error(ErrorKind::kIo, fmt::format("{}: {} ({})", path, what, std::strerror(errno)));
}

// mkstemp makes files private; a result should have the permissions of any new file.
mode_t default_permissions() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_path_(path_ + ".XXXXXX") {
  descriptor_ = mkstemp(temporary_path_.data());
  if (descriptor_ < 0) throw_io("cannot write there", path_);
  fchmod(descriptor_, default_permissions());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_path_.c_str());
}

void AtomicFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_io("writing failed", path_);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0 || std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    unlink(temporary_path_.c_str());
    throw_io("cannot be written", path_);
  }
}

}  // namespace mfga
