#include "core/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/system_error.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

[[noreturn]] void fail(const std::string& folder, std::string_view action, int code) {
  throw system_error(fmt::format("{}: cannot {}", folder, action), code);
}

std::string usual_folder() {
  const char* const chosen = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return ::access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp" : "/tmp";
}

int open_without_name(const std::string& folder) {
  constexpr mode_t kOwnerOnly = 0600;
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly);
  // Not every file system knows such files.
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = folder + "/mfga.XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

ScratchFile::ScratchFile(const std::string& folder)
    : folder_(folder.empty() ? usual_folder() : folder), descriptor_(open_without_name(folder_)) {
  if (descriptor_ < 0) fail(folder_, "keep a table there", errno);
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

std::uint64_t ScratchFile::append(std::string_view bytes) {
  const std::uint64_t place = size_;
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int code = errno;
      throw system_error(
          fmt::format(
              "{}: cannot keep the table there, but for {:.0f} MB of it; make room, or choose another "
              "folder with `cache`",
              folder_, static_cast<double>(size_) * 1e-6),
          code);
    }
    size_ += static_cast<std::uint64_t>(count);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return place;
}

void ScratchFile::read(std::uint64_t place, std::size_t count, char* out) const {
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, out, count, static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(folder_, "read the table that is kept there", errno);
    if (got == 0)
      throw Error(ErrorKind::kSystem,
                  fmt::format("{}: the table that is kept there has been cut short; train again", folder_));
    place += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
    out += got;
  }
}

void ScratchFile::will_read(std::uint64_t place, std::uint64_t count) const {
  if (place >= size_) return;
  ::posix_fadvise(descriptor_, static_cast<off_t>(place), static_cast<off_t>(std::min(count, size_ - place)),
                  POSIX_FADV_WILLNEED);
}

}  // namespace mfga
