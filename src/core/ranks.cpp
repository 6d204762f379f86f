#include "core/ranks.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>

#include "core/row_blocks.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// What goes with everything that is said, behind it, so that it can be taken off without a copy.
struct Word {
  ProgressAction action = ProgressAction::kContinue;
  double seconds = 0;
};

// An error of another rank, of which all have heard.
class HeardError final : public Error {
 public:
  using Error::Error;
};

// What `agreed` says of an error begins with its kind, and what is said within its body with this.
constexpr char kNoError = '\x7F';

// Throws the error of the first rank that has told of one.
void throw_told(const std::vector<std::string>& all, int own_rank, const std::exception_ptr& own) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string& theirs = all[rank];
    if (theirs.empty() || theirs.front() == kNoError) continue;
    if (static_cast<int>(rank) == own_rank) std::rethrow_exception(own);
    throw HeardError(static_cast<ErrorKind>(theirs.front()), theirs.substr(1));
  }
}

}  // namespace

BlockRange blocks_of_rank(Index blocks, int rank, int ranks) {
  const Index parts = shard_count(blocks, 1);
  const auto first = [&](Index of) { return parts == 0 ? 0 : of * parts / ranks * blocks / parts; };
  return {first(rank), first(rank + 1)};
}

Ranks::Ranks(Communicator& communicator, Control& control) : communicator_(communicator), control_(control) {
  control_.share();
}

void Ranks::share(WorkClock& clock) {
  clock_ = &clock;
  clock.share();
}

std::vector<std::string> Ranks::talk(std::string_view own) {
  const Word word{control_.asked(), clock_ == nullptr ? 0 : clock_->own_seconds()};
  std::string message;
  message.reserve(own.size() + sizeof word);
  message.append(own).append(reinterpret_cast<const char*>(&word), sizeof word);  // NOLINT
  std::vector<std::string> all = communicator_.all_gather(message);
  if (std::ssize(all) != size()) {
    throw Error(ErrorKind::kIo,
                fmt::format("{} of {} ranks answered; the communicator is faulty", all.size(), size()));
  }
  ProgressAction action = ProgressAction::kContinue;
  for (int rank = 0; rank < size(); ++rank) {
    std::string& said = all[static_cast<std::size_t>(rank)];
    if (said.size() < sizeof(Word)) expect(all, rank, sizeof(Word));
    const std::size_t end = said.size() - sizeof(Word);
    Word theirs;
    std::memcpy(&theirs, said.data() + end, sizeof theirs);
    action = std::max(action, theirs.action);
    if (rank == 0 && clock_ != nullptr) clock_->agree(theirs.seconds);
    said.resize(end);
  }
  control_.agree(action);
  return all;
}

void Ranks::expect(const std::vector<std::string>& all, int rank, std::size_t bytes) {
  const std::size_t found = all[static_cast<std::size_t>(rank)].size();
  if (found == bytes) return;
  throw Error(ErrorKind::kIo,
              fmt::format("rank {} sent {} bytes where {} were expected; every rank must make the same call, "
                          "with the same options, from the same build",
                          rank, found, bytes));
}

void Ranks::run(const Workers& workers, Index blocks, Index shards, Index size, double* partials,
                const AddBlocks& add) {
  control_.agree(
      ProgressAction::kContinue);  // an end that waited is everywhere before a loop, and not within one
  const BlockRange own = own_blocks(blocks);
  const auto first_of = [&](Index shard) { return shard * blocks / shards; };
  const auto has_block = [&](int rank) {
    const BlockRange range = blocks_of_rank(blocks, rank, this->size());
    return range.first < range.end;
  };
  // Of the ranks that have blocks of a shard, how many come before the one that has this block.
  const auto place_in = [&](Index shard, Index block) {
    Index before = 0;
    for (int rank = 0; rank < this->size(); ++rank) {
      const BlockRange range = blocks_of_rank(blocks, rank, this->size());
      if (has_block(rank) && range.end > first_of(shard) && range.end <= block) ++before;
    }
    return before;
  };
  std::vector<Index> begun;  // by this rank
  Index rounds = 0;
  std::optional<Index> continued;  // the shard that an earlier rank hands on to this one
  for (Index shard = 0; shard < shards; ++shard) {
    const Index first = first_of(shard);
    const Index end = first_of(shard + 1);
    if (first == end) continue;
    rounds = std::max(rounds, place_in(shard, end - 1));
    if (first >= own.first && first < own.end) begun.push_back(shard);
    if (first < own.first && own.first < end && own.first < own.end) continued = shard;
  }
  workers.run(std::ssize(begun), [&](Index i) {
    const Index shard = begun[static_cast<std::size_t>(i)];
    add(first_of(shard), std::min(first_of(shard + 1), own.end), partials + shard * size);
  });
  const auto bytes = static_cast<std::size_t>(size) * sizeof(double);
  const auto raw = [&](Index shard) {
    return bytes_of(std::span(partials + shard * size, static_cast<std::size_t>(size)));
  };
  const auto set = [&](Index shard, std::string_view from) {
    if (bytes > 0) std::memcpy(partials + shard * size, from.data(), bytes);
  };
  // The shard that this rank ends in the middle of, if any.
  std::optional<Index> handed_on;
  for (Index shard = 0; shard < shards; ++shard) {
    if (first_of(shard) < own.end && own.end < first_of(shard + 1) && own.first < own.end) handed_on = shard;
  }
  for (Index round = 1; round <= rounds; ++round) {
    const bool sends = handed_on && place_in(*handed_on, own.end - 1) == round - 1;
    const std::vector<std::string> all = talk(sends ? raw(*handed_on) : std::string_view());
    if (!continued || place_in(*continued, own.first) != round) continue;
    int from = rank() - 1;
    while (!has_block(from)) --from;
    expect(all, from, bytes);
    set(*continued, all[static_cast<std::size_t>(from)]);
    add(own.first, std::min(first_of(*continued + 1), own.end), partials + *continued * size);
  }
  // Each rank tells of the shards that it ended: they follow one another.
  const auto ended_by = [&](int rank) {
    const BlockRange range = blocks_of_rank(blocks, rank, this->size());
    BlockRange ended{shards, 0};
    for (Index shard = 0; shard < shards; ++shard) {
      if (first_of(shard + 1) <= range.first || first_of(shard + 1) > range.end) continue;
      ended.first = std::min(ended.first, shard);
      ended.end = shard + 1;
    }
    return ended;
  };
  const BlockRange ended = ended_by(rank());
  const auto length = [&](const BlockRange& of) {
    return of.first < of.end ? static_cast<std::size_t>(of.end - of.first) * bytes : 0;
  };
  const std::vector<std::string> all = talk(
      length(ended) == 0 ? std::string_view() : std::string_view(raw(ended.first).data(), length(ended)));
  for (int other = 0; other < this->size(); ++other) {
    const BlockRange theirs = ended_by(other);
    expect(all, other, length(theirs));
    if (other == rank() || length(theirs) == 0) continue;
    std::memcpy(partials + theirs.first * size, all[static_cast<std::size_t>(other)].data(), length(theirs));
  }
}

void agreed(Communicator* communicator, const std::function<void()>& body) {
  if (communicator == nullptr || communicator->size() == 1) {
    body();
    return;
  }
  std::string failure;  // the kind and the message
  std::exception_ptr own;
  try {
    body();
  } catch (const HeardError&) {
    throw;
  } catch (const Error& error) {
    own = std::current_exception();
    failure = std::string(1, static_cast<char>(error.kind())) + error.what();
  } catch (const std::exception& error) {
    own = std::current_exception();
    failure = std::string(1, static_cast<char>(ErrorKind::kSystem)) + error.what();
  }
  throw_told(communicator->all_gather(failure), communicator->rank(), own);
}

std::vector<std::string> said_within_agreed(Communicator& ranks, std::string_view own) {
  std::vector<std::string> all = ranks.all_gather(kNoError + std::string(own));
  throw_told(all, -1, nullptr);
  for (std::string& theirs : all) theirs.erase(0, 1);
  return all;
}

}  // namespace mfga
