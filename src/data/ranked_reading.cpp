#include "data/ranked_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/archive.hpp"
#include "core/rank_messages.hpp"
#include "core/ranks.hpp"
#include "core/sealed_file.hpp"
#include "mfga/communicator.hpp"
#include "mfga/error.hpp"

namespace mfga {

Communicator* reading_ranks(const ReadOptions& options) {
  return options.communicator != nullptr && options.communicator->size() > 1 ? options.communicator : nullptr;
}

namespace {

// A machine with an old copy of the file would not be noticed otherwise.
void expect_same_file(std::string_view bytes, const std::string& path, Communicator& ranks) {
  constexpr std::size_t kPieces = 16;  // from the head to the tail, that are looked at
  constexpr std::size_t kPiece = std::size_t{1} << 16U;
  const std::size_t length = std::min(bytes.size(), kPiece);
  std::uint64_t sum = 0;
  for (std::size_t piece = 0; piece < kPieces; ++piece)
    sum = checksum(bytes.substr((bytes.size() - length) / (kPieces - 1) * piece, length), sum);
  sum = checksum(bytes.substr(bytes.size() - length), sum);
  const std::array<std::uint64_t, 2> own = {bytes.size(), sum};
  const std::vector<std::string> all = ranks.all_gather(bytes_of(own));
  const auto different = std::ranges::find_if(all, [&](const std::string& said) { return said != all[0]; });
  if (different == all.end()) return;
  const auto theirs = numbers_of<std::uint64_t>(*different);
  const auto first = numbers_of<std::uint64_t>(all[0]);
  throw Error(
      ErrorKind::kBadData,
      fmt::format("{}: is not the same file for all ranks: rank {} finds {} bytes and rank 0 {}{}; copy "
                  "it anew to all machines",
                  path, different - all.begin(), theirs[0], first[0],
                  theirs[0] == first[0] ? ", but not the same ones" : ""));
}

}  // namespace

std::unique_ptr<TableParts> open_parts(const std::string& path, const ReadOptions& options) {
  Communicator* const ranks = reading_ranks(options);
  std::unique_ptr<TableParts> parts;
  const auto refuse = [](std::string_view given) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{}: several ranks read one file; expected its name", given));
  };
  agreed(ranks, [&] {
    if (ranks != nullptr && path == kStandardInput) refuse("standard input");
    parts = std::make_unique<TableParts>(path, options);
    if (ranks != nullptr && parts->are_several()) refuse(path);
  });
  if (ranks != nullptr) expect_same_file(parts->content().bytes(), path, *ranks);
  return parts;
}

void divide(TableParts& parts, const ReadOptions& options) {
  Communicator* const ranks = reading_ranks(options);
  if (ranks == nullptr) return;
  ThreadPool pool(options.threads);
  parts.reader().divide(*ranks, pool);
}

void refuse_texts(const TableReader& reader, const ColumnPlan& plan, const std::string& path) {
  if (plan.texts.empty()) return;
  throw Error(
      ErrorKind::kInvalidArgument,
      fmt::format("{}: the column {} holds text, and several ranks learn from numbers alone; leave it "
                  "out (`ignore`), or use one rank",
                  path,
                  quoted_for_message(reader.columns()[static_cast<std::size_t>(plan.texts.front().column)])));
}

void share_labels(Table& table, Communicator& ranks) {
  Archive own;
  own(table.labels);
  std::set<std::string> labels;
  for (const std::string& said : ranks.all_gather(own.bytes())) {
    Archive theirs(said);
    std::vector<std::string> some;
    theirs(some);
    labels.insert(some.begin(), some.end());
  }
  if (labels.empty()) return;
  const std::vector<std::string> all(labels.begin(), labels.end());
  std::vector<double> places;
  for (const std::string& label : table.labels)
    places.push_back(static_cast<double>(std::ranges::lower_bound(all, label) - all.begin()));
  for (double& position : table.target) position = places[static_cast<std::size_t>(position)];
  table.labels = all;
}

std::vector<Index> group_numbers(const std::vector<double>& own, Communicator* ranks) {
  const std::vector<std::string> all =
      ranks == nullptr ? std::vector{std::string(bytes_of(own))} : ranks->all_gather(bytes_of(own));
  const auto own_rank = static_cast<std::size_t>(ranks == nullptr ? 0 : ranks->rank());
  std::map<double, Index> numbers;
  std::vector<Index> groups;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const double value : numbers_of<double>(all[rank])) {
      const Index number = numbers.try_emplace(value, static_cast<Index>(numbers.size())).first->second;
      if (rank == own_rank) groups.push_back(number);
    }
  }
  return groups;
}

}  // namespace mfga
