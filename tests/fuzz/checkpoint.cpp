// Checkpoints. The first byte says whether the rest is what classes keep, which must come out as it went in;
// or the content of a checkpoint, from which a computation goes on.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "core/deadline.hpp"
#include "core/journal.hpp"
#include "fuzz/sealed.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

constexpr SealedFormat kFormat = {"MFGACKPT", 1, "checkpoint"};

// Some of all that an archive knows.
struct Kept {
  std::vector<bool> flags;
  std::optional<double> number;
  std::optional<Matrix> matrix;
  std::vector<Atom> atoms;
  std::pair<int, std::string> pair;
  ErrorKind kind = ErrorKind::kIo;
  std::vector<FingerprintPart> parts;

  void archive_all(Archive& bytes) { bytes(flags, number, matrix, atoms, pair, kind, parts); }
};

void check_archive(std::string_view bytes) {
  static_cast<void>(refusal_of([&] {
    const auto written = [](std::string_view from) {
      Kept kept;
      Archive loading(from);
      kept.archive_all(loading);
      Archive writing;
      kept.archive_all(writing);
      return writing.bytes();
    };
    const std::string once = written(bytes);
    require_same(once, written(once), "what was kept is kept the same");
  }));
}

// A file in memory that has a path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("checkpoint", MFD_CLOEXEC)) {}
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  void hold(std::string_view bytes) const {
    require(::ftruncate(descriptor_, 0) == 0, "a file can be emptied");
    require(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "a file can be written");
  }

 private:
  int descriptor_;
};

// Units within a unit, and a loop.
double computed(Journal& journal) {
  double first = 0;
  std::vector<double> list;
  std::string text;
  const auto compute = [&] {
    journaled(
        &journal, "first", [&] { first = 1; }, first);
    const auto loop = [&] {
      double sum = 0;
      int turn = 0;
      const auto state = [&](Archive& bytes) { bytes(list, sum, turn); };
      static_cast<void>(journal.resume_loop(state));
      for (; turn >= 0 && turn < 3; ++turn) {
        journal.in_loop(state);
        list.push_back(sum += 1);
      }
    };
    journaled(&journal, "list", loop, list);
    journaled(
        &journal, "text", [&] { text = "t"; }, text);
  };
  journaled(&journal, "outer", compute, first, list, text);
  return first + static_cast<double>(list.size() + text.size());
}

void run(std::string_view bytes) {
  if (take_byte(bytes) % 2 == 0) {
    check_archive(bytes);
    return;
  }
  static const MemoryFile file;
  file.hold(sealed_or_not(kFormat, bytes));
  static_cast<void>(refusal_of([&] {
    constexpr double kNever = 1e9;
    WorkClock clock;
    Control control({});
    Journal journal({file.path(), kNever, true, true}, {{"rows", "3"}}, clock, control);
    try {
      static_cast<void>(computed(journal));
    } catch (const OutOfTime&) {
      // The file may say that a unit ended so; whoever has a time limit expects it.
    }
    journal.finish();
  }));
}

}  // namespace

constexpr Target kCheckpoint = {"checkpoint", 700, run};

}  // namespace mfga::fuzz
