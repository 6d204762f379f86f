// mfga bound: the paper's learning bound for a trained model, term by term, and what it says.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/command.hpp"
#include "cli/output_file.hpp"

namespace mfga::cli {
namespace {

struct BoundCommand {
  std::string model_path;
  std::string train_path;
  std::string test_path;
  std::string target;
  BoundOptions options;
  CommonOptions common;
};

// What the rows of both files show, in the units of the bound.
struct MeasuredRows {
  double train_risk = 0;
  std::optional<double> test_risk;
  Index test_rows = 0;
};

struct TermRow {
  std::string_view name;
  double value;
};

std::array<TermRow, 3> terms_of(const Bound& bound) {
  return {{{"estimation", bound.estimation},
           {"approximation", bound.approximation},
           {"spectral", bound.spectral}}};
}

TermRow largest_term(const Bound& bound) {
  const auto terms = terms_of(bound);
  return *std::max_element(terms.begin(), terms.end(),
                           [](const TermRow& a, const TermRow& b) { return a.value < b.value; });
}

MeasuredRows measure(const BoundCommand& command, const Model& model, const Bound& bound) {
  MeasuredRows measured{bound.train_risk, {}, 0};
  if (command.test_path.empty()) return measured;
  const ModelTable test = read_for_model(command.test_path, model, command.common.read, command.target);
  const Evaluation evaluation =
      evaluate_scores(model, model_scores(model, test.table, command.options.threads), test.targets);
  measured.test_rows = test.table.rows();
  measured.test_risk = evaluation.regression
                           ? evaluation.regression->mse / (bound.units.half_range * bound.units.half_range)
                           : evaluation.classification->log_loss;
  return measured;
}

Json bound_to_json(const Model& model, const Bound& bound, const MeasuredRows& measured) {
  Json json = {{"task", task_name(model.task)},
               {"loss", model.task == Task::kRegression ? "squared" : "logistic"}};
  json["constants"] = {{"B", bound.kernel_bound},
                       {"C", bound.norm},
                       {"G", bound.lipschitz},
                       {"P", bound.kernels},
                       {"N", bound.rows},
                       {"M", bound.terms},
                       {"delta", bound.delta},
                       {"loss_at_zero", bound.loss_at_zero},
                       {"loss_smoothness", bound.loss_smoothness},
                       {"beta", bound.smoothness},
                       {"mu", bound.strong_convexity},
                       {"condition", bound.condition}};
  json["target_units"] = {{"middle", bound.units.middle}, {"half_range", bound.units.half_range}};
  json["tuned"] = bound.is_tuned;
  json["kernels"] = Json::array();
  for (const KernelSize& size : bound.sizes)
    json["kernels"].push_back({{"kernel", size.kernel}, {"largest", size.largest}, {"basis", size.basis}});
  json["tails"] = Json::array();
  for (const KernelTail& tail : bound.tails) {
    json["tails"].push_back(
        {{"kernel", tail.kernel}, {"squares", tail.squares}, {"decay", tail.decay}, {"beyond", tail.beyond}});
  }
  json["rademacher"] = bound.rademacher;
  json["epsilon"] = bound.epsilon;
  json["sparsity"] = bound.sparsity;
  json["rounds"] = bound.rounds;
  json["terms"] = {
      {"estimation", bound.estimation}, {"approximation", bound.approximation}, {"spectral", bound.spectral}};
  json["total"] = bound.total();
  json["dominant"] = largest_term(bound).name;
  json["constant_risk"] = bound.constant_risk;
  json["vacuous"] = bound.vacuous();
  json["train_risk"] = measured.train_risk;
  json["gap_bound"] = bound.gap();
  if (measured.test_risk) {
    json["test_rows"] = measured.test_rows;
    json["test_risk"] = *measured.test_risk;
    json["gap"] = *measured.test_risk - measured.train_risk;
  }
  json["notes"] = bound.notes;
  return json;
}

void print_constants(const Model& model, const Bound& bound) {
  const auto print = [](std::string_view letter, double value, std::string_view meaning) {
    cli::print("  {:<7} {:>11.5g}  {}\n", letter, value, meaning);
  };
  const bool regression = model.task == Task::kRegression;
  print("N", static_cast<double>(bound.rows), "training rows");
  print("M", static_cast<double>(bound.terms), "terms of the model");
  print("P", static_cast<double>(bound.kernels),
        fmt::format("kernels of the dictionary, {}", model.training.features));
  print("B", bound.kernel_bound, "square root of the largest K(x, x) of a kernel on the rows");
  print("C", bound.norm, "norm of the coefficients");
  print("G", bound.lipschitz,
        regression ? "Lipschitz constant of the squared loss, 2 (1 + B C)"
                   : "Lipschitz constant of the logistic loss");
  if (!regression) print("L(0)", bound.loss_at_zero, "the logistic loss at 0, log 2");
  print("L''", bound.loss_smoothness, "largest second derivative of the loss");
  print("beta", bound.smoothness, "smoothness of the risk, measured on the active set");
  print("mu", bound.strong_convexity, "strong convexity of the risk, measured on the active set");
  print("delta", bound.delta, fmt::format("the bound holds with probability {:.4g}", 1 - bound.delta));
  print("epsilon", bound.epsilon,
        fmt::format("best for these terms: M^epsilon -> {}, M^(1 - epsilon) -> {}", bound.sparsity,
                    bound.rounds));
}

void print_sizes(const Bound& bound) {
  cli::print("\nThe largest K(x, x) of each kernel on the rows; the largest of all is B^2\n");
  for (const KernelSize& size : bound.sizes)
    cli::print("  {:<24} {:>11.5g}  {}\n", size.kernel, size.largest, size.basis);
}

void print_tails(const Bound& bound) {
  cli::print("\nCoefficients by kernel, and their tail (an estimate)\n");
  cli::print("  {:<24} {:>6} {:>15} {:>9} {:>21}\n", "kernel", "terms", "sum of squares", "decay",
             "expected after them");
  for (const KernelTail& tail : bound.tails) {
    double energy = 0;
    for (const double square : tail.squares) energy += square;
    cli::print("  {:<24} {:>6} {:>15.5g} {:>9} {:>21}\n", tail.kernel, tail.squares.size(), energy,
               tail.squares.size() < 2 || bound.is_tuned ? "-" : fmt::format("{:.4g}", tail.decay),
               std::isfinite(tail.beyond) ? fmt::format("{:.5g}", tail.beyond) : "as C allows");
  }
}

void print_terms(const Model& model, const Bound& bound) {
  const bool regression = model.task == Task::kRegression;
  const std::string condition =
      std::isfinite(bound.condition) ? fmt::format("{:.0f}", bound.condition) : "infinity";
  cli::print("\nRademacher complexity, at most  {:.5g}  = B C sqrt(3 ceil(log P) / N)\n\n", bound.rademacher);
  const auto print = [](std::string_view name, double value, std::string_view formula) {
    cli::print("  {:<14} {:>11.5g}  {}\n", name, value, formula);
  };
  cli::print("  {:<14} {:>11}\n", "term", "at most");
  print("estimation", bound.estimation,
        regression ? "16 B^2 C^2 / sqrt(N) (1 + 1/2 sqrt(-log delta / 2))"
                   : "8 G B C sqrt(3 ceil(log P) / N) + 4 L(0) / sqrt(N) + 2 G B C sqrt(-log delta / 2 N)");
  print(
      "approximation", bound.approximation,
      fmt::format("exp(-floor(M^(1 - epsilon)) / ceil(beta / mu)) = exp(-{} / {})", bound.rounds, condition));
  print("spectral", bound.spectral, "G B sqrt(tail of the squared coefficients)  (an estimate)");
  print("total", bound.total(), "on the model's risk minus the smallest risk in the class");
}

// 3.2, 120, 4e+06
std::string factor_text(double factor) {
  return factor >= 10 && factor < 1e6 ? fmt::format("{:.0f}", factor) : fmt::format("{:.2g}", factor);
}

void print_conclusions(const Bound& bound, const MeasuredRows& measured) {
  const TermRow largest = largest_term(bound);
  cli::print("\nThe {} term dominates: {:.3g} % of the total.\n", largest.name,
             100 * largest.value / bound.total());
  if (bound.vacuous()) {
    cli::print(
        "The bound is vacuous: the best constant has a risk of {:.4g} on these rows, so it is at most that "
        "much\nabove the best model, and the bound is {} times as large.\n",
        bound.constant_risk, factor_text(bound.total() / bound.constant_risk));
  } else {
    cli::print(
        "The bound is not vacuous, as far as its estimates hold: it is {:.3g} % of the risk of the best "
        "constant on\nthese rows, {:.4g}.\n",
        100 * bound.total() / bound.constant_risk, bound.constant_risk);
  }
  if (!measured.test_risk) {
    cli::print("Risk on the training rows {:.5g}; with --test the gap to other rows is measured.\n",
               measured.train_risk);
    return;
  }
  const double gap = *measured.test_risk - measured.train_risk;
  cli::print("Measured gap: risk {:.5g} on {} test rows, {:.5g} on the training rows, difference {:+.4g};\n",
             *measured.test_risk, measured.test_rows, measured.train_risk, gap);
  if (!(gap > 0)) {
    cli::print("the theory allows up to {:.4g} (half of the estimation term).\n", bound.gap());
  } else if (gap <= bound.gap()) {
    cli::print("the theory allows up to {:.4g} (half of the estimation term), {} times as much.\n",
               bound.gap(), factor_text(bound.gap() / gap));
  } else {
    cli::print(
        "that is more than the {:.4g} that the theory allows (half of the estimation term): the rows are "
        "not\nlike the training rows, or an assumption below does not hold.\n",
        bound.gap());
  }
}

void run_bound(BoundCommand& command) {
  command.options.validate();
  check_files({{"--train", command.train_path}, {"--test", command.test_path}}, {});
  const Model model = load_model(command.model_path);
  command.common.read.threads = command.options.threads;
  ProgressLine progress(command.common.quiet);
  progress.show("reading " + command.train_path);
  const ModelTable train = read_for_model(command.train_path, model, command.common.read, command.target);
  std::vector<Index> columns(model.inputs.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<Index>(i);
  const Bound bound =
      learning_bound(model, {train.table.values.view(), train.targets, columns}, command.options);
  const MeasuredRows measured = measure(command, model, bound);
  progress.clear();
  if (command.common.json) {
    print_json(bound_to_json(model, bound, measured));
    return;
  }
  if (command.common.quiet) return;
  cli::print("{}: {} of \"{}\", {} loss\n\n", escaped(command.model_path), task_name(model.task),
             escaped(model.target_name), model.task == Task::kRegression ? "squared" : "logistic");
  print_constants(model, bound);
  print_sizes(bound);
  print_tails(bound);
  print_terms(model, bound);
  print_conclusions(bound, measured);
  cli::print("\nTo be read with this in mind:\n");
  for (const std::string& note : bound.notes) cli::print("  - {}\n", note);
}

}  // namespace

void add_bound(CLI::App& tool) {
  auto command = std::make_shared<BoundCommand>();
  CLI::App* app = tool.add_subcommand(
      "bound", "evaluate the paper's learning bound for a model, and compare it with the measured gap");
  app->add_option("model", command->model_path, "model file")->required()->type_name("MODEL");
  app->add_option("--train", command->train_path, "the table that the model was trained on")
      ->required()
      ->type_name("DATA");
  app->add_option("--test", command->test_path, "a table to measure the train/test gap on")
      ->type_name("DATA");
  app->add_option("--delta", command->options.delta,
                  "the bound holds with probability 1 - delta; between 0 and 1")
      ->capture_default_str()
      ->type_name("D");
  app->add_option("--target", command->target,
                  "target column by name or index; default: the one of the training table")
      ->type_name("COLUMN");
  add_threads_option(*app, command->options.threads);
  add_read_options(*app, command->common.read);
  add_output_options(*app, command->common);
  app->callback([command] { run_bound(*command); });
}

}  // namespace mfga::cli
