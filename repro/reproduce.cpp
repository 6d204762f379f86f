#include "repro/reproduce.hpp"
#include "core/clock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/blas.hpp"
#include "core/random.hpp"
#include "mfga/error.hpp"
#include "mfga/version.hpp"
#include "repro/data_sets.hpp"
#include "repro/experiment.hpp"
#include "repro/paper_figures.hpp"

namespace mfga::repro {
namespace {

// How much work a run does.
struct Effort {
  std::vector<double> ridges;
  Index seeds;
  Index points;        // of a curve
  Index folds;         // of the cross-validation
  Index kernel_folds;  // fewer: a fold of an exact kernel costs minutes
  Index most_kernel_rows;
  Index most_default_rows;  // of our default; 0: all
  Index most_default_terms;
  LoadOptions load;
};

Effort effort_of(const ReproduceOptions& options) {
  Effort effort{{}, 10, 8, 5, 2, 1000000, 0, 1000000, {options.data_folder, 0, 0, 46371}};
  for (int exponent = 5; exponent >= -5; --exponent) effort.ridges.push_back(std::pow(10.0, exponent));
  if (options.quick) {
    effort = {{1e3, 1e1, 1e-1, 1e-3}, 2, 3, 2, 2, 300, 100, 10, {options.data_folder, 500, 300, 2000}};
  }
  return effort;
}

struct Job {
  std::string method;
  double weight;  // share of the time, roughly, for the estimate of the time left
};

const std::vector<Job>& jobs() {
  static const std::vector<Job> all = {{"constant", 0.01}, {"MFGA", 2},  {"RKS", 2},        {"LKRF", 3},
                                       {"EERF", 3},        {"ours", 40}, {"GK and GLK", 40}};
  return all;
}

// All methods of one data set.
class DataSetRun {
 public:
  DataSetRun(DataSet data, const Effort& effort, Workers& workers, DatasetResult& result)
      : data_(std::move(data)), setting_(data_.setting), effort_(effort), workers_(workers), result_(result) {
    result_.name = data_.name;
    result_.title = data_.title;
    result_.task = task_name(setting_.task);
    result_.error_unit = setting_.task == Task::kRegression
                             ? "100 x mean squared error, target scaled to [-1, 1]"
                             : "% of labels wrong";
    result_.source_note = data_.source_note;
    result_.n_train = setting_.train.size();
    result_.n_test = setting_.test.size();
    result_.inputs = static_cast<Index>(setting_.inputs.size());
    result_.sigma = setting_.sigma;
    terms_ = *paper_setting(data_.paper_name, "MFGA")->terms;
  }

  void run(const std::string& method) {
    if (method == "constant") {
      run_constant();
    } else if (method == "MFGA") {
      run_mfga();
    } else if (method == "ours") {
      run_ours();
    } else if (method == "GK and GLK") {
      run_kernels();
    } else {
      run_random(method);
    }
  }

 private:
  // The paper: no intercept in regression, one in classification.
  [[nodiscard]] Intercept paper_intercept() const {
    return setting_.task == Task::kRegression ? Intercept::kNone : Intercept::kUnpenalised;
  }
  [[nodiscard]] std::vector<double> ridges() const {
    return data_.is_for_times ? std::vector<double>{1.0} : effort_.ridges;
  }
  [[nodiscard]] Grid grid_up_to(Index terms) const {
    Grid grid{ridges(), {}};
    const Index points = data_.is_for_times ? 1 : std::min(effort_.points, terms);
    for (Index i = 1; i <= points; ++i) grid.terms.push_back(terms * i / points);
    return grid;
  }
  [[nodiscard]] static Grid only_last(const Grid& grid) { return {grid.ridges, {grid.terms.back()}}; }

  MethodRow new_row(std::string_view part, const std::string& method) const {
    MethodRow row;
    row.part = part;
    row.method = method;
    if (data_.is_published || data_.is_for_times) {
      row.paper = paper_figures(data_.paper_name, method);
      if (row.paper && data_.is_for_times) row.paper->error = row.paper->standard_error = std::nullopt;
    }
    return row;
  }

  // Mean and standard error over seeds of the errors at the last number of terms.
  static ErrorEstimate over_seeds(const std::vector<double>& errors) {
    const double count = static_cast<double>(errors.size());
    ErrorEstimate estimate;
    estimate.error = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
    if (errors.size() > 1) {
      double square = 0;
      for (const double e : errors) square += (e - estimate.error) * (e - estimate.error);
      estimate.standard_error = std::sqrt(square / (count - 1) / count);
    }
    return estimate;
  }

  // The best entry of a column, as the paper reports: the ridge is chosen on the test rows.
  static Index best_ridge(const Matrix& errors, Index column) {
    Index best = 0;
    for (Index r = 1; r < errors.rows; ++r) {
      if (errors(r, column) < errors(best, column)) best = r;
    }
    return best;
  }

  // The ridge of the smallest mean error over folds of the training rows.
  template <class ErrorsOfFold>
  Index cross_validated_ridge(Index n_folds, ErrorsOfFold errors_of_fold) const {
    Matrix sums(static_cast<Index>(effort_.ridges.size()), 1);
    for (Index fold = 0; fold < n_folds; ++fold) {
      const Matrix errors = errors_of_fold(fold);
      for (Index r = 0; r < sums.rows; ++r) sums(r, 0) += errors(r, errors.cols - 1);
    }
    return best_ridge(sums, 0);
  }

  void run_constant() {
    MethodRow row = new_row(kReferencePart, "constant");
    row.oracle = row.honest = ErrorEstimate{constant_error(setting_)};
    if (!data_.is_for_times) result_.rows.push_back(row);
  }

  void run_mfga() {
    MethodRow row = new_row(kPaperPart, "MFGA");
    const GreedyMethod method{
        setting_.task == Task::kRegression
            ? fmt::format("linear + gaussian(order=2, squares=no, sigma={})", setting_.sigma)
            : fmt::format("linear + gaussian(order=1, sigma={})", setting_.sigma),
        atoms_per_step(terms_), paper_intercept()};
    row.candidates = static_cast<Index>(Dictionary(method.features).candidates(result_.inputs));
    const Grid grid = grid_up_to(terms_);
    const ErrorTable table = greedy_errors(setting_, method, grid, workers_);
    row.terms = terms_;
    row.train_seconds = table.train_seconds;
    if (!data_.is_for_times) {
      const Index last = table.errors.cols - 1;
      const Index oracle = best_ridge(table.errors, last);
      const Index honest = cross_validated_ridge(effort_.folds, [&](Index fold) {
        return greedy_errors(fold_of(setting_, fold, effort_.folds), method, only_last(grid), workers_)
            .errors;
      });
      row.oracle = {table.errors(oracle, last), std::nullopt, ridge_at(oracle)};
      row.honest = {table.errors(honest, last), std::nullopt, ridge_at(honest)};
      Curve curve{"MFGA", {}, std::string(kPaperPart)};
      for (Index t = 0; t <= last; ++t) {
        curve.points.push_back(
            {grid.terms[static_cast<std::size_t>(t)], table.errors(best_ridge(table.errors, t), t)});
      }
      result_.figure.push_back(std::move(curve));
    }
    result_.rows.push_back(std::move(row));
  }

  // What `mfga train` does with nothing but the number of terms: it chooses the ridge by itself, from the
  // training rows, so there is no oracle.
  void run_ours() {
    if (data_.is_for_times) return;
    Curve curve{"MFGA", {}, std::string(kOurPart)};
    const Index most = std::min(terms_, effort_.most_default_terms);
    for (const Index terms : {most, std::max<Index>(1, most / 10)}) {
      const DefaultFit fit = default_fit(setting_, terms, effort_.most_default_rows, workers_.threads());
      MethodRow row = new_row(kOurPart, "MFGA");
      row.paper = std::nullopt;
      row.terms = terms;
      row.candidates = fit.candidates;
      row.honest = {fit.error, std::nullopt, fit.ridge};
      row.train_seconds = fit.seconds;
      result_.rows.push_back(std::move(row));
      curve.points.insert(curve.points.begin(), {terms, fit.error});
    }
    result_.figure.push_back(std::move(curve));
  }

  void run_random(const std::string& name) {
    MethodRow row = new_row(kPaperPart, name);
    const PaperSetting setting = *paper_setting(data_.paper_name, name);
    row.terms = setting.terms;
    row.candidates = setting.candidates;
    row.seeds = data_.is_for_times ? 1 : effort_.seeds;
    const Grid grid = grid_up_to(*setting.terms);
    const paper::Method method = name == "LKRF"   ? paper::Method::kLkrf
                                 : name == "EERF" ? paper::Method::kEerf
                                                  : paper::Method::kRks;
    const auto n_points = static_cast<Index>(grid.terms.size());
    std::vector<std::vector<double>> oracle(grid.terms.size());
    std::vector<double> honest;
    std::vector<double> preprocess;
    std::vector<double> train;
    for (Index seed = 0; seed < row.seeds; ++seed) {
      const RandomMethod random{method, setting.candidates.value_or(*setting.terms), paper_intercept(),
                                static_cast<std::uint64_t>(seed)};
      const ErrorTable table = random_feature_errors(setting_, random, grid, workers_);
      preprocess.push_back(table.preprocess_seconds);
      train.push_back(table.train_seconds);
      if (data_.is_for_times) continue;
      for (Index t = 0; t < n_points; ++t) {
        oracle[static_cast<std::size_t>(t)].push_back(table.errors(best_ridge(table.errors, t), t));
      }
      const Index chosen = cross_validated_ridge(effort_.folds, [&](Index fold) {
        return random_feature_errors(fold_of(setting_, fold, effort_.folds), random, only_last(grid),
                                     workers_)
            .errors;
      });
      honest.push_back(table.errors(chosen, n_points - 1));
    }
    if (setting.candidates) row.preprocess_seconds = median(preprocess);
    row.train_seconds = median(train);
    if (!data_.is_for_times) {
      row.oracle = over_seeds(oracle.back());
      row.honest = over_seeds(honest);
      Curve curve{name, {}, std::string(kPaperPart)};
      for (std::size_t t = 0; t < grid.terms.size(); ++t) {
        const ErrorEstimate estimate = over_seeds(oracle[t]);
        curve.points.push_back({grid.terms[t], estimate.error, estimate.standard_error});
      }
      result_.figure.push_back(std::move(curve));
    }
    result_.rows.push_back(std::move(row));
  }

  void run_kernels() {
    // As many rows as in the paper, if there are. The split by recording, which the paper does not have, gets
    // half of them: an eighth of the time.
    const double paper_rows = *paper_setting(data_.paper_name, "GK")->subsample *
                              static_cast<double>(paper_training_rows(data_.paper_name));
    const bool is_extra = !data_.is_published && !data_.is_for_times;
    const Index wanted = static_cast<Index>(is_extra ? 0.5 * paper_rows : paper_rows);
    const Index n_rows = std::min({wanted, setting_.train.size(), effort_.most_kernel_rows});
    const std::vector<Index> chosen = random_rows(setting_.train.size(), n_rows, 0, RandomStream::kSubsample);
    const KernelErrors errors = kernel_errors(setting_, chosen, paper_intercept(), ridges(), workers_);

    // Cross-validation within the rows that the kernels are trained on.
    std::vector<Matrix> gaussian_folds;
    std::vector<Matrix> both_folds;
    if (!data_.is_for_times) {
      Setting subset = setting_;
      subset.train = {Matrix(n_rows, setting_.train.x.cols), {}};
      for (Index i = 0; i < n_rows; ++i) {
        const Index row = chosen[static_cast<std::size_t>(i)];
        std::copy_n(setting_.train.x.row(row), setting_.train.x.cols, subset.train.x.row(i));
        subset.train.y.push_back(setting_.train.y[static_cast<std::size_t>(row)]);
      }
      for (Index fold = 0; fold < effort_.kernel_folds; ++fold) {
        const Setting split = fold_of(subset, fold, effort_.kernel_folds);
        std::vector<Index> all(static_cast<std::size_t>(split.train.size()));
        std::iota(all.begin(), all.end(), Index{0});
        const KernelErrors fold_errors = kernel_errors(split, all, paper_intercept(), ridges(), workers_);
        gaussian_folds.push_back(fold_errors.gaussian.errors);
        both_folds.push_back(fold_errors.gaussian_and_linear.errors);
      }
    }
    add_kernel_row("GK", errors.gaussian, gaussian_folds, n_rows);
    add_kernel_row("GLK", errors.gaussian_and_linear, both_folds, n_rows);
  }

  void add_kernel_row(const std::string& name, const ErrorTable& table, const std::vector<Matrix>& folds,
                      Index n_rows) {
    MethodRow row = new_row(kPaperPart, name);
    row.subsample = static_cast<double>(n_rows) / static_cast<double>(setting_.train.size());
    row.train_seconds = table.train_seconds;
    if (!data_.is_for_times) {
      const Index oracle = best_ridge(table.errors, 0);
      const Index honest = cross_validated_ridge(static_cast<Index>(folds.size()), [&](Index fold) {
        return folds[static_cast<std::size_t>(fold)];
      });
      row.oracle = {table.errors(oracle, 0), std::nullopt, ridge_at(oracle)};
      row.honest = {table.errors(honest, 0), std::nullopt, ridge_at(honest)};
      result_.figure.push_back({name, {{0, row.oracle->error}}, std::string(kPaperPart)});
    }
    result_.rows.push_back(std::move(row));
  }

  // The paper adds several atoms per step and does not say how many: 20 steps here, 10 where each is a Newton
  // fit.
  [[nodiscard]] Index atoms_per_step(Index terms) const {
    return std::max<Index>(1, terms / (setting_.task == Task::kRegression ? 20 : 10));
  }

  [[nodiscard]] double ridge_at(Index r) const { return effort_.ridges[static_cast<std::size_t>(r)]; }

  static double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  }

  DataSet data_;
  const Setting& setting_;
  const Effort& effort_;
  Workers& workers_;
  DatasetResult& result_;
  Index terms_ = 0;  // the paper's M
};

// What the numbers of a data set say, in words.
std::vector<std::string> remarks_on(const DatasetResult& result) {
  std::vector<std::string> remarks;
  const auto constant = std::find_if(result.rows.begin(), result.rows.end(),
                                     [](const MethodRow& row) { return row.part == kReferencePart; });
  if (constant == result.rows.end()) return remarks;
  const double error = constant->oracle->error;
  std::vector<std::string> worse_ours;
  std::vector<std::string> worse_published;
  for (const MethodRow& row : result.rows) {
    if (row.part != kPaperPart) continue;
    if (row.oracle && row.oracle->error > error) worse_ours.push_back(row.method);
    if (row.paper && row.paper->error && *row.paper->error > error) worse_published.push_back(row.method);
  }
  if (!worse_ours.empty()) {
    remarks.push_back(
        fmt::format("The constant predictor scores {:.3g}: it beats {} under the paper's protocol.", error,
                    fmt::join(worse_ours, ", ")));
  }
  if (!worse_published.empty()) {
    remarks.push_back(
        fmt::format("It also beats the published errors of {}.", fmt::join(worse_published, ", ")));
  }
  return remarks;
}

bool is_done(const DatasetResult& result, const std::string& method) {
  return std::find(result.finished.begin(), result.finished.end(), method) != result.finished.end();
}

}  // namespace

Results reproduce(const ReproduceOptions& options, const Results& earlier,
                  const ReproduceCallbacks& callbacks) {
  const auto start = Clock::now();
  const SingleThreadedBlas blas;
  Workers workers(options.threads);
  const Effort effort = effort_of(options);
  Results results = earlier;
  results.mfga_version = version();
  results.quick = options.quick;
  results.cores = workers.threads();

  std::vector<DataSetLoader> loaders;
  for (const std::string& name : options.data_sets.empty() ? data_set_names() : options.data_sets) {
    for (DataSetLoader& loader : data_set_loaders(name, effort.load)) loaders.push_back(std::move(loader));
  }
  double total_weight = 0;
  for (const Job& job : jobs()) total_weight += job.weight * static_cast<double>(loaders.size());
  double weight = 0;         // of what is done
  double weight_before = 0;  // of it, by an earlier run

  for (const DataSetLoader& loader : loaders) {
    auto found = std::find_if(results.datasets.begin(), results.datasets.end(),
                              [&](const DatasetResult& result) { return result.name == loader.name; });
    if (found == results.datasets.end())
      found = results.datasets.insert(results.datasets.end(), DatasetResult{});
    const bool complete = std::all_of(jobs().begin(), jobs().end(),
                                      [&](const Job& job) { return is_done(*found, job.method); });
    std::optional<DataSetRun> run;
    if (!complete) run.emplace(loader.load(workers), effort, workers, *found);
    for (const Job& job : jobs()) {
      if (is_done(*found, job.method)) {
        weight_before += job.weight;
      } else {
        const double fresh = weight - weight_before;
        const double rate = fresh > 0 ? seconds_since(start) / fresh : 0;
        if (callbacks.progress) {
          callbacks.progress(
              {loader.name, job.method, weight / total_weight, rate * (total_weight - weight)});
        }
        run->run(job.method);
        found->finished.push_back(job.method);
        found->remarks = remarks_on(*found);
        results.total_seconds = earlier.total_seconds + seconds_since(start);
        if (callbacks.save) callbacks.save(results);
      }
      weight += job.weight;
    }
  }
  results.total_seconds = earlier.total_seconds + seconds_since(start);
  return results;
}

}  // namespace mfga::repro
