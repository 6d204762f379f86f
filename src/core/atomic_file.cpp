#include "core/atomic_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>

#include "core/system_error.hpp"

namespace mfga {
namespace {

constexpr mode_t kModeBits = 07777;

[[noreturn]] void throw_io(std::string_view what, const std::string& path, int code) {
  throw system_error(fmt::format("{}: {}", path, what), code);
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

// Where the last part of a path leads, also if nothing is there yet.
std::string behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;  // an absolute target replaces all of it
  }
  return path.string();
}

// N of a path that means the open descriptor N of this process, such as /dev/stdout. Opened by its name, a
// file behind it would be written from its begin and over what the process itself prints there.
std::optional<int> own_descriptor(const std::string& path) {
  std::string_view name = path;
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    name.remove_prefix(folder.size());
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) return number;
  }
  return std::nullopt;
}

constexpr std::string_view kTemporary = ".mfga-";  // and some letters after it
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kLetterCount = 8;

std::string random_suffix() {
  std::random_device random;
  std::string suffix(kTemporary);
  for (std::size_t i = 0; i < kLetterCount; ++i) suffix += kLetters[random() % kLetters.size()];
  return suffix;
}

bool is_temporary_of(std::string_view path, std::string_view name) {
  return name.size() == path.size() + kTemporary.size() + kLetterCount && name.starts_with(path) &&
         name.substr(path.size()).starts_with(kTemporary) &&
         name.find_first_not_of(kLetters, path.size() + kTemporary.size()) == std::string_view::npos;
}

// The names of all that are being written, for those who are called by a signal. Where there are very many,
// the last ones are left to remove_leftovers().
constexpr std::size_t kMostNoted = 64;
std::array<std::atomic<const char*>, kMostNoted> temporary_files{};

void replace_noted(const char* from, const char* to) {
  for (auto& slot : temporary_files) {
    const char* expected = from;
    if (slot.compare_exchange_strong(expected, to)) return;
  }
}

// Not possible if another process has it. Where files cannot be locked, it is as good as done: nobody else
// can take them for left over.
bool take_lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

// A rename lasts only once its folder is on the disk. Not every file system can do that; then nothing is
// lost that another way would have kept.
void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  if (own_descriptor(path_)) return;
  if (const std::optional<struct stat> status = status_of(path_); status && !S_ISREG(status->st_mode)) {
    if (S_ISDIR(status->st_mode)) throw_io("cannot write there", path_, EISDIR);
    if (::access(path_.c_str(), W_OK) != 0) throw_io("cannot write there", path_, errno);
    return;
  }
  final_path_ = behind_links(path_);
  create_temporary();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
  }
  replace_noted(temporary_path_.c_str(), nullptr);
}

void AtomicFile::remove_all_temporary() noexcept {
  for (const auto& slot : temporary_files) {
    if (const char* const name = slot.load()) ::unlink(name);
  }
}

void AtomicFile::create_temporary() {
  const std::optional<struct stat> earlier = status_of(final_path_);
  // What is to be private is so from the beginning; a new file has the permissions of any other.
  const mode_t mode = earlier ? 0600 : 0666;
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    replace_noted(temporary_path_.c_str(), nullptr);
    temporary_path_ = final_path_ + random_suffix();
    // Before it is there, so that no signal comes in between.
    replace_noted(nullptr, temporary_path_.c_str());
    descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) break;
    if (descriptor_ < 0) continue;
    // In between, another process may have taken it for left over.
    struct stat status {};
    if (take_lock(descriptor_) && ::fstat(descriptor_, &status) == 0 && status.st_nlink > 0) break;
    ::close(descriptor_);
    descriptor_ = -1;
    errno = EAGAIN;
  }
  if (descriptor_ < 0) {
    const int code = errno;
    replace_noted(temporary_path_.c_str(), nullptr);  // the destructor of what was not made is not called
    throw_io("cannot write there", path_, code);
  }
  if (!earlier) return;
  // Only root may give a file away; the group is kept without it where the user is in that group.
  if (::fchown(descriptor_, earlier->st_uid, earlier->st_gid) != 0)
    static_cast<void>(::fchown(descriptor_, static_cast<uid_t>(-1), earlier->st_gid) == 0);
  ::fchmod(descriptor_, earlier->st_mode & kModeBits);
}

void AtomicFile::remove_leftovers(const std::string& path) {
  if (own_descriptor(path)) return;
  const std::filesystem::path final_path = behind_links(path);
  const std::filesystem::path folder = final_path.parent_path();
  // Not by an iterator of std::filesystem, which ends the program where there is no memory.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.empty() ? "." : folder.c_str()),
                                                    ::closedir);
  if (!entries) return;
  while (const dirent* const entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (!is_temporary_of(final_path.filename().string(), name)) continue;
    const std::string own = (folder / name).string();
    const int descriptor = ::open(own.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      ::unlink(own.c_str());
    ::close(descriptor);
  }
}

void AtomicFile::open_through() {
  const std::optional<int> own = own_descriptor(path_);
  descriptor_ = own ? ::fcntl(*own, F_DUPFD_CLOEXEC, 0) : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw_io("cannot write there", path_, errno);
}

void AtomicFile::write(std::string_view text) {
  if (descriptor_ < 0) open_through();
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw_io("writing failed", path_, errno);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (descriptor_ < 0) open_through();  // who waits for an empty file sees its end
  const bool is_through = temporary_path_.empty();
  // A disk that turns out to be full, or a file system that cannot sync.
  const bool is_lost = !is_through && ::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP;
  const int sync_code = errno;
  // What takes memory comes before the file has its name: after that nothing fails.
  const std::string folder = std::filesystem::path(final_path_).parent_path().string();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  const int lock = is_through ? -1 : ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);  // until it has its final name
  const bool is_closed = ::close(descriptor) == 0;
  if (is_lost) errno = sync_code;
  if (is_lost || !is_closed ||
      (!is_through && std::rename(temporary_path_.c_str(), final_path_.c_str()) != 0)) {
    const int code = errno;
    if (!is_through) ::unlink(temporary_path_.c_str());
    if (lock >= 0) ::close(lock);
    throw_io("cannot be written", path_, code);
  }
  if (lock >= 0) ::close(lock);
  if (!is_through) sync_folder(folder);
}

bool is_same_file(const std::string& a, const std::string& b) {
  const std::optional<struct stat> status_a = status_of(a);
  const std::optional<struct stat> status_b = status_of(b);
  if (status_a && status_b)
    return S_ISREG(status_a->st_mode) && status_a->st_dev == status_b->st_dev &&
           status_a->st_ino == status_b->st_ino;
  if (status_a || status_b) return false;
  const auto place = [](const std::string& path) {
    std::error_code error;
    const std::filesystem::path end = std::filesystem::absolute(behind_links(path), error);
    return std::filesystem::weakly_canonical(end.parent_path(), error) / end.filename();
  };
  return place(a) == place(b);
}

}  // namespace mfga
