// The method of the paper: selection from the dictionary, with what belongs to it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/fit_checks.hpp"
#include "model/fitter.hpp"
#include "solve/kernel_weights.hpp"
#include "solve/set_search.hpp"

namespace mfga {

void Fitter::learn_greedily() {
  // Before the metric changes the rows: what is chosen and its parts belong together.
  dictionaries_ = settings_.features.empty() ? automatic_dictionaries(rows_)
                                             : AutomaticDictionaries{{settings_.features}, 0};
  settings_.features = dictionaries_.list[dictionaries_.whole];
  // The dictionary's size is known, and refused if need be, before any work is done.
  const Dictionary dictionary(settings_.features);
  report().features = settings_.features;
  const ProblemSize size{static_cast<double>(rows_.rows()), dictionary.candidates(rows_.inputs()),
                         static_cast<double>(options_.terms), static_cast<double>(options_.per_step),
                         precision()};
  report().engine = choose_engine(options_, size, engine_costs(size), target_.loss->is_quadratic());
  if (options_.metric != "none" && whole_ == nullptr) {
    try {
      learn_metric_of_inputs(dictionary);
    } catch (const OutOfTime&) {
      report().cut_short.emplace_back("the learned metric");
    }
  }
  if (dictionary.needs_sigma()) find_width();
  candidates_ = whole_ != nullptr ? whole_->candidates_ : make_candidates(dictionary);
  const Candidates& candidates = *candidates_;
  report().prepare_seconds = lap();
  report().select = settings_.select;
  std::vector<std::shared_ptr<const GramSums>> sums_of_folds;
  if (validation_ != nullptr) {
    const Index terms = std::min(options_.terms, candidates.size());
    choose_ridge(grows_step_by_step() ? path_terms(terms, options_.per_step) : std::vector<Index>{terms},
                 [&](const Folds& folds) {
                   return report().engine == "gram" && grows_step_by_step()
                              ? losses_by_gram(folds, candidates, sums_of_folds)
                              : losses_by_fits(folds);
                 });
    // Without sums from the validation, the gram engine would have a long first pass that nothing ends early.
    if (cross_validation_.ridges.empty() && sums_of_folds.empty()) report().engine = "lazy";
  }

  if (options_.tune != "no" && whole_ == nullptr) {
    if (learn_tuned()) return;
    if (report().features != settings_.features) {  // a part of it does as well
      candidates_ = make_candidates(Dictionary(report().features));
      sums_of_folds.clear();
    }
  }
  learn_in_steps(std::move(sums_of_folds));
}

void Fitter::learn_in_steps(std::vector<std::shared_ptr<const GramSums>> sums_of_folds) {
  const Candidates& candidates = *candidates_;
  report().candidates = candidates.size();
  report().sigmas = candidates.sigmas();
  report().kernel_weights.assign(candidates.weights().begin(), candidates.weights().end());
  const auto fit_start = Clock::now();
  const auto engine = report().engine != "gram" ? make_lazy_engine(problem(), candidates, precision())
                      : sums_of_folds.empty()   ? make_gram_engine(problem(), candidates)
                                                : make_gram_engine(std::move(sums_of_folds));
  const Index terms_wanted = std::min(options_.terms, candidates.size());
  GreedyOptions greedy_options = search_options();
  greedy_options.deadline = deadline();
  const StepCallback on_step = [&](const GreedyStep& step, const ActiveSet& active) {
    if (on_model_) on_model_(active.score());
    return !progress_ || progress_({active.size(), terms_wanted, step.risk, step.seconds});
  };
  const RefitFactory new_refit = [&] { return make_refit(); };
  const std::unique_ptr<Refit> refit = make_refit();
  GreedyResult greedy =
      options_.search == "htp"
          ? run_hard_thresholding(problem(), candidates, *engine, new_refit, greedy_options, on_step)
          : run_greedy(problem(), candidates, *engine, *refit, greedy_options, on_step);
  if (options_.refine == "yes") {
    const auto refine_start = Clock::now();
    refine(problem(), candidates, *engine, new_refit, greedy_options, on_step, greedy);
    report().refine_seconds = seconds_since(refine_start);
  }
  if (greedy.refine_is_cut) report().cut_short.emplace_back("the swaps of --refine");
  if (greedy.search_is_cut) {
    // Only a search that grows step by step lacks terms when it is cut.
    if (!grows_step_by_step()) {
      report().cut_short.emplace_back("the search (the terms were still changing)");
    } else if (greedy.active.size() < terms_wanted) {
      report().cut_short.push_back(
          fmt::format("the search ({} of {} terms)", greedy.active.size(), terms_wanted));
    }
  }
  report().fit_seconds = seconds_since(fit_start);
  report().gradient_seconds = greedy.seconds.gradient;
  report().products_seconds = greedy.seconds.products;
  report().refit_seconds = greedy.seconds.refit;
  report().gradient_passes = greedy.gradient_passes;
  report().initial_risk = greedy.initial_risk;
  add_terms(greedy.active);
  record_path(greedy, candidates);
  const double ridge = greedy.path.empty() ? penalty_.ridge : greedy.path.back().ridge;
  warn_of_leverage(greedy.active, greedy.refit ? *greedy.refit : *refit, ridge);
  if (whole_ == nullptr) {
    static_cast<void>(lap());
    try {
      check_stability();
    } catch (const OutOfTime&) {
      report().cut_short.emplace_back("the check of stability");
    }
    report().stability_seconds = lap();
  }
  finish(ridge, greedy.path.empty() ? greedy.initial_risk : greedy.path.back().risk, greedy.converged);
}

void Fitter::check_stability() {
  constexpr Index kMostTerms = 10;
  constexpr Index kFewestRowsOfAHalf = 50;
  const Folds halves(rows_.rows(), 2, options_.seed);
  if (rows_.rows() < 2 * kFewestRowsOfAHalf || options_.search != "greedy") return;
  FitOptions options = options_;
  options.terms = std::min(kMostTerms, options_.terms);
  options.per_step = std::min(options_.per_step, options.terms);
  options.refine = "no";
  options.engine = "lazy";
  options.ridge = penalty_.ridge;
  options.time_limit = 0;
  // It takes about as long as so many terms of the fit did.
  if (options_.time_limit > 0) {
    const double part = static_cast<double>(options.terms) / static_cast<double>(options_.terms);
    stop_if_over(deadline() - std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(part * report().fit_seconds)));
  }
  const ProgressCallback in_time = [&](const Progress& state) {
    stop_if_over(deadline());
    if (!progress_) return true;
    Progress shown = state;
    shown.phase = "checking stability";
    shown.seconds = seconds_since(start_);
    return progress_(shown);
  };
  std::vector<std::vector<Atom>> atoms;
  for (Index half = 0; half < 2; ++half) {
    const std::vector<Index>& rows = halves.held_out(half);
    const std::vector<double> targets = values_of(target_.values, rows);
    if (std::ranges::count(targets, targets.front()) == std::ssize(targets)) return;
    atoms.emplace_back();
    for (const Term& term : Fitter(*this, options, rows, {}).run(in_time).model.terms)
      atoms.back().push_back(term.atom);
  }
  if (atoms[0].empty() || atoms[1].empty()) return;
  report().stability = share_found_again(problem(), atoms[0], atoms[1]);
  constexpr double kUnstable = 0.5;
  if (report().stability >= kUnstable) return;
  report().warnings.push_back(fmt::format(
      "the choice of terms is not stable: of the first {} terms learned from one half of the rows, and "
      "from the other, {:.0f} % are found again in the other half's. Read the formula with care; more "
      "rows, fewer terms or a larger --ridge help",
      options.terms, 100 * report().stability));
}

GreedyOptions Fitter::search_options() const {
  return {options_.terms, options_.per_step, options_.tolerance, penalty_, settings_.selection};
}

std::shared_ptr<const Candidates> Fitter::make_candidates(const Dictionary& dictionary) {
  const CandidateContext context{rows_.inputs(), report().auto_sigma, options_.seed, &rows_, text_columns_};
  auto candidates = std::make_shared<Candidates>(dictionary, context);
  if (settings_.select == "normalised" || options_.search == "htp") {
    candidates->normalise(rows_, settings_.intercept == Intercept::kUnpenalised, workers_);
    return candidates;
  }
  const auto weighted = [&](std::vector<double> weights) {
    // A kernel without any weight would not be a part of the dictionary at all.
    constexpr double kSmallest = 1e-6;
    const double largest = *std::max_element(weights.begin(), weights.end());
    for (double& weight : weights) weight = largest > 0 ? std::max(weight, kSmallest * largest) : 1;
    return std::make_shared<const Candidates>(dictionary, context, weights);
  };
  const auto by_norm = [&] { return weighted(norm_weights(problem(), *candidates)); };
  const auto by_alignment = [&] {
    return weighted(alignment_weights_of_kernels(problem(), *candidates, options_.seed));
  };
  if (options_.nu == "norm") return by_norm();
  if (options_.nu == "alignment") return by_alignment();
  if (options_.nu == "cv") {
    try {
      return best_of_candidates({candidates, by_norm(), by_alignment()});
    } catch (const OutOfTime&) {
      report().cut_short.emplace_back("the choice of the kernels' weights (they are uniform)");
    }
  }
  return candidates;
}

std::shared_ptr<const Candidates> Fitter::best_of_candidates(
    const std::vector<std::shared_ptr<const Candidates>>& all) {
  const CrossValidationOptions defaults;
  FitOptions options = options_;
  options.time_limit = 0;
  const ProgressCallback in_time = [&](const Progress&) {
    stop_if_over(deadline(kPartOfValidation));
    return true;
  };
  const Folds folds(rows_.rows(), defaults.folds, options_.seed);
  refuse_folds_of_one_class(folds);
  std::shared_ptr<const Candidates> best;
  double best_loss = std::numeric_limits<double>::infinity();
  for (const auto& candidates : all) {
    candidates_ = candidates;
    double loss = 0;
    for (Index fold = 0; fold < folds.count(); ++fold) {
      const Model model = Fitter(*this, options, folds.training(fold), {}).run(in_time).model;
      loss += held_out_loss(folds.held_out(fold), score_of(model)) / static_cast<double>(folds.count());
    }
    if (!best || loss < best_loss) {
      best = candidates;
      best_loss = loss;
    }
  }
  return best;
}

void Fitter::record_path(const GreedyResult& greedy, const Candidates& candidates) {
  const std::vector<std::string> names = model().formula_names();
  const auto text = [&](Index candidate) { return describe(candidates.atom(candidate), names).text; };
  Index terms = 0;
  for (const GreedyStep& step : greedy.path) {
    terms += static_cast<Index>(step.added.size()) - static_cast<Index>(step.removed.size());
    PathStep& out = report().path.emplace_back(PathStep{
        {}, {}, terms, step.risk, step.largest_gradient, step.ridge, step.seconds, step.newton_steps});
    for (const Index candidate : step.added) out.added.push_back(text(candidate));
    for (const Index candidate : step.removed) out.removed.push_back(text(candidate));
  }
  for (const Index candidate : greedy.dependent) report().dependent_atoms.push_back(text(candidate));
}

EngineCosts Fitter::engine_costs(const ProblemSize& size) const {
  if (validation_ == nullptr) return {lazy_engine_cost(size), gram_engine_cost(size)};
  const double threads = workers_.pool.threads();
  return {lazy_validation_cost(size, *validation_), gram_validation_cost(size, *validation_, threads), true};
}

}  // namespace mfga
