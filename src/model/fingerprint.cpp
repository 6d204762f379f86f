#include "model/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/rank_messages.hpp"
#include "core/row_blocks.hpp"
#include "core/sealed_file.hpp"
#include "device/device.hpp"
#include "mfga/version.hpp"
#include "model/option_table.hpp"

namespace mfga {
namespace {

template <class Number>
std::string checksum_of(std::span<const Number> numbers) {
  if (numbers.empty()) return {};
  return fmt::format("{:08x}", checksum(bytes_of(numbers)));
}

std::string checksum_of(const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::uint64_t sum = 0;
  for (const std::string& text : texts) sum = checksum(text + '\0', sum);
  return fmt::format("{:08x}", sum);
}

// Row by row, whatever their place in memory. Missing values are all the same.
std::string checksum_of(const TableView& x, Workers& workers) {
  const BlockedRows rows = BlockedRows::unscaled(x);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(rows.blocks()));
  for_each_block(rows, workers, [&](const RowBlock& block, Arena& /*arena*/) {
    std::vector<double> row(static_cast<std::size_t>(x.cols));
    std::uint64_t sum = 0;
    for (Index n = 0; n < block.rows; ++n) {
      for (Index j = 0; j < x.cols; ++j) {
        const double value = block.input(j)[n];
        row[static_cast<std::size_t>(j)] =
            std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
      }
      sum = checksum(bytes_of(row), sum);
    }
    sums[static_cast<std::size_t>(block.first_row / kBlockRows)] = sum;
  });
  if (workers.ranks() != nullptr)
    workers.ranks()->share(rows.blocks(), std::span(sums), [](Index block) { return block; });
  return checksum_of(std::span<const std::uint64_t>(sums));
}

template <class Options>
void add_options(const Options& options, std::span<const OptionRow<Options>> table, Fingerprint& parts) {
  for (const OptionRow<Options>& row : table) {
    const bool changes_nothing = row.name == "threads" || row.name == "memory_limit" ||
                                 row.name == "time_limit" || row.name == "device";
    if (changes_nothing) continue;
    parts.push_back({fmt::format("`{}`", row.name), option_text(options, row)});
  }
}

}  // namespace

Fingerprint fingerprint_of(const TrainingData& data, const FitOptions& options, const paper::Options& paper,
                           Workers& workers) {
  std::vector<Index> of_texts;
  for (const TextColumn& column : data.text_columns) {
    of_texts.push_back(column.first);
    of_texts.push_back(std::ssize(column.levels));
  }
  Fingerprint parts = {
      {"the version of mfga", std::string(version())},
      {"the number of rows", fmt::format("{}", data.x.rows)},
      {"the number of columns", fmt::format("{}", data.x.cols)},
      {"the names of the columns", checksum_of(data.columns), false},
      {"the columns of text", checksum_of(std::span<const Index>(of_texts)), false},
      {"the numbers of the table", checksum_of(data.x, workers), false},
      {"the targets", checksum_of(data.y), false},
      {"the number of targets", fmt::format("{}", data.targets())},
      {"the classes", checksum_of(data.labels), false},
      {"the weights", checksum_of(data.weights), false},
      {"the groups", checksum_of(data.groups), false},
      {"the model to `start` from",
       options.start == nullptr ? "" : fmt::format("{:08x}", checksum(model_to_json(*options.start))),
       false}};
  add_options(options, fit_option_table(), parts);
  add_options(paper, paper_option_table(), parts);
  if (const CrossValidationOptions* const validation = options.ridge.validation())
    add_options(*validation, cross_validation_option_table(), parts);
  // Where it is computed changes last digits.
  parts.push_back({"the device", workers.device() == nullptr ? "cpu" : workers.device()->info().name});
  parts.push_back({"the order of time", options.in_time_order ? "yes" : "no"});
  return parts;
}

}  // namespace mfga
