#define ZLIB_CONST  // zlib then takes its input as const

#include "cli/output_file.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <typeinfo>
#include <vector>

#include "cli/standard_output.hpp"
#include "core/atomic_file.hpp"
#include "core/system_error.hpp"
#include "mfga/error.hpp"

namespace mfga::cli {
namespace {

// What is said of the files that were saved; made beforehand, for there may be no memory left to say it.
std::array<std::string, 4> saved_files;

void add_saved(std::string& message) {
  for (std::string& slot : saved_files) {
    if (!slot.empty()) continue;
    slot.swap(message);
    return;
  }
}

extern "C" void remove_pending_and_end(int signal) {
  AtomicFile::remove_all_temporary();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A table is read where the system has mapped its file: what is not there any more is told by a signal.
extern "C" void end_without_file(int signal, siginfo_t* info, void* /*context*/) {
  constexpr std::string_view kMessage =
      "mfga: a file can no longer be read: it became shorter while it was read, or its disk failed\n";
  if (info->si_code != BUS_ADRERR) remove_pending_and_end(signal);
  AtomicFile::remove_all_temporary();
  static_cast<void>(::write(STDERR_FILENO, kMessage.data(), kMessage.size()) == 0);
  ::_exit(kNoSystem);
}

volatile std::sig_atomic_t stop_requested = 0;

extern "C" void request_stop(int signal) {
  stop_requested = 1;
  std::signal(signal, remove_pending_and_end);
}

// A stream of gzip, in parts.
class Deflater {
 public:
  Deflater() {
    constexpr int kGzip = 16;
    constexpr int kUsualMemory = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kUsualMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  // Gives what is compressed so far to `write`; `flush` is Z_NO_FLUSH, or Z_FINISH for the end.
  template <class Write>
  void add(std::string_view text, int flush, const Write& write) {
    constexpr std::size_t kMostAtOnce = std::numeric_limits<uInt>::max() / 2;
    do {
      const std::string_view part = text.substr(0, kMostAtOnce);
      text.remove_prefix(part.size());
      stream_.next_in = reinterpret_cast<const Bytef*>(part.data());
      stream_.avail_in = static_cast<uInt>(part.size());
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_out = static_cast<uInt>(buffer_.size());
        deflate(&stream_, text.empty() ? flush : Z_NO_FLUSH);
        write(std::string_view(buffer_.data(), buffer_.size() - stream_.avail_out));
      } while (stream_.avail_out == 0);
    } while (!text.empty());
  }

 private:
  z_stream stream_{};
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16U);
};

[[noreturn]] void throw_standard_output() { throw system_error("standard output: writing failed", errno); }

}  // namespace

[[noreturn]] void end_by_terminate() {
  AtomicFile::remove_all_temporary();
  const std::type_info* const what = abi::__cxa_current_exception_type();
  if (what == nullptr || *what != typeid(std::bad_alloc)) std::abort();
  std::fputs(kOutOfMemory, stderr);
  tell_saved_files();
  std::_Exit(kNoSystem);
}

void handle_signals() {
  // To write more than a file may have is an error like that of a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU}) {
    // Who ignores a signal, as nohup does, means it for the commands that are started, too.
    if (std::signal(signal, remove_pending_and_end) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  struct sigaction lost_file {};
  lost_file.sa_sigaction = end_without_file;
  lost_file.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &lost_file, nullptr);
}

void tell_saved_files() {
  for (const std::string& message : saved_files) std::fputs(message.c_str(), stderr);
}

StopOnInterrupt::StopOnInterrupt() {
  stop_requested = 0;
  if (std::signal(SIGINT, request_stop) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

StopOnInterrupt::~StopOnInterrupt() {
  if (std::signal(SIGINT, remove_pending_and_end) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

bool StopOnInterrupt::requested() { return stop_requested != 0; }

std::string_view uncompressed_name(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path;
}

struct OutputFile::Impl {
  std::unique_ptr<AtomicFile> file;  // null: standard output
  std::optional<Deflater> deflater;
  std::string message_when_saved;

  void write(std::string_view bytes) const {
    if (file) {
      file->write(bytes);
    } else if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) {
      throw_standard_output();
    }
  }
};

OutputFile::OutputFile(const std::string& path, Compression compression) : impl_(std::make_unique<Impl>()) {
  if (compression == Compression::kByName && path.ends_with(".gz")) impl_->deflater.emplace();
  if (path.empty() || path == "-") return;
  impl_->message_when_saved = fmt::format("mfga: {} was saved before that\n", escaped(path));
  AtomicFile::remove_leftovers(path);
  impl_->file = std::make_unique<AtomicFile>(path);
}

OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view text) {
  if (impl_->deflater) {
    impl_->deflater->add(text, Z_NO_FLUSH, [&](std::string_view bytes) { impl_->write(bytes); });
  } else {
    impl_->write(text);
  }
}

void OutputFile::commit() {
  if (impl_->deflater)
    impl_->deflater->add({}, Z_FINISH, [&](std::string_view bytes) { impl_->write(bytes); });
  if (impl_->file) {
    impl_->file->commit();
    if (!impl_->file->temporary_path().empty()) add_saved(impl_->message_when_saved);
  } else if (std::fflush(stdout) != 0) {
    throw_standard_output();
  }
}

void check_files(std::initializer_list<NamedFile> inputs, std::initializer_list<NamedFile> outputs) {
  if (std::ranges::count(inputs, "-", &NamedFile::path) > 1)
    throw Error(ErrorKind::kInvalidArgument,
                "standard input (-) can be read once; give one of the tables as a file");
  std::vector<NamedFile> taken(inputs);
  std::erase_if(taken, [](const NamedFile& file) { return file.path == "-"; });
  for (const NamedFile& output : outputs) {
    if (output.path.empty()) continue;
    for (const NamedFile& other : taken) {
      if (other.path.empty()) continue;
      const bool is_same = other.path == "-" || output.path == "-" ? other.path == output.path
                                                                   : is_same_file(other.path, output.path);
      if (!is_same) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("{} {} is the same file as {} {} and would overwrite it; give another file",
                              output.name, output.path, other.name, other.path));
    }
    taken.push_back(output);
  }
}

}  // namespace mfga::cli
