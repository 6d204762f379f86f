#include "solve/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "core/random.hpp"

namespace mfga {

Folds::Folds(const DividedRows& rows, const CrossValidationOptions& options, std::uint64_t seed)
    : held_out_(static_cast<std::size_t>(options.folds)),
      used_(options.used_folds > 0 ? options.used_folds : options.folds),
      all_rows_(options.most_rows == 0 || rows.count <= options.most_rows),
      in_time_order_(rows.in_time_order) {
  const Index count = all_rows_ ? rows.count : options.most_rows;
  std::vector<Index> order = random_rows(rows.count, count, seed, RandomStream::kFolds);
  const std::size_t n_folds = held_out_.size();
  if (in_time_order_) {
    std::ranges::sort(order);
    for (std::size_t i = 0; i < order.size(); ++i)
      held_out_[n_folds - 1 - i * n_folds / order.size()].push_back(order[i]);
    used_ = std::min(used_, groups() - 1);  // nothing comes before the first rows
  } else if (!rows.groups.empty()) {
    deal_groups(rows.groups, order);
    const auto is_empty = [](const std::vector<Index>& fold) { return fold.empty(); };
    if (!all_rows_ && std::ranges::any_of(held_out_, is_empty)) {  // the sample has too few groups
      for (std::vector<Index>& fold : held_out_) fold.clear();
      all_rows_ = true;
      deal_groups(rows.groups, random_rows(rows.count, rows.count, seed, RandomStream::kFolds));
    }
  } else {
    if (!rows.classes.empty())
      std::ranges::stable_sort(order, {},
                               [&](Index row) { return rows.classes[static_cast<std::size_t>(row)]; });
    for (std::size_t i = 0; i < order.size(); ++i) held_out_[i % n_folds].push_back(order[i]);
  }
  // Rows on disk come in blocks: in a random order each would take the reading of a whole one. Few rows are
  // copied into memory before anybody goes over them.
  constexpr Index kMostInRandomOrder = 25'000;
  in_order_of_table_ = (all_rows_ ? rows.count : count) > kMostInRandomOrder;
  if (!in_order_of_table_) return;
  for (std::vector<Index>& fold : held_out_) std::ranges::sort(fold);
}

// Each group, in the order of its first row, to the fold with the fewest rows.
void Folds::deal_groups(std::span<const Index> groups, std::span<const Index> order) {
  std::map<Index, std::vector<Index>> rows_of_group;
  std::vector<Index> first_seen;
  for (const Index row : order) {
    const Index group = groups[static_cast<std::size_t>(row)];
    std::vector<Index>& rows = rows_of_group[group];
    if (rows.empty()) first_seen.push_back(group);
    rows.push_back(row);
  }
  for (const Index group : first_seen) {
    std::vector<Index>& fold =
        *std::ranges::min_element(held_out_, {}, [](const std::vector<Index>& rows) { return rows.size(); });
    const std::vector<Index>& rows = rows_of_group[group];
    fold.insert(fold.end(), rows.begin(), rows.end());
  }
}

Folds Folds::without_judge(Index used) const {
  Folds result = *this;
  result.held_out_.erase(in_time_order_ ? result.held_out_.begin() : result.held_out_.end() - 1);
  result.used_ = in_time_order_ ? std::min(used, result.groups() - 1) : used;
  result.all_rows_ = false;
  return result;
}

std::vector<Index> Folds::training(Index fold) const {
  std::vector<Index> rows;
  for (Index i = 0; i < groups(); ++i) {
    const Index other = in_time_order_ ? groups() - 1 - i : i;  // the first rows first
    if (is_learned_from(other, fold)) rows.insert(rows.end(), held_out(other).begin(), held_out(other).end());
  }
  if (in_order_of_table_) std::ranges::sort(rows);
  return rows;
}

std::vector<Index> Folds::all() const {
  std::vector<Index> rows;
  for (const std::vector<Index>& fold : held_out_) rows.insert(rows.end(), fold.begin(), fold.end());
  return rows;
}

std::vector<double> values_of(std::span<const double> values, std::span<const Index> rows, Index columns) {
  const Index all = std::ssize(values) / columns;
  std::vector<double> result;
  result.reserve(rows.size() * static_cast<std::size_t>(columns));
  for (Index k = 0; k < columns; ++k) {
    for (const Index row : rows) result.push_back(values[static_cast<std::size_t>(k * all + row)]);
  }
  return result;
}

std::vector<std::shared_ptr<const GramSums>> gram_sums_of_folds(const Problem& problem,
                                                                const Candidates& candidates,
                                                                const Folds& folds, const PartDone& on_part) {
  const std::vector<Index> order = folds.all();
  const BlockedRows rows = problem.rows.subset(order, &problem.workers);
  const std::vector<double> targets = values_of(problem.targets, order);
  std::vector<Index> ends;
  for (Index fold = 0; fold < folds.groups(); ++fold) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + static_cast<Index>(folds.held_out(fold).size()));
  }
  return gram_sums(problem.with_rows(rows, targets), candidates, ends, on_part);
}

FoldLosses gram_path_losses(const Problem& problem, const Candidates& candidates, const Folds& folds,
                            const std::vector<std::shared_ptr<const GramSums>>& sums,
                            std::span<const double> ridges, const GreedyOptions& options,
                            const PartDone& on_part) {
  // A path looks at the sums, but asks its problem how many rows there are, and for their targets.
  struct TrainingRows {
    BlockedRows rows;
    std::vector<double> targets;
  };
  std::vector<TrainingRows> training;
  for (Index fold = 0; fold < folds.count(); ++fold) {
    const std::vector<Index> rows = folds.training(fold);
    TableView no_numbers;
    no_numbers.rows = std::ssize(rows);
    std::vector<double> weights;
    if (!problem.rows.weights().empty()) weights = values_of(problem.rows.weights(), rows);
    training.push_back(
        {BlockedRows(no_numbers, {}).weighted(std::move(weights)), values_of(problem.targets, rows)});
  }
  std::vector<GramFold> by_fold;
  for (Index fold = 0; fold < folds.count(); ++fold) {
    const auto own = static_cast<std::size_t>(fold);
    GramFold& added = by_fold.emplace_back(
        GramFold{problem.with_rows(training[own].rows, training[own].targets), {}, sums[own]});
    for (std::size_t other = 0; other < sums.size(); ++other) {
      if (folds.is_learned_from(static_cast<Index>(other), fold)) added.learned_from.push_back(sums[other]);
    }
  }
  return gram_path_losses(by_fold, candidates, ridges, options, on_part);
}

FoldLosses gram_path_losses(std::span<const GramFold> folds, const Candidates& candidates,
                            std::span<const double> ridges, const GreedyOptions& options,
                            const PartDone& on_part) {
  const auto n_ridges = static_cast<Index>(ridges.size());
  const Index n_steps = path_steps(std::min(options.terms, candidates.size()), options.per_step);
  FoldLosses losses(folds.size(), Matrix(n_ridges, n_steps));
  const Workers& workers = folds.front().training.workers;
  const Index n_paths = std::ssize(folds) * n_ridges;
  std::mutex mutex;
  Index done = 0;
  workers.run(n_paths, [&](Index task) {
    const auto fold = static_cast<std::size_t>(task / n_ridges);
    const Index ridge = task % n_ridges;
    const Problem& own = folds[fold].training;
    const auto engine = make_gram_engine(folds[fold].learned_from);
    const auto held_out = make_gram_engine({folds[fold].held_out});
    const auto held_out_loss = [&](const ActiveSet& active) {
      return held_out->loss_sum(active) / folds[fold].held_out->rows;
    };
    GreedyOptions own_options = options;
    own_options.penalty = {ridges[static_cast<std::size_t>(ridge)], 0};
    const auto refit = make_least_squares_refit(own, own_options.penalty);
    PathLosses path(losses[fold].row(ridge), n_steps);
    const GreedyResult result = run_greedy(own, candidates, *engine, *refit, own_options,
                                           [&](const GreedyStep& /*step*/, const ActiveSet& active) {
                                             path.add(held_out_loss(active));
                                             workers.check();
                                           });
    path.finish([&] { return held_out_loss(result.active); });
    const std::lock_guard lock(mutex);
    ++done;
    on_part(static_cast<double>(done) / static_cast<double>(n_paths));
  });
  return losses;
}

EngineCost gram_validation_cost(const ProblemSize& size, const CrossValidationOptions& options,
                                double threads) {
  const auto folds = static_cast<double>(options.folds);
  const auto held_out = static_cast<double>(options.used_folds > 0 ? options.used_folds : options.folds);
  const double paths = held_out * static_cast<double>(options.ridges.size());
  // Each path sums the rows of its atoms over the folds, takes gradients, and solves.
  const double path =
      size.terms * size.candidates * (folds + size.steps) + 2 * size.terms * size.terms * size.terms;
  return {size.rows * size.candidates * size.candidates + (paths + 1) * path,
          gram_sums_bytes(size.candidates, folds) + sizeof(double) * threads * size.terms * size.candidates};
}

EngineCost lazy_validation_cost(const ProblemSize& size, const CrossValidationOptions& options) {
  const auto folds = static_cast<double>(options.folds);
  const auto held_out = static_cast<double>(options.used_folds > 0 ? options.used_folds : options.folds);
  const double rows =
      options.most_rows > 0 ? std::min(size.rows, static_cast<double>(options.most_rows)) : size.rows;
  const EngineCost fit = lazy_engine_cost(size);
  // Each fit of the validation sees all but one fold.
  const double fits =
      held_out * static_cast<double>(options.ridges.size()) * (folds - 1) / folds * rows / size.rows;
  return {fit.operations * (1 + fits), fit.bytes};
}

Index path_steps(Index terms, Index per_step) {
  if (per_step > 0) return (terms + per_step - 1) / per_step;
  Index steps = 0;
  for (Index atoms = 0; atoms < terms; atoms += atoms_of_step(per_step, atoms)) ++steps;
  return steps;
}

std::vector<Index> path_terms(Index terms, Index per_step) {
  std::vector<Index> result;
  for (Index next = 0; next < terms;) {
    next = std::min(next + atoms_of_step(per_step, next), terms);
    result.push_back(next);
  }
  return result;
}

void summarise(const FoldLosses& losses, double unit, std::optional<SizeChoice> choose,
               CrossValidation& result) {
  const auto n_ridges = static_cast<Index>(result.ridges.size());
  const auto n_steps = static_cast<Index>(result.terms.size());
  const auto folds = static_cast<double>(losses.size());
  result.folds = static_cast<Index>(losses.size());
  result.mean = Matrix(n_ridges, n_steps);
  result.standard_error = Matrix(n_ridges, n_steps);
  const auto choice = [&](Index ridge, Index step) {
    return ValidatedChoice{result.ridges[static_cast<std::size_t>(ridge)],
                           result.terms[static_cast<std::size_t>(step)], result.mean(ridge, step),
                           result.standard_error(ridge, step)};
  };
  for (Index step = 0; step < n_steps; ++step) {
    for (Index ridge = 0; ridge < n_ridges; ++ridge) {
      double sum = 0;
      for (const Matrix& fold : losses) sum += fold(ridge, step);
      const double mean = sum / folds;
      double square = 0;
      for (const Matrix& fold : losses) square += (fold(ridge, step) - mean) * (fold(ridge, step) - mean);
      result.mean(ridge, step) = unit * mean;
      result.standard_error(ridge, step) = folds > 1 ? unit * std::sqrt(square / (folds - 1) / folds) : 0;
      if ((ridge == 0 && step == 0) || result.mean(ridge, step) < result.best.mean)
        result.best = choice(ridge, step);
    }
  }
  const auto best_at = [&](Index step) {
    ValidatedChoice best = choice(0, step);
    for (Index ridge = 1; ridge < n_ridges; ++ridge) {
      if (result.mean(ridge, step) < best.mean) best = choice(ridge, step);
    }
    return best;
  };
  if (choose == SizeChoice::kBest) {
    result.chosen = result.best;
    return;
  }
  result.chosen = best_at(n_steps - 1);
  for (Index step = 0; choose && step < n_steps; ++step) {
    result.chosen = best_at(step);
    if (result.chosen.mean <= result.best.mean + result.best.standard_error) return;
  }
}

}  // namespace mfga
