#include "features/candidates.hpp"

#include <algorithm>
#include <numeric>

namespace mfga {

Candidates::Candidates(const Dictionary& dictionary, const CandidateContext& context) {
  std::vector<double> nu;
  for (const FamilyRequest& request : dictionary.requests()) {
    nu.push_back(kernel_weight(request));
  }
  const double total = std::accumulate(nu.begin(), nu.end(), 0.0);
  for (std::size_t p = 0; p < nu.size(); ++p) {
    const FamilyRequest& request = dictionary.requests()[p];
    const FeatureFamily& family = *find_feature_family(request.family);
    CandidateContext own = context;
    own.seed += p;  // summands of one family draw different atoms
    families_.push_back(family.bind(option_values(family, request), own, nu[p] / total));
    offsets_.push_back(offsets_.back() + families_.back()->size());
  }
}

Atom Candidates::atom(Index candidate) const {
  const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), candidate);
  const auto family = static_cast<std::size_t>(next - offsets_.begin() - 1);
  return families_[family]->atom(candidate - offsets_[family]);
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

void Candidates::correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                           double* out, Index out_stride, Arena& arena) const {
  for (std::size_t p = 0; p < families_.size(); ++p) {
    families_[p]->correlate(block, weights, weight_stride, columns, out + offsets_[p], out_stride, arena);
  }
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

ScoreFunction::ScoreFunction(std::span<const Atom> atoms, std::span<const double> coefficients,
                             double intercept)
    : intercept_(intercept) {
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
  std::fill(scores, scores + block.rows, intercept_);
  for (const auto& combination : combinations_) combination->add_to(block, scores, arena);
}

}  // namespace mfga
