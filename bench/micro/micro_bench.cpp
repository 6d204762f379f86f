// Speed of the inner parts by themselves, on one thread: what they compute per second (flop) and read per
// second. `./dev micro`; Google Benchmark's options follow, e.g. --benchmark_filter=correlate.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/row_blocks.hpp"
#include "core/row_kernels.hpp"
#include "features/candidates.hpp"
#include "mfga/model.hpp"
#include "mfga/table.hpp"
#include "solve/atom_products.hpp"

namespace mfga {
namespace {

// The sizes of the largest setting of ./dev bench.
constexpr Index kInputs = 90;
constexpr double kSigma = 10;

Matrix random_matrix(Index rows, Index cols) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  Matrix matrix(rows, cols);
  for (double& value : matrix.values) value = normal(generator);
  return matrix;
}

// Operations per second from operations per iteration.
void count_flop(benchmark::State& state, double per_iteration) {
  state.counters["flop"] = benchmark::Counter(per_iteration, benchmark::Counter::kIsIterationInvariantRate);
}

void count_bytes(benchmark::State& state, Index per_iteration) {
  state.SetBytesProcessed(state.iterations() * per_iteration);
}

// Rows of standard normal inputs, in blocks.
struct Rows {
  explicit Rows(Index count)
      : values(random_matrix(count, kInputs)), blocked(values.view(), plain_inputs()) {}

  static std::vector<InputColumn> plain_inputs() {
    std::vector<InputColumn> inputs;
    for (Index j = 0; j < kInputs; ++j) inputs.push_back({j, 0, 1});
    return inputs;
  }

  Matrix values;
  BlockedRows blocked;
};

Candidates second_order_candidates() {
  return {Dictionary("gaussian(order=2)"), {.n_inputs = kInputs, .auto_sigma = kSigma}};
}

// Every 10th candidate, so that the chosen ones are spread as in a fit.
std::vector<Atom> some_atoms(Index count) {
  const Candidates candidates = second_order_candidates();
  std::vector<Atom> atoms;
  for (Index m = 0; m < count; ++m) atoms.push_back(candidates.atom(m * 10));
  return atoms;
}

// The gradient pass at its heart: X^T diag(r) X of one block.
template <typename Real>
void add_row_products_of_a_block(benchmark::State& state) {
  const Matrix values = random_matrix(2 * kInputs, kBlockRows);
  const std::vector<Real> a(values.values.begin(), values.values.end());
  Matrix c(kInputs, kInputs);
  for ([[maybe_unused]] auto _ : state) {
    add_row_products(a.data(), kInputs, kBlockRows, a.data() + kInputs * kBlockRows, kInputs, kBlockRows,
                     kBlockRows, c.row(0), kInputs);
    benchmark::ClobberMemory();
  }
  count_flop(state, 2.0 * kInputs * kInputs * kBlockRows);
}
BENCHMARK_TEMPLATE(add_row_products_of_a_block, double);
BENCHMARK_TEMPLATE(add_row_products_of_a_block, float);

// Elementary functions: numbers per second.
template <typename Real, void (*kFunction)(const Real*, Real, Index, Real*)>
void scaled_function_of_a_block(benchmark::State& state) {
  const Matrix numbers = random_matrix(1, kBlockRows);
  const std::vector<Real> values(numbers.values.begin(), numbers.values.end());
  std::vector<Real> out(values.size());
  for ([[maybe_unused]] auto _ : state) {
    kFunction(values.data(), Real{-0.5}, kBlockRows, out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kBlockRows);
}
BENCHMARK_TEMPLATE(scaled_function_of_a_block, double, exponentials)->Name("exponentials_of_a_block<double>");
BENCHMARK_TEMPLATE(scaled_function_of_a_block, float, exponentials)->Name("exponentials_of_a_block<float>");
BENCHMARK_TEMPLATE(scaled_function_of_a_block, double, cosines)->Name("cosines_of_a_block<double>");
BENCHMARK_TEMPLATE(scaled_function_of_a_block, float, cosines)->Name("cosines_of_a_block<float>");

template <void (*kFunction)(const double*, Index, double*)>
void function_of_a_block(benchmark::State& state) {
  Matrix values = random_matrix(1, kBlockRows);
  for (double& value : values.values) value = std::abs(value);
  Matrix out(1, kBlockRows);
  for ([[maybe_unused]] auto _ : state) {
    kFunction(values.row(0), kBlockRows, out.row(0));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kBlockRows);
}
BENCHMARK_TEMPLATE(function_of_a_block, logarithms)->Name("logarithms_of_a_block");
BENCHMARK_TEMPLATE(function_of_a_block, square_roots)->Name("square_roots_of_a_block");

// The distances of a block's rows from a landmark. Operations: 3 per row and input.
template <typename Real>
void absolute_distances_of_a_block(benchmark::State& state) {
  const Matrix numbers = random_matrix(kInputs + 1, kBlockRows);
  const std::vector<Real> values(numbers.values.begin(), numbers.values.end());
  const Real* centre = values.data() + kInputs * kBlockRows;
  std::vector<Real> out(kBlockRows);
  for ([[maybe_unused]] auto _ : state) {
    absolute_distances(values.data(), kInputs, kBlockRows, centre, kBlockRows, out.data());
    benchmark::ClobberMemory();
  }
  count_flop(state, 3.0 * kInputs * kBlockRows);
}
BENCHMARK_TEMPLATE(absolute_distances_of_a_block, double);
BENCHMARK_TEMPLATE(absolute_distances_of_a_block, float);

// One of the transforms behind structured frequencies.
template <typename Real>
void hadamard_transform_of_a_block(benchmark::State& state) {
  constexpr Index kSize = 128;  // the power of two above the number of inputs
  const Matrix numbers = random_matrix(kSize, kBlockRows);
  const std::vector<Real> values(numbers.values.begin(), numbers.values.end());
  std::vector<Real> rows(values.size());
  for ([[maybe_unused]] auto _ : state) {
    std::copy(values.begin(), values.end(), rows.begin());  // else they would grow for ever
    hadamard_transform(rows.data(), kSize, kBlockRows);
    benchmark::ClobberMemory();
  }
  count_flop(state, std::log2(kSize) * kSize * kBlockRows);
}
BENCHMARK_TEMPLATE(hadamard_transform_of_a_block, double);
BENCHMARK_TEMPLATE(hadamard_transform_of_a_block, float);

// All second-order candidates against one vector of residuals. Useful operations: 2 per row and candidate.
void correlate_a_block(benchmark::State& state) {
  const Rows rows(kBlockRows);
  const Candidates candidates = second_order_candidates();
  const Matrix weights = random_matrix(1, kBlockRows);
  std::vector<double> out(static_cast<std::size_t>(candidates.size()));
  Arena arena;
  const RowBlock block = rows.blocked.load(0, arena);
  for ([[maybe_unused]] auto _ : state) {
    const Arena::Scope scope(arena);
    candidates.correlate(block, weights.row(0), kBlockRows, 1, out.data(), candidates.size(), arena);
    benchmark::ClobberMemory();
  }
  count_flop(state, 2.0 * static_cast<double>(candidates.size()) * kBlockRows);
}
BENCHMARK(correlate_a_block);

// The same in single precision.
void correlate_a_block_single(benchmark::State& state) {
  const Rows rows(kBlockRows);
  const Candidates candidates = second_order_candidates();
  const Matrix weights = random_matrix(1, kBlockRows);
  std::vector<double> out(static_cast<std::size_t>(candidates.size()));
  Arena arena;
  const RowBlock block = with_single(rows.blocked.load(0, arena), arena);
  for ([[maybe_unused]] auto _ : state) {
    const Arena::Scope scope(arena);
    candidates.correlate_single(block, weights.row(0), out.data(), arena);
    benchmark::ClobberMemory();
  }
  count_flop(state, 2.0 * static_cast<double>(candidates.size()) * kBlockRows);
}
BENCHMARK(correlate_a_block_single);

// What a step adds to the Gram matrix: the products of 20 new atoms with all, the argument.
void atom_products_of_a_step(benchmark::State& state) {
  constexpr Index kRows = 8 * kBlockRows;
  constexpr Index kNew = 20;
  const Rows rows(kRows);
  const Matrix targets = random_matrix(1, kRows);
  const std::vector<Atom> atoms = some_atoms(state.range(0));
  Workers workers(1);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(atom_products(rows.blocked, targets.values, atoms, kNew, workers));
  }
  count_flop(state, 2.0 * kNew * static_cast<double>(atoms.size()) * kRows);
}
BENCHMARK(atom_products_of_a_step)->Arg(20)->Arg(200)->Arg(400);

// A table that is not in any cache, 400 terms: bytes are those of the table.
void model_prediction(benchmark::State& state) {
  constexpr Index kRows = 20000;
  const Matrix table = random_matrix(kRows, kInputs);
  Model model;
  model.n_columns = kInputs;
  for (Index j = 0; j < kInputs; ++j) model.inputs.push_back({"x" + std::to_string(j), j, 0.1, 1.1});
  for (const Atom& atom : some_atoms(400)) model.terms.push_back({atom, 0.5});
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(model.predict(table.view(), 1));
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  count_bytes(state, kRows * kInputs * static_cast<Index>(sizeof(double)));
}
BENCHMARK(model_prediction)->Unit(benchmark::kMillisecond);

// Opening and parsing a file of six-digit numbers that the system has in memory.
void csv_parsing(benchmark::State& state) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "mfga-micro-bench.csv";
  {
    std::ofstream file(path);
    const Matrix values = random_matrix(20000, kInputs + 1);
    for (Index n = 0; n < values.rows; ++n) {
      for (Index j = 0; j < values.cols; ++j) file << (j > 0 ? "," : "") << values(n, j);
      file << '\n';
    }
  }
  ReadOptions options;
  options.threads = 1;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(TableFile(path.string(), options).read_for_training("-1", {}));
  }
  count_bytes(state, static_cast<Index>(std::filesystem::file_size(path)));
  std::filesystem::remove(path);
}
BENCHMARK(csv_parsing)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mfga
