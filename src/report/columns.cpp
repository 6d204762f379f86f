#include "report/columns.hpp"

#include <map>

namespace mfga::report {

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

}  // namespace mfga::report
