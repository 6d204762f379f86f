// Model files. A model that loads can be saved, loads again, and predicts the same, one row at a time and in
// tables, for any row and in little time. The mutator changes JSON.
#include <array>
#include <bit>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>

#include "fuzz/json_mutation.hpp"
#include "fuzz/targets.hpp"
#include "mfga/model.hpp"
#include "mfga/predictor.hpp"

namespace mfga::fuzz {
namespace {

// Rows that are usual, far out, missing.
constexpr std::array<double, 8> kValues = {
    0, 1, -2.5, 1e300, -1e-300, 0.1, std::numeric_limits<double>::quiet_NaN(), 40};
constexpr Index kUsualRows = 5;
constexpr Index kRows = kUsualRows + 3;

// The last rows are any finite numbers, others for each model.
std::vector<double> rows_for(std::string_view model, Index n_inputs) {
  std::vector<double> numbers;
  for (Index i = 0; i < kUsualRows * n_inputs; ++i)
    numbers.push_back(
        kValues[static_cast<std::size_t>(i * i + i / std::max<Index>(n_inputs, 1)) % kValues.size()]);
  std::mt19937_64 random(std::hash<std::string_view>()(model));
  while (std::ssize(numbers) < kRows * n_inputs) {
    const auto number = std::bit_cast<double>(random());
    if (std::isfinite(number)) numbers.push_back(number);
  }
  return numbers;
}

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void check_predictions(std::string_view text, const Model& model, const Model& again) {
  // A model of 3,000 bytes takes a few ms, also where a sanitizer looks on.
  constexpr double kMostSeconds = 1;
  const double start = processor_seconds();
  // Not as wide as the model says that its table was: inputs are columns of a small one.
  const Index n_inputs = std::ssize(model.inputs);
  const std::vector<double> numbers = rows_for(text, n_inputs);
  std::vector<Index> columns;
  for (Index i = 0; i < n_inputs; ++i) columns.push_back(i);
  const Predictor first(model, 1);
  const Predictor second(again, 1);
  const auto table = [&](Index row, Index rows) {
    return ConstMatrixView{numbers.data() + row * n_inputs, rows, n_inputs, n_inputs, 1};
  };
  for (Index row = 0; row < kRows; ++row) {
    std::vector<double> scores;
    const std::string refusal = refusal_of([&] { scores = first.scores(table(row, 1), columns); });
    std::vector<double> of_second;
    require_same(refusal, refusal_of([&] { of_second = second.scores(table(row, 1), columns); }),
                 "a model that was saved refuses the same rows");
    require(are_same(scores, of_second), "a model that was saved predicts the same");
    for (const double score : scores) require(std::isfinite(score), "scores are finite");
    if (!refusal.empty()) continue;
    static_cast<void>(refusal_of([&] {
      const std::vector<double> all = first.scores(table(0, row + 1), columns);
      require(are_same(scores, std::span(all).last(scores.size())), "a row is scored as in a table");
    }));
    static_cast<void>(refusal_of([&] {
      for (const double prediction : first.predictions(table(row, 1), columns))
        require(std::isfinite(prediction), "predictions are finite");
    }));
    if (model.task != Task::kClassification) continue;
    static_cast<void>(refusal_of([&] {
      for (const double probability : first.probabilities(table(row, 1), columns))
        require(probability >= 0 && probability <= 1, "probabilities are from 0 to 1");
    }));
  }
  require(processor_seconds() - start < kMostSeconds, "a small model predicts in little time");
}

void run(std::string_view bytes) {
  static_cast<void>(refusal_of([&] {
    const Model model = model_from_json(bytes, "m");
    const std::string text = model_to_json(model);
    const Model again = model_from_json(text, "m");
    require_same(text, model_to_json(again), "a model that was saved is saved the same");
    check_predictions(text, model, again);
  }));
}

std::string mutate(std::string_view bytes, std::size_t longest, std::mt19937& random) {
  const std::string json = mutated_json(bytes, random);
  return json.size() <= longest ? json : std::string();
}

}  // namespace

constexpr Target kModel = {"model", 3000, run, mutate};

}  // namespace mfga::fuzz
