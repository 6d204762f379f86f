// A library to be loaded before all others (LD_PRELOAD): counts the calls of a program by which it asks the
// system for something, and lets the n-th of a kind fail, once or from then on.
//
//   MFGA_FAULT_KIND     alloc, open, read, write, fsync, rename, thread, map, or page: a file that is mapped
//                       has no bytes any more when they are looked at, as where its disk fails
//   MFGA_FAULT_AT       n, from 1; 0 or absent: none fails
//   MFGA_FAULT_STAYS    set: all after it fail as well
//   MFGA_FAULT_SHORT    set: every read and write moves one byte in two calls, and every third is interrupted
//   MFGA_FAULT_REPORT   where to write at the end of the program how many calls of the kind there were and,
//                       where none failed, the number and the name of the first from each place: from each
//                       chain of callers
//
// Calls count from the begin of main on; before, the program could not say a word. Where LeakSanitizer is
// loaded after this library, memory comes from it.
#undef _FORTIFY_SOURCE  // whose inline functions would stand in the way of those below
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
// NOLINTBEGIN: their names
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
[[gnu::weak]] void* __interceptor_malloc(std::size_t);
[[gnu::weak]] void* __interceptor_calloc(std::size_t, std::size_t);
[[gnu::weak]] void* __interceptor_realloc(void*, std::size_t);
[[gnu::weak]] void* __interceptor_memalign(std::size_t, std::size_t);
// NOLINTEND
}

namespace {

enum Kind { kAlloc, kOpen, kRead, kWrite, kFsync, kRename, kThread, kMap, kPage, kKinds };
constexpr const char* kNames[kKinds] = {"alloc",  "open",   "read", "write", "fsync",
                                        "rename", "thread", "map",  "page"};

constexpr std::size_t kMostPlaces = std::size_t{1} << 18U;

struct State {
  bool is_on = false;
  int kind = kKinds;
  long at = 0;
  bool stays = false;
  bool is_short = false;
  const char* report = nullptr;
  std::atomic<long> calls{0};
  std::atomic<long> moves{0};
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  std::uint64_t places[kMostPlaces] = {};  // of callers, by their hash
  long firsts[kMostPlaces] = {};
};
State state;
thread_local bool is_inside = false;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));  // NOLINT
}

void note_place(long call) {
  constexpr int kDepth = 10;
  void* frames[kDepth];
  is_inside = true;
  const int depth = backtrace(frames, kDepth);
  std::uint64_t hash = 14695981039346656037U;
  for (int i = 0; i < depth; ++i) {
    // Where a library lies in memory is another place in every run.
    Dl_info library{};
    const auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
    const bool is_known = dladdr(frames[i], &library) != 0;
    hash = (hash ^ (is_known ? address - reinterpret_cast<std::uintptr_t>(library.dli_fbase) : 0)) *
           1099511628211U;
  }
  hash |= 1U;
  while (state.busy.test_and_set()) {
  }
  std::size_t slot = hash % kMostPlaces;
  for (std::size_t tries = 0; tries < kMostPlaces; ++tries, slot = (slot + 1) % kMostPlaces) {
    if (state.places[slot] == hash) break;
    if (state.places[slot] != 0) continue;
    state.places[slot] = hash;
    state.firsts[slot] = call;
    break;
  }
  state.busy.clear();
  is_inside = false;
}

// Whether this call is to fail.
bool fails(int kind) {
  if (!state.is_on || kind != state.kind || is_inside) return false;
  const long call = ++state.calls;
  if (state.report != nullptr && state.at == 0) note_place(call);
  return state.at > 0 && (call == state.at || (state.stays && call > state.at));
}

// Of so many bytes that are to be moved, how many are; 0: interrupted.
std::size_t moved(std::size_t count) {
  if (!state.is_short || !state.is_on || count == 0) return count;
  const long move = ++state.moves;
  if (move % 3 == 0) return 0;
  return move % 2 == 0 ? 1 : count;
}

int (*own_main)(int, char**, char**) = nullptr;

int main_with_faults(int count, char** arguments, char** environment) {
  const char* const kind = std::getenv("MFGA_FAULT_KIND");
  const char* const at = std::getenv("MFGA_FAULT_AT");
  for (int i = 0; kind != nullptr && i < kKinds; ++i) {
    if (std::strcmp(kind, kNames[i]) == 0) state.kind = i;
  }
  state.at = at == nullptr ? 0 : std::atol(at);
  state.stays = std::getenv("MFGA_FAULT_STAYS") != nullptr;
  state.is_short = std::getenv("MFGA_FAULT_SHORT") != nullptr;
  state.report = std::getenv("MFGA_FAULT_REPORT");
  void* frame = nullptr;
  backtrace(&frame, 1);  // which loads a library the first time
  state.is_on = true;
  return own_main(count, arguments, environment);
}

[[gnu::destructor]] void report() {
  state.is_on = false;
  if (state.report == nullptr) return;
  std::FILE* const file = std::fopen(state.report, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%ld\n", state.calls.load());
  for (std::size_t slot = 0; slot < kMostPlaces; ++slot) {
    if (state.places[slot] != 0) std::fprintf(file, "%ld %lx\n", state.firsts[slot], state.places[slot]);
  }
  std::fclose(file);
}

template <class Result>
Result failed(int code, Result result) {
  errno = code;
  return result;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                      void (*init)(),  // NOLINT
                      void (*fini)(), void (*end)(), void* stack) {
  own_main = main;
  return next<decltype(&__libc_start_main)>("__libc_start_main")(main_with_faults, count, arguments, init,
                                                                 fini, end, stack);
}

void* malloc(std::size_t size) {
  if (fails(kAlloc)) return failed<void*>(ENOMEM, nullptr);
  return __interceptor_malloc != nullptr ? __interceptor_malloc(size) : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  if (fails(kAlloc)) return failed<void*>(ENOMEM, nullptr);
  return __interceptor_calloc != nullptr ? __interceptor_calloc(count, size) : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  if (fails(kAlloc)) return failed<void*>(ENOMEM, nullptr);
  return __interceptor_realloc != nullptr ? __interceptor_realloc(memory, size)
                                          : __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (fails(kAlloc)) return failed<void*>(ENOMEM, nullptr);
  return __interceptor_memalign != nullptr ? __interceptor_memalign(alignment, size)
                                           : __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = aligned_alloc(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (fails(kOpen)) return failed(EMFILE, -1);
  return next<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (fails(kOpen)) return failed(EMFILE, -1);
  return next<int (*)(const char*, int, ...)>("open64")(path, flags, mode);
}
std::FILE* fopen(const char* path, const char* mode) {
  if (fails(kOpen)) return failed<std::FILE*>(EMFILE, nullptr);
  return next<decltype(&fopen)>("fopen")(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
  if (fails(kOpen)) return failed<std::FILE*>(EMFILE, nullptr);
  return next<decltype(&fopen64)>("fopen64")(path, mode);
}

ssize_t read(int file, void* bytes, std::size_t count) {
  if (fails(kRead)) return failed<ssize_t>(EIO, -1);
  const std::size_t some = moved(count);
  if (some == 0 && count > 0) return failed<ssize_t>(EINTR, -1);
  return next<decltype(&read)>("read")(file, bytes, some);
}
// What hardened programs call.
int __open_2(const char* path, int flags) { return open(path, flags); }           // NOLINT
int __open64_2(const char* path, int flags) { return open64(path, flags); }       // NOLINT
ssize_t __read_chk(int file, void* bytes, std::size_t count, std::size_t room) {  // NOLINT
  if (count > room) std::abort();
  return read(file, bytes, count);
}
ssize_t write(int file, const void* bytes, std::size_t count) {
  if (fails(kWrite)) return failed<ssize_t>(ENOSPC, -1);
  const std::size_t some = moved(count);
  if (some == 0 && count > 0) return failed<ssize_t>(EINTR, -1);
  return next<decltype(&write)>("write")(file, bytes, some);
}
// Tables on disk.
ssize_t pread(int file, void* bytes, std::size_t count, off_t place) {
  if (fails(kRead)) return failed<ssize_t>(EIO, -1);
  const std::size_t some = moved(count);
  if (some == 0 && count > 0) return failed<ssize_t>(EINTR, -1);
  return next<decltype(&pread)>("pread")(file, bytes, some, place);
}
ssize_t __pread_chk(int file, void* bytes, std::size_t count, off_t place, std::size_t room) {  // NOLINT
  if (count > room) std::abort();
  return pread(file, bytes, count, place);
}
ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t place) {
  if (fails(kWrite)) return failed<ssize_t>(ENOSPC, -1);
  const std::size_t some = moved(count);
  if (some == 0 && count > 0) return failed<ssize_t>(EINTR, -1);
  return next<decltype(&pwrite)>("pwrite")(file, bytes, some, place);
}
// What is printed goes past write inside the C library: here it fails like it.
std::size_t fwrite(const void* bytes, std::size_t size, std::size_t count, std::FILE* file) {
  if (file != stderr && fails(kWrite)) return failed<std::size_t>(ENOSPC, 0);
  return next<decltype(&fwrite)>("fwrite")(bytes, size, count, file);
}
int fflush(std::FILE* file) {
  if (file != stderr && fails(kWrite)) return failed(ENOSPC, EOF);
  return next<decltype(&fflush)>("fflush")(file);
}

int fsync(int file) { return fails(kFsync) ? failed(EIO, -1) : next<decltype(&fsync)>("fsync")(file); }
int fdatasync(int file) {
  return fails(kFsync) ? failed(EIO, -1) : next<decltype(&fdatasync)>("fdatasync")(file);
}
int rename(const char* from, const char* to) {
  return fails(kRename) ? failed(ENOSPC, -1) : next<decltype(&rename)>("rename")(from, to);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  return fails(kThread)
             ? EAGAIN
             : next<decltype(&pthread_create)>("pthread_create")(thread, attributes, start, argument);
}
void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
  if (fails(kMap)) return failed(ENOMEM, MAP_FAILED);
  const auto real = next<decltype(&mmap)>("mmap");
  // Bytes beyond the end of a file are what a disk that fails looks like.
  const int empty = file >= 0 && fails(kPage) ? ::memfd_create("empty", MFD_CLOEXEC) : -1;
  void* const place = real(address, size, protection, flags, empty >= 0 ? empty : file, offset);
  if (empty >= 0) ::close(empty);
  return place;
}

}  // extern "C"

// LeakSanitizer has these, too, which would go past malloc.
void* operator new(std::size_t size) {
  if (void* const memory = malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return malloc(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* const memory = aligned_alloc(static_cast<std::size_t>(alignment), size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
