#include "mfga/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/random.hpp"
#include "features/candidates.hpp"
#include "mfga/error.hpp"
#include "mfga/thread_pool.hpp"

namespace mfga {
namespace {

// Rows whose signal calibrates the coefficients and the noise.
constexpr Index kCalibrationRows = 4096;

double standard_deviation(std::span<const double> values) {
  double mean = 0;
  double square = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
    square += value * value / static_cast<double>(values.size());
  }
  return std::sqrt(std::max(0.0, square - mean * mean));
}

Matrix make_inputs(const GenerateOptions& options, Index first, Index rows, ThreadPool& pool) {
  const CounterRandom random(options.seed, RandomStream::kGeneratorInputs);
  Matrix x(rows, options.inputs);
  pool.run((rows + 255) / 256, [&](Index block) {
    for (Index i = block * 256; i < std::min(rows, (block + 1) * 256); ++i) {
      for (Index j = 0; j < options.inputs; ++j) {
        x(i, j) = random.normal(static_cast<std::uint64_t>((first + i) * options.inputs + j));
      }
    }
  });
  return x;
}

// Distinct candidates, drawn at random.
std::vector<Index> draw_candidates(const CounterRandom& random, Index n_candidates, Index count) {
  std::set<Index> taken;
  std::vector<Index> drawn;
  for (std::uint64_t i = 0; static_cast<Index>(drawn.size()) < count; ++i) {
    const auto candidate = static_cast<Index>(random.uniform(i) * static_cast<double>(n_candidates));
    if (taken.insert(candidate).second) drawn.push_back(candidate);
  }
  return drawn;
}

}  // namespace

Generator::Generator(const GenerateOptions& options) : options_(options) {
  options.validate();
  const std::string features = options.features.empty()
                                   ? fmt::format("linear + gaussian(order=2, sigma={:.4g})",
                                                 std::sqrt(static_cast<double>(options.inputs)))
                                   : options.features;
  const Dictionary dictionary(features);
  if (dictionary.needs_sigma()) {
    throw Error(ErrorKind::kInvalidArgument,
                "`features`: sigma=auto needs data; give a number, e.g. gaussian(order=2, sigma=3)");
  }
  const auto check_size = [&](double n_candidates) {
    if (n_candidates < 1e15 && static_cast<double>(options.terms) <= 0.5 * n_candidates) return;
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format(
            "`terms` is {}; the dictionary has {:.0f} candidates and at most half of them may be used",
            options.terms, n_candidates));
  };
  check_size(dictionary.candidates(options.inputs));
  truth_.task = options.task;
  if (truth_.task == Task::kClassification) truth_.labels = {"0", "1"};
  truth_.n_columns = options.inputs;
  truth_.training.features = features;
  for (Index j = 0; j < options.inputs; ++j) truth_.inputs.push_back({fmt::format("x{}", j + 1), j, 0, 1});

  // Coefficients of random sign that give each term a standard deviation between 0.5 and 1.5.
  const Candidates candidates(dictionary, {options.inputs, 1});
  check_size(static_cast<double>(candidates.size()));  // there may be fewer
  const CounterRandom random(options.seed, RandomStream::kGeneratorModel);
  ThreadPool pool(0);
  const Matrix sample = make_inputs(options, 0, kCalibrationRows, pool);
  for (const Index candidate : draw_candidates(random, candidates.size(), options.terms)) {
    Model single = truth_;
    single.terms = {{candidates.atom(candidate), {1.0}}};
    const double deviation = standard_deviation(single.scores(sample.view()));
    const auto [u, sign] =
        random.uniform_pair((std::uint64_t{1} << 40U) + static_cast<std::uint64_t>(candidate));
    const double size = deviation > 0 ? (0.5 + u) / deviation : 1.0;
    truth_.terms.push_back({single.terms[0].atom, {sign < 0.5 ? -size : size}});
  }
  double& intercept = truth_.outputs.front().intercept;
  intercept = std::round(10 * (1 + random.uniform(std::uint64_t{1} << 41U))) / 10;
  signal_deviation_ = standard_deviation(truth_.scores(sample.view()));
  if (!(signal_deviation_ > 0)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("`features`: the terms drawn from {} are constant on standard normal inputs; a sigma "
                    "near the square root of the number of inputs suits them",
                    features));
  }
  if (truth_.task == Task::kClassification) {
    // Balanced classes with a clear signal: scores of standard deviation 3.
    const double factor = 3 / signal_deviation_;
    for (Term& term : truth_.terms) term.coefficients.front() *= factor;
    intercept = 0;
    std::vector<double> scores = truth_.scores(sample.view());
    const auto median = scores.begin() + std::ssize(scores) / 2;
    std::nth_element(scores.begin(), median, scores.end());
    intercept = -*median;
    signal_deviation_ = 3;
  }
}

void Generator::make_rows(Index first, Matrix& x, std::vector<double>& y, int threads) const {
  ThreadPool pool(threads);
  x = make_inputs(options_, first, x.rows, pool);
  y = truth_.scores(x.view(), threads);
  const CounterRandom random(options_.seed, RandomStream::kGeneratorNoise);
  const double scale = options_.noise * signal_deviation_;
  for (std::size_t n = 0; n < y.size(); ++n) {
    y[n] += scale * random.normal(static_cast<std::uint64_t>(first) + n);
    if (truth_.task == Task::kClassification) y[n] = y[n] > 0 ? 1 : 0;
  }
}

}  // namespace mfga
