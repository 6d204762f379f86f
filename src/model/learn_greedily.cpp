// The method of the paper: selection from the dictionary, with what belongs to it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/clock.hpp"
#include "model/learners.hpp"
#include "solve/kernel_weights.hpp"
#include "solve/set_search.hpp"

namespace mfga {
namespace {

// Those with the smallest loss on held-out rows, with the ridge that was given.
std::shared_ptr<const Candidates> best_of_candidates(
    Work& work, const PreparedData& data, const std::vector<std::shared_ptr<const Candidates>>& all) {
  const Folds folds = data.folds(work.plan, CrossValidationOptions());
  refuse_folds_of_one_class(data, folds);
  GreedyTask task = whole_task(work, work.plan.penalty);
  task.refines = work.plan.options.refine;
  task.on_step = [&](const GreedyStep&, const ActiveSet&) {
    stop_if_over(work.plan.times.deadline(Timetable::kPartOfValidation));
  };
  std::shared_ptr<const Candidates> best;
  double best_loss = std::numeric_limits<double>::infinity();
  for (const auto& candidates : all) {
    double loss = 0;
    for (Index fold = 0; fold < folds.count(); ++fold) {
      double of_fold = 0;
      const auto learn = [&] {
        const PreparedData training = data.subset(folds.training(fold), &work.workers);
        const Learned learned = learn_greedily(work, training, *candidates, task);
        of_fold = mean_loss(data.subset(folds.held_out(fold)), learned.score(), work.workers);
      };
      journaled(work.journal, "fold with weights", learn, of_fold);
      loss += of_fold / static_cast<double>(folds.count());
    }
    if (!best || loss < best_loss) {
      best = candidates;
      best_loss = loss;
    }
  }
  return best;
}

void record_path(const GreedyResult& greedy, const Candidates& candidates,
                 const std::vector<std::string>& names, Learned& learned) {
  const auto text = [&](Index candidate) { return describe(candidates.atom(candidate), names).text; };
  Index terms = 0;
  for (const GreedyStep& step : greedy.path) {
    terms += static_cast<Index>(step.added.size()) - static_cast<Index>(step.removed.size());
    PathStep& out = learned.path.emplace_back(PathStep{
        {}, {}, terms, step.risk, step.largest_gradient, step.ridge, step.seconds, step.newton_steps});
    for (const Index candidate : step.added) out.added.push_back(text(candidate));
    for (const Index candidate : step.removed) out.removed.push_back(text(candidate));
  }
  for (const Index candidate : greedy.dependent) learned.dependent_atoms.push_back(text(candidate));
}

}  // namespace

void find_width(Work& work, const PreparedData& data) {
  const KernelWidth width = width_by(work.plan.width_rule, data.rows, work.plan.options.seed, work.workers);
  work.report.auto_sigma_rule = work.plan.width_rule == WidthRule::kPaper
                                    ? "mean distance to the 50th neighbour"
                                    : "mean distance within which a row has 5 % of the others";
  work.report.auto_sigma = width.sigma;
  work.report.auto_sigma_error = width.standard_error;
  work.report.auto_sigma_queries = width.queries;
}

std::shared_ptr<const Candidates> make_candidates(Work& work, const PreparedData& data,
                                                  const Dictionary& dictionary) {
  const FitOptions& options = work.plan.options;
  const CandidateContext context{data.rows.inputs(), work.report.auto_sigma, options.seed,
                                 &data.rows,         data.text_columns,      &work.workers};
  auto candidates = std::make_shared<Candidates>(dictionary, context);
  if (work.plan.normalises()) {
    candidates->normalise(data.rows, data.intercept == Intercept::kUnpenalised, work.workers);
    return candidates;
  }
  const auto weighted = [&](std::vector<double> weights) {
    // A kernel without any weight would not be a part of the dictionary at all.
    constexpr double kSmallest = 1e-6;
    const double largest = *std::max_element(weights.begin(), weights.end());
    for (double& weight : weights) weight = largest > 0 ? std::max(weight, kSmallest * largest) : 1;
    return std::make_shared<const Candidates>(dictionary, context, weights);
  };
  const Problem problem = data.problem(work.workers);
  const auto by_norm = [&] { return weighted(norm_weights(problem, *candidates)); };
  const auto by_alignment = [&] {
    return weighted(alignment_weights_of_kernels(problem, *candidates, options.seed));
  };
  if (options.nu == KernelWeights::kNorm) return by_norm();
  if (options.nu == KernelWeights::kAlignment) return by_alignment();
  if (options.nu == KernelWeights::kCrossValidated) {
    try {
      return best_of_candidates(work, data, {candidates, by_norm(), by_alignment()});
    } catch (const OutOfTime&) {
      work.report.cut_short.emplace_back("the choice of the kernels' weights (they are uniform)");
    }
  }
  return candidates;
}

GreedyTask whole_task(const Work& work, const Penalty& penalty) {
  GreedyTask task;
  task.penalty = penalty;
  task.terms = work.plan.terms;
  return task;
}

Learned learn_greedily(Work& work, const PreparedData& data, const Candidates& candidates,
                       const GreedyTask& task) {
  const Plan& plan = work.plan;
  const BlockedRows rows = task.engine == EngineKind::kGram ? data.rows : data.rows.kept(work.workers);
  Problem problem = data.problem(work.workers).with_rows(rows);
  std::unique_ptr<DeviceProblem> own_device;
  if (task.known_engine == nullptr && task.engine != EngineKind::kGram)
    own_device = DeviceProblem::if_worthwhile(problem, candidates.size());
  problem.device = own_device ? own_device.get() : task.known_device;
  std::unique_ptr<Engine> own_engine;
  if (task.known_engine == nullptr) {
    own_engine = task.engine != EngineKind::kGram
                     ? make_lazy_engine(problem, candidates, plan.options.precision, work.most_kept_bytes)
                 : task.sums.empty() ? make_gram_engine(problem, candidates)
                                     : make_gram_engine(task.sums);
  }
  Engine& engine = own_engine != nullptr ? *own_engine : *task.known_engine;
  GreedyOptions options = plan.search_options(task.penalty);
  options.terms = task.terms;
  options.deadline = task.deadline;
  options.keeps_what_there_is = task.keeps_what_there_is;
  options.journal = task.journal;
  const RefitFactory new_refit = [&] { return make_refit(problem, task.penalty); };
  std::unique_ptr<Refit> refit = new_refit();
  GreedyResult greedy;
  const auto unit = [&](std::string_view label, const std::function<void()>& compute) {
    journaled_as(task.journal, label, compute, [&](Archive& bytes) {
      bool has_own_refit = greedy.refit != nullptr;
      bytes(greedy, has_own_refit);
      if (bytes.is_loading() && has_own_refit) greedy.refit = new_refit();
      Refit& own_refit = *(greedy.refit ? greedy.refit : refit);
      own_refit.archive(bytes);
      engine.archive(bytes);
      if (!bytes.is_loading()) return;
      // The refit of a search that was cut knows of other atoms, and is not asked.
      Archive::require(
          is_possible(greedy.active, problem, candidates.size(), std::max(task.terms, task.start.size())) &&
          has_possible_steps(greedy, candidates.size()) &&
          (greedy.search_is_cut || own_refit.is_of(greedy.active.size())));
    });
  };
  unit("search", [&] {
    greedy = plan.options.search == Search::kHardThresholding
                 ? run_hard_thresholding(problem, candidates, engine, new_refit, options, task.on_step)
                 : run_greedy(problem, candidates, engine, *refit, options, task.on_step, task.start);
  });
  if (task.refines && greedy.search_is_cut) greedy.refine_is_cut = true;
  if (task.refines && !greedy.search_is_cut) {
    const double refine_start = plan.times.seconds();
    unit("swaps", [&] { refine(problem, candidates, engine, new_refit, options, task.on_step, greedy); });
    work.report.refine_seconds = plan.times.seconds() - refine_start;
  }
  Learned learned;
  learned.engine = engine_name(task.engine);
  learned.candidates = candidates.size();
  learned.sigmas = candidates.sigmas();
  learned.kernel_weights.assign(candidates.weights().begin(), candidates.weights().end());
  learned.active = std::move(greedy.active);
  learned.initial_risk = greedy.initial_risk;
  learned.risk = greedy.path.empty() ? greedy.initial_risk : greedy.path.back().risk;
  learned.ridge = greedy.path.empty() ? task.penalty.ridge : greedy.path.back().ridge;
  learned.converged = greedy.converged;
  if (greedy.refit) refit = std::move(greedy.refit);
  // Where the search was ended in the midst of a step, the refit knows of atoms that are not in the model.
  if (!greedy.search_is_cut && problem.outputs() == 1) learned.hessian = refit->hessian(learned.ridge);
  record_path(greedy, candidates, work.names, learned);
  if (!task.keeps_what_there_is) return learned;

  // This is the fit of all rows.
  FitReport& report = work.report;
  report.gradient_seconds = greedy.seconds.gradient;
  report.products_seconds = greedy.seconds.products;
  report.refit_seconds = greedy.seconds.refit;
  report.gradient_passes = greedy.gradient_passes;
  if (greedy.refine_is_cut) report.cut_short.emplace_back("the swaps of `refine`");
  const Index wanted = std::min(task.terms, candidates.size());
  if (greedy.search_is_cut && !plan.grows_step_by_step()) {
    report.cut_short.emplace_back("the search (the terms were still changing)");
  } else if (greedy.search_is_cut && learned.active.size() < wanted) {
    // Only a search that grows step by step lacks terms when it is cut.
    report.cut_short.push_back(fmt::format("the search ({} of {} terms)", learned.active.size(), wanted));
  }
  return learned;
}

}  // namespace mfga
