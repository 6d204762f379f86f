// A model from sums alone: the gram engine, with rows that stand for all others where only their number and
// their targets' mean and spread are asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mfga/error.hpp"
#include "model/fit_record.hpp"
#include "model/learners.hpp"
#include "model/option_table.hpp"
#include "model/scoring.hpp"
#include "model/statistics_parts.hpp"
#include "model/with_workers.hpp"

namespace mfga {
namespace {

using SumsOfFolds = std::vector<std::shared_ptr<const GramSums>>;

// Two rows without inputs that have the weight of all of these, and the mean and the spread of their targets:
// whatever of the search does not come from the engine depends on nothing else.
PreparedData stand_in(const SumsOfFolds& sums, const Plan& plan, const std::vector<Output>& outputs) {
  double weight = 0;
  double sum = 0;
  double square = 0;
  for (const auto& part : sums) {
    weight += part->rows;
    sum += part->target_sum;
    square += part->target_square;
  }
  const double mean = sum / weight;
  const double spread = std::sqrt(std::max(0.0, square / weight - mean * mean));
  PreparedTarget target;
  target.loss = plan.loss;
  target.values = {mean - spread, mean + spread};
  target.outputs = outputs;
  const BlockedRows rows(TableView(ConstMatrixView{nullptr, 2, 0}), {});
  return {.target = std::move(target),
          .inputs = {},
          .text_columns = {},
          .rows = rows.weighted({weight / 2, weight / 2}),
          .intercept = plan.intercept};
}

// The sums of targets as they are, in place of those less a number.
void add_to_targets(double number, GramSums& sums) {
  for (std::size_t j = 0; j < sums.sums.size(); ++j) sums.target_products[j] += number * sums.sums[j];
  sums.target_square += number * (2 * sums.target_sum + number * sums.rows);
  sums.target_sum += number * sums.rows;
}

class FitOfSums {
 public:
  FitOfSums(Model model, const Candidates& candidates, const Plan& plan, Workers& workers, Control& control)
      : model_(std::move(model)),
        candidates_(candidates),
        plan_(plan),
        workers_(workers),
        control_(control),
        work_{plan, workers, control, report_, best_, model_.formula_names(), {}} {}

  FitResult run(const std::vector<ExactGram>& exact) {
    SumsOfFolds sums;
    {
      const Control::NoStop until_there_is_something(control_);
      for (const ExactGram& fold : exact) {
        if (!fold.has_rows()) continue;
        const std::shared_ptr<GramSums> own = fold.rounded(workers_);
        if (plan_.intercept == Intercept::kNone) add_to_targets(model_.outputs.front().intercept, *own);
        sums.push_back(own);
      }
    }
    if (plan_.intercept == Intercept::kNone) model_.outputs.front().intercept = 0;
    const PreparedData data = stand_in(sums, plan_, model_.outputs);
    report_.rows = model_.training.rows;
    report_.select = option_text(FitOptions{.select = plan_.select}, fit_option_table(), "select");
    report_.prepare_seconds = work_.lap();

    GreedyTask task = whole_task(work_, plan_.penalty);
    if (plan_.chooses_terms) task.terms = kUsualTerms;  // until held-out rows have chosen
    if (plan_.validation) validate(sums, task);
    task.engine = EngineKind::kGram;
    task.sums = sums;
    task.refines = plan_.options.refine;
    task.deadline = plan_.times.deadline();
    task.keeps_what_there_is = true;
    task.on_step = [&](const GreedyStep& step, const ActiveSet& active) {
      work_.show_search(active.size(), step.risk);
    };
    Learned learned = learn_greedily(work_, data, candidates_, task);
    learned.features = model_.training.features;
    report_.fit_seconds = work_.lap();
    report_.stopped = control_.is_stopped();
    learned.tell(data.target, model_, report_);
    model_.training.ridge = learned.ridge;
    model_.training.risk = learned.risk;
    check_finite(model_);
    FitResult result{std::move(model_), std::move(report_)};
    if (!validation_.ridges.empty()) result.cross_validation = std::move(validation_);
    result.model.training.fit = record_of(result, plan_.times.seconds());
    return result;
  }

 private:
  // Each fold is held out once.
  void validate(const SumsOfFolds& sums, GreedyTask& task) {
    const Index most = std::min(plan_.terms, candidates_.size());
    CrossValidation validation;
    validation.ridges = plan_.validation->ridges;
    validation.terms = path_terms(most, plan_.per_step);
    validation.measure = plan_.loss->measure();
    try {
      std::vector<SumsOfFolds> others(sums.size(), sums);
      std::vector<PreparedData> training;
      for (std::size_t fold = 0; fold < sums.size(); ++fold) {
        others[fold].erase(others[fold].begin() + static_cast<std::ptrdiff_t>(fold));
        training.push_back(stand_in(others[fold], plan_, model_.outputs));
      }
      std::vector<GramFold> folds;
      for (std::size_t fold = 0; fold < sums.size(); ++fold)
        folds.push_back({training[fold].problem(workers_), others[fold], sums[fold]});
      const FoldLosses losses =
          gram_path_losses(folds, candidates_, validation.ridges, plan_.search_options(plan_.penalty),
                           [&](double part) { work_.show_validation(part); });
      summarise(losses, 1, plan_.chooses_terms ? std::optional(plan_.options.choose) : std::nullopt,
                validation);
    } catch (const OutOfTime&) {
      report_.cut_short.push_back(fmt::format("the choice of the ridge (it is {:g})", plan_.penalty.ridge));
      return;
    }
    report_.validate_seconds = work_.lap();
    validation.seconds = report_.validate_seconds;
    validation_ = std::move(validation);
    task.penalty.ridge = validation_.chosen.ridge;
    if (!plan_.chooses_terms) return;
    task.terms = validation_.chosen.terms;
    report_.sizes = tried_sizes(validation_);
  }

  Model model_;
  const Candidates& candidates_;
  const Plan& plan_;
  Workers& workers_;
  Control& control_;
  FitReport report_;
  CrossValidation validation_;
  BestOfSomeRows best_;
  Work work_;
};

}  // namespace

FitResult Statistics::fit(const FitOptions& options, const ProgressCallback& progress,
                          ThreadPool* pool) const {
  check_fit_options(options);
  const Parts& parts = *parts_;
  if (rows() < kFewestRows || std::ranges::none_of(parts.sums, &ExactGram::has_rows)) {
    throw Error(ErrorKind::kBadData,
                fmt::format("the statistics are of {} rows; at least {} are needed", rows(), kFewestRows));
  }
  if (!options.features.empty() && options.features != features()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`features` is {}, and the statistics are of {}; the dictionary is set when they "
                            "are made",
                            options.features, features()));
  }
  const double needed = statistics_bytes(static_cast<double>(candidates()), static_cast<double>(folds()));
  const double limit = memory_limit_bytes(options);
  if (needed > limit) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("a fit from these statistics needs {:.1f} MiB; the limit is {:.1f} MiB. Raise "
                            "`memory_limit`, or make statistics of a smaller dictionary",
                            needed * 0x1p-20, limit * 0x1p-20));
  }
  FitOptions own = options;
  own.tune = Tuning::none();
  constexpr Index kFewestToHoldOut = 50;
  const auto filled = std::ranges::count_if(parts.sums, &ExactGram::has_rows);
  const bool can_validate = rows() >= kFewestToHoldOut && filled == folds();
  Plan plan = make_plan(PlannedData{Task::kRegression, find_loss("squared"), 1, can_validate}, own, {});
  if (plan.validation) {
    check_folds(rows(), folds());
    if (filled < folds()) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{} of {} folds have no rows yet, so there is nothing to hold out; give a `ridge`, "
                      "or add more rows",
                      folds() - filled, folds()));
    }
    plan.validation->folds = folds();
    plan.validation->used_folds = 0;
    plan.validation->most_rows = 0;
  }
  return with_workers(options.threads > 0 ? options.threads : parts.threads, progress, pool,
                      [&](Workers& workers, Control& control) {
                        FitOfSums fit(parts.model, *parts.candidates, plan, workers, control);
                        FitResult result = fit.run(parts.sums);
                        result.report.dropped_columns = parts.dropped_columns;
                        return result;
                      });
}

}  // namespace mfga
