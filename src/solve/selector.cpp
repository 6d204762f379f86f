#include "solve/selector.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "solve/select.hpp"

namespace mfga {
namespace {

// More candidates than wanted whose products are computed because single precision does not tell them apart
// from the wanted ones; if there are more, the gradient is computed again in double precision.
Index most_spare(Index wanted) { return 16 + wanted / 4; }

// The products of some of a shortlist, given by their positions in it, in that order.
Matrix chosen_products(const Matrix& products, const std::vector<std::size_t>& chosen) {
  const Index n_before = products.cols - products.rows;  // 1, the targets and the active atoms
  Matrix result(static_cast<Index>(chosen.size()), n_before + static_cast<Index>(chosen.size()));
  for (Index i = 0; i < result.rows; ++i) {
    const double* row = products.row(static_cast<Index>(chosen[static_cast<std::size_t>(i)]));
    double* out = std::copy_n(row, n_before, result.row(i));
    for (const std::size_t other : chosen) *out++ = row[n_before + static_cast<Index>(other)];
  }
  return result;
}

Matrix chosen_rows(const Matrix& matrix, const std::vector<std::size_t>& chosen) {
  if (matrix.rows == 0) return {};
  Matrix result(static_cast<Index>(chosen.size()), matrix.cols);
  for (Index i = 0; i < result.rows; ++i)
    std::copy_n(matrix.row(static_cast<Index>(chosen[static_cast<std::size_t>(i)])), matrix.cols,
                result.row(i));
  return result;
}

}  // namespace

void Selector::RunnersUp::set(std::vector<Index> candidates, Index n_active, Matrix products) {
  candidates_ = std::move(candidates);
  n_active_ = n_active;
  first_new_ = products.cols - products.rows;
  products_ = std::move(products);
}

std::optional<Matrix> Selector::RunnersUp::products(const ActiveSet& active, Index candidate) const {
  const std::optional<Index> row = position(candidate);
  if (!row) return std::nullopt;
  Matrix result(1, first_new_ - n_active_ + active.size() + 1);
  double* out = std::copy_n(products_.row(*row), first_new_, result.row(0));
  for (Index m = n_active_; m < active.size(); ++m) {
    const std::optional<Index> column = position(active.candidates[static_cast<std::size_t>(m)]);
    if (!column) return std::nullopt;
    *out++ = products_(*row, first_new_ + *column);
  }
  *out = products_(*row, first_new_ + *row);
  return result;
}

std::optional<Index> Selector::RunnersUp::position(Index candidate) const {
  const auto place = std::lower_bound(candidates_.begin(), candidates_.end(), candidate);
  if (place == candidates_.end() || *place != candidate) return std::nullopt;
  return static_cast<Index>(place - candidates_.begin());
}

bool Selector::RunnersUp::is_of(Index atoms, Index target_columns) const {
  if (candidates_.empty()) return true;
  return n_active_ >= 0 && n_active_ <= atoms && first_new_ == 1 + target_columns + n_active_ &&
         products_.rows == std::ssize(candidates_) && products_.cols == first_new_ + products_.rows;
}

bool Selector::is_of(Index atoms) const {
  const Index constant = problem_.intercept == Intercept::kUnpenalised ? 1 : 0;
  return std::ssize(excluded_) == candidates_.size() && curvatures_.size() == whole_curvatures_.size() &&
         explained_ >= 0 && explained_ <= constant + atoms &&
         runners_up_.is_of(atoms, problem_.target_columns());
}

Selector::Selector(const Problem& problem, const Candidates& candidates, Engine& engine,
                   const SelectionOptions& options)
    : problem_(problem),
      candidates_(candidates),
      engine_(engine),
      options_(options),
      curvature_of_rows_(curvature_of_all_rows(problem)) {
  restart({}, options.shortlist);
  if (options.rule != Rule::kGain) return;
  curvatures_ = engine.square_norms();
  const double second =
      curvature_of_rows_ ? *curvature_of_rows_ : mean_curvature(problem, problem.best_constants());
  for (double& curvature : curvatures_) curvature += 2 * options.ridge / second;
  whole_curvatures_ = curvatures_;
  if (problem.intercept == Intercept::kUnpenalised) {
    Matrix constant_vector(1, 1);
    constant_vector(0, 0) = 1 / std::sqrt(problem.count());
    reduce_curvatures({}, constant_vector);
    explained_ = 1;
  }
}

void Selector::restart(std::span<const Index> candidates, Index shortlist) {
  options_.shortlist = shortlist;
  runners_up_ = {};
  excluded_.clear();
  for (Index j = 0; j < candidates_.size(); ++j) excluded_.push_back(candidates_.is_constant(j));
  for (const Index candidate : candidates) excluded_[static_cast<std::size_t>(candidate)] = true;
}

void Selector::reduce_curvatures(const Matrix& correlations) {
  for (Index c = 0; c < correlations.rows; ++c) {
    const double* share = correlations.row(c);
    for (std::size_t j = 0; j < curvatures_.size(); ++j) curvatures_[j] -= share[j] * share[j];
  }
}

void Selector::reduce_curvatures(const ActiveSet& active, const Matrix& combinations) {
  const Index at_a_time = correlations_at_a_time(candidates_.size());
  for (Index first = 0; first < combinations.rows; first += at_a_time) {
    Matrix some(std::min(at_a_time, combinations.rows - first), combinations.cols);
    std::copy_n(combinations.row(first), some.rows * some.cols, some.values.data());
    reduce_curvatures(engine_.correlations(active, some));
  }
}

Matrix Selector::new_combinations(const GrowingSet& set) {
  if (curvatures_.empty() || !options_.exact_gain || !curvature_of_rows_) return {};
  const Matrix combinations = set.refit.orthonormal_combinations(explained_);
  explained_ += combinations.rows;
  const Index without_constant = problem_.intercept == Intercept::kUnpenalised ? 0 : 1;
  Matrix with_constant(combinations.rows, 1 + set.active.size());
  for (Index c = 0; c < combinations.rows; ++c)
    std::copy_n(combinations.row(c), combinations.cols, with_constant.row(c) + without_constant);
  return with_constant;
}

double Selector::gradient(const GrowingSet& set, Gradient& out) {
  const Matrix combinations = new_combinations(set);
  if (combinations.rows == 0 || combinations.rows >= correlations_at_a_time(candidates_.size())) {
    reduce_curvatures(set.active, combinations);
    return engine_.gradient(set.active, out);
  }
  Matrix correlations;
  const double loss = engine_.gradient_and_correlations(set.active, combinations, out, correlations);
  reduce_curvatures(correlations);
  return loss;
}

double Selector::ranking_weight(std::size_t candidate) const {
  if (curvatures_.empty()) return 1;
  const double curvature = curvatures_[candidate];
  return curvature > kDependenceTolerance * whole_curvatures_[candidate] ? 1 / std::sqrt(curvature) : 0;
}

Gradient Selector::ranking(const Gradient& gradient) const {
  Gradient result = gradient;
  if (curvatures_.empty()) return result;
  for (std::size_t j = 0; j < result.values.size(); ++j) {
    const double weight = ranking_weight(j);
    result.values[j] *= weight;
    if (!result.exact()) result.errors[j] *= weight;
  }
  return result;
}

Selector::Batch Selector::best(const ActiveSet& active, Gradient& gradient, const Look& look) {
  const Index count = look.count;
  Gradient ranked = ranking(gradient);
  const auto left_out = [&] {
    if (!look.at_peaks) return excluded_;
    std::vector<bool> beside = beside_larger(ranked.values, excluded_);
    return std::ranges::count(beside, false) < count ? excluded_ : beside;
  };
  std::vector<bool> excluded = left_out();
  std::vector<Index> shortlist;  // all that may be among the best
  if (!ranked.exact()) {
    shortlist = possibly_largest(ranked, excluded, count);
    if (static_cast<Index>(shortlist.size()) > count + most_spare(count)) {
      engine_.exact_gradient(active, gradient);
      ranked = ranking(gradient);
      excluded = left_out();
    }
  }
  if (ranked.exact()) shortlist = largest_gradients(ranked.values, excluded, count);
  if (shortlist.empty()) return {};
  if (count == 1) {
    if (shortlist.size() == 1) {
      if (std::optional<Matrix> known = runners_up_.products(active, shortlist.front()))
        return {std::move(shortlist), {std::move(*known), {}, {}}};
    }
    const std::vector<Index> next = largest_gradients(ranked.values, excluded_, RunnersUp::kCount);
    shortlist.insert(shortlist.end(), next.begin(), next.end());
  }
  std::sort(shortlist.begin(), shortlist.end());
  shortlist.erase(std::unique(shortlist.begin(), shortlist.end()), shortlist.end());
  CandidateProducts products = engine_.products(active, shortlist, look.with_curvature);
  for (Index i = 0; i < products.gradient.rows && !gradient.exact(); ++i) {
    const auto j = static_cast<std::size_t>(shortlist[static_cast<std::size_t>(i)]);
    gradient.values[j] = products.gradient(i, 0);
    gradient.errors[j] = 0;
    ranked.values[j] = products.gradient(i, 0) * ranking_weight(j);
  }
  // All others are certainly smaller, so these come from the shortlist.
  Batch batch{largest_gradients(ranked.values, excluded, count), {}};
  std::vector<std::size_t> positions;
  for (const Index candidate : batch.candidates) {
    const auto place = std::lower_bound(shortlist.begin(), shortlist.end(), candidate);
    positions.push_back(static_cast<std::size_t>(place - shortlist.begin()));
  }
  batch.products.values = chosen_products(products.values, positions);
  if (look.with_curvature) batch.products.curvature = chosen_products(products.curvature, positions);
  batch.products.gradient = chosen_rows(products.gradient, positions);
  if (count == 1) runners_up_.set(std::move(shortlist), active.size(), std::move(products.values));
  return batch;
}

Selector::Batch Selector::picks(const Batch& shortlist, const Gradient& gradient, Index count,
                                Refit& refit) const {
  // Where the curvature is the same everywhere, plain products say it.
  const std::optional<double> constant = curvature_of_rows_;
  const Matrix& products = constant ? shortlist.products.values : shortlist.products.curvature;
  const double factor = constant.value_or(1);
  const Index n = products.rows;
  const Index n_before = products.cols - n;  // 1, in plain products the targets, and the active atoms
  const Index first_atom = constant ? 1 + problem_.target_columns() : 1;
  const Index intercept = problem_.intercept == Intercept::kUnpenalised ? 1 : 0;
  Matrix cross(n, intercept + n_before - first_atom);
  const Index outputs = problem_.outputs();
  Matrix own_gradient(n, outputs);
  for (Index i = 0; i < n; ++i) {
    if (intercept == 1) cross(i, 0) = factor * products(i, 0);
    for (Index m = first_atom; m < n_before; ++m)
      cross(i, intercept + m - first_atom) = factor * products(i, m);
    if (outputs > 1) {
      std::copy_n(shortlist.products.gradient.row(i), outputs, own_gradient.row(i));
    } else {
      own_gradient(i, 0) =
          gradient.values[static_cast<std::size_t>(shortlist.candidates[static_cast<std::size_t>(i)])];
    }
  }
  Matrix curvature = refit.explained(cross);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) curvature(i, j) = factor * products(i, n_before + j) - curvature(i, j);
    curvature(i, i) += 2 * options_.ridge;
  }
  const std::vector<std::size_t> positions =
      pick_one_by_one(std::move(curvature), std::move(own_gradient), options_.rule, count);
  return chosen(shortlist, positions);
}

Selector::Batch Selector::chosen(const Batch& batch, const std::vector<std::size_t>& positions) {
  Batch result;
  for (const std::size_t position : positions) result.candidates.push_back(batch.candidates[position]);
  result.products.values = chosen_products(batch.products.values, positions);
  if (batch.products.curvature.rows > 0)
    result.products.curvature = chosen_products(batch.products.curvature, positions);
  result.products.gradient = chosen_rows(batch.products.gradient, positions);
  return result;
}

Selector::Batch Selector::first_of(const Batch& batch, Index count) {
  std::vector<std::size_t> positions(std::min(batch.candidates.size(), static_cast<std::size_t>(count)));
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  return chosen(batch, positions);
}

Selector::Batch Selector::without_dependent(const Batch& batch, const Gradient& gradient,
                                            const IndependentAtoms& independent,
                                            std::vector<Index>& dependent) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < batch.candidates.size(); ++i) {
    const auto candidate = static_cast<std::size_t>(batch.candidates[i]);
    if (gradient.values[candidate] == 0) continue;  // nobody would ask for it
    if (independent.can_add(batch.products.values, static_cast<Index>(i))) {
      positions.push_back(i);
    } else {
      excluded_[candidate] = true;
      dependent.push_back(batch.candidates[i]);
    }
  }
  return chosen(batch, positions);
}

Index Selector::shortlist_for(Index count) const {
  constexpr Index kMany = 256;  // for these, products take longer than they are worth
  if (count == 1 || options_.shortlist_of_each == 0) return options_.shortlist;
  constexpr Index kAtLeast = 2;
  const Index of_each =
      std::clamp(kMany / count, std::min(kAtLeast, options_.shortlist_of_each), options_.shortlist_of_each);
  return std::max(options_.shortlist, count * of_each);
}

std::vector<Index> Selector::add(Gradient& gradient, Index count, GrowingSet& set,
                                 std::vector<Index>& dependent) {
  // There may be thousands of copies of one candidate, and every look ranks all candidates: once one is found
  // dependent, more and more are looked at together.
  constexpr Index kFirstCrowd = 16;
  constexpr Index kLargestCrowd = 256;
  Index crowd = 0;
  const Index shortlist = shortlist_for(count);
  std::vector<Index> added;
  while (static_cast<Index>(added.size()) < count) {
    const Index wanted = count - static_cast<Index>(added.size());
    const bool look_twice = shortlist > wanted;
    // Copies of one candidate stand side by side: who looks for them must see all.
    const bool at_peaks = look_twice && crowd == 0;
    Batch batch =
        best(set.active, gradient,
             {std::max(crowd, look_twice ? shortlist : wanted), at_peaks, look_twice && !curvature_of_rows_});
    if (batch.candidates.empty() || gradient.values[static_cast<std::size_t>(batch.candidates.front())] == 0)
      break;
    if (crowd > 0) {
      batch = without_dependent(batch, gradient, set.independent, dependent);
      crowd = std::min(2 * crowd, kLargestCrowd);
      if (batch.candidates.empty()) continue;
      if (!look_twice) batch = first_of(batch, wanted);
    }
    if (look_twice) batch = picks(batch, gradient, wanted, set.refit);
    if (batch.candidates.empty()) break;
    const std::vector<bool> accepted = set.independent.add(batch.products.values);
    for (std::size_t i = 0; i < batch.candidates.size(); ++i) {
      const Index candidate = batch.candidates[i];
      excluded_[static_cast<std::size_t>(candidate)] = true;
      if (!accepted[i]) {
        dependent.push_back(candidate);
        crowd = std::max(crowd, kFirstCrowd);
        continue;
      }
      set.active.candidates.push_back(candidate);
      set.active.atoms.push_back(candidates_.atom(candidate));
      added.push_back(candidate);
    }
  }
  return added;
}

std::vector<std::size_t> pick_one_by_one(Matrix curvature, Matrix gradient, Rule rule, Index count) {
  const Index n = curvature.rows;
  const auto length = [&](Index i) {
    if (gradient.cols == 1) return std::abs(gradient(i, 0));
    return std::sqrt(
        std::inner_product(gradient.row(i), gradient.row(i) + gradient.cols, gradient.row(i), 0.0));
  };
  std::vector<double> whole;  // curvature before any pick
  for (Index i = 0; i < n; ++i) whole.push_back(curvature(i, i));
  std::vector<bool> taken(static_cast<std::size_t>(n));
  std::vector<std::size_t> result;
  while (static_cast<Index>(result.size()) < std::min(count, n)) {
    Index best = -1;
    double best_score = 0;
    for (Index i = 0; i < n; ++i) {
      const auto position = static_cast<std::size_t>(i);
      if (taken[position] || !(curvature(i, i) > kDependenceTolerance * whole[position])) continue;
      const double size = length(i);
      const double score = rule == Rule::kGain ? size / std::sqrt(curvature(i, i)) : size;
      if (score > best_score * (1 + kTieTolerance)) {
        best = i;
        best_score = score;
      }
    }
    if (best < 0) break;
    const auto chosen = static_cast<std::size_t>(best);
    taken[chosen] = true;
    result.push_back(chosen);
    const std::vector<double> row(curvature.row(best), curvature.row(best) + n);
    const double pivot = row[chosen];
    std::vector<double> step(gradient.row(best), gradient.row(best) + gradient.cols);
    for (double& part : step) part /= pivot;
    for (Index i = 0; i < n; ++i) {
      const double share = row[static_cast<std::size_t>(i)];
      for (Index k = 0; k < gradient.cols; ++k) gradient(i, k) -= share * step[static_cast<std::size_t>(k)];
      for (Index j = 0; j < n; ++j) curvature(i, j) -= share * row[static_cast<std::size_t>(j)] / pivot;
    }
  }
  return result;
}

}  // namespace mfga
