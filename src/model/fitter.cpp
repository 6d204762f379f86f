#include "model/fitter.hpp"

#include <numeric>

#include "data/scale_inputs.hpp"
#include "mfga/error.hpp"
#include "model/fit_checks.hpp"
#include "model/scoring.hpp"
#include "solve/leverage.hpp"

namespace mfga {
namespace {

Penalty penalty_of(const FitOptions& options) {
  return {options.norm_bound > 0 ? 0 : options.ridge, options.norm_bound};
}

}  // namespace

Fitter::Fitter(const TrainingData& data, const FitOptions& options)
    : data_(data),
      options_(options),
      workers_(options.threads),
      start_(Clock::now()),
      settings_(resolve_settings(options, resolve_task(options.task, data))),
      target_(prepare_target(data, resolve_task(options.task, data), settings_.scale_target_by_range,
                             settings_.intercept)),
      standard_(fit_standardisation(data.x, workers_, data.columns)),
      inputs_(scale_inputs(standard_.inputs, resolve_scales(options, data.x, standard_.inputs, workers_),
                           data.x, options.seed, workers_)),
      rows_(data.x, inputs_),
      penalty_(penalty_of(options)) {
  if (standard_.inputs.empty()) {
    throw Error(ErrorKind::kBadData,
                "every column is constant on the training rows; there is nothing to learn from");
  }
  report().rows = data.x.rows;
  for (const Index column : standard_.constant_columns) {
    report().dropped_columns.push_back(column_name(data, column));
  }
  if (options.preset != "paper") text_columns_ = text_columns_of_inputs();
  start_model();
}

Fitter::Fitter(const Fitter& whole, const FitOptions& options, const std::vector<Index>& rows,
               std::function<void(const ScoreFunction&)> on_model)
    : data_(whole.data_),
      options_(options),
      workers_(options.threads),
      start_(Clock::now()),
      settings_(whole.settings_),
      target_(whole.target_),
      standard_(whole.standard_),
      inputs_(whole.inputs_),
      rows_(whole.rows_.subset(rows)),
      penalty_(penalty_of(options)),
      whole_(&whole),
      on_model_(std::move(on_model)) {
  target_.values = values_of(whole.target_.values, rows);
  start_model();
}

CrossValidatedFit Fitter::run_cross_validation(const CrossValidationOptions& options,
                                               const ProgressCallback& progress) {
  validation_ = &options;
  FitResult result = run(progress);
  return {std::move(result), std::move(cross_validation_)};
}

FitResult Fitter::run(const ProgressCallback& progress) {
  progress_ = progress;
  if (options_.method == "mfga") {
    learn_greedily();
  } else if (options_.method == "gk" || options_.method == "glk") {
    learn_with_kernel();
  } else {
    learn_random_features();
  }
  return std::move(result_);
}

void Fitter::start_model() {
  model().task = target_.task;
  model().target_name = data_.target_name;
  model().target_shift = target_.shift;
  model().target_scale = target_.scale;
  model().labels = target_.labels;
  model().n_columns = data_.x.cols;
  model().unnamed_columns = data_.unnamed_columns;
  model().text_columns = data_.text_columns;
  for (const InputColumn& input : inputs_) {
    model().inputs.push_back(
        {column_name(data_, input.column), input.column, input.mean, input.deviation, input.warp});
  }
}

std::vector<Index> Fitter::text_columns_of_inputs() const {
  std::vector<Index> result;
  if (data_.text_columns.empty()) return result;
  for (const InputColumn& input : inputs_) {
    const TextColumn* const text = origin_of(input.column, data_.text_columns).text;
    result.push_back(text == nullptr ? Index{-1} : text - data_.text_columns.data());
  }
  return result;
}

void Fitter::find_width() {
  if (whole_ != nullptr) {
    report().auto_sigma = whole_->result_.report.auto_sigma;
    return;
  }
  const KernelWidth width = width_by(width_rule(), rows_, options_.seed, workers_);
  report().auto_sigma_rule = width_rule() == WidthRule::kPaper
                                 ? "mean distance to the 50th neighbour"
                                 : "mean distance within which a row has 5 % of the others";
  report().auto_sigma = width.sigma;
  report().auto_sigma_error = width.standard_error;
  report().auto_sigma_queries = width.queries;
}

double Fitter::width_of_kernel() {
  const SigmaChoice choice = parse_sigma(options_.sigma);
  if (choice.automatic) find_width();
  return choice.resolve(report().auto_sigma);
}

double Fitter::held_out_loss(const std::vector<Index>& rows, const ScoreFunction& score) {
  const BlockedRows held_out = rows_.subset(rows);
  const std::vector<double> targets = values_of(target_.values, rows);
  return loss_sum({held_out, targets, *target_.loss, settings_.intercept, workers_}, score) /
         static_cast<double>(held_out.rows());
}

void Fitter::add_terms(const ActiveSet& active) {
  for (std::size_t i = 0; i < active.atoms.size(); ++i)
    model().terms.push_back({active.atoms[i], active.theta[i]});
  model().intercept = active.intercept + target_.offset;
}

void Fitter::record_one_step(double risk, double ridge, int newton_steps) {
  report().initial_risk = risk_of_constant();
  PathStep step{
      {}, {}, static_cast<Index>(model().terms.size()), risk, 0, ridge, report().fit_seconds, newton_steps};
  report().path.push_back(std::move(step));
}

double Fitter::risk_of_constant() {
  const auto n_rows = static_cast<double>(rows_.rows());
  double constant = 0;
  if (settings_.intercept == Intercept::kUnpenalised) {
    constant = target_.loss->best_constant(
        std::accumulate(target_.values.begin(), target_.values.end(), 0.0) / n_rows);
  }
  return loss_sum(problem(), ScoreFunction({}, {}, constant)) / n_rows;
}

ScoreFunction Fitter::score_of(const Model& model) const {
  std::vector<Atom> atoms;
  std::vector<double> coefficients;
  for (const Term& term : model.terms) {
    atoms.push_back(term.atom);
    coefficients.push_back(term.coefficient);
  }
  return {atoms, coefficients, model.intercept - target_.offset};
}

Deadline Fitter::deadline(double part) const {
  if (options_.time_limit == 0) return kNever;
  return start_ + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(part * options_.time_limit));
}

double Fitter::lap() {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - lap_start_).count();
  lap_start_ = now;
  return seconds;
}

void Fitter::show_validation(double part) const {
  if (part >= 1) return;
  stop_if_over(deadline(kPartOfValidation));
  if (!progress_) return;
  Progress state;
  state.validated = part;
  state.seconds = seconds_since(start_);
  if (!progress_(state)) throw Error(ErrorKind::kInterrupted, "training was interrupted");
}

void Fitter::warn_of_leverage(const ActiveSet& active, const Refit& refit, double ridge) {
  if (whole_ != nullptr || active.size() == 0) return;
  if (is_over(deadline())) {
    report().cut_short.emplace_back("the search for rows that decide their own fit");
    return;
  }
  const auto begin = Clock::now();
  add_warnings(leverage_warnings(high_leverages(problem(), active, refit.hessian(ridge), options_.seed),
                                 data_, standard_.inputs));
  report().leverage_seconds = seconds_since(begin);
}

void Fitter::add_warnings(const std::vector<std::string>& warnings) {
  report().warnings.insert(report().warnings.end(), warnings.begin(), warnings.end());
}

void Fitter::finish(double ridge, double risk, bool converged) {
  if (rows_.mixing() != nullptr) model().mixing = *rows_.mixing();
  if (whole_ == nullptr && target_.task == Task::kClassification)
    add_warnings(separation_warnings(problem(), score_of(model()), risk, converged));
  int tuning_steps = 0;
  for (const PathStep& step : report().path) tuning_steps += step.tuning_steps;
  model().training = {rows_.rows(), report().features, ridge, options_.norm_bound, risk, tuning_steps};
  if (whole_ == nullptr) check_finite(model());
}

}  // namespace mfga
