#include "solve/tuned_search.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "features/neighbour_width.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// Tuning ends where the loss of the held-out rows has not fallen for so many steps.
constexpr int kPatience = 15;

std::vector<double> product(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t j = 0; j < a.size(); ++j) a[j] *= b[j];
  return a;
}

Problem with_rows(const Problem& problem, const BlockedRows& rows) {
  return {rows, problem.targets, problem.loss, problem.intercept, problem.workers};
}

void adopt(const Tuned& tuned, TunedModel& model) {
  model.active = tuned.active;
  model.stretch = product(model.stretch, tuned.stretch);
}

class TunedSearch {
 public:
  TunedSearch(const Problem& problem, const TunedSearchOptions& options, const TunedSearchCallback& on_step)
      : problem_(problem), options_(options), on_step_(on_step) {}

  [[nodiscard]] TunedModel find(const HeldOutRows& held_out, std::span<const double> ridges) {
    held_out_ = &held_out;
    TunedModel model;
    for (std::size_t i = 0; i < ridges.size(); i += 2) {
      TunedModel tried = nothing(ridges[i]);
      add_round(tried, ridges);
      if (model.rounds.empty() || tried.held_out() < model.held_out()) model = std::move(tried);
      if (options_.is_late()) break;
    }
    while (model.rounds.back().terms < options_.greedy.terms) add_round(model, ridges);
    return model;
  }

  [[nodiscard]] TunedModel repeat(const TunedModel& found) {
    TunedModel model = nothing(0);
    for (TuningRound round : found.rounds) {
      model.ridge = round.select_ridge;
      select(round.terms, model);
      model.ridge = round.ridge;
      if (round.steps > 0) static_cast<void>(tune_all(round.steps, model));
      finish(round, model);
    }
    model.ridge = found.ridge;
    return model;
  }

  [[nodiscard]] TunedModel run() {
    TunedModel model = nothing(options_.greedy.penalty.ridge);
    do {
      add_round(model, {});
    } while (model.rounds.back().terms < options_.greedy.terms);
    return model;
  }

 private:
  [[nodiscard]] TunedModel nothing(double ridge) const {
    TunedModel model;
    model.stretch.assign(static_cast<std::size_t>(problem_.rows.inputs()), 1.0);
    model.ridge = ridge;
    return model;
  }

  void add_round(TunedModel& model, std::span<const double> ridges) {
    TuningRound round;
    round.terms = (model.rounds.empty() ? 0 : model.rounds.back().terms) + options_.terms_per_round;
    round.terms = std::min(round.terms, options_.greedy.terms);
    round.select_ridge = model.ridge;
    select(round.terms, model);
    if (held_out_ != nullptr) choose_ridge(ridges, model);
    round.ridge = model.ridge;
    round.steps = tune_all(options_.most_steps, model);
    if (held_out_ != nullptr) {
      choose_ridge(ridges, model);
      round.held_out = held_out_loss(model.active, model.stretch);
    }
    finish(round, model);
  }

  void finish(TuningRound round, TunedModel& model) {
    const BlockedRows rows = problem_.rows.stretched(model.stretch);
    round.risk = loss_sum(with_rows(problem_, rows), model.active.score()) / n_rows();
    round.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    model.rounds.push_back(round);
  }

  // Adds atoms until there are so many.
  void select(Index terms, TunedModel& model) {
    const BlockedRows rows = problem_.rows.stretched(model.stretch);
    const Problem problem = with_rows(problem_, rows);
    const double sigma =
        options_.dictionary.needs_sigma() ? neighbour_width(rows, options_.seed, problem.workers).sigma : 1;
    Candidates candidates(options_.dictionary, {rows.inputs(), sigma, options_.seed, &rows});
    if (options_.normalise)
      candidates.normalise(rows, problem.intercept == Intercept::kUnpenalised, problem.workers);
    model.candidates = candidates.size();
    model.sigmas = candidates.sigmas();
    model.kernel_weights.assign(candidates.weights().begin(), candidates.weights().end());
    const auto engine = make_lazy_engine(problem, candidates, options_.precision);
    GreedyOptions greedy = options_.greedy;
    greedy.terms = terms;
    greedy.penalty = {model.ridge, 0};
    const auto refit = make_refit(problem, greedy.penalty);
    const StepCallback on_step = [&](const GreedyStep& step, const ActiveSet& active) {
      return !on_step_ || on_step_(active.size(), 0, step.risk);
    };
    model.active = run_greedy(problem, candidates, *engine, *refit, greedy, on_step, model.active).active;
    std::ranges::fill(model.active.candidates, Index{-1});  // the next candidates are others
  }

  // Returns the number of steps.
  int tune_all(int most_steps, TunedModel& model) {
    if (options_.is_late()) return 0;
    const BlockedRows rows = problem_.rows.stretched(model.stretch);
    double best_loss = held_out_ != nullptr ? held_out_loss(model.active, model.stretch) : 0;
    Tuned best{model.active, std::vector<double>(model.stretch.size(), 1.0), 0, 0};
    const Tuned last =
        tune(with_rows(problem_, rows), model.active, {model.ridge, most_steps, options_.pull},
             [&](const Tuned& state) {
               if (on_step_ && !on_step_(state.active.size(), state.step, state.objective / n_rows()))
                 throw Error(ErrorKind::kInterrupted, "training was interrupted");
               if (held_out_ == nullptr) return !options_.is_late();
               const double loss = held_out_loss(state.active, product(model.stretch, state.stretch));
               if (loss < best_loss) {
                 best_loss = loss;
                 best = state;
               }
               return state.step - best.step < kPatience && !options_.is_late();
             });
    adopt(held_out_ != nullptr ? best : last, model);
    return held_out_ != nullptr ? best.step : last.step;
  }

  [[nodiscard]] double held_out_loss(const ActiveSet& active, const std::vector<double>& stretch) const {
    const BlockedRows rows = held_out_->rows.stretched(stretch);
    const Problem there{rows, held_out_->targets, problem_.loss, problem_.intercept, problem_.workers};
    return loss_sum(there, active.score()) / static_cast<double>(rows.rows());
  }

  // Fits the coefficients with each of the ridges; those that suit the held-out rows best stay.
  void choose_ridge(std::span<const double> ridges, TunedModel& model) {
    const BlockedRows rows = problem_.rows.stretched(model.stretch);
    const ActiveSet start = model.active;
    double best_loss = std::numeric_limits<double>::infinity();
    for (const double ridge : ridges) {
      ActiveSet set = start;
      static_cast<void>(fit_coefficients(with_rows(problem_, rows), ridge, set));
      const double loss = held_out_loss(set, model.stretch);
      if (!(loss < best_loss)) continue;
      best_loss = loss;
      model.ridge = ridge;
      model.active = std::move(set);
    }
  }

  [[nodiscard]] double n_rows() const { return static_cast<double>(problem_.rows.rows()); }

  Problem problem_;
  const TunedSearchOptions& options_;
  const TunedSearchCallback& on_step_;
  const HeldOutRows* held_out_ = nullptr;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

TunedModel find_tuned(const Problem& problem, const HeldOutRows& held_out, std::span<const double> ridges,
                      const TunedSearchOptions& options, const TunedSearchCallback& on_step) {
  return TunedSearch(problem, options, on_step).find(held_out, ridges);
}

TunedModel tune_in_rounds(const Problem& problem, const TunedSearchOptions& options,
                          const TunedSearchCallback& on_step) {
  return TunedSearch(problem, options, on_step).run();
}

TunedModel with_all_rows(const Problem& problem, const TunedModel& found, const TunedSearchOptions& options,
                         const TunedSearchCallback& on_step) {
  // How much of the loss may be chance, for there is no row left to ask.
  constexpr double kAsGood = 1.2;
  constexpr int kFewSteps = 5;
  const auto refitted_risk = [&](TunedModel& model) {
    const BlockedRows rows = problem.rows.stretched(model.stretch);
    static_cast<void>(fit_coefficients(with_rows(problem, rows), model.ridge, model.active));
    return loss_sum(with_rows(problem, rows), model.active.score());
  };
  if (options.is_late()) return found;
  TunedModel again = TunedSearch(problem, options, on_step).repeat(found);
  TunedModel continued = found;
  if (refitted_risk(again) <= kAsGood * refitted_risk(continued)) return again;
  const BlockedRows rows = problem.rows.stretched(found.stretch);
  adopt(tune(with_rows(problem, rows), continued.active, {found.ridge, kFewSteps, options.pull}, {}),
        continued);
  return continued;
}

}  // namespace mfga
