#include "features/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "core/row_combinations.hpp"
#include "features/listed_candidates.hpp"

namespace mfga {

Candidates::Candidates(const Dictionary& dictionary, const CandidateContext& context,
                       std::span<const double> weights) {
  for (const FamilyRequest& request : dictionary.requests()) weights_.push_back(kernel_weight(request));
  for (std::size_t p = 0; p < weights.size(); ++p) weights_[p] *= weights[p];
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (std::size_t p = 0; p < weights_.size(); ++p) {
    weights_[p] /= total;
    const FamilyRequest& request = dictionary.requests()[p];
    const FeatureFamily& family = *find_feature_family(request.family);
    CandidateContext own = context;
    // Summands of one family draw different atoms, and none that a summand of another seed draws.
    if (p > 0) own.seed = CounterRandom(context.seed, RandomStream::kSummands).bits(p);
    families_.push_back(family.bind(option_values(family, request), own, weights_[p]));
    offsets_.push_back(offsets_.back() + families_.back()->size());
  }
}

Candidates::Candidates(std::span<const Atom> atoms, std::span<const Index> counts,
                       std::span<const double> weights)
    : weights_(weights.begin(), weights.end()) {
  constexpr Index kTile = 16;
  for (const Index count : counts) {
    const auto own = atoms.subspan(static_cast<std::size_t>(size()), static_cast<std::size_t>(count));
    const FeatureFamily& family = *find_feature_family(own.front().family);
    families_.push_back(
        std::make_shared<ListedCandidates>(family, std::vector<Atom>(own.begin(), own.end()), kTile));
    offsets_.push_back(size() + count);
  }
}

Atom Candidates::atom(Index candidate) const {
  const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), candidate);
  const auto family = static_cast<std::size_t>(next - offsets_.begin() - 1);
  Atom atom = families_[family]->atom(candidate - offsets_[family]);
  if (!scales_.empty()) {
    const double scale = scales_[static_cast<std::size_t>(candidate)];
    atom.nu *= scale * scale;
  }
  return atom;
}

std::vector<double> Candidates::sigmas() const {
  std::vector<double> result;
  for (const auto& family : families_) {
    if (family->size() == 0) continue;
    const Atom first = family->atom(0);
    const auto fields = find_feature_family(first.family)->parameter_fields();
    if (!fields.empty() && fields[0].name == "sigma") result.push_back(first.parameters[0]);
  }
  return result;
}

void Candidates::normalise(const BlockedRows& rows, bool centred, Workers& workers) {
  scales_.clear();
  const std::vector<double> squares = square_norms(rows, workers);
  std::vector<double> means(squares.size());
  if (centred) {
    const std::vector<double> ones(kBlockRows, 1.0);
    means = sums(rows, workers, 1, 0, [&](const RowBlock& block, Arena& /*arena*/, double* /*more*/) {
      return BlockColumns{block.weights != nullptr ? block.weights : ones.data(), kBlockRows};
    });
  }
  constexpr double kConstant = 1e-10;  // what is left of the square norm by rounding
  std::vector<double> scales;
  for (std::size_t j = 0; j < squares.size(); ++j) {
    const double left = squares[j] - means[j] * means[j] / rows.total_weight();
    scales.push_back(left > kConstant * squares[j] ? std::sqrt(rows.total_weight() / left) : 0);
  }
  scales_ = std::move(scales);
}

void Candidates::scale(std::span<double> sums) const {
  for (std::size_t j = 0; j < scales_.size(); ++j) sums[j] *= scales_[j];
}

bool Candidates::is_constant(Index candidate) const {
  return !scales_.empty() && scales_[static_cast<std::size_t>(candidate)] == 0;
}

Candidates Candidates::kept_for(const BlockedRows& rows, Workers& workers, double most_bytes) const {
  Candidates result = *this;
  for (auto& family : result.families_) {
    const double bytes = family->kept_bytes(rows.rows());
    if (bytes == 0 || bytes > most_bytes) continue;
    most_bytes -= bytes;
    family = family->kept_for(rows, workers);
  }
  return result;
}

std::vector<double> Candidates::sums(const BlockedRows& rows, Workers& workers, Index n_columns, Index n_more,
                                     const ColumnsOfBlock& columns_of, bool single) const {
  const Index n_sums = n_columns * size();
  std::vector<double> result(static_cast<std::size_t>(n_sums + n_more));
  sum_over_blocks(rows, workers, result, [&](const RowBlock& block, Arena& arena, double* out) {
    // First of all, since it reads the block from one end to the other, which memory does fastest.
    const RowBlock with_singles = single ? with_single(block, arena) : block;
    const auto [values, stride] = columns_of(block, arena, out + n_sums);
    for (std::size_t p = 0; p < families_.size(); ++p) {
      double* own = out + offsets_[p];
      Index done = 0;
      if (const SingleCorrelator* correlator = families_[p]->single(); single && correlator != nullptr) {
        correlator->correlate_single(with_singles, values, own, arena);
        done = 1;
      }
      if (done == n_columns) continue;
      families_[p]->correlate(block, values + done * stride, stride, n_columns - done, own + done * size(),
                              size(), arena);
    }
  });
  for (Index c = 0; c < n_columns; ++c) scale({result.data() + c * size(), static_cast<std::size_t>(size())});
  return result;
}

bool Candidates::have_single() const {
  return std::any_of(families_.begin(), families_.end(),
                     [](const auto& family) { return family->single() != nullptr; });
}

std::vector<double> Candidates::square_norms(const BlockedRows& rows, Workers& workers) const {
  std::vector<double> result(static_cast<std::size_t>(size()));
  sum_over_blocks(rows, workers, result, [&](const RowBlock& block, Arena& arena, double* sums) {
    for (std::size_t p = 0; p < families_.size(); ++p)
      families_[p]->add_square_norms(block, sums + offsets_[p], arena);
  });
  scale(result);
  scale(result);
  return result;
}

std::vector<double> Candidates::single_errors(const BlockedRows& rows, Workers& workers) const {
  // Square norms, and squares of absolute errors. Weights of rows are a part of the columns.
  const auto n_candidates = static_cast<std::size_t>(size());
  std::vector<double> squares(2 * n_candidates);
  sum_over_blocks(rows.weighted({}), workers, squares,
                  [&](const RowBlock& block, Arena& arena, double* sums) {
                    for (std::size_t p = 0; p < families_.size(); ++p) {
                      const SingleCorrelator* single = families_[p]->single();
                      if (single == nullptr) continue;
                      if (single->relative_error() > 0)
                        families_[p]->add_square_norms(block, sums + offsets_[p], arena);
                      single->add_square_errors(block, sums + size() + offsets_[p], arena);
                    }
                  });
  std::vector<double> result(n_candidates);
  for (std::size_t p = 0; p < families_.size(); ++p) {
    const SingleCorrelator* single = families_[p]->single();
    if (single == nullptr) continue;
    for (auto j = static_cast<std::size_t>(offsets_[p]); j < static_cast<std::size_t>(offsets_[p + 1]); ++j)
      result[j] = single->relative_error() * std::sqrt(squares[j]) + std::sqrt(squares[n_candidates + j]);
  }
  scale(result);
  return result;
}

AtomValues::AtomValues(std::span<const Atom> atoms) : size_(static_cast<Index>(atoms.size())) {
  for (std::size_t first = 0; first < atoms.size();) {
    std::size_t end = first + 1;
    while (end < atoms.size() && atoms[end].family == atoms[first].family) ++end;
    runs_.push_back({static_cast<Index>(first), static_cast<Index>(end - first),
                     find_feature_family(atoms[first].family)->evaluator(atoms.subspan(first, end - first))});
    first = end;
  }
}

void AtomValues::evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                          Arena& arena) const {
  for (const Run& run : runs_) {
    const Index begin = std::max(first, run.first);
    const Index end = std::min(first + count, run.first + run.count);
    if (begin >= end) continue;
    run.evaluator->evaluate(block, begin - run.first, end - begin, out + (begin - first) * out_stride,
                            out_stride, arena);
  }
}

void AtomValues::correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                           double* out, Arena& arena) const {
  for (const Run& run : runs_) {
    run.evaluator->correlate(block, 0, run.count, weights, weight_stride, columns, out + run.first * columns,
                             arena);
  }
}

ScoreFunction::ScoreFunction(std::span<const Atom> atoms, std::span<const double> coefficients,
                             std::span<const double> intercepts)
    : intercepts_(intercepts.begin(), intercepts.end()) {
  if (outputs() > 1) {
    const auto n_atoms = std::ssize(atoms);
    by_output_ = Matrix(outputs(), 1 + n_atoms);
    for (Index k = 0; k < outputs(); ++k) {
      by_output_(k, 0) = intercepts_[static_cast<std::size_t>(k)];
      for (Index m = 0; m < n_atoms; ++m)
        by_output_(k, 1 + m) = coefficients[static_cast<std::size_t>(m * outputs() + k)];
    }
    constexpr double kItself = 1;
    for (const Atom& atom : atoms)
      combinations_.push_back(find_feature_family(atom.family)->combination({&atom, 1}, {&kItself, 1}));
    return;
  }
  // The atoms of a family are combined together, wherever they stand in the list.
  for (const FeatureFamily* family : feature_families()) {
    std::vector<Atom> own_atoms;
    std::vector<double> own_coefficients;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      if (atoms[i].family != family->name()) continue;
      own_atoms.push_back(atoms[i]);
      own_coefficients.push_back(coefficients[i]);
    }
    if (!own_atoms.empty()) combinations_.push_back(family->combination(own_atoms, own_coefficients));
  }
}

void ScoreFunction::evaluate(const RowBlock& block, double* scores, Arena& arena) const {
  if (outputs() == 1) {
    std::fill(scores, scores + block.rows, intercepts_.front());
    for (const auto& combination : combinations_) combination->add_to(block, scores, arena);
    return;
  }
  const Arena::Scope scope(arena);
  double* values = arena.take(by_output_.cols * block.stride);
  std::fill_n(values, block.rows, 1.0);
  for (std::size_t m = 0; m < combinations_.size(); ++m) {
    double* own = values + static_cast<Index>(1 + m) * block.stride;
    std::fill_n(own, block.rows, 0.0);
    combinations_[m]->add_to(block, own, arena);
  }
  set_combinations(by_output_.values.data(), outputs(), values, by_output_.cols, block.stride, block.rows,
                   scores, block.stride);
}

}  // namespace mfga
