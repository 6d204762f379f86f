// The expressions themselves, for printers elsewhere.
#include <nlohmann/json.hpp>

#include "export/printers.hpp"
#include "mfga/error.hpp"
#include "mfga/version.hpp"

namespace mfga {
namespace {

using Json = nlohmann::ordered_json;

std::string_view kind_name(ExpressionKind kind) {
  using Kind = ExpressionKind;
  switch (kind) {
    case Kind::kConstant:
      return "constant";
    case Kind::kColumn:
      return "column";
    case Kind::kSum:
      return "sum";
    case Kind::kProduct:
      return "product";
    case Kind::kQuotient:
      return "quotient";
    case Kind::kPower:
      return "power";
    case Kind::kSquareDistance:
      return "square_distance";
    case Kind::kDistance:
      return "distance";
    case Kind::kExp:
      return "exp";
    case Kind::kLog:
      return "log";
    case Kind::kSqrt:
      return "sqrt";
    case Kind::kCos:
      return "cos";
    case Kind::kSin:
      return "sin";
    case Kind::kAbs:
      return "abs";
    case Kind::kMax:
      return "max";
    case Kind::kMin:
      return "min";
    case Kind::kLine:
      return "line";
    case Kind::kSelect:
      return "select";
    case Kind::kAtLeast:
      return "at_least";
    case Kind::kIsMissing:
      return "is_missing";
    case Kind::kIsLevel:
      return "is_level";
  }
  return "";
}

}  // namespace

std::string print_json(const Program& program) try {
  const Model& model = *program.model;
  std::vector<Expression> roots = program.results;
  roots.insert(roots.end(), program.scores.begin(), program.scores.end());
  roots.insert(roots.end(), program.terms.begin(), program.terms.end());
  const std::vector<bool> is_needed = reachable(program.graph, roots);
  std::vector<int> places(is_needed.size(), -1);  // among those that are needed
  Json nodes = Json::array();
  for (std::size_t id = 0; id < is_needed.size(); ++id) {
    if (!is_needed[id]) continue;
    const ExpressionNode& node = program.graph.node({static_cast<std::int32_t>(id)});
    Json json = {{"kind", kind_name(node.kind)}};
    if (node.column >= 0) json["column"] = node.column;
    for (const Expression argument : node.arguments)
      json["arguments"].push_back(places[static_cast<std::size_t>(argument.id)]);
    if (!node.numbers.empty()) json["numbers"] = node.numbers;
    places[id] = static_cast<int>(nodes.size());
    nodes.push_back(std::move(json));
  }
  const auto list = [&](const std::vector<Expression>& expressions) {
    Json json = Json::array();
    for (const Expression expression : expressions)
      json.push_back(places[static_cast<std::size_t>(expression.id)]);
    return json;
  };
  Json json = {{"format", "mfga-expressions"},
               {"version", 1},
               {"mfga_version", version()},
               {"task", task_name(model.task)},
               {"target", model.target_name}};
  if (program.is_classification()) json["labels"] = model.labels;
  json["columns"] = Json::array();
  for (const ProgramColumn& column : program.columns) {
    Json own = {{"name", column.name}, {"position", column.position}};
    if (column.is_text) {
      own["levels"] = column.levels;
      own["level_of_text"] = column.codes;
      own["level_of_missing"] = column.of_missing;
      own["level_of_unknown"] = column.of_unknown;
    }
    json["columns"].push_back(std::move(own));
  }
  json["terms"] = list(program.terms);
  json["scores"] = list(program.scores);
  json[program.is_classification() ? "probabilities" : "predictions"] = list(program.results);
  Json head = json;
  std::string text = head.dump(2);
  // One line per node.
  text.erase(text.find_last_of('}'));
  while (text.back() == '\n') text.pop_back();
  text += ",\n  \"nodes\": [";
  for (std::size_t i = 0; i < nodes.size(); ++i) text += (i == 0 ? "\n    " : ",\n    ") + nodes[i].dump();
  return text + "\n  ]\n}\n";
} catch (const nlohmann::json::exception&) {
  throw Error(ErrorKind::kInvalidArgument, "the model cannot be exported: a name or label is not UTF-8");
}

}  // namespace mfga
