// Several processes that go over the rows together (mfga/communicator.hpp): which rank works on which blocks
// of rows, and how what each finds comes to all others.
//
// Every rank runs the same computation: whatever is small is computed by each of them, and nothing may depend
// on the rank. Only blocks of rows are divided. Sums are shards, added up in the order of the blocks; a shard
// whose blocks belong to several ranks is handed on from one to the next.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/control.hpp"
#include "core/rank_messages.hpp"
#include "mfga/communicator.hpp"
#include "mfga/views.hpp"

namespace mfga {

class Workers;

struct BlockRange {
  Index first = 0;
  Index end = 0;
};

// The blocks of so many that a rank works on: whole shards of loops with short results.
[[nodiscard]] BlockRange blocks_of_rank(Index blocks, int rank, int ranks);

// Used by the thread that made it alone, in loops over rows and for what is between them.
class Ranks {
 public:
  // The caller's word on whether to go on is that of all ranks from now on: it changes only where ranks talk.
  Ranks(Communicator& communicator, Control& control);
  // So is the time; the clock must live as long.
  void share(WorkClock& clock);

  [[nodiscard]] Communicator& communicator() const { return communicator_; }
  [[nodiscard]] int rank() const { return communicator_.rank(); }
  [[nodiscard]] int size() const { return communicator_.size(); }
  [[nodiscard]] bool is_first() const { return rank() == 0; }
  [[nodiscard]] BlockRange own_blocks(Index blocks) const { return blocks_of_rank(blocks, rank(), size()); }

  // Adds blocks from `first` to `end`, all of one shard, to its partial result.
  using AddBlocks = std::function<void(Index first, Index end, double* partial)>;
  // Calls add for every shard on the ranks that have its blocks; afterwards all ranks have partials [shards x
  // size], which must be as they are before the first block.
  void run(const Workers& workers, Index blocks, Index shards, Index size, double* partials,
           const AddBlocks& add);

  // Where each rank has set those of `values` that belong to its blocks, those before first_of(block)
  // belonging to earlier ones: sets them all.
  template <class Number, class FirstOf>
  void share(Index blocks, std::span<Number> values, const FirstOf& first_of) {
    const auto part = [&](int rank) {
      const BlockRange range = blocks_of_rank(blocks, rank, size());
      const auto first = static_cast<std::size_t>(first_of(range.first));
      return values.subspan(first, static_cast<std::size_t>(first_of(range.end)) - first);
    };
    const std::vector<std::string> all = talk(bytes_of(part(rank())));
    for (int other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      const std::span<Number> to = part(other);
      expect(all, other, to.size_bytes());
      if (!to.empty()) std::memcpy(to.data(), all[static_cast<std::size_t>(other)].data(), to.size_bytes());
    }
  }

  // What every rank says; ends the work where the caller has asked for that.
  [[nodiscard]] std::vector<std::string> talk(std::string_view own);
  // Throws if a rank has not sent so many bytes.
  static void expect(const std::vector<std::string>& all, int rank, std::size_t bytes);

 private:
  Communicator& communicator_;
  Control& control_;
  WorkClock* clock_ = nullptr;
};

// Runs `body`, which may fail on some ranks only; then every rank throws the error of the first of these.
// Null: there is one.
void agreed(Communicator* communicator, const std::function<void()>& body);

}  // namespace mfga
