// How long the search takes on a GPU and on the processor, on a generated table of the shape of Year with all
// products of two inputs as candidates: mfga_gpu_bench [ROWS [INPUTS [TERMS [THREADS]]]]. Medians of 20 after
// a first call, of searches of 3; what takes long on the processor is timed once.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "core/blas.hpp"
#include "core/random.hpp"
#include "device/open_device.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "solve/device_problem.hpp"
#include "solve/greedy.hpp"

namespace {

using namespace mfga;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_ms(int repeats, const std::function<void()>& work) {
  if (repeats > 1) work();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(1e3 * seconds_of(work));
  std::ranges::nth_element(times, times.begin() + repeats / 2);
  return times[static_cast<std::size_t>(repeats / 2)];
}

struct Table {
  Matrix x;
  std::vector<double> y;

  Table(Index rows, Index inputs) : x(rows, inputs), y(static_cast<std::size_t>(rows)) {
    const CounterRandom random(1, RandomStream::kGeneratorInputs);
    for (Index n = 0; n < rows; ++n) {
      double* row = x.row(n);
      for (Index j = 0; j < inputs; ++j)
        row[j] = random.normal(static_cast<std::uint64_t>(n * (inputs + 1) + j));
      y[static_cast<std::size_t>(n)] =
          row[0] + 2 * std::sin(row[1]) + row[2] * row[3] + std::abs(row[4]) +
          0.5 * random.normal(static_cast<std::uint64_t>(n * (inputs + 1) + inputs));
    }
  }
};

// The kernels by themselves, with what they read and multiply, in double precision.
void show_kernels(const Table& table, Workers& workers, Device& device) {
  const Index n_rows = table.x.rows;
  const Index n_inputs = table.x.cols;
  constexpr Index kColumns = 400;
  std::vector<InputColumn> inputs(static_cast<std::size_t>(n_inputs));
  for (Index j = 0; j < n_inputs; ++j) inputs[static_cast<std::size_t>(j)].column = j;
  const BlockedRows blocks(table.x.view(), inputs);
  const Problem problem{blocks, table.y, squared_loss(), Intercept::kUnpenalised, workers};
  const DeviceProblem on_device(device, problem);
  DeviceRows& rows = on_device.rows();
  const auto columns = rows.make_columns(kColumns + 32);
  RowMonomials monomials;
  for (Index i = 0; i < kColumns + 32; ++i) {
    monomials.factors.push_back(1);
    monomials.rates.push_back(0.01);
    monomials.inputs.push_back(static_cast<std::int32_t>(i % n_inputs));
    monomials.inputs.push_back(static_cast<std::int32_t>(7 * i % n_inputs));
    monomials.ends.push_back(static_cast<std::int32_t>(monomials.inputs.size()));
  }
  rows.evaluate(monomials, *columns, 0);
  const ColumnRange weights{columns.get(), kColumns + 31, 1};
  const auto show = [&](const std::string& what, double products, double columns_read, auto work) {
    const double ms = median_ms(20, work);
    fmt::print("kernel    {:36} {:10.3f} ms {:8.0f} GB/s {:8.1f} TF/s\n", what, ms,
               8e-6 * columns_read * static_cast<double>(n_rows) / ms,
               2e-9 * products * static_cast<double>(n_rows) / ms);
  };
  const auto n = static_cast<double>(n_inputs + 1);
  std::vector<double> out(static_cast<std::size_t>((n_inputs + 1) * (n_inputs + 1)));
  show("moments of two inputs, weighted", n * n / 2, n + 1, [&] {
    rows.products_with_itself({&rows.inputs(), 0, n_inputs + 1}, weights, out);
  });
  for (const Index few : {1, 8, 20}) {
    std::vector<double> some(static_cast<std::size_t>(few * kColumns));
    show(fmt::format("{} x {} products", few, kColumns), static_cast<double>(few * kColumns),
         static_cast<double>(kColumns + few), [&] {
           rows.products({columns.get(), kColumns, few}, {columns.get(), 0, kColumns}, {}, some);
         });
  }
  std::vector<double> gram(static_cast<std::size_t>(kColumns * kColumns));
  show(fmt::format("{} columns with themselves", kColumns), kColumns * kColumns / 2.0, kColumns, [&] {
    rows.products_with_itself({columns.get(), 0, kColumns}, {}, gram);
  });
  const std::vector<double> theta(kColumns, 0.1);
  const double one = 1;
  std::vector<double> norm(1);
  show(fmt::format("a combination of {}, and its norm", kColumns), kColumns, kColumns + 2, [&] {
    rows.combine({&one, 1}, theta, {columns.get(), 0, kColumns}, *columns, kColumns + 1);
    rows.square_norms({columns.get(), kColumns + 1, 1}, {}, norm);
  });
}

// All products of all candidates, each a column.
void show_gram(const BlockedRows& blocks, const Candidates& candidates, DeviceProblem& on_device) {
  std::vector<Atom> atoms;
  for (Index j = 0; j < candidates.size(); ++j) atoms.push_back(candidates.atom(j));
  const auto columns = on_device.rows().make_columns(candidates.size());
  on_device.evaluate(atoms, *columns, 0);
  std::vector<double> gram(static_cast<std::size_t>(candidates.size() * candidates.size()));
  const double ms = median_ms(3, [&] {
    on_device.rows().products_with_itself({columns.get(), 0, candidates.size()}, {}, gram);
  });
  const auto n = static_cast<double>(candidates.size());
  fmt::print("kernel    {:36} {:10.3f} ms {:8.1f} TF/s\n", "Gram matrix of all candidates", ms,
             1e-9 * n * n * static_cast<double>(blocks.rows()) / ms);
}

// What there is to time, once for the processor and once for the device.
class Bench {
 public:
  Bench(const Table& table, const std::string& features, Index terms, Workers& workers, Device* device)
      : rows_(BlockedRows(table.x.view(), inputs(table.x.cols)).kept(workers)),
        candidates_(Dictionary(features), {table.x.cols, 10, 0, &rows_, {}, &workers}),
        y_(table.y),
        terms_(terms),
        workers_(workers),
        device_(device) {}

  void run() {
    fmt::print("{} rows, {} inputs, {} candidates on {}\n", rows_.rows(), rows_.inputs(), candidates_.size(),
               device_ != nullptr ? device_->info().name : fmt::format("{} threads", workers_.threads()));
    run(squared_loss(), y_);
    std::vector<double> classes = y_;
    for (double& y : classes) y = y > 0 ? 1 : -1;
    run(logistic_loss(), classes);
  }

 private:
  static std::vector<InputColumn> inputs(Index count) {
    std::vector<InputColumn> all(static_cast<std::size_t>(count));
    for (Index j = 0; j < count; ++j) all[static_cast<std::size_t>(j)].column = j;
    return all;
  }

  void run(const Loss& loss, const std::vector<double>& y) {
    Problem problem{rows_, y, loss, Intercept::kUnpenalised, workers_};
    std::unique_ptr<DeviceProblem> on_device;
    const auto put = [&] {
      if (device_ != nullptr) on_device = std::make_unique<DeviceProblem>(*device_, problem);
    };
    put();
    on_device = nullptr;
    const double put_seconds = seconds_of(put);
    problem.device = on_device.get();
    std::unique_ptr<Engine> engine;
    const double engine_seconds =
        seconds_of([&] { engine = make_lazy_engine(problem, candidates_, Precision::kMixed); });
    fmt::print("{:9} {:36} {:10.2f} ms\n", loss.name(), "rows to the device", 1e3 * put_seconds);
    fmt::print("{:9} {:36} {:10.2f} ms\n", loss.name(), "candidates that are kept", 1e3 * engine_seconds);
    if (device_ != nullptr && loss.constant_curvature()) show_gram(rows_, candidates_, *on_device);
    ActiveSet none;
    none.intercepts = problem.best_constants();
    Gradient gradient;
    show(loss, "gradient of all candidates", 20, [&] { engine->gradient(none, gradient); });
    if (device_ != nullptr)
      show(loss, "products with all candidates alone", 20, [&] { engine->exact_gradient(none, gradient); });
    for (const Index per_step : {Index{20}, Index{1}}) {
      for (const Rule rule : {Rule::kGradient, Rule::kGain}) {
        const bool is_quick = per_step > 1 && rule == Rule::kGradient;
        if (!is_quick && (device_ == nullptr || !loss.constant_curvature())) continue;
        GreedyOptions options{terms_, per_step, 0, {1, 0}, {rule, 1}};
        GreedyResult result;
        show(loss,
             fmt::format("search by {}, {} per step", rule == Rule::kGain ? "gain" : "gradient", per_step),
             device_ != nullptr ? 3 : 1, [&] {
               const auto refit = make_refit(problem, options.penalty);
               result = run_greedy(problem, candidates_, *engine, *refit, options, {});
             });
        fmt::print("          gradient {:.1f}, products {:.1f}, refit {:.1f} ms; loss {:.10g}; terms",
                   1e3 * result.seconds.gradient, 1e3 * result.seconds.products, 1e3 * result.seconds.refit,
                   result.path.back().risk);
        Index hash = 0;
        for (const Index candidate : result.active.candidates) hash = (hash * 31 + candidate) % 1'000'003;
        fmt::print(" #{}\n", hash);
      }
    }
  }

  static void show(const Loss& loss, const std::string& what, int repeats,
                   const std::function<void()>& work) {
    fmt::print("{:9} {:36} {:10.3f} ms\n", loss.name(), what, median_ms(repeats, work));
    std::fflush(stdout);
  }

  BlockedRows rows_;
  Candidates candidates_;
  const std::vector<double>& y_;
  Index terms_;
  Workers& workers_;
  Device* device_;
};

Index argument(int argc, char** argv, int position, Index usual) {
  return argc > position ? std::strtoll(argv[position], nullptr, 10) : usual;
}

}  // namespace

int main(int argc, char** argv) try {
  const Table table(argument(argc, argv, 1, 463'715), argument(argc, argv, 2, 90));
  const Index terms = argument(argc, argv, 3, 400);
  Workers workers(static_cast<int>(argument(argc, argv, 4, 2)));
  const SingleThreadedBlas blas;
  const std::shared_ptr<Device> device = open_device(DeviceChoice::kCuda);
  show_kernels(table, workers, *device);
  for (const char* features :
       {"gaussian(order=2, sigma=12)", "linear + hinge(knots=20) + landmark(count=200, sigma=12)"}) {
    Bench(table, features, terms, workers, device.get()).run();
    Bench(table, features, terms, workers, nullptr).run();
  }
} catch (const Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
