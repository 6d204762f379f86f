#include "fuzz/table_reading.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "fuzz/target.hpp"

namespace mfga::fuzz {
namespace {

// The result depends on the text alone, so a few tests of each column are enough for both readings.
std::string told(const Table& table) {
  std::string text = fmt::format("{} x {}, target {} of {}, labels {}\n", table.rows(), table.values.cols,
                                 table.target_name, table.target.size(), table.labels.size());
  for (const std::string& name : table.columns) text += name + '\n';
  for (const std::string& label : table.labels) text += label + '\n';
  for (const std::string& remark : table.remarks) text += remark + '\n';
  for (const std::string& warning : table.warnings) text += warning + '\n';
  for (const MissingValues& missing : table.missing)
    text += fmt::format("{} {} {}\n", missing.column, missing.count, missing.first_line);
  for (Index row = 0; row < table.rows(); ++row) text += fmt::format("{} ", table.lines.line_of_row(row));
  return text;
}

std::optional<Table> read(std::string_view bytes, const ReadOptions& options, std::string& refusal) {
  std::optional<Table> table;
  refusal = refusal_of([&] { table = TableFile::from_bytes(bytes, "t", options).read_for_training("", {}); });
  return table;
}

void check_shape(const Table& table) {
  require(table.values.cols == std::ssize(table.columns), "a name for each column");
  require(std::ssize(table.values.values) == table.values.rows * table.values.cols, "all numbers are there");
  for (const double number : table.values.values) require(!std::isinf(number), "no infinite predictors");
  for (const double number : table.target) require(std::isfinite(number), "targets are finite");
}

}  // namespace

void read_in_two_ways(std::string_view bytes, const ReadOptions& options, Index chunk_bytes) {
  ReadOptions in_chunks = options;
  in_chunks.chunk_bytes = chunk_bytes;
  std::string refusal_of_whole;
  std::string refusal_of_chunks;
  const std::optional<Table> whole = read(bytes, options, refusal_of_whole);
  const std::optional<Table> chunks = read(bytes, in_chunks, refusal_of_chunks);
  require_same(refusal_of_whole, refusal_of_chunks, "chunks change no error");
  if (!whole) return;
  check_shape(*whole);
  require_same(told(*whole), told(*chunks), "chunks change nothing");
  require(are_same(whole->values.values, chunks->values.values), "chunks change no number");
  require(are_same(whole->target, chunks->target), "chunks change no target");

  // As a model would ask for it: these columns, levels among them, and no target.
  std::vector<ColumnSource> sources;
  static_cast<void>(refusal_of([&] {
    const TableFile file = TableFile::from_bytes(bytes, "t", in_chunks);
    for (const TextColumn& text : whole->text_columns) {
      const Index column = file.column(text.name, "columns");
      for (const std::string& level : text.levels) sources.push_back({column, level, &text});
    }
    if (sources.empty()) sources.push_back({0, ""});
    const Table again = file.read(sources, std::nullopt);
    check_shape(again);
    require(again.rows() == whole->rows(), "columns have as many rows as the table");
  }));
}

}  // namespace mfga::fuzz
