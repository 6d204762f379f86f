// Learns with the defaults, shows the formula, and predicts one row a million times.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>
#include <random>
#include <vector>

#include "mfga/mfga.hpp"

namespace {

struct Sample {
  mfga::Matrix x;
  std::vector<double> y;
};

// Ten measurements, of which four matter.
Sample make_sample(mfga::Index rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Sample sample{mfga::Matrix(rows, 10), {}};
  for (mfga::Index n = 0; n < rows; ++n) {
    for (mfga::Index j = 0; j < 10; ++j) sample.x(n, j) = normal(random);
    const double* x = sample.x.row(n);
    sample.y.push_back(3 * std::sin(x[0]) + x[1] * x[2] + std::max(0.0, x[3]) + 0.1 * normal(random));
  }
  return sample;
}

int run() {
  const Sample train = make_sample(300, 1);
  const Sample test = make_sample(1000, 2);

  const mfga::FitResult result = mfga::fit({.x = train.x.view(), .y = train.y});
  const mfga::Predictor predictor(result.model);
  std::cout << mfga::formula_text(predictor.model(), 10);
  std::cout << "\nRMSE of new rows "
            << mfga::evaluate(predictor.model(), test.x.view(), test.y).regression->rmse;

  constexpr int kTimes = 1'000'000;
  const std::vector<double> row(test.x.row(0), test.x.row(1));
  const auto start = std::chrono::steady_clock::now();
  double sum = 0;
  for (int i = 0; i < kTimes; ++i) sum += predictor.predict(row);
  const std::chrono::duration<double, std::micro> microseconds = std::chrono::steady_clock::now() - start;
  std::cout << "\nthe first of them: " << sum / kTimes << ", in " << microseconds.count() / kTimes
            << " microseconds by " << predictor.model().terms.size() << " terms\n";
  return std::isfinite(sum) ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {  // mfga::Error says what was wrong
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
