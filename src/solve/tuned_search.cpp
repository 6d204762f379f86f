#include "solve/tuned_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "features/neighbour_width.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// Tuning ends where the loss of the held-out rows has not fallen for so many steps.
constexpr int kPatience = 15;

class TunedSearch {
 public:
  TunedSearch(const Problem& problem, const TunedSearchOptions& options, const TunedSearchCallback& on_step)
      : problem_(problem), options_(options), on_step_(on_step), rows_(problem.rows) {
    result_.stretch.assign(static_cast<std::size_t>(problem.rows.inputs()), 1.0);
  }

  TunedSearchResult find(const HeldOutRows& held_out, std::span<const double> ridges) {
    held_out_ = &held_out;
    double ridge = options_.greedy.penalty.ridge;
    result_.plan.stretch = result_.stretch;
    for (Index terms = 0; terms < options_.greedy.terms;) {
      terms = std::min(options_.greedy.terms, terms + options_.terms_per_round);
      select(terms, ridge);
      TuningRound round;
      round.terms = terms;
      round.ridge = best_ridge(ridges);
      round.held_out_before = held_out_loss(result_.active, result_.stretch);
      Tuned best{result_.active, std::vector<double>(result_.stretch.size(), 1.0), 0, 0};
      double best_loss = round.held_out_before;
      const auto on_step = [&](const Tuned& state) {
        tell(state.step, state.objective / static_cast<double>(problem_.rows.rows()));
        const double loss = held_out_loss(state.active, product(result_.stretch, state.stretch));
        if (loss < best_loss) {
          best_loss = loss;
          best = state;
        }
        return state.step - best.step < kPatience;
      };
      static_cast<void>(tune(problem(), result_.active, tune_options(round.ridge, options_.most_steps), on_step));
      adopt(best);
      ridge = best_ridge(ridges);
      round.steps = best.step;
      round.held_out_after = held_out_loss(result_.active, result_.stretch);
      finish(round);
    }
    result_.plan.ridge = ridge;
    result_.held_out = result_.plan.rounds.back().held_out_after;
    return std::move(result_);
  }

  TunedSearchResult repeat(const TuningPlan& plan) {
    result_.plan.stretch = plan.stretch;
    stretch_to(plan.stretch);
    for (const TuningRound& planned : plan.rounds) {
      select(planned.terms, planned.ridge);
      TuningRound round = planned;
      if (planned.steps > 0) {
        adopt(tune(problem(), result_.active, tune_options(planned.ridge, planned.steps),
                   [&](const Tuned& state) {
                     tell(state.step, state.objective / static_cast<double>(problem_.rows.rows()));
                     return true;
                   }));
      }
      finish(round);
    }
    result_.plan.ridge = plan.ridge;
    static_cast<void>(fit_coefficients(problem(), plan.ridge, result_.active));
    return std::move(result_);
  }

 private:
  [[nodiscard]] Problem problem() const {
    return {rows_, problem_.targets, problem_.loss, problem_.intercept, problem_.workers};
  }
  [[nodiscard]] TuneOptions tune_options(double ridge, int steps) const {
    return {ridge, steps, options_.pull, true};
  }

  static std::vector<double> product(std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t j = 0; j < a.size(); ++j) a[j] *= b[j];
    return a;
  }

  void stretch_to(const std::vector<double>& stretch) {
    result_.stretch = stretch;
    rows_ = problem_.rows.stretched(stretch);
  }

  void adopt(const Tuned& tuned) {
    result_.active = tuned.active;
    std::ranges::fill(result_.active.candidates, Index{-1});
    stretch_to(product(result_.stretch, tuned.stretch));
  }

  void tell(int tuning_step, double risk) const {
    if (on_step_ && !on_step_(result_.active.size(), tuning_step, risk))
      throw Error(ErrorKind::kInterrupted, "training was interrupted");
  }

  // Adds atoms until there are so many.
  void select(Index terms, double ridge) {
    const double sigma =
        options_.dictionary.needs_sigma() ? neighbour_width(rows_, options_.seed, problem_.workers).sigma : 1;
    Candidates candidates(options_.dictionary, {rows_.inputs(), sigma, options_.seed, &rows_});
    if (options_.normalise)
      candidates.normalise(rows_, problem_.intercept == Intercept::kUnpenalised, problem_.workers);
    const auto engine = make_lazy_engine(problem(), candidates, options_.precision);
    GreedyOptions greedy = options_.greedy;
    greedy.terms = terms;
    greedy.penalty = {ridge, 0};
    const auto refit = problem_.loss.is_quadratic() ? make_least_squares_refit(problem(), greedy.penalty)
                                                    : make_newton_refit(problem(), greedy.penalty);
    const StepCallback on_step = [&](const GreedyStep& step, const ActiveSet& active) {
      return !on_step_ || on_step_(active.size(), 0, step.risk);
    };
    result_.active =
        run_greedy(problem(), candidates, *engine, *refit, greedy, on_step, result_.active).active;
  }

  [[nodiscard]] double held_out_loss(const ActiveSet& active, const std::vector<double>& stretch) const {
    const BlockedRows rows = held_out_->rows.stretched(stretch);
    return loss_sum({rows, held_out_->targets, problem_.loss, problem_.intercept, problem_.workers},
                    active.score()) /
           static_cast<double>(rows.rows());
  }

  // Fits the coefficients with each of the ridges; those of the one that suits the held-out rows best stay.
  double best_ridge(std::span<const double> ridges) {
    double best = ridges.front();
    double best_loss = std::numeric_limits<double>::infinity();
    ActiveSet best_set;
    for (const double ridge : ridges) {
      ActiveSet set = result_.active;
      static_cast<void>(fit_coefficients(problem(), ridge, set));
      const double loss = held_out_loss(set, result_.stretch);
      if (!(loss < best_loss)) continue;
      best_loss = loss;
      best = ridge;
      best_set = std::move(set);
    }
    if (std::isfinite(best_loss)) result_.active = std::move(best_set);
    return best;
  }

  void finish(TuningRound round) {
    round.risk =
        loss_sum(problem(), result_.active.score()) / static_cast<double>(problem_.rows.rows());
    round.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    result_.plan.rounds.push_back(round);
  }

  Problem problem_;
  const TunedSearchOptions& options_;
  const TunedSearchCallback& on_step_;
  const HeldOutRows* held_out_ = nullptr;
  BlockedRows rows_;  // those of the problem, stretched
  TunedSearchResult result_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

TunedSearchResult find_tuned(const Problem& problem, const HeldOutRows& held_out,
                             std::span<const double> ridges, const TunedSearchOptions& options,
                             const TunedSearchCallback& on_step) {
  return TunedSearch(problem, options, on_step).find(held_out, ridges);
}

TunedSearchResult repeat_tuned(const Problem& problem, const TuningPlan& plan,
                               const TunedSearchOptions& options, const TunedSearchCallback& on_step) {
  return TunedSearch(problem, options, on_step).repeat(plan);
}

}  // namespace mfga
