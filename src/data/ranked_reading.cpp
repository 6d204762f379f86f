#include "data/ranked_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/archive.hpp"
#include "mfga/communicator.hpp"
#include "mfga/error.hpp"

namespace mfga {

Communicator* reading_ranks(const ReadOptions& options) {
  return options.communicator != nullptr && options.communicator->size() > 1 ? options.communicator : nullptr;
}

void divide(TableParts& parts, const std::string& path, const ReadOptions& options) {
  Communicator* const ranks = reading_ranks(options);
  if (ranks == nullptr) return;
  if (parts.are_several() || path == kStandardInput) {
    throw Error(ErrorKind::kInvalidArgument, fmt::format("{}: several ranks read one file; expected its name",
                                                         path == kStandardInput ? "standard input" : path));
  }
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
  Index rows = std::ssize(table.target);
  own(rows, table.labels);
  std::set<std::string> labels;
  bool has_numbers = false;
  for (const std::string& said : ranks.all_gather(own.bytes())) {
    Archive theirs(said);
    std::vector<std::string> some;
    theirs(rows, some);
    labels.insert(some.begin(), some.end());
    has_numbers = has_numbers || (rows > 0 && some.empty());
  }
  if (labels.empty()) return;
  if (has_numbers) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: the target \"{}\" holds texts such as {} in one part of the file, and numbers "
                    "alone in another; expected the same in all parts, or use one rank",
                    table.source, table.target_name, quoted_for_message(*labels.begin())));
  }
  const std::vector<std::string> all(labels.begin(), labels.end());
  std::vector<double> places;
  for (const std::string& label : table.labels)
    places.push_back(static_cast<double>(std::ranges::lower_bound(all, label) - all.begin()));
  for (double& position : table.target) position = places[static_cast<std::size_t>(position)];
  table.labels = all;
}

std::vector<Index> groups_among_all(const std::vector<double>& own, Communicator& ranks) {
  std::map<double, Index> places;
  std::vector<Index> groups;
  const std::string_view bytes(reinterpret_cast<const char*>(own.data()),  // NOLINT
                               own.size() * sizeof(double));
  const std::vector<std::string> all = ranks.all_gather(bytes);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::string& theirs = all[static_cast<std::size_t>(rank)];
    for (std::size_t place = 0; place < theirs.size(); place += sizeof(double)) {
      double value = 0;
      std::memcpy(&value, theirs.data() + place, sizeof value);
      const Index group = places.try_emplace(value, static_cast<Index>(places.size())).first->second;
      if (rank == ranks.rank()) groups.push_back(group);
    }
  }
  return groups;
}

}  // namespace mfga
