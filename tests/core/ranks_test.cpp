// Sums over rows that several ranks have: the same to the last bit as those of one process.
#include "core/ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "core/rank_messages.hpp"
#include "core/ranked_rows.hpp"
#include "core/row_blocks.hpp"
#include "mfga/error.hpp"
#include "reference.hpp"
#include "thread_ranks.hpp"

namespace mfga {
namespace {

TEST(SeveralRanks, HaveEachBlockOnce) {
  for (const Index blocks : {0, 1, 2, 7, 31, 32, 33, 100, 5000}) {
    for (const int ranks : {1, 2, 3, 4, 7, 40}) {
      Index next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const BlockRange range = blocks_of_rank(blocks, rank, ranks);
        EXPECT_EQ(range.first, next);
        EXPECT_LE(range.first, range.end);
        next = range.end;
      }
      EXPECT_EQ(next, blocks);
    }
  }
}

// Sums that depend on the order of additions, of which there are so many.
std::vector<double> rounded_sums(const BlockedRows& rows, Workers& workers, Index size) {
  std::vector<double> sums(static_cast<std::size_t>(size));
  sum_over_blocks(rows, workers, sums, [&](const RowBlock& block, Arena& /*arena*/, double* out) {
    const double* x = block.input(0);
    for (Index n = 0; n < block.rows; ++n) out[(block.first_row + n) % size] += 1 / (1.5 + x[n]);
  });
  return sums;
}

TEST(SeveralRanks, AddUpToTheSameBits) {
  for (const Index n_rows : {300, 2000, 17'000, 40'000}) {
    const Matrix x = reference::random_matrix(n_rows, 1, 3);
    const BlockedRows rows = BlockedRows::unscaled(x.view());
    for (const Index size : {1, 7}) {
      Workers alone(2);
      const std::vector<double> expected = rounded_sums(rows, alone, size);
      for (const int count : {2, 3, 5, 12}) {
        run_on_ranks(count, [&](Communicator& communicator) {
          Control control({});
          Ranks ranks(communicator, control);
          Workers workers(1 + communicator.rank() % 2);
          workers.set_ranks(&ranks);
          EXPECT_EQ(rounded_sums(rows, workers, size), expected) << n_rows << " rows, " << count << " ranks";
        });
      }
    }
  }
}

// Shards with blocks of two ranks, or of many, are handed on: what is done to each depends on the order.
TEST(SeveralRanks, HandOnShards) {
  const auto add = [](Index first, Index end, double* partial) {
    for (Index block = first; block < end; ++block) {
      partial[0] = 1.7 * partial[0] + static_cast<double>(block);
      partial[1] = std::sqrt(partial[1] + static_cast<double>(block));
    }
  };
  for (const Index blocks : {1, 5, 33, 100}) {
    for (const Index shards : {1, 3, 8, 11, 32}) {
      if (shards > blocks) continue;
      std::vector<double> expected(static_cast<std::size_t>(2 * shards), 1.0);
      for (Index shard = 0; shard < shards; ++shard)
        add(shard * blocks / shards, (shard + 1) * blocks / shards, expected.data() + 2 * shard);
      for (const int count : {2, 3, 5, 12, 40}) {
        run_on_ranks(count, [&](Communicator& communicator) {
          Control control({});
          Ranks ranks(communicator, control);
          const Workers workers(1 + communicator.rank() % 2);
          std::vector<double> partials(expected.size(), 1.0);
          ranks.run(workers, blocks, shards, 2, partials.data(), add);
          EXPECT_EQ(partials, expected)
              << blocks << " blocks, " << shards << " shards, " << count << " ranks";
        });
      }
    }
  }
}

TEST(SeveralRanks, ShareWhatIsFoundForEachRow) {
  const Matrix x = reference::random_matrix(3000, 1, 4);
  const BlockedRows rows = BlockedRows::unscaled(x.view());
  run_on_ranks(3, [&](Communicator& communicator) {
    Control control({});
    Ranks ranks(communicator, control);
    Workers workers(2);
    workers.set_ranks(&ranks);
    std::vector<double> found(3000);
    std::atomic<Index> looked_at = 0;
    for_each_block(rows, workers, [&](const RowBlock& block, Arena& /*arena*/) {
      std::copy_n(block.input(0), block.rows, found.data() + block.first_row);
      looked_at += block.rows;
    });
    EXPECT_LT(looked_at, 3000);
    share_rows(rows, workers, found);
    EXPECT_EQ(found, std::vector<double>(x.values.begin(), x.values.end()));
  });
}

// A table of which each rank has some rows only.
class DividedTable {
 public:
  DividedTable(const Matrix& all, Ranks& ranks, Index most_copied) {
    const Index blocks = (all.rows + kBlockRows - 1) / kBlockRows;
    std::vector<Index> first_rows = {0};
    for (int rank = 0; rank < ranks.size(); ++rank)
      first_rows.push_back(std::min(blocks_of_rank(blocks, rank, ranks.size()).end * kBlockRows, all.rows));
    elsewhere_ = std::make_unique<RowsElsewhere>(ranks, first_rows, all.cols, most_copied);
    const auto rank = static_cast<std::size_t>(ranks.rank());
    for (const auto& [first, end] :
         {std::pair(Index{0}, first_rows[rank]), std::pair(first_rows[rank + 1], all.rows)}) {
      TableView::Piece piece;
      piece.source = elsewhere_.get();
      piece.first_row = first;
      piece.rows = end - first;
      table_.pieces.push_back(piece);
    }
    own_ = Matrix(first_rows[rank + 1] - first_rows[rank], all.cols);
    std::copy_n(all.row(first_rows[rank]), own_.values.size(), own_.values.begin());
    TableView::Piece own = TableView(own_.view()).pieces.front();
    own.first_row = first_rows[rank];
    table_.pieces.insert(table_.pieces.begin() + 1, own);
    std::erase_if(table_.pieces, [](const TableView::Piece& piece) { return piece.rows == 0; });
    table_.rows = all.rows;
    table_.cols = all.cols;
  }
  [[nodiscard]] const TableView& view() const { return table_; }

 private:
  std::unique_ptr<RowsElsewhere> elsewhere_;
  Matrix own_;
  TableView table_;
};

std::vector<double> all_sums(const BlockedRows& rows, Workers& workers) {
  std::vector<double> sums(static_cast<std::size_t>(rows.inputs()));
  sum_over_blocks(rows, workers, sums, [](const RowBlock& block, Arena& /*arena*/, double* out) {
    for (Index j = 0; j < block.inputs; ++j) {
      for (Index n = 0; n < block.rows; ++n)
        out[j] +=
            (block.weights == nullptr ? 1 : block.weights[n]) * block.input(j)[n] * block.square_norms[n];
    }
  });
  return sums;
}

// Subsets in any order, and subsets of subsets, with inputs that are warped or not.
TEST(SeveralRanks, FindTheRowsOfSubsets) {
  constexpr Index kRows = 9000;
  const Matrix x = reference::random_matrix(kRows, 3, 5);
  std::vector<InputColumn> inputs = {{0, 0.1, 1.5}, {2, 0, 0.7}, {1}};
  inputs[1].warp.limit = 1.3;
  std::vector<double> weights(kRows);
  std::iota(weights.begin(), weights.end(), 1.0);
  std::vector<Index> reversed;
  std::vector<Index> every_third;
  for (Index i = 0; i < kRows; ++i) reversed.push_back(kRows - 1 - i);
  for (Index i = 0; i < kRows; i += 3) every_third.push_back((i * 7) % kRows);
  const std::vector<Index> few = {2999, 3, 1500, 3, 2998};

  const auto results = [&](const TableView& table, Workers& workers) {
    const BlockedRows all = BlockedRows(table, inputs).weighted(weights);
    std::vector<double> found;
    const auto add = [&](const BlockedRows& rows) {
      const std::vector<double> sums = all_sums(rows, workers);
      found.insert(found.end(), sums.begin(), sums.end());
      const auto lease = workers.arenas.lend();
      const Arena::Scope scope(*lease);
      const RowBlock block = rows.gather(std::vector<Index>{rows.rows() - 1, 0, 2}, *lease);
      for (Index j = 0; j < block.inputs; ++j) found.insert(found.end(), block.input(j), block.input(j) + 3);
      found.insert(found.end(), block.weights, block.weights + 3);
    };
    add(all);
    add(all.kept(workers));
    const BlockedRows some = all.subset(reversed, &workers);
    add(some);
    add(some.subset(every_third).stretched(std::vector<double>{1, 2, 3}));
    add(some.subset(every_third).subset(few));
    return found;
  };
  Workers alone(1);
  const std::vector<double> expected = results(x.view(), alone);
  for (const Index most_copied : {Index{0}, Index{3 * kRows / 2}, Index{1} << 20}) {
    for (const int count : {2, 3, 4}) {
      run_on_ranks(count, [&](Communicator& communicator) {
        Control control({});
        Ranks ranks(communicator, control);
        Workers workers(2);
        workers.set_ranks(&ranks);
        const DividedTable table(x, ranks, most_copied);
        EXPECT_EQ(results(table.view(), workers), expected) << count << " ranks, " << most_copied;
      });
    }
  }
}

TEST(SeveralRanks, EndTogether) {
  const Matrix x = reference::random_matrix(5000, 1, 4);
  const BlockedRows rows = BlockedRows::unscaled(x.view());
  std::atomic<int> ended = 0;
  run_on_ranks(3, [&](Communicator& communicator) {
    // The second rank asks for an end when it is asked.
    Control control([&](const Progress&) {
      return communicator.rank() == 1 ? ProgressAction::kAbort : ProgressAction::kContinue;
    });
    Ranks ranks(communicator, control);
    ThreadPool pool(1);
    Workers workers(pool, &control);
    workers.set_ranks(&ranks);
    control.show({});
    EXPECT_THROW(
        {
          for (;;) static_cast<void>(rounded_sums(rows, workers, 1));
        },
        Error);
    ++ended;
  });
  EXPECT_EQ(ended, 3);
}

TEST(SeveralRanks, AllHearOfAnError) {
  std::atomic<int> heard = 0;
  run_on_ranks(4, [&](Communicator& communicator) {
    try {
      agreed(&communicator, [&] {
        if (communicator.rank() >= 2) throw Error(ErrorKind::kBadData, "here");
      });
    } catch (const Error& error) {
      heard += error.kind() == ErrorKind::kBadData && std::string(error.what()) == "here" ? 1 : 0;
    }
  });
  EXPECT_EQ(heard, 4);
  // The same where the others have gone on to say something; then all go on.
  heard = 0;
  run_on_ranks(3, [&](Communicator& communicator) {
    for (const bool fails : {true, false}) {
      try {
        agreed(&communicator, [&] {
          if (fails && communicator.rank() == 1) throw Error(ErrorKind::kBadData, "here");
          EXPECT_EQ(said_within_agreed(communicator, "x"), std::vector<std::string>(3, "x"));
        });
        EXPECT_FALSE(fails);
      } catch (const Error& error) {
        heard += error.kind() == ErrorKind::kBadData && std::string(error.what()) == "here" ? 1 : 0;
      }
    }
  });
  EXPECT_EQ(heard, 3);
  EXPECT_THROW(run_on_ranks(3,
                            [&](Communicator& communicator) {
                              if (communicator.rank() == 2) throw Error(ErrorKind::kIo, "gone");
                              communicator.barrier();
                            }),
               Error);
}

TEST(SeveralRanks, OperationsOfACommunicator) {
  run_on_ranks(3, [&](Communicator& communicator) {
    const std::string own(static_cast<std::size_t>(communicator.rank()), 'a');
    EXPECT_EQ(communicator.all_gather(own), (std::vector<std::string>{"", "a", "aa"}));
    EXPECT_EQ(communicator.broadcast(own, 2), "aa");
    const std::vector<std::string> gathered = communicator.gather(own, 1);
    EXPECT_EQ(gathered.size(), communicator.rank() == 1 ? 3U : 0U);
    communicator.barrier();
  });
  SerialCommunicator serial;
  EXPECT_EQ(serial.broadcast("x", 0), "x");
  EXPECT_EQ(serial.size(), 1);
}

}  // namespace
}  // namespace mfga
