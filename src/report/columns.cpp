#include "report/columns.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace mfga::report {
namespace {

// Families whose atoms look at nothing but the inputs they list; others may look at all.
bool lists_its_inputs(const Atom& atom) {
  for (const std::string_view family :
       {"linear", "polynomial", "step", "hinge", "spline", "periodic", "additive"}) {
    if (atom.family == family) return true;
  }
  return false;
}

}  // namespace

std::vector<Column> columns_of(const Model& model) {
  std::map<Index, Column> by_predictor;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    const ColumnOrigin origin = origin_of(input.column, model.text_columns);
    Column& column = by_predictor[origin.predictor];
    column.is_text = origin.text != nullptr;
    column.name = column.is_text ? origin.text->name : input.column_name();
    column.inputs.push_back(static_cast<Index>(i));
    if (column.is_text) column.levels.push_back(origin.level);
  }
  std::vector<Column> columns;
  for (auto& [predictor, column] : by_predictor) columns.push_back(std::move(column));
  return columns;
}

std::set<Index> columns_of_term(const Model& model, const std::vector<Column>& columns, const Term& term) {
  const bool is_all = model.mixing.rows > 0 || !lists_its_inputs(term.atom);
  std::set<Index> result;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const bool is_listed = std::ranges::any_of(columns[c].inputs, [&](Index input) {
      return std::ranges::find(term.atom.inputs, input) != term.atom.inputs.end();
    });
    if (is_all || is_listed) result.insert(static_cast<Index>(c));
  }
  return result;
}

}  // namespace mfga::report
