#include "model/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

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
    inputs.push_back({columns[j], input.mean, input.deviation, input.warp, input.stretch, input.is_missing});
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
  const auto has_other_units = [](const Output& a, const Output& b) {
    return a.name != b.name || a.shift != b.shift || a.scale != b.scale;
  };
  if (start.outputs.size() != target.outputs.size() ||
      !std::ranges::equal(start.outputs, target.outputs, std::not_fn(has_other_units))) {
    throw Error(ErrorKind::kInvalidArgument,
                "the model to start from has other targets, or has them on another scale (`scale_target`, "
                "`preset`)");
  }
  ActiveSet active;
  for (const Term& term : start.terms) {
    active.candidates.push_back(-1);
    active.atoms.push_back(term.atom);
    active.theta.insert(active.theta.end(), term.coefficients.begin(), term.coefficients.end());
  }
  active.intercepts.clear();
  for (std::size_t k = 0; k < start.outputs.size(); ++k)
    active.intercepts.push_back(start.outputs[k].intercept - target.outputs[k].intercept);
  return active;
}

}  // namespace mfga
