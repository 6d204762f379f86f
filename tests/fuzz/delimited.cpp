// CSV, TSV and their relatives. The first three bytes choose how they are read.
#include <array>

#include "fuzz/table_reading.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

void run(std::string_view bytes) {
  constexpr std::array<const char*, 3> kHeaders = {"auto", "yes", "no"};
  constexpr std::array<const char*, 6> kDelimiters = {"auto", ",", "tab", "space", ";", "|"};
  constexpr std::array<const char*, 3> kDecimals = {"auto", ".", ","};
  constexpr std::array<const char*, 4> kMissing = {"auto", "error", "-", "none,-99"};
  constexpr std::array<const char*, 3> kFormats = {"csv", "tsv", "auto"};
  const unsigned chunk = take_byte(bytes);
  unsigned how = take_byte(bytes);
  ReadOptions options;
  options.threads = 1;
  options.header = kHeaders[how % kHeaders.size()];
  how /= static_cast<unsigned>(kHeaders.size());
  options.decimal = kDecimals[how % kDecimals.size()];
  how /= static_cast<unsigned>(kDecimals.size());
  options.delimiter = kDelimiters[how % kDelimiters.size()];
  how = take_byte(bytes);
  options.missing = kMissing[how % kMissing.size()];
  how /= static_cast<unsigned>(kMissing.size());
  options.format = kFormats[how % kFormats.size()];
  how /= static_cast<unsigned>(kFormats.size());
  options.comment = how % 2 == 0 ? "#" : "";
  read_in_two_ways(bytes, options, 1 + chunk);
}

}  // namespace

constexpr Target kDelimited = {"delimited", 512, run};

}  // namespace mfga::fuzz
