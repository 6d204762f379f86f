// Statistics as bytes, in a file or in a message to another process:
//
//   8 bytes   "MFGASTAT"
//   8         the version of the format
//   8         the number of bytes of the header
//   header    JSON: the empty model with all candidates as its terms, and what else there is in words
//   sums      16 bytes for each entry of each fold, in whole units
//   8         CRC-32 of all before
//
// Numbers are little-endian.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/atomic_file.hpp"
#include "core/json_problem.hpp"
#include "mfga/error.hpp"
#include "model/json_node.hpp"
#include "model/statistics_parts.hpp"

namespace mfga {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "MFGASTAT";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
constexpr std::size_t kPreambleBytes = 3 * kNumberBytes;

std::string bytes_of(std::uint64_t number) {
  std::string bytes(kNumberBytes, '\0');
  std::memcpy(bytes.data(), &number, kNumberBytes);
  return bytes;
}

std::uint64_t number_at(std::string_view bytes, std::size_t place) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + place, kNumberBytes);
  return number;
}

std::uint64_t checksum(std::string_view bytes, std::uint64_t before = 0) {
  return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());  // NOLINT
}

[[noreturn]] void fail(std::string_view source, std::string_view problem) {
  throw Error(ErrorKind::kBadData, fmt::format("{}: not a valid file of statistics: {}", source, problem));
}

Json parse_header(std::string_view text, std::string_view source) {
  constexpr int kDeepest = 8;
  const auto check_depth = [&](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    if (depth > kDeepest) fail(source, "its header is nested too deep");
    return true;
  };
  try {
    return Json::parse(text, check_depth);
  } catch (const nlohmann::json::exception& error) {
    fail(source, fmt::format("its header: {}", json_problem(error)));
  }
}

std::vector<Int128> entries_from(std::string_view bytes) {
  std::vector<Int128> entries(bytes.size() / sizeof(Int128));
  std::memcpy(entries.data(), bytes.data(), bytes.size());
  return entries;
}

}  // namespace

std::string Statistics::to_bytes() const {
  const Parts& parts = *parts_;
  Model with_candidates = parts.model;
  for (const Atom& atom : parts.atoms) with_candidates.terms.push_back({atom, {0.0}});
  Json summands = Json::array();
  for (std::size_t p = 0; p < parts.counts.size(); ++p)
    summands.push_back({{"count", parts.counts[p]}, {"weight", parts.weights[p]}});
  std::string header;
  try {
    header = Json{{"model", model_to_json(with_candidates)},
                  {"summands", std::move(summands)},
                  {"folds", parts.folds()},
                  // As two numbers, for JSON's may have 53 bits.
                  {"seed", {parts.seed >> 32U, parts.seed & 0xffffffffU}},
                  {"dropped_columns", parts.dropped_columns},
                  {"weight_unit", parts.units->weight},
                  {"units", parts.units->sizes}}
                 .dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kInvalidArgument, "the statistics cannot be saved: a name is not UTF-8");
  }
  std::string bytes;
  const std::size_t sums_bytes = parts.sums.size() * parts.sums.front().entries().size_bytes();
  bytes.reserve(kPreambleBytes + header.size() + sums_bytes + kNumberBytes);
  bytes += kMagic;
  bytes += bytes_of(kVersion);
  bytes += bytes_of(header.size());
  bytes += header;
  for (const ExactGram& fold : parts.sums) {
    const std::span<const std::byte> raw = std::as_bytes(fold.entries());
    bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());  // NOLINT
  }
  bytes += bytes_of(checksum(bytes));
  return bytes;
}

Statistics Statistics::from_bytes(std::string_view bytes, std::string_view source) {
  if (!bytes.starts_with(kMagic.substr(0, bytes.size())) || bytes.empty())
    throw Error(ErrorKind::kBadData, fmt::format("{}: not a file of statistics", source));
  if (bytes.size() < kPreambleBytes + kNumberBytes) fail(source, "it ends too early");
  if (const std::uint64_t version = number_at(bytes, kNumberBytes); version != kVersion)
    fail(source, fmt::format("its version is {}; expected {}", version, kVersion));
  const std::string_view content = bytes.substr(0, bytes.size() - kNumberBytes);
  if (checksum(content) != number_at(bytes, content.size()))
    fail(source, "it is damaged or incomplete: its checksum does not match");
  const std::uint64_t header_bytes = number_at(bytes, 2 * kNumberBytes);
  if (header_bytes > content.size() - kPreambleBytes) fail(source, "it ends within its header");
  const Json json = parse_header(content.substr(kPreambleBytes, header_bytes), source);
  std::string_view sums = content.substr(kPreambleBytes + header_bytes);

  const Node header(json, "", source);
  auto parts = std::make_unique<Parts>();
  parts->model = model_from_json(header.member("model").text(), source);
  if (parts->model.task != Task::kRegression || !parts->model.has_one_output() ||
      !parts->model.loss.empty() || parts->model.mixing.rows > 0)
    fail(source, "it is not of one target and the squared loss");
  for (Term& term : parts->model.terms) parts->atoms.push_back(std::move(term.atom));
  parts->model.terms.clear();
  const Index candidates = std::ssize(parts->atoms);
  Index listed = 0;
  for (const Node& summand : header.member("summands").elements()) {
    parts->counts.push_back(summand.member("count").whole_number(1, candidates));
    parts->weights.push_back(summand.member("weight").positive_number());
    const auto first = parts->atoms.begin() + listed;
    listed += parts->counts.back();
    if (listed > candidates) fail(source, "its summands have more candidates than there are");
    if (std::any_of(first, parts->atoms.begin() + listed,
                    [&](const Atom& atom) { return atom.family != first->family; }))
      fail(source, "a summand has candidates of several families");
  }
  if (listed == 0 || listed != candidates) fail(source, "its summands have fewer candidates than there are");
  const std::vector<Node> seed = header.member("seed").elements();
  if (seed.size() != 2) fail(source, "its seed is not two numbers");
  for (const Node& half : seed)
    parts->seed = parts->seed << 32U | static_cast<std::uint64_t>(half.whole_number(0, 0xffffffff));
  for (const Node& name : header.member("dropped_columns").elements())
    parts->dropped_columns.push_back(name.text());
  GramUnits units;
  units.weight = static_cast<int>(header.member("weight_unit").whole_number(-kLargestUnit, kLargestUnit));
  for (const Node& size : header.member("units").elements())
    units.sizes.push_back(static_cast<int>(size.whole_number(-kLargestUnit, kLargestUnit)));
  if (std::ssize(units.sizes) != candidates + 2)
    fail(source, "it has another number of units than candidates");
  parts->units = std::make_shared<const GramUnits>(std::move(units));

  const Index folds = header.member("folds").whole_number(2, std::numeric_limits<std::int32_t>::max());
  const double of_fold = sizeof(Int128) * ExactGram::count(static_cast<double>(candidates));
  if (static_cast<double>(sums.size()) != of_fold * static_cast<double>(folds))
    fail(source, "it has another number of sums than folds and candidates ask for");
  for (Index fold = 0; fold < folds; ++fold) {
    const auto own = static_cast<std::size_t>(of_fold);
    parts->sums.emplace_back(parts->units, entries_from(sums.substr(0, own)));
    if (!parts->sums.back().is_possible()) fail(source, "some of its numbers are no sums of products");
    sums.remove_prefix(own);
  }
  parts->bind();
  return Statistics(std::move(parts));
}

void save_statistics(const Statistics& statistics, const std::string& path) {
  const std::string bytes = statistics.to_bytes();
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

Statistics load_statistics(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ErrorKind::kIo,
                fmt::format("{}: {}", path,
                            std::filesystem::exists(status) ? "is not a regular file; expected statistics"
                                                            : "there is no such file of statistics"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::kIo, fmt::format("{}: cannot be opened", path));
  // A file of another kind is not read as a whole.
  std::string bytes(kMagic.size(), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes != kMagic) throw Error(ErrorKind::kBadData, fmt::format("{}: not a file of statistics", path));
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size < bytes.size()) throw Error(ErrorKind::kIo, fmt::format("{}: cannot be read", path));
  bytes.resize(size);
  file.read(bytes.data() + kMagic.size(), static_cast<std::streamsize>(bytes.size() - kMagic.size()));
  if (!file) throw Error(ErrorKind::kIo, fmt::format("{}: cannot be read", path));
  return Statistics::from_bytes(bytes, path);
}

}  // namespace mfga
