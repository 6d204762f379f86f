// What a long computation has found so far, in a file from which the same computation goes on after its
// process has ended.
//
// The computation is a sequence of units, each of which may have units inside, that take place in the same
// order in every run. Results of units that are done are kept, exactly; of the unit under way those of its
// inner units that are done, or the state of its loop. When it is done these are forgotten. A second run is
// the same computation from the beginning, but a unit whose results are there is not computed again.
//
//   journaled(journal, "fold 2", [&] { model = learn(...); }, model);
//
// Units are on the thread that made the journal: what others do side by side belongs to one unit.
//
// The file is not trusted: whoever takes results from it requires of them what the rest of the computation
// relies on (Archive::require), so that a file that somebody made on purpose is refused or leads to other
// numbers, nothing worse.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/archive.hpp"
#include "core/clock.hpp"
#include "core/control.hpp"
#include "core/ranks.hpp"
#include "mfga/checkpoint.hpp"

namespace mfga {

// Something that must be the same where a computation goes on.
struct FingerprintPart {
  std::string name;
  std::string value;
  bool is_shown = true;  // in messages; else it is a checksum
};
using Fingerprint = std::vector<FingerprintPart>;
void archive(Archive& bytes, FingerprintPart& part);

class Journal {
 public:
  using ArchiveFunction = std::function<void(Archive&)>;

  // Reads the file if it is to go on from it: throws Error if that is of another computation. Then the clock
  // goes on as well. The others must live as long. Of several ranks (null: there are none) all go on, and the
  // first alone reads and writes.
  Journal(const Checkpoint& checkpoint, Fingerprint fingerprint, WorkClock& clock, Control& control,
          Ranks* ranks = nullptr);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  // Of a computation that has failed, all that is there is kept.
  ~Journal();

  // Sets results by computing them, or from the file. An OutOfTime that ended the unit is thrown again, too,
  // unless the caller asked for that end.
  void unit(std::string_view label, const std::function<void()>& compute, const ArchiveFunction& results);

  // For the loop of a unit; `state` is all that it changes. Before the loop: sets the state, if the file has
  // one of this loop.
  [[nodiscard]] bool resume_loop(const ArchiveFunction& state);
  // At the beginning of a turn: may keep the state.
  void in_loop(const ArchiveFunction& state);

  // The computation is done: removes the file, unless it is to be kept.
  void finish();
  // Why the file could not be written the last time; empty if it could.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  enum class Outcome { kResults, kOutOfTime };
  struct Entry {
    std::string label;
    Outcome outcome = Outcome::kResults;
    std::string results;
    double seconds = 0;
  };
  friend void archive(Archive& bytes, Entry& entry);
  // A unit under way.
  struct Frame {
    std::string label;
    std::vector<Entry> done;
    std::string loop;  // the state of its loop, if there is one
    double loop_seconds = 0;
    std::size_t next = 0;  // of those done, in this run
    bool is_resumed = false;
  };
  friend void archive(Archive& bytes, Frame& frame);

  // The content of the file; nothing: there is none.
  [[nodiscard]] std::optional<std::string> file_content() const;
  void read(const std::string& bytes);
  [[nodiscard]] bool is_recording() const { return !is_frozen_ && std::this_thread::get_id() == owner_; }
  [[nodiscard]] std::optional<Entry> take(std::string_view label);
  void enter(std::string_view label);
  void load(std::string_view bytes, const ArchiveFunction& values) const;
  [[nodiscard]] bool is_due() const { return writes_ && seconds_since(last_write_) >= checkpoint_.every; }
  void write();
  // Writes what there is, and records nothing from now on.
  void freeze();

  Checkpoint checkpoint_;
  Fingerprint fingerprint_;
  WorkClock& clock_;
  Control& control_;
  Ranks* ranks_;
  bool writes_;
  std::thread::id owner_ = std::this_thread::get_id();
  std::vector<Frame> frames_ = std::vector<Frame>(1);  // from the whole computation inwards
  std::deque<Frame> to_enter_;                         // inner ones of the file, not yet entered in this run
  bool has_news_ = false;
  bool is_frozen_ = false;
  Clock::time_point last_write_ = Clock::now();
  std::string problem_;
};

// Without a journal everything is computed.
inline void journaled_as(Journal* journal, std::string_view label, const std::function<void()>& compute,
                         const Journal::ArchiveFunction& results) {
  if (journal == nullptr) {
    compute();
  } else {
    journal->unit(label, compute, results);
  }
}
template <class Compute, class... Results>
void journaled(Journal* journal, std::string_view label, const Compute& compute, Results&... results) {
  journaled_as(journal, label, compute, [&](Archive& bytes) { bytes(results...); });
}
// Of results of which something is to be required.
template <class Compute, class Check, class... Results>
void journaled_if(Journal* journal, std::string_view label, const Compute& compute, const Check& are_possible,
                  Results&... results) {
  journaled_as(journal, label, compute, [&](Archive& bytes) {
    bytes(results...);
    if (bytes.is_loading()) Archive::require(are_possible());
  });
}

}  // namespace mfga
