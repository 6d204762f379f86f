// Opens files through POSIX calls and inflates gzip with zlib. A gzip file may have several members (as
// written by `cat a.gz b.gz` or bgzip); zero bytes after the last one are padding.
#define ZLIB_CONST  // zlib then takes its input as const

#include "data/file_content.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>

#include "core/system_error.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

[[noreturn]] void throw_io(const std::string& path, std::string_view action, int code) {
  throw system_error(fmt::format("{}: cannot {}", path, action), code);
}

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) throw_io(path, "open the file", errno);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { ::close(number_); }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string read_all(const std::string& path, int file) {
  constexpr std::size_t kBlock = std::size_t{1} << 20U;
  std::string content;
  for (;;) {
    const std::size_t used = content.size();
    content.resize(used + kBlock);
    const ssize_t count = ::read(file, content.data() + used, kBlock);
    const int code = errno;
    content.resize(used + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return content;
    if (count < 0 && code != EINTR) throw_io(path, "read the file", code);
  }
}

// What comes in there can be had once; who opens it again sees the same.
const std::string& standard_input() {
  static const std::string content = read_all("standard input", STDIN_FILENO);
  return content;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // What is inflated, or nothing if it goes to `file`, which is made when there may be more than `most_bytes`
  // of it. `forget` is told of parts that have been.
  std::string inflate_all(const std::string& path, std::string_view compressed, std::size_t most_bytes,
                          const std::function<ScratchFile*()>& make_file,
                          const std::function<void(std::string_view)>& forget) {
    std::string result;
    std::size_t used = 0;
    const std::size_t most = largest_size(compressed.size());
    ScratchFile* file = may_exceed(compressed, most_bytes) ? make_file() : nullptr;
    result.resize(file == nullptr ? expected_size(compressed) : kFileBuffer);
    std::size_t written = 0;
    std::string_view looked_at(compressed.data(), 0);
    const auto write = [&] {
      file->append({result.data(), used});
      written += used;
      used = 0;
      forget({looked_at.data(), compressed.data()});
      looked_at = {compressed.data(), 0};
    };
    for (;;) {
      if (used == result.size()) {
        if (written + used > most) {
          throw Error(
              ErrorKind::kBadData,
              fmt::format("{}: the gzip file expands to more than {} MB, over {} times its size, as tables "
                          "do not; decompress it first if it is one",
                          path, most / 1'000'000, kMostExpansion));
        }
        // It may be more than its end says, and to grow takes both the old memory and the new.
        if (file == nullptr && used > most_bytes / 4) {
          file = make_file();
          write();
          result = std::string(kFileBuffer, '\0');
        } else if (file != nullptr) {
          write();
        } else {
          result.resize(std::min(used + std::max(used, kSmallestGrowth), most + 1));
        }
      }
      // zlib counts in unsigned int, so that large files go in parts.
      const std::size_t offered = std::min(compressed.size(), kMostAtOnce);
      const std::size_t room = std::min(result.size() - used, kMostAtOnce);
      stream_.next_in = reinterpret_cast<const Bytef*>(compressed.data());
      stream_.avail_in = static_cast<uInt>(offered);
      stream_.next_out = reinterpret_cast<Bytef*>(result.data() + used);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      compressed.remove_prefix(offered - stream_.avail_in);
      used += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        const std::size_t next = compressed.find_first_not_of('\0');
        compressed.remove_prefix(std::min(next, compressed.size()));
        if (!compressed.empty() && !is_gzip(compressed)) {
          throw Error(
              ErrorKind::kBadData,
              fmt::format("{}: the gzip file is corrupt: other bytes follow its end; compress it again",
                          path));
        }
        inflateReset(&stream_);
        if (compressed.empty()) {
          if (file != nullptr) write();
          result.resize(used);
          return result;
        }
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw Error(ErrorKind::kBadData,
                    fmt::format("{}: the gzip file is corrupt ({}); compress it again", path,
                                stream_.msg != nullptr ? stream_.msg : "zlib cannot read it"));
      } else if (compressed.empty() && stream_.avail_out > 0) {
        throw Error(
            ErrorKind::kBadData,
            fmt::format("{}: the gzip file is truncated: it ends before its data does; copy it again", path));
      }
    }
  }

 private:
  static constexpr std::size_t kSmallestGrowth = std::size_t{1} << 16U;
  static constexpr std::size_t kFileBuffer = std::size_t{1} << 22U;
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;
  static constexpr std::size_t kMostExpansion = 200;

  // Whether a file of this content probably expands to more.
  static bool may_exceed(std::string_view compressed, std::size_t most) {
    constexpr std::size_t kUsualRatio = 3;
    return std::max(expected_size(compressed), kUsualRatio * compressed.size()) > most;
  }

  // What a file of this size may expand to: any small table, and of large ones what tables do.
  static std::size_t largest_size(std::size_t compressed) {
    constexpr std::size_t kSmallTable = std::size_t{256} << 20U;
    return std::max(kSmallTable, kMostExpansion * compressed);
  }

  // A gzip file ends with its size modulo 2^32: right for most files, a guess for the others, so that no more
  // memory is taken for it than for most tables.
  static std::size_t expected_size(std::string_view compressed) {
    constexpr std::size_t kLargestRatio = 32;
    std::uint32_t size = 0;
    if (compressed.size() > sizeof(size)) {
      std::memcpy(&size, compressed.data() + compressed.size() - sizeof(size), sizeof(size));
    }
    return std::min<std::size_t>(size, compressed.size() * kLargestRatio) + 1;
  }

  z_stream stream_{};
};

}  // namespace

FileContent::FileContent(const std::string& path, std::size_t most_bytes, const std::string& folder) {
  if (path == kStandardInput) {
    bytes_ = standard_input();
  } else {
    open(path);
  }
  inflate(path == kStandardInput ? "standard input" : path, most_bytes, folder);
}

FileContent::FileContent(std::string_view bytes, const std::string& source) : bytes_(bytes) {
  inflate(source, 0, {});
}

void FileContent::inflate(const std::string& source, std::size_t most_bytes, const std::string& folder) {
  if (!is_gzip(bytes_)) return;
  try {
    const auto make_file = [&] {
      inflated_ = std::make_unique<ScratchFile>(folder);
      return inflated_.get();
    };
    owned_ = Inflater().inflate_all(source, bytes_,
                                    most_bytes > 0 ? most_bytes : std::numeric_limits<std::size_t>::max(),
                                    make_file, [this](std::string_view part) { forget(part); });
  } catch (...) {
    unmap();
    throw;
  }
  unmap();
  bytes_ = owned_;
  if (inflated_ == nullptr || inflated_->size() == 0) return;
  map(inflated_->descriptor(), inflated_->size());
  if (mapping_ == nullptr) throw_io(source, "look at what the file holds", errno);
}

void FileContent::map(int file, std::size_t size) {
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (mapping == MAP_FAILED) return;
  mapping_ = mapping;
  mapped_size_ = size;
  bytes_ = {static_cast<const char*>(mapping), size};
}

void FileContent::open(const std::string& path) {
  const FileDescriptor file(path);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) throw_io(path, "look at the file", errno);
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::kIo, fmt::format("{}: is a directory; expected a file with a table", path));
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    map(file.number(), static_cast<std::size_t>(status.st_size));
  }
  if (mapping_ == nullptr) {
    owned_ = read_all(path, file.number());
    bytes_ = owned_;
  }
}

FileContent::~FileContent() { unmap(); }

void FileContent::forget(std::string_view part) const {
  if (mapping_ == nullptr) return;
  // Whole pages only: the others may hold bytes of the parts beside this one.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(part.data() - static_cast<const char*>(mapping_));
  const std::size_t first = (offset + page - 1) / page * page;
  const std::size_t last = (offset + part.size()) / page * page;
  if (first < last) ::madvise(static_cast<char*>(mapping_) + first, last - first, MADV_DONTNEED);
}

void FileContent::unmap() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_size_);
  mapping_ = nullptr;
}

}  // namespace mfga
