#include "core/journal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "core/atomic_file.hpp"
#include "core/deadline.hpp"
#include "core/sealed_file.hpp"
#include "core/system_error.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr SealedFormat kFormat = {"MFGACKPT", 1, "checkpoint"};

// What is not the same in both, in words.
std::vector<std::string> differences(const Fingerprint& there, const Fingerprint& here) {
  std::vector<std::string> all;
  const auto value_in = [](const Fingerprint& parts, const std::string& name) {
    const auto part = std::ranges::find(parts, name, &FingerprintPart::name);
    return part == parts.end() ? std::string() : part->value;
  };
  const auto compare = [&](const FingerprintPart& part) {
    const std::string of_there = value_in(there, part.name);
    const std::string of_here = value_in(here, part.name);
    if (of_there == of_here) return;
    all.push_back(part.is_shown
                      ? fmt::format("{} ({} there, {} here)", part.name, of_there.empty() ? "none" : of_there,
                                    of_here.empty() ? "none" : of_here)
                      : part.name);
  };
  for (const FingerprintPart& part : here) compare(part);
  for (const FingerprintPart& part : there) {
    if (std::ranges::find(here, part.name, &FingerprintPart::name) == here.end()) compare(part);
  }
  return all;
}

}  // namespace

void archive(Archive& bytes, FingerprintPart& part) { bytes(part.name, part.value, part.is_shown); }

void archive(Archive& bytes, Journal::Entry& entry) {
  bytes(entry.label, entry.outcome, entry.results, entry.seconds);
  Archive::require(are_seconds(entry.seconds));
}

void archive(Archive& bytes, Journal::Frame& frame) {
  bytes(frame.label, frame.done, frame.loop, frame.loop_seconds);
  Archive::require(are_seconds(frame.loop_seconds));
}

void Checkpoint::validate() const {
  if (path.empty()) {
    if (resume) throw Error(ErrorKind::kInvalidArgument, "`resume` is for a `checkpoint`; give that, too");
    return;
  }
  if (!(every >= 0)) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`checkpoint_every` is {}; expected 0 seconds or more", every));
  }
  AtomicFile::remove_leftovers(path);
  const AtomicFile writable(path);
  if (writable.temporary_path().empty())
    throw Error(ErrorKind::kIo, fmt::format("{}: is not a regular file; expected a checkpoint", path));
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return;
  const std::string bytes = read_sealed(kFormat, path);
  static_cast<void>(unsealed(kFormat, bytes, path));
  if (!resume) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{}: holds a fit that is not done; `resume` goes on from it. To begin anew, "
                            "remove the file",
                            path));
  }
}

void Checkpoint::remove() const {
  std::error_code error;
  if (path.empty() || std::filesystem::remove(path, error) || !error) return;
  throw system_error(fmt::format("{}: cannot be removed", path), error.value());
}

Journal::Journal(const Checkpoint& checkpoint, Fingerprint fingerprint, WorkClock& clock, Control& control,
                 Ranks* ranks)
    : checkpoint_(checkpoint),
      fingerprint_(std::move(fingerprint)),
      clock_(clock),
      control_(control),
      ranks_(ranks),
      writes_(ranks == nullptr || ranks->is_first()) {
  if (!checkpoint_.resume) return;
  std::optional<std::string> bytes;
  if (ranks_ == nullptr) {
    bytes = file_content();
  } else {
    agreed(&ranks_->communicator(), [&] {
      if (writes_) bytes = file_content();
    });
    // No file is empty.
    const std::string sent = ranks_->communicator().broadcast(bytes.value_or(""), 0);
    if (!sent.empty()) bytes = sent;
  }
  if (bytes) read(*bytes);
}

Journal::~Journal() {
  if (!is_frozen_) freeze();
}

std::optional<std::string> Journal::file_content() const {
  if (!std::filesystem::exists(checkpoint_.path)) return std::nullopt;
  return read_sealed(kFormat, checkpoint_.path);
}

void Journal::read(const std::string& bytes) {
  const std::string_view content = unsealed(kFormat, bytes, checkpoint_.path);
  std::vector<Frame> frames;
  Fingerprint of_file;
  load(content, [&](Archive& all) { all(of_file, frames); });
  if (const std::vector<std::string> all = differences(of_file, fingerprint_); !all.empty()) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{}: the checkpoint is that of another fit; what differs: {}. To go on, fit as it "
                    "was begun; to begin anew, remove the file",
                    checkpoint_.path, fmt::join(all, ", ")));
  }
  if (frames.empty()) return;
  for (Frame& frame : frames) frame.is_resumed = true;
  to_enter_.assign(std::next(frames.begin()), frames.end());
  frames_ = {std::move(frames.front())};
}

void Journal::load(std::string_view bytes, const ArchiveFunction& values) const {
  try {
    Archive all(bytes);
    values(all);
    if (!all.is_at_end()) throw Error(ErrorKind::kBadData, "it is longer than it should be");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: not a valid checkpoint: {}", checkpoint_.path, error.what()));
  }
}

std::optional<Journal::Entry> Journal::take(std::string_view label) {
  Frame& frame = frames_.back();
  if (frame.next == frame.done.size()) return std::nullopt;
  if (frame.done[frame.next].label == label) return frame.done[frame.next++];
  // Under a time limit a decision may have been another one: what came after it is of no use.
  frame.done.resize(frame.next);
  to_enter_.clear();
  return std::nullopt;
}

void Journal::enter(std::string_view label) {
  if (!to_enter_.empty() && to_enter_.front().label == label) {
    frames_.push_back(std::move(to_enter_.front()));
    to_enter_.pop_front();
    return;
  }
  to_enter_.clear();
  frames_.emplace_back().label = label;
}

void Journal::unit(std::string_view label, const std::function<void()>& compute,
                   const ArchiveFunction& results) {
  if (!is_recording()) {
    compute();
    return;
  }
  if (const std::optional<Entry> entry = take(label)) {
    clock_.advance_to(entry->seconds);
    if (entry->outcome == Outcome::kOutOfTime) throw OutOfTime();
    load(entry->results, results);
    return;
  }
  enter(label);
  const std::size_t depth = frames_.size();
  Entry entry{std::string(label), Outcome::kResults, {}, 0};
  std::exception_ptr end;
  try {
    compute();
  } catch (const OutOfTime&) {
    entry.outcome = Outcome::kOutOfTime;
    end = std::current_exception();
  } catch (...) {
    freeze();
    end = std::current_exception();
  }
  // Who asks for an end may want to go on from here later.
  if (!is_frozen_ && control_.is_stopped()) freeze();
  frames_.resize(depth - 1);
  if (!is_frozen_) {
    if (!end) {
      Archive bytes;
      results(bytes);
      entry.results = bytes.bytes();
    }
    entry.seconds = clock_.seconds();
    Frame& outer = frames_.back();
    outer.done.push_back(std::move(entry));
    outer.next = outer.done.size();
    has_news_ = true;
    if (is_due()) write();
  }
  if (end) std::rethrow_exception(end);
}

bool Journal::resume_loop(const ArchiveFunction& state) {
  if (!is_recording()) return false;
  Frame& frame = frames_.back();
  if (!std::exchange(frame.is_resumed, false) || frame.loop.empty()) return false;
  clock_.advance_to(frame.loop_seconds);
  load(frame.loop, state);
  return true;
}

void Journal::in_loop(const ArchiveFunction& state) {
  if (!is_recording() || !is_due() || control_.is_stopped()) return;
  Archive bytes;
  state(bytes);
  frames_.back().loop = bytes.bytes();
  frames_.back().loop_seconds = clock_.seconds();
  has_news_ = true;
  write();
}

void Journal::write() {
  if (!has_news_ || !writes_) return;
  try {
    Archive content;
    content(fingerprint_, frames_);
    const std::string bytes = sealed(kFormat, content.bytes());
    AtomicFile file(checkpoint_.path);
    file.write(bytes);
    file.commit();
    has_news_ = false;
    problem_.clear();
  } catch (const std::exception& error) {
    problem_ = error.what();  // the fit goes on without
  }
  last_write_ = Clock::now();
}

void Journal::freeze() {
  // Frames that were not entered again are as the file has them.
  if (to_enter_.empty()) write();
  is_frozen_ = true;
}

void Journal::finish() {
  if (control_.is_stopped() && !is_frozen_) freeze();
  if (is_frozen_) return;
  is_frozen_ = true;
  if (checkpoint_.keep || !writes_) return;
  try {
    checkpoint_.remove();
  } catch (const Error& error) {
    problem_ = error.what();  // no reason to lose a model
  }
}

}  // namespace mfga
