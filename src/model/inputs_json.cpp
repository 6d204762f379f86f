#include "model/inputs_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace mfga {
namespace {

// Numbers that rise.
std::vector<double> rising_numbers(const Node& node) {
  std::vector<double> numbers;
  for (const Node& element : node.elements()) {
    const double number = element.number();
    if (!numbers.empty() && !(number > numbers.back())) element.fail("expected numbers that rise");
    numbers.push_back(number);
  }
  return numbers;
}

// Texts that are not empty, each once.
std::vector<std::string> sorted_texts(const Node& node) {
  std::vector<std::string> texts;
  for (const Node& element : node.elements()) {
    const std::string text = element.text();
    if (text.empty()) element.fail("expected a text that is not empty");
    if (!texts.empty() && !(text > texts.back())) element.fail("expected sorted texts");
    texts.push_back(text);
  }
  return texts;
}

}  // namespace

Json text_column_to_json(const TextColumn& column) {
  Json json = {{"name", column.name}, {"first", column.first}, {"levels", column.levels}};
  if (!column.rare.empty()) json["rare"] = column.rare;
  return json;
}

Json input_to_json(const ModelInput& input, bool is_plain) {
  Json json = {
      {"name", input.name}, {"column", input.column}, {"mean", input.mean}, {"deviation", input.deviation}};
  if (input.is_missing) json["is_missing"] = true;
  if (input.missing > 0) json["missing"] = input.missing;
  if (is_plain) return json;
  const ScaleKind scale = input.warp.kind();
  json["scale"] = scale_name(scale);
  if (scale == ScaleKind::kRobust) json["limit"] = input.warp.limit;
  if (scale == ScaleKind::kQuantile) {
    json["knots"] = input.warp.knots;
    json["values"] = input.warp.values;
  }
  if (input.stretch != 1) json["stretch"] = input.stretch;
  return json;
}

Warp warp_from_json(const Node& input) {
  const Node scale = input.member("scale");
  Warp warp;
  if (scale.text() == scale_name(ScaleKind::kRobust)) {
    warp.limit = input.member("limit").positive_number();
  } else if (scale.text() == scale_name(ScaleKind::kQuantile)) {
    warp.knots = rising_numbers(input.member("knots"));
    warp.values = rising_numbers(input.member("values"));
    if (warp.knots.size() < 2) input.member("knots").fail("expected at least two knots");
    if (warp.values.size() != warp.knots.size())
      input.member("values").fail(fmt::format("expected {} values, one per knot", warp.knots.size()));
  } else if (scale.text() != scale_name(ScaleKind::kStandard)) {
    scale.fail(fmt::format("expected standard, robust or quantile, found \"{}\"", scale.text()));
  }
  return warp;
}

Matrix mixing_from_json(const Node& node, Index n_inputs) {
  const std::vector<Node> rows = node.elements();
  const auto is_complete = [&](const std::vector<Node>& list) { return std::ssize(list) == n_inputs; };
  if (!is_complete(rows)) node.fail(fmt::format("expected {} rows, one per input", n_inputs));
  Matrix mixing(n_inputs, n_inputs);
  for (Index i = 0; i < n_inputs; ++i) {
    const Node& row = rows[static_cast<std::size_t>(i)];
    const std::vector<Node> numbers = row.elements();
    if (!is_complete(numbers)) row.fail(fmt::format("expected {} numbers, one per input", n_inputs));
    for (Index j = 0; j < n_inputs; ++j) mixing(i, j) = numbers[static_cast<std::size_t>(j)].number();
  }
  return mixing;
}

// Text columns stand in the order of the table's columns and do not overlap.
std::vector<TextColumn> text_columns_from_json(const Node& node, Index n_columns) {
  std::vector<TextColumn> columns;
  Index next = 0;
  for (const Node& element : node.elements()) {
    TextColumn column;
    column.name = element.member("name").text();
    column.first = element.member("first").whole_number(next, n_columns - 1);
    column.levels = sorted_texts(element.member("levels"));
    if (element.has_member("rare")) {
      column.rare = sorted_texts(element.member("rare"));
      if (!std::ranges::binary_search(column.levels, kOtherLevel))
        element.member("rare").fail(fmt::format("expected none, for there is no level \"{}\"", kOtherLevel));
    }
    if (column.levels.empty() || column.count() > n_columns - column.first) {
      element.member("levels").fail(
          fmt::format("expected 1 to {} levels, as many columns are left", n_columns - column.first));
    }
    next = column.first + column.count();
    columns.push_back(std::move(column));
  }
  return columns;
}

void check_input_name(const Node& node, const ModelInput& input, const Model& model) {
  const ColumnOrigin origin = origin_of(input.column, model.text_columns);
  const std::string mark = level_name("", std::string(kMissingLevel));
  if (input.is_missing && !input.name.ends_with(mark))
    node.member("name").fail(fmt::format("expected the name of a column with \"{}\" behind it", mark));
  if (origin.text == nullptr) return;
  const std::string expected = level_name(origin.text->name, origin.level);
  if (input.column_name() != expected)
    node.member("name").fail(fmt::format("expected \"{}\", the level of that column", expected));
}

void read_missing(const Node& node, ModelInput& input) {
  constexpr Index kLargestCount = Index{1} << 40U;
  if (node.has_member("missing")) input.missing = node.member("missing").whole_number(0, kLargestCount);
  if (node.has_member("is_missing")) input.is_missing = node.member("is_missing").truth();
  if (input.is_missing && input.warp.kind() != ScaleKind::kStandard)
    node.member("scale").fail("what tells of missing values has the standard scale");
}

}  // namespace mfga
