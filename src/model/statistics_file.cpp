// Statistics as bytes, in a file or in a message to another process:
//
//   8         the number of bytes of the header
//   header    JSON: the empty model with all candidates as its terms, and what else there is in words
//   sums      16 bytes for each entry of each fold, in whole units
//
// between what core/sealed_file.hpp puts around it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/atomic_file.hpp"
#include "core/json_problem.hpp"
#include "core/sealed_file.hpp"
#include "mfga/error.hpp"
#include "model/json_node.hpp"
#include "model/statistics_parts.hpp"

namespace mfga {
namespace {

constexpr SealedFormat kFormat = {"MFGASTAT", 1, "file of statistics"};
constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

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
  std::string content;
  const std::size_t sums_bytes = parts.sums.size() * parts.sums.front().entries().size_bytes();
  content.reserve(4 * kNumberBytes + header.size() + sums_bytes);
  content += bytes_of(header.size());
  content += header;
  for (const ExactGram& fold : parts.sums) {
    const std::span<const std::byte> raw = std::as_bytes(fold.entries());
    content.append(reinterpret_cast<const char*>(raw.data()), raw.size());  // NOLINT
  }
  return sealed(kFormat, std::move(content));
}

Statistics Statistics::from_bytes(std::string_view bytes, std::string_view source) {
  const std::string_view content = unsealed(kFormat, bytes, source);
  if (content.size() < kNumberBytes) fail(source, "it ends too early");
  const std::uint64_t header_bytes = number_at(content, 0);
  if (header_bytes > content.size() - kNumberBytes) fail(source, "it ends within its header");
  const Json json = parse_header(content.substr(kNumberBytes, header_bytes), source);
  std::string_view sums = content.substr(kNumberBytes + header_bytes);

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
  return Statistics::from_bytes(read_sealed(kFormat, path), path);
}

}  // namespace mfga
