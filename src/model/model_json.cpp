// The model as JSON (docs/model-format.md). Reading trusts nothing: every field's presence, type and range is
// checked, and no size in the file decides how much memory is taken.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/atomic_file.hpp"
#include "core/input_file.hpp"
#include "core/json_problem.hpp"
#include "features/family.hpp"
#include "losses/loss.hpp"
#include "mfga/error.hpp"
#include "mfga/model.hpp"
#include "mfga/version.hpp"
#include "model/fit_record.hpp"
#include "model/inputs_json.hpp"
#include "model/json_node.hpp"
#include "model/scoring.hpp"

namespace mfga {
namespace {

constexpr std::string_view kFormat = "mfga-model";
// Models with text columns, or with inputs of another than the standard scale, need fields that version 1
// does not have, and programs that know that version alone would ignore them; so do stretched inputs with
// version 2, losses other than the usual ones with version 3, several outputs with version 4, and what is
// known of missing values and rare texts with version 5.
constexpr int kPlainVersion = 1;
constexpr int kScaledVersion = 2;
constexpr int kStretchedVersion = 3;
constexpr int kLossVersion = 4;
constexpr int kOutputsVersion = 5;
constexpr int kVersion = 6;
// The JSON library copies what an object holds while it grows, recursively: deep nesting would end the stack.
constexpr int kDeepest = 16;
constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 28U;

// The numbers that terms share, each list once.
class SharedLists {
 public:
  Index position(const SharedNumbers& numbers) {
    const Index position = std::find(lists_.begin(), lists_.end(), numbers) - lists_.begin();
    if (position == static_cast<Index>(lists_.size())) lists_.push_back(numbers);
    return position;
  }
  [[nodiscard]] const std::vector<SharedNumbers>& all() const { return lists_; }

 private:
  std::vector<SharedNumbers> lists_;
};

Json term_to_json(const Term& term, const std::vector<std::string>& names, SharedLists& shared) {
  const Atom& atom = term.atom;
  Json json = Json::object();
  if (term.coefficients.size() == 1) {
    json["coefficient"] = term.coefficients.front();
  } else {
    json["coefficients"] = term.coefficients;
  }
  json["family"] = atom.family;
  json["inputs"] = Json::array();
  for (const Index input : atom.inputs) json["inputs"].push_back(names[static_cast<std::size_t>(input)]);
  json["exponents"] = atom.exponents;
  json["nu"] = atom.nu;
  auto next = atom.parameters.begin();
  for (const ParameterField& field : find_feature_family(atom.family)->parameter_fields()) {
    const bool single = field.size == ParameterField::Size::kOne;
    const bool left_out = single && field.usual == *next;
    const auto end = field.size == ParameterField::Size::kRest
                         ? atom.parameters.end()
                         : next + (single ? 1 : static_cast<std::ptrdiff_t>(names.size()));
    if (!left_out) {
      json[std::string(field.name)] = !single ? Json(std::vector<double>(next, end))
                                      : field.labels.empty()
                                          ? Json(*next)
                                          : Json(field.labels[static_cast<std::size_t>(*next)]);
    }
    next = end;
  }
  if (find_feature_family(atom.family)->shares_numbers()) json["shared"] = shared.position(atom.shared);
  if (term.mean) json["mean"] = *term.mean;
  return json;
}

double labelled_number(const Node& node, std::span<const std::string_view> labels) {
  const auto known = std::find(labels.begin(), labels.end(), node.text());
  if (known == labels.end())
    node.fail(fmt::format("expected one of: {}; found \"{}\"", fmt::join(labels, ", "), node.text()));
  return static_cast<double>(known - labels.begin());
}

// One number per output; where there is one output, that is no list.
std::vector<double> of_outputs(const Node& node, std::string_view one, std::string_view several,
                               std::size_t outputs) {
  if (outputs == 1) return {node.member(one).number()};
  const Node list = node.member(several);
  std::vector<double> numbers;
  for (const Node& number : list.elements()) numbers.push_back(number.number());
  if (numbers.size() != outputs) list.fail(fmt::format("expected {} numbers, one per output", outputs));
  return numbers;
}

Term term_from_json(const Node& node, const std::map<std::string, Index>& input_positions,
                    const std::vector<SharedNumbers>& shared, std::size_t outputs) {
  Term term;
  Atom& atom = term.atom;
  term.coefficients = of_outputs(node, "coefficient", "coefficients", outputs);
  atom.family = node.member("family").text();
  const FeatureFamily* family = find_feature_family(atom.family);
  if (family == nullptr)
    node.member("family").fail(fmt::format("there is no feature family \"{}\"", atom.family));
  atom.nu = node.member("nu").positive_number();
  for (const Node& input : node.member("inputs").elements()) {
    const auto found = input_positions.find(input.text());
    if (found == input_positions.end())
      input.fail(fmt::format("\"{}\" is not an input of the model", input.text()));
    if (!atom.inputs.empty() && atom.inputs.back() >= found->second) {
      input.fail("the inputs of a term must be in the order of the model's inputs, each once");
    }
    atom.inputs.push_back(found->second);
  }
  for (const Node& exponent : node.member("exponents").elements()) {
    atom.exponents.push_back(static_cast<int>(exponent.whole_number(1, kHighestExponent)));
  }
  if (atom.exponents.size() != atom.inputs.size()) {
    node.member("exponents").fail(fmt::format("expected {} exponents, one per input", atom.inputs.size()));
  }
  for (const ParameterField& field : family->parameter_fields()) {
    if (field.usual && !node.has_member(field.name)) {
      atom.parameters.push_back(*field.usual);
      continue;
    }
    const Node value = node.member(field.name);
    if (field.size == ParameterField::Size::kOne) {
      atom.parameters.push_back(field.labels.empty() ? value.number() : labelled_number(value, field.labels));
      continue;
    }
    const std::vector<Node> numbers = value.elements();
    if (field.size == ParameterField::Size::kPerInput && numbers.size() != input_positions.size()) {
      value.fail(fmt::format("expected {} numbers, one per input of the model", input_positions.size()));
    }
    for (const Node& number : numbers) atom.parameters.push_back(number.number());
  }
  if (family->shares_numbers()) {
    const Node position = node.member("shared");
    if (shared.empty()) position.fail("the model has no list \"shared\" that this could refer to");
    atom.shared =
        shared[static_cast<std::size_t>(position.whole_number(0, static_cast<Index>(shared.size()) - 1))];
  }
  if (node.has_member("mean")) term.mean = node.member("mean").number();
  try {
    family->validate(atom, static_cast<Index>(input_positions.size()));
  } catch (const Error& error) {
    node.fail(error.what());
  }
  return term;
}

// The lowest version that has the fields of the model.
int version_of(const Model& model) {
  const bool knows_missing = std::ranges::any_of(
      model.inputs, [](const ModelInput& input) { return input.is_missing || input.missing > 0; });
  const bool knows_rare =
      std::ranges::any_of(model.text_columns, [](const TextColumn& column) { return !column.rare.empty(); });
  if (knows_missing || knows_rare || !model.missing_texts.empty()) return kVersion;
  if (!model.has_one_output()) return kOutputsVersion;
  if (!model.loss.empty()) return kLossVersion;
  if (model.is_stretched() || model.mixing.rows > 0) return kStretchedVersion;
  const bool is_plain =
      model.text_columns.empty() && std::ranges::all_of(model.inputs, [](const ModelInput& input) {
        return input.warp.kind() == ScaleKind::kStandard;
      });
  return is_plain ? kPlainVersion : kScaledVersion;
}

Json parse_json(std::string_view text, std::string_view source) {
  const auto check_depth = [&](int depth, Json::parse_event_t /*event*/, const Json& /*value*/) {
    if (depth <= kDeepest) return true;
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: not a model file: its JSON is nested more than {} deep", source, kDeepest));
  };
  try {
    return Json::parse(text, check_depth);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: not a model file: {} (expected the JSON of a saved model)", source,
                            json_problem(error)));
  }
}

std::string loss_from_json(const Node& node, const Model& model) {
  std::shared_ptr<const Loss> loss;
  try {
    loss = find_loss(node.text());
  } catch (const Error& error) {
    node.fail(error.what());
  }
  if (loss->task() != model.task)
    node.fail(fmt::format("a model for {} has another loss", task_name(model.task)));
  const Index target_columns = model.task == Task::kRegression ? model.n_outputs() : 1;
  if (loss->outputs(target_columns) != model.n_outputs())
    node.fail(fmt::format("the loss is for {} outputs, and the model has {}", loss->outputs(target_columns),
                          model.n_outputs()));
  return loss->name();
}

// `has_outputs`: whether the format knows of several.
void read_target(const Node& target, bool has_outputs, Model& model) {
  model.target_name = target.member("name").text();
  if (model.task == Task::kRegression) {
    const bool is_one = !has_outputs || !target.has_member("outputs");
    const std::vector<Node> nodes = is_one ? std::vector<Node>{target} : target.member("outputs").elements();
    if (!is_one && nodes.size() < 2) target.member("outputs").fail("expected at least two outputs");
    model.outputs.clear();
    for (const Node& node : nodes) {
      Output& output = model.outputs.emplace_back();
      if (!is_one) output.name = node.member("name").text();
      const auto is_named = [&](const Output& other) {
        return &other != &output && other.name == output.name;
      };
      if (!is_one && (output.name.empty() || std::ranges::any_of(model.outputs, is_named)))
        node.member("name").fail("expected names that differ");
      output.shift = node.member("shift").number();
      output.scale = node.member("scale").positive_number();
    }
    return;
  }
  const Node labels = target.member("labels");
  for (const Node& label : labels.elements()) {
    if (std::ranges::find(model.labels, label.text()) != model.labels.end())
      label.fail(fmt::format("the label \"{}\" occurs twice", label.text()));
    model.labels.push_back(label.text());
  }
  if (!has_outputs) {
    if (model.labels.size() != 2) labels.fail("expected two different labels");
    return;
  }
  if (model.labels.size() < 2) labels.fail("expected at least two labels");
  model.outputs.clear();
  for (const std::string& label : model.labels) model.outputs.push_back({.name = label});
}

}  // namespace

std::string model_to_json(const Model& model) try {
  check_finite(model);
  const std::vector<std::string> names = model.input_names();
  Json target = {{"name", model.target_name}};
  if (model.task == Task::kRegression && model.has_one_output()) {
    target["shift"] = model.outputs.front().shift;
    target["scale"] = model.outputs.front().scale;
  } else if (model.task == Task::kRegression) {
    for (const Output& output : model.outputs)
      target["outputs"].push_back({{"name", output.name}, {"shift", output.shift}, {"scale", output.scale}});
  } else {
    target["labels"] = model.labels;
  }
  Json training = {{"rows", model.training.rows},   {"features", model.training.features},
                   {"ridge", model.training.ridge}, {"norm_bound", model.training.norm_bound},
                   {"risk", model.training.risk},   {"mfga_version", version()}};
  if (model.training.bend > 0) training["logcosh_bend"] = model.training.bend;
  if (model.training.tuning_steps > 0) training["tuning_steps"] = model.training.tuning_steps;
  if (const Json fit = fit_record_to_json(model.training.fit); !fit.empty()) training["fit"] = fit;
  // One line per input and per term: readable, and friendly to line-based tools.
  const auto lines = [](const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
      text += fmt::format("{}\n    {}", i == 0 ? "" : ",", items[i]);
    return text + (items.empty() ? "" : "\n  ");
  };
  std::vector<double> intercepts;
  for (const Output& output : model.outputs) intercepts.push_back(output.intercept);
  const int format_version = version_of(model);
  const bool plain = format_version == kPlainVersion;
  std::vector<std::string> inputs;
  for (const ModelInput& input : model.inputs) inputs.push_back(input_to_json(input, plain).dump());
  std::vector<std::string> text_columns;
  for (const TextColumn& column : model.text_columns) {
    text_columns.push_back(text_column_to_json(column).dump());
  }
  std::vector<std::string> mixing;
  for (Index j = 0; j < model.mixing.rows; ++j) {
    const double* row = model.mixing.row(j);
    mixing.push_back(Json(std::vector<double>(row, row + model.mixing.cols)).dump());
  }
  std::vector<std::string> terms;
  SharedLists shared;
  for (const Term& term : model.terms) terms.push_back(term_to_json(term, names, shared).dump());
  std::vector<std::string> shared_lists;
  for (const SharedNumbers& list : shared.all()) shared_lists.push_back(Json(list.numbers()).dump());
  return fmt::format(
      "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"task\": \"{}\",\n{}  \"target\": {},\n  "
      "\"n_columns\": {},\n  \"unnamed_columns\": {},\n{}"
      "  \"inputs\": [{}],\n{}  {},\n{}  \"terms\": [{}],\n  \"training\": {}\n}}\n",
      kFormat, format_version, task_name(model.task),
      model.loss.empty() ? "" : fmt::format("  \"loss\": {},\n", Json(model.loss).dump()), target.dump(),
      model.n_columns, model.unnamed_columns,
      (plain ? "" : fmt::format("  \"text_columns\": [{}],\n", lines(text_columns))) +
          (model.missing_texts.empty()
               ? ""
               : fmt::format("  \"missing_texts\": {},\n", Json(model.missing_texts).dump())),
      lines(inputs), mixing.empty() ? "" : fmt::format("  \"mixing\": [{}],\n", lines(mixing)),
      model.has_one_output() ? fmt::format("\"intercept\": {}", Json(intercepts.front()).dump())
                             : fmt::format("\"intercepts\": {}", Json(intercepts).dump()),
      shared_lists.empty() ? "" : fmt::format("  \"shared\": [{}],\n", lines(shared_lists)), lines(terms),
      training.dump());
} catch (const nlohmann::json::exception&) {
  throw Error(ErrorKind::kInvalidArgument, "the model cannot be saved: a name or label is not UTF-8");
}

Model model_from_json(std::string_view text, std::string_view source) {
  const Json json = parse_json(text, source);
  const Node root(json, "", source);
  if (const Node format = root.member("format"); format.text() != kFormat) {
    format.fail(fmt::format("expected \"{}\", found \"{}\"", kFormat, format.text()));
  }
  const Index format_version = root.member("version").whole_number(0, 1000000);
  if (format_version < kPlainVersion || format_version > kVersion) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}: the model has format version {}; mfga {} reads versions {} to {}", source,
                            format_version, version(), kPlainVersion, kVersion));
  }
  const bool plain = format_version == kPlainVersion;
  Model model;
  const Node task = root.member("task");
  if (task.text() == task_name(Task::kClassification)) {
    model.task = Task::kClassification;
  } else if (task.text() != task_name(Task::kRegression)) {
    task.fail(fmt::format("expected regression or classification, found \"{}\"", task.text()));
  }
  const bool has_outputs = format_version == kOutputsVersion ||
                           (format_version > kOutputsVersion && root.has_member("intercepts"));
  read_target(root.member("target"), has_outputs, model);
  const bool has_loss = has_outputs && model.task == Task::kClassification;
  if (format_version == kLossVersion || has_loss ||
      (format_version > kLossVersion && root.has_member("loss")))
    model.loss = loss_from_json(root.member("loss"), model);

  constexpr Index kLargestCount = Index{1} << 40U;
  model.n_columns = root.member("n_columns").whole_number(1, kLargestCount);
  model.unnamed_columns = root.member("unnamed_columns").whole_number(0, kLargestCount);
  if (!plain) model.text_columns = text_columns_from_json(root.member("text_columns"), model.n_columns);
  if (format_version >= kVersion && root.has_member("missing_texts")) {
    for (const Node& node : root.member("missing_texts").elements())
      model.missing_texts.push_back(node.text());
  }
  std::map<std::string, Index> input_positions;
  for (const Node& node : root.member("inputs").elements()) {
    ModelInput input{node.member("name").text(), node.member("column").whole_number(0, model.n_columns - 1),
                     node.member("mean").number(), node.member("deviation").positive_number(),
                     plain ? Warp{} : warp_from_json(node)};
    if (format_version >= kStretchedVersion && node.has_member("stretch"))
      input.stretch = node.member("stretch").positive_number();
    if (format_version >= kVersion) read_missing(node, input);
    check_input_name(node, input, model);
    if (!input_positions.emplace(input.name, static_cast<Index>(model.inputs.size())).second) {
      node.fail(fmt::format("the input \"{}\" occurs twice", input.name));
    }
    model.inputs.push_back(std::move(input));
  }
  if (format_version >= kStretchedVersion && root.has_member("mixing"))
    model.mixing = mixing_from_json(root.member("mixing"), static_cast<Index>(model.inputs.size()));
  const std::vector<double> intercepts = of_outputs(root, "intercept", "intercepts", model.outputs.size());
  for (std::size_t k = 0; k < intercepts.size(); ++k) model.outputs[k].intercept = intercepts[k];
  std::vector<SharedNumbers> shared;
  if (root.has_member("shared")) {
    for (const Node& list : root.member("shared").elements()) {
      std::vector<double> numbers;
      for (const Node& number : list.elements()) numbers.push_back(number.number());
      shared.emplace_back(std::move(numbers));
    }
  }
  for (const Node& node : root.member("terms").elements())
    model.terms.push_back(term_from_json(node, input_positions, shared, model.outputs.size()));

  const Node training = root.member("training");
  model.training.rows = training.member("rows").whole_number(0, kLargestCount);
  model.training.features = training.member("features").text();
  model.training.ridge = training.member("ridge").number();
  model.training.norm_bound = training.member("norm_bound").number();
  model.training.risk = training.member("risk").number();
  if (training.has_member("logcosh_bend"))
    model.training.bend = training.member("logcosh_bend").positive_number();
  constexpr Index kMostTuningSteps = 1000000000;
  if (training.has_member("tuning_steps")) {
    model.training.tuning_steps =
        static_cast<int>(training.member("tuning_steps").whole_number(0, kMostTuningSteps));
  }
  if (training.has_member("fit")) model.training.fit = fit_record_from_json(training.member("fit"));
  return model;
}

Model load_model(const std::string& path) {
  InputFile file(path, "model file");
  if (file.size() > kLargestFile)
    throw Error(ErrorKind::kBadData, fmt::format("{}: too large for a model file", path));
  return model_from_json(file.read(file.size()), path);
}

void save_model(const Model& model, const std::string& path) {
  const std::string text = model_to_json(model);
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace mfga
