#include "model/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "losses/loss.hpp"
#include "mfga/columns.hpp"
#include "mfga/error.hpp"

namespace mfga {

std::vector<InputColumn> inputs_of_start(const Model& start, const TrainingData& data) {
  std::vector<Index> columns;
  if (data.columns.empty() || start.unnamed_columns > 0) {
    if (data.x.cols != start.n_columns) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the model to start from was trained on {} columns, and there are {}",
                              start.n_columns, data.x.cols));
    }
    for (const ModelInput& input : start.inputs) columns.push_back(input.column);
  } else {
    columns = match_columns(start, data.columns, "the model to start from");
  }
  std::vector<InputColumn> inputs;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const ModelInput& input = start.inputs[j];
    inputs.push_back({columns[j], input.mean, input.deviation, input.warp, input.stretch});
  }
  return inputs;
}

ActiveSet terms_of_start(const Model& start, const PreparedTarget& target) {
  if (start.task != target.task || start.labels != target.labels) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("the model to start from is for {}{}, and this is {}{}", task_name(start.task),
                    start.labels.empty() ? "" : fmt::format(" ({})", fmt::join(start.labels, ", ")),
                    task_name(target.task),
                    target.labels.empty() ? "" : fmt::format(" ({})", fmt::join(target.labels, ", "))));
  }
  if (start.target_shift != target.shift || start.target_scale != target.scale) {
    throw Error(ErrorKind::kInvalidArgument,
                "the model to start from has its target on another scale (`scale_target`, `preset`)");
  }
  ActiveSet active;
  for (const Term& term : start.terms) {
    active.candidates.push_back(-1);
    active.atoms.push_back(term.atom);
    active.theta.push_back(term.coefficient);
  }
  active.intercept = start.intercept - target.offset;
  return active;
}

}  // namespace mfga
