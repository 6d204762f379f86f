// The results as JSON. Reading trusts nothing, because a run that goes on builds on what it reads.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/json_problem.hpp"
#include "mfga/error.hpp"
#include "repro/results.hpp"

namespace mfga::repro {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "mfga-reproduction";
constexpr int kVersion = 1;

Json number_json(double value, std::string_view what) {
  if (!std::isfinite(value)) {
    throw Error(ErrorKind::kNumerical,
                fmt::format("results: {} is {}; expected a finite number", what, value));
  }
  return value;
}

Json number_json(const std::optional<double>& value, std::string_view what) {
  return value ? number_json(*value, what) : Json();
}

Json index_json(const std::optional<Index>& value) { return value ? Json(*value) : Json(); }

Json estimate_json(const std::optional<ErrorEstimate>& estimate) {
  if (!estimate) return {};
  return {{"error", number_json(estimate->error, "an error")},
          {"standard_error", number_json(estimate->standard_error, "a standard error")},
          {"ridge", number_json(estimate->ridge, "a ridge")}};
}

Json paper_json(const std::optional<PaperFigures>& paper) {
  if (!paper) return {};
  return {{"error", number_json(paper->error, "a published error")},
          {"standard_error", number_json(paper->standard_error, "a published standard error")},
          {"preprocess_seconds", number_json(paper->preprocess_seconds, "a published time")},
          {"train_seconds", number_json(paper->train_seconds, "a published time")}};
}

Json row_json(const MethodRow& row) {
  return {{"part", row.part},
          {"method", row.method},
          {"terms", index_json(row.terms)},
          {"candidates", index_json(row.candidates)},
          {"subsample", number_json(row.subsample, "a subsample")},
          {"seeds", row.seeds},
          {"oracle", estimate_json(row.oracle)},
          {"honest", estimate_json(row.honest)},
          {"preprocess_seconds", number_json(row.preprocess_seconds, "a preprocessing time")},
          {"train_seconds", number_json(row.train_seconds, "a training time")},
          {"paper", paper_json(row.paper)}};
}

Json curve_json(const Curve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) {
    points.push_back({{"terms", point.terms},
                      {"error", number_json(point.error, "an error of the figure")},
                      {"standard_error", number_json(point.standard_error, "a standard error")}});
  }
  return {{"part", curve.part}, {"method", curve.method}, {"points", std::move(points)}};
}

Json dataset_json(const DatasetResult& dataset) {
  Json json = {{"name", dataset.name},
               {"title", dataset.title},
               {"task", dataset.task},
               {"error_unit", dataset.error_unit},
               {"source_note", dataset.source_note},
               {"n_train", dataset.n_train},
               {"n_test", dataset.n_test},
               {"inputs", dataset.inputs},
               {"sigma", number_json(dataset.sigma, "sigma")}};
  json["rows"] = Json::array();
  for (const MethodRow& row : dataset.rows) json["rows"].push_back(row_json(row));
  json["figure"] = Json::array();
  for (const Curve& curve : dataset.figure) json["figure"].push_back(curve_json(curve));
  json["remarks"] = dataset.remarks;
  json["finished"] = dataset.finished;
  return json;
}

// A JSON value with the path to it, for messages such as `datasets[2].rows[0].oracle.error: ...`.
class Node {
 public:
  Node(const Json& value, std::string path) : value_(value), path_(std::move(path)) {}

  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(ErrorKind::kBadData, fmt::format("not valid results of a reproduction: {}{}{}", path_,
                                                 path_.empty() ? "" : ": ", problem));
  }
  [[nodiscard]] Node member(std::string_view key) const {
    if (!value_.is_object()) fail("expected an object");
    const auto found = value_.find(std::string(key));
    if (found == value_.end()) fail(fmt::format("the field \"{}\" is missing", key));
    return {*found, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)};
  }
  [[nodiscard]] std::vector<Node> elements() const {
    if (!value_.is_array()) fail("expected a list");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < value_.size(); ++i)
      nodes.emplace_back(value_[i], fmt::format("{}[{}]", path_, i));
    return nodes;
  }
  [[nodiscard]] bool absent() const { return value_.is_null(); }
  [[nodiscard]] double number() const {
    if (!value_.is_number()) fail("expected a number");
    const auto number = value_.get<double>();
    if (!std::isfinite(number)) fail("expected a finite number");
    return number;
  }
  [[nodiscard]] Index whole_number(Index lowest) const {
    if (!value_.is_number_integer()) fail("expected a whole number");
    const bool too_large =
        value_.is_number_unsigned() &&
        value_.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    if (too_large || value_.get<Index>() < lowest)
      fail(fmt::format("expected a whole number of at least {}", lowest));
    return value_.get<Index>();
  }
  [[nodiscard]] std::optional<double> optional_number() const {
    return absent() ? std::nullopt : std::optional(number());
  }
  [[nodiscard]] std::optional<Index> optional_whole_number(Index lowest) const {
    return absent() ? std::nullopt : std::optional(whole_number(lowest));
  }
  [[nodiscard]] bool truth() const {
    if (!value_.is_boolean()) fail("expected true or false");
    return value_.get<bool>();
  }
  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) fail("expected a text");
    return value_.get<std::string>();
  }
  [[nodiscard]] std::string one_of(std::initializer_list<std::string_view> values) const {
    std::string found = text();
    for (const std::string_view value : values) {
      if (found == value) return found;
    }
    fail(fmt::format("expected one of {}, found \"{}\"", fmt::join(values, ", "), found));
  }

 private:
  const Json& value_;
  std::string path_;
};

std::optional<ErrorEstimate> read_estimate(const Node& node) {
  if (node.absent()) return std::nullopt;
  return ErrorEstimate{.error = node.member("error").number(),
                       .standard_error = node.member("standard_error").optional_number(),
                       .ridge = node.member("ridge").optional_number()};
}

std::optional<PaperFigures> read_paper(const Node& node) {
  if (node.absent()) return std::nullopt;
  return PaperFigures{.error = node.member("error").optional_number(),
                      .standard_error = node.member("standard_error").optional_number(),
                      .preprocess_seconds = node.member("preprocess_seconds").optional_number(),
                      .train_seconds = node.member("train_seconds").optional_number()};
}

std::string read_part(const Node& node) {
  return node.member("part").one_of({kPaperPart, kOurPart, kReferencePart});
}

MethodRow read_row(const Node& node) {
  return {.part = read_part(node),
          .method = node.member("method").text(),
          .terms = node.member("terms").optional_whole_number(0),
          .candidates = node.member("candidates").optional_whole_number(0),
          .subsample = node.member("subsample").optional_number(),
          .seeds = node.member("seeds").whole_number(1),
          .oracle = read_estimate(node.member("oracle")),
          .honest = read_estimate(node.member("honest")),
          .preprocess_seconds = node.member("preprocess_seconds").optional_number(),
          .train_seconds = node.member("train_seconds").optional_number(),
          .paper = read_paper(node.member("paper"))};
}

Curve read_curve(const Node& node) {
  Curve curve{.method = node.member("method").text(), .points = {}, .part = read_part(node)};
  for (const Node& point : node.member("points").elements()) {
    curve.points.push_back({.terms = point.member("terms").whole_number(0),
                            .error = point.member("error").number(),
                            .standard_error = point.member("standard_error").optional_number()});
  }
  return curve;
}

DatasetResult read_dataset(const Node& node) {
  DatasetResult dataset;
  dataset.name = node.member("name").text();
  dataset.title = node.member("title").text();
  dataset.task = node.member("task").one_of({"regression", "classification"});
  dataset.error_unit = node.member("error_unit").text();
  dataset.source_note = node.member("source_note").text();
  dataset.n_train = node.member("n_train").whole_number(0);
  dataset.n_test = node.member("n_test").whole_number(0);
  dataset.inputs = node.member("inputs").whole_number(0);
  dataset.sigma = node.member("sigma").number();
  for (const Node& row : node.member("rows").elements()) dataset.rows.push_back(read_row(row));
  for (const Node& curve : node.member("figure").elements()) dataset.figure.push_back(read_curve(curve));
  for (const Node& remark : node.member("remarks").elements()) dataset.remarks.push_back(remark.text());
  for (const Node& method : node.member("finished").elements()) dataset.finished.push_back(method.text());
  return dataset;
}

}  // namespace

std::string results_to_json(const Results& results) {
  Json json = {{"format", kFormat},
               {"version", kVersion},
               {"mfga_version", results.mfga_version},
               {"command", results.command},
               {"date", results.date},
               {"cpu", results.cpu},
               {"cores", results.cores},
               {"quick", results.quick},
               {"total_seconds", number_json(results.total_seconds, "the total time")}};
  json["datasets"] = Json::array();
  for (const DatasetResult& dataset : results.datasets) json["datasets"].push_back(dataset_json(dataset));
  // A name that is not UTF-8 should not cost the results of a long run.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Results results_from_json(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kBadData,
                fmt::format("not valid results of a reproduction: {} (expected the results.json that "
                            "`mfga reproduce` writes)",
                            json_problem(error)));
  }
  const Node root(json, "");
  if (root.member("format").text() != kFormat)
    root.member("format").fail(fmt::format("expected \"{}\"", kFormat));
  if (root.member("version").whole_number(1) != kVersion)
    root.member("version").fail(fmt::format("expected {}; another version of mfga wrote this", kVersion));
  Results results;
  results.mfga_version = root.member("mfga_version").text();
  results.command = root.member("command").text();
  results.date = root.member("date").text();
  results.cpu = root.member("cpu").text();
  const Index cores = root.member("cores").whole_number(1);
  if (cores > std::numeric_limits<int>::max()) root.member("cores").fail("expected fewer");
  results.cores = static_cast<int>(cores);
  results.quick = root.member("quick").truth();
  results.total_seconds = root.member("total_seconds").number();
  std::set<std::string> names;
  for (const Node& node : root.member("datasets").elements()) {
    results.datasets.push_back(read_dataset(node));
    if (!names.insert(results.datasets.back().name).second)
      node.fail("a data set of this name is there already");
  }
  return results;
}

}  // namespace mfga::repro
