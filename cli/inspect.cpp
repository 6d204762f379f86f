// mfga inspect: a model as a formula.
#include <fmt/format.h>

#include <limits>

#include "cli/command.hpp"

namespace mfga::cli {
namespace {

struct InspectCommand {
  std::string model_path;
  std::size_t show_terms = std::numeric_limits<std::size_t>::max();
  std::string units = "scaled";
  bool full = false;
  bool json = false;
};

Json inspection(const Model& model) {
  const std::vector<std::string> names = model.formula_names();
  Json json = {{"task", task_name(model.task)}, {"target", model.target_name}, {"labels", model.labels}};
  json["inputs"] = model.input_names();
  Json stretches = Json::object();
  for (const ModelInput& input : model.inputs) stretches[input.name] = input.stretch;
  json["stretch"] = model.is_stretched() ? stretches : Json();
  const auto of_outputs = [&](const auto& number) {
    Json list = Json::array();
    for (std::size_t k = 0; k < model.outputs.size(); ++k) list.push_back(number(k, model.outputs[k]));
    return model.has_one_output() ? list.front() : list;
  };
  json["outputs"] = model.has_one_output()
                        ? Json()
                        : of_outputs([](std::size_t, const Output& output) { return Json(output.name); });
  json["intercept"] = of_outputs(
      [](std::size_t, const Output& output) { return Json(output.shift + output.scale * output.intercept); });
  json["terms"] = Json::array();
  for (const Term& term : model.terms) {
    const AtomFormula formula = describe(term.atom, names);
    const Json factor = of_outputs([&](std::size_t k, const Output& output) {
      return Json(output.scale * term.coefficients[k] * formula.factor);
    });
    const Json coefficient =
        of_outputs([&](std::size_t k, const Output&) { return Json(term.coefficients[k]); });
    json["terms"].push_back({{"formula", formula.text},
                             {"factor", factor},
                             {"family", term.atom.family},
                             {"coefficient", coefficient},
                             {"places", Json::array()}});
    for (const Place& place : model.places(term.atom))
      json["terms"].back()["places"].push_back({{"column", place.column}, {"value", place.value}});
  }
  json["training"] = {{"rows", model.training.rows},
                      {"features", model.training.features},
                      {"ridge", model.training.ridge},
                      {"norm_bound", model.training.norm_bound},
                      {"logcosh_bend", model.training.bend},
                      {"risk", model.training.risk},
                      {"tuning_steps", model.training.tuning_steps}};
  return json;
}

void run_inspect(const InspectCommand& command) {
  const Model loaded = load_model(command.model_path);
  if (command.json) {
    print_json(inspection(loaded));
    return;
  }
  const Model model = with_printable_names(loaded);
  const std::string in_units_of_table = command.units == "table" ? table_formula_text(model) : "";
  print("{} of \"{}\": {} terms over {} inputs\n", task_name(model.task), model.target_name,
        model.terms.size(), model.inputs.size());
  print(
      "trained on {} rows with {}, {} {:.4g}, mean loss {:.6g}{}\n\n", model.training.rows,
      model.training.features, model.training.bend > 0 ? "log-cosh penalty" : "ridge", model.training.ridge,
      model.training.risk,
      model.training.tuning_steps > 0 ? fmt::format(", tuned in {} steps", model.training.tuning_steps) : "");
  if (command.units == "table") {
    print("{}", in_units_of_table);
    return;
  }
  if (command.full) {
    print("{}", full_formula_text(loaded));
    return;
  }
  print("{}", formula_output(model, command.show_terms));
  constexpr std::size_t kMostColumns = 20;
  if (model.is_stretched()) print("\n{}", stretch_text(model, kMostColumns));
}

}  // namespace

void add_inspect(CLI::App& tool) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* app = tool.add_subcommand("inspect", "show a model as a formula");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  app->add_option("--show", command->show_terms, "terms to print; default: all")
      ->check(whole_number())
      ->type_name("N");
  CLI::Option* full = app->add_flag("--full", command->full,
                                    "print every number that it takes to compute a prediction by hand");
  CLI::Option* json =
      app->add_flag("--json", command->json, "print one JSON object on standard output")->excludes(full);
  app->add_option(
         "--units", command->units,
         "scaled: terms in scaled columns, as they were chosen; table: the formula in the table's own "
         "units, for a calculator")
      ->check(CLI::IsMember({"scaled", "table"}))
      ->capture_default_str()
      ->type_name("scaled|table")
      ->excludes(full)
      ->excludes(json);
  app->callback([command] { run_inspect(*command); });
}

}  // namespace mfga::cli
