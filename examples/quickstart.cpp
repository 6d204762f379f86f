// Learns a formula from a table in memory, reads it, predicts with it, and keeps it in a file.
//
//   mfga_example_quickstart [MODEL_FILE]
#include <cmath>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "mfga/mfga.hpp"

namespace {

struct Sample {
  mfga::Matrix x;
  std::vector<double> y;
};

// Four measurements of a day and a yield that grows with sun, and with water only where there is warmth.
const std::vector<std::string> kColumns = {"sun", "water", "warmth", "wind"};

Sample make_sample(mfga::Index rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Sample sample{mfga::Matrix(rows, 4), {}};
  for (mfga::Index n = 0; n < rows; ++n) {
    for (mfga::Index j = 0; j < 4; ++j) sample.x(n, j) = normal(random);
    const double sun = sample.x(n, 0);
    const double water = sample.x(n, 1);
    const double warmth = sample.x(n, 2);
    sample.y.push_back(10 + 2 * sun + 3 * water * warmth + 0.1 * normal(random));
  }
  return sample;
}

void print_formula(const mfga::Model& model) {
  const std::vector<std::string> names = model.input_names();
  std::cout << model.target_name << " = " << model.outputs[0].intercept;
  for (const mfga::Term& term : model.terms) {
    const mfga::AtomFormula formula = mfga::describe(term.atom, names);
    const double factor = term.coefficients[0] * formula.factor;
    std::cout << (factor < 0 ? "\n  - " : "\n  + ") << std::abs(factor) << " * " << formula.text;
  }
  std::cout << "\nwhere G(s) = exp(-|x|^2 / 2 s^2), and each input is (value - mean) / deviation\n\n";
}

int run(const std::string& model_file) {
  // 1. Learn: five terms out of single inputs, and of squares and products of two under a wide Gaussian.
  const Sample train = make_sample(2000, 1);
  mfga::TrainingData data;
  data.x = train.x.view();
  data.y = train.y;
  data.columns = kColumns;
  data.target_name = "yield";
  mfga::FitOptions options;
  options.features = "linear + gaussian(order=2, sigma=10)";
  options.terms = 5;
  options.ridge = 1e-4;  // there is little noise to guard against
  options.tune = mfga::Tuning::none();
  const mfga::FitResult result = mfga::fit(data, options);
  std::cout << "chose " << result.model.terms.size() << " of " << result.report.candidates << " candidates, "
            << result.report.engine << " engine\n\n";

  // 2. Read.
  print_formula(result.model);

  // 3. Predict rows that were not seen.
  const Sample test = make_sample(1000, 2);
  const std::vector<double> predictions = result.model.predict(test.x.view());
  const mfga::RegressionMetrics metrics = mfga::regression_metrics(predictions, test.y);
  std::cout << "on new rows: RMSE " << metrics.rmse << " (the noise is 0.1), R2 " << metrics.r2.value()
            << '\n';

  // 4. Save, and load again.
  mfga::save_model(result.model, model_file);
  const mfga::Model loaded = mfga::load_model(model_file);
  const bool same = loaded.predict(test.x.view()) == predictions;
  std::cout << "saved to " << model_file << "; the loaded model predicts "
            << (same ? "the same" : "something else") << '\n';
  return same && metrics.r2.value() > 0.99 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "quickstart-model.json");
  } catch (const std::exception& error) {  // mfga::Error says what was wrong
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
