// Models as they are printed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"

namespace mfga::cli {

std::string formula_output(const Model& model, std::size_t most_terms) {
  return formula_text(model, most_terms) +
         "(mfga inspect --full has every number, to compute predictions by hand)\n";
}

std::string stretch_text(const Model& model, std::size_t most) {
  if (!model.is_stretched()) return "";
  std::vector<const ModelInput*> inputs;
  std::size_t longest = 0;
  for (const ModelInput& input : model.inputs) inputs.push_back(&input);
  std::ranges::stable_sort(inputs, std::greater{}, [](const ModelInput* input) { return input->stretch; });
  inputs.resize(std::min(inputs.size(), most));
  for (const ModelInput* input : inputs) longest = std::max(longest, input->name.size());
  constexpr double kBar = 40;
  std::string text = "stretch of the columns: differences of a column count this much in all terms\n";
  for (const ModelInput* input : inputs) {
    const auto length = static_cast<std::size_t>(std::lround(kBar * input->stretch / inputs[0]->stretch));
    text += fmt::format("  {:<{}}  {:>8.3g}  {}\n", input->name, longest, input->stretch,
                        std::string(length, '#'));
  }
  if (model.inputs.size() > most) text += fmt::format("  ... and {} more\n", model.inputs.size() - most);
  return text;
}

}  // namespace mfga::cli
