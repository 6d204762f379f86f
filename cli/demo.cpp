// mfga demo: learns a formula from data whose true formula is known, and shows both side by side.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "cli/command.hpp"

namespace mfga::cli {
namespace {

constexpr Index kTrainRows = 20000;
constexpr Index kTestRows = 10000;
constexpr Index kInputs = 10;
constexpr Index kTerms = 6;

GenerateOptions demo_data() {
  GenerateOptions options;
  options.rows = kTrainRows + kTestRows;
  options.inputs = kInputs;
  options.terms = kTerms;
  options.noise = 0.3;
  options.seed = 2;
  return options;
}

double rmse(const Model& model, const Matrix& x, const std::vector<double>& y) {
  return regression_metrics(model.predict(x.view()), y).rmse;
}

// Formula -> the constant before it.
std::map<std::string, double> constants(const Model& model) {
  std::map<std::string, double> result;
  for (const Term& term : model.terms) {
    const AtomFormula formula = describe(term.atom, model.input_names());
    result[formula.text] += term.coefficients.front() * formula.factor;
  }
  return result;
}

void print_formulas(const Model& truth, const Model& learned) {
  const auto true_constants = constants(truth);
  const auto learned_constants = constants(learned);
  std::vector<std::string> formulas;
  for (const auto& [formula, constant] : true_constants) formulas.push_back(formula);
  for (const auto& [formula, constant] : learned_constants) {
    if (!true_constants.contains(formula)) formulas.push_back(formula);
  }
  const auto entry = [](const std::map<std::string, double>& values, const std::string& formula) {
    const auto found = values.find(formula);
    return found == values.end() ? std::string("-") : fmt::format("{:+.3f}", found->second);
  };
  print("  {:<24} {:>10} {:>10}\n", "term", "true", "learned");
  print("  {:<24} {:>+10.3f} {:>+10.3f}\n", "(constant)", truth.outputs.front().intercept,
        learned.outputs.front().intercept);
  for (const std::string& formula : formulas) {
    print("  {:<24} {:>10} {:>10}\n", formula, entry(true_constants, formula),
          entry(learned_constants, formula));
  }
}

void run_demo() {
  const auto start = std::chrono::steady_clock::now();
  const Generator generator(demo_data());
  Matrix train_x(kTrainRows, kInputs);
  Matrix test_x(kTestRows, kInputs);
  std::vector<double> train_y;
  std::vector<double> test_y;
  generator.make_rows(0, train_x, train_y);
  generator.make_rows(kTrainRows, test_x, test_y);
  const std::vector<std::string> names = generator.truth().input_names();
  print(
      "Made {} training and {} test rows with {} inputs. The target is a constant, {} terms and noise;\n"
      "most inputs have nothing to do with it.\n\n",
      kTrainRows, kTestRows, kInputs, kTerms);

  FitOptions options;
  options.features = generator.truth().training.features;
  options.terms = kTerms;
  options.ridge = 1e-3;
  options.tune = Tuning::none();
  const TrainingData data{train_x.view(), train_y, names, "y", {}};
  const FitResult learned = mfga::fit(data, options);
  FitOptions linear_options;
  linear_options.features = "linear";
  linear_options.terms = kInputs;
  linear_options.ridge = 1;
  linear_options.tune = Tuning::none();
  const FitResult linear = mfga::fit(data, linear_options);
  Model constant = learned.model;
  constant.terms.clear();
  double mean = 0;
  for (const double y : train_y) mean += y / static_cast<double>(kTrainRows);
  constant.outputs.front().intercept = mean;

  print("Picked {} of {} candidates ({}), one at a time:\n\n", learned.model.terms.size(),
        learned.report.candidates, learned.report.features);
  print_formulas(generator.truth(), learned.model);
  print("\nColumns stand for their standardised values; G(s) = exp(-|z|^2 / 2 s^2) over all {} of them.\n\n",
        kInputs);
  print("Test error (RMSE):\n  {:<32} {:.4f}\n  {:<32} {:.4f}\n  {:<32} {:.4f}\n  {:<32} {:.4f}\n\n",
        "constant", rmse(constant, test_x, test_y),
        fmt::format("linear model, {} terms", linear.model.terms.size()), rmse(linear.model, test_x, test_y),
        fmt::format("mfga, {} terms", learned.model.terms.size()), rmse(learned.model, test_x, test_y),
        "the true formula (noise alone)", rmse(generator.truth(), test_x, test_y));
  print("Fitted in {:.3f} s; {:.3f} s in all.\n", learned.report.fit_seconds,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

void add_demo(CLI::App& tool) {
  tool.add_subcommand("demo", "learn a known formula from built-in data and compare")->callback(run_demo);
}

}  // namespace mfga::cli
