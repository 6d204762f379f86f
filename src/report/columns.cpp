#include "report/columns.hpp"

#include <map>

namespace mfga::report {

std::vector<Column> columns_of(const Model& model) {
  // In the order in which inputs first ask for them, as explanations have them.
  std::vector<Column> columns;
  std::map<Index, std::size_t> places;  // of predictors
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    const ColumnOrigin origin = origin_of(input.column, model.text_columns);
    const auto [place, is_new] = places.emplace(origin.predictor, columns.size());
    if (is_new) columns.emplace_back();
    Column& column = columns[place->second];
    column.is_text = origin.text != nullptr;
    column.name = column.is_text ? origin.text->name : input.column_name();
    column.inputs.push_back(static_cast<Index>(i));
    if (column.is_text) column.levels.push_back(origin.level);
  }
  return columns;
}

}  // namespace mfga::report
