// The lazy engine on a device: what it is asked is answered by a few products of columns of numbers, one for
// each row, in the memory of the device, in double precision.
//
// Candidates that are products of at most two inputs and an envelope are never computed one by one: their
// products with weights w are the entries of X^T diag(w e) X. All others are columns, kept as far as there is
// room for them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "solve/device_problem.hpp"
#include "solve/engine.hpp"

namespace mfga {
namespace {

class DeviceEngine final : public Engine {
 public:
  DeviceEngine(const Problem& problem, const Candidates& candidates)
      : problem_(problem), candidates_(candidates), device_(*problem.device), rows_(device_.rows()) {
    arrange();
  }

  [[nodiscard]] std::string_view name() const override { return "lazy"; }

  [[nodiscard]] double loss_sum(const ActiveSet& active) override { return derivatives(active, false); }

  double gradient(const ActiveSet& active, Gradient& out) override {
    const double loss = derivatives(active, has_curvatures());
    set_gradient(out);
    return loss;
  }

  double gradient_and_correlations(const ActiveSet& active, const Matrix& combinations, Gradient& out,
                                   Matrix& correlations_out) override {
    const double loss = derivatives(active, has_curvatures());
    set_gradient(out);
    correlations_out = correlations(active, combinations);
    return loss;
  }

  // Never inexact.
  void exact_gradient(const ActiveSet& /*active*/, Gradient& out) override { set_gradient(out); }

  [[nodiscard]] CandidateProducts products(const ActiveSet& active, std::span<const Index> added,
                                           bool with_curvature) override {
    std::vector<Atom> atoms;
    for (const Index candidate : added) atoms.push_back(candidates_.atom(candidate));
    const ColumnRange all = device_.values(active.atoms, atoms);
    const auto n_added = static_cast<Index>(added.size());
    const ColumnRange own{all.columns, all.first + all.count - n_added, n_added};
    CandidateProducts result{Matrix(n_added, 1 + all.count), Matrix(n_added, 1), {}};
    // The first derivative has the rows' weights already.
    const bool together = device_.weights().columns == nullptr;
    const ColumnRange others =
        together ? DeviceProblem::with_target_and_first_derivative(all) : DeviceProblem::with_target(all);
    Matrix sums(n_added, others.count);
    rows_.products(own, others, device_.weights(), sums.values);
    if (!together) rows_.products(own, device_.first_derivatives(), {}, result.gradient.values);
    for (Index i = 0; i < n_added; ++i) {
      const double* found = sums.row(i);
      if (together) result.gradient(i, 0) = *found++;
      double* row = result.values.row(i);  // 1 stands before the target there
      row[0] = found[1];
      row[1] = found[0];
      std::copy_n(found + 2, all.count - 1, row + 2);
    }
    if (with_curvature) {
      result.curvature = Matrix(n_added, all.count);
      rows_.products(own, all, device_.second_derivatives(), result.curvature.values);
    }
    return result;
  }

  [[nodiscard]] Matrix correlations(const ActiveSet& active, const Matrix& combinations) override {
    const ColumnRange all = device_.values(active.atoms);
    const Index n_atoms = all.count - 1;
    std::vector<double> constants;
    std::vector<double> coefficients;
    for (Index c = 0; c < combinations.rows; ++c) {
      constants.push_back(combinations(c, 0));
      coefficients.insert(coefficients.end(), combinations.row(c) + 1, combinations.row(c) + 1 + n_atoms);
    }
    if (combined_ == nullptr || combined_->size() < combinations.rows)
      combined_ = rows_.make_columns(combinations.rows);
    rows_.combine(constants, coefficients, {all.columns, all.first + 1, n_atoms}, *combined_, 0);
    if (device_.weights().columns != nullptr) {
      for (Index c = 0; c < combinations.rows; ++c)
        rows_.multiply({combined_.get(), c, 1}, device_.weights(), *combined_, c);
    }
    Matrix result(combinations.rows, candidates_.size());
    add_sums({combined_.get(), 0, combinations.rows}, result);
    return result;
  }

  [[nodiscard]] std::vector<double> square_norms() override {
    if (!square_norms_.empty()) return square_norms_;
    square_norms_.resize(static_cast<std::size_t>(candidates_.size()));
    std::vector<Index> of_moments;
    for (const MomentGroup& group : groups_)
      for (const MomentGroup::Entry& entry : group.entries) of_moments.push_back(entry.candidate);
    const auto add = [&](std::span<const Index> some, ColumnRange columns) {
      std::vector<double> sums(some.size());
      rows_.square_norms(columns, device_.weights(), sums);
      for (std::size_t i = 0; i < some.size(); ++i)
        square_norms_[static_cast<std::size_t>(some[i])] = sums[i];
    };
    add(kept(), {kept_columns_.get(), 0, n_kept_});
    for_each_tile(not_kept(), add);
    for_each_tile(of_moments, add);
    return square_norms_;
  }

 private:
  // Candidates factor * exp(-rate |x|^2) x_i x_j with one rate; the input after the last one is 1.
  struct MomentGroup {
    struct Entry {
      Index candidate;
      double factor;
      Index i, j;  // i <= j
    };
    double rate = 0;
    bool has_products = false;  // of two inputs
    std::vector<Entry> entries;
    Index envelope = -1;  // its column; -1: it is 1
  };

  void arrange() {
    const Index n_inputs = problem_.rows.inputs();
    std::map<double, MomentGroup> groups;
    const FeatureFamily* family = nullptr;
    for (Index j = 0; j < candidates_.size(); ++j) {
      const Atom atom = candidates_.atom(j);
      if (family == nullptr || family->name() != atom.family) family = find_feature_family(atom.family);
      const std::optional<Monomial> monomial = family->monomial(atom);
      if (!monomial || monomial->inputs.size() > 2) {
        columns_.push_back(j);
        continue;
      }
      std::vector<Index> inputs = monomial->inputs;
      MomentGroup& group = groups[monomial->rate];
      group.has_products = group.has_products || inputs.size() == 2;
      inputs.resize(2, n_inputs);
      group.rate = monomial->rate;
      group.entries.push_back({j, monomial->factor, inputs[0], inputs[1]});
    }
    Index n_envelopes = 0;
    for (auto& [rate, group] : groups) {
      if (rate != 0) group.envelope = n_envelopes++;
      groups_.push_back(std::move(group));
    }
    // The last column is for weights times an envelope.
    envelopes_ = rows_.make_columns(n_envelopes + 1);
    for (const MomentGroup& group : groups_) {
      if (group.envelope >= 0)
        rows_.evaluate(RowMonomials{{1}, {group.rate}, {0}, {}}, *envelopes_, group.envelope);
    }
    // Half of it: others, such as a tuning of the same rows, need room as well.
    n_kept_ = std::min<Index>(std::ssize(columns_), device_.room_for_columns() / 2);
    kept_columns_ = rows_.make_columns(n_kept_);
    evaluate(kept(), *kept_columns_);
  }

  [[nodiscard]] std::span<const Index> kept() const {
    return std::span(columns_).first(static_cast<std::size_t>(n_kept_));
  }
  [[nodiscard]] std::span<const Index> not_kept() const {
    return std::span(columns_).subspan(static_cast<std::size_t>(n_kept_));
  }

  void evaluate(std::span<const Index> candidates, DeviceColumns& out) {
    std::vector<Atom> atoms;
    for (const Index candidate : candidates) atoms.push_back(candidates_.atom(candidate));
    device_.evaluate(atoms, out, 0);
  }

  // use(candidates, columns) with the values of some of them at a time.
  template <class Use>
  void for_each_tile(std::span<const Index> candidates, Use use) {
    constexpr std::size_t kTile = 128;
    if (candidates.empty()) return;
    if (tile_ == nullptr) tile_ = rows_.make_columns(static_cast<Index>(kTile));
    for (std::size_t begin = 0; begin < candidates.size(); begin += kTile) {
      problem_.workers.check();
      const auto some = candidates.subspan(begin, std::min(kTile, candidates.size() - begin));
      evaluate(some, *tile_);
      use(some, ColumnRange{tile_.get(), 0, std::ssize(some)});
    }
  }

  // Curvatures are asked for only where they depend on the row.
  [[nodiscard]] bool has_curvatures() const { return !problem_.loss.constant_curvature(); }

  double derivatives(const ActiveSet& active, bool with_second) {
    return device_.derivatives(problem_, active.intercepts.front(), active.theta,
                               device_.values(active.atoms), with_second);
  }

  void set_gradient(Gradient& out) {
    Matrix sums(1, candidates_.size());
    add_sums(device_.first_derivatives(), sums);
    out.values.assign(sums.values.begin(), sums.values.end());
    out.errors.clear();
  }

  // out[c * candidates + j] = the sum over rows of column c times candidate j.
  void add_sums(ColumnRange columns, Matrix& out) {
    for (const MomentGroup& group : groups_) {
      for (Index c = 0; c < columns.count; ++c)
        add_moments(group, {columns.columns, columns.first + c, 1}, out.row(c));
    }
    const auto add = [&](std::span<const Index> some, ColumnRange values) {
      std::vector<double> sums(some.size() * static_cast<std::size_t>(columns.count));
      rows_.products(columns, values, {}, sums);
      for (Index c = 0; c < columns.count; ++c) {
        const double* own = sums.data() + c * std::ssize(some);
        for (std::size_t i = 0; i < some.size(); ++i) out(c, some[i]) = own[i];
      }
    };
    if (n_kept_ > 0) add(kept(), {kept_columns_.get(), 0, n_kept_});
    for_each_tile(not_kept(), add);
  }

  void add_moments(const MomentGroup& group, ColumnRange column, double* out) {
    problem_.workers.check();
    const Index n = problem_.rows.inputs() + 1;
    const ColumnRange inputs{&rows_.inputs(), 0, n};
    ColumnRange weights = column;
    if (group.envelope >= 0) {
      const Index product = envelopes_->size() - 1;
      rows_.multiply(column, {envelopes_.get(), group.envelope, 1}, *envelopes_, product);
      weights = {envelopes_.get(), product, 1};
    }
    // Where no two inputs are multiplied, only the moments with 1 are needed.
    moments_.resize(static_cast<std::size_t>(group.has_products ? n * n : n));
    if (group.has_products) {
      rows_.products_with_itself(inputs, weights, moments_);
    } else {
      rows_.products(inputs, weights, {}, moments_);
    }
    for (const MomentGroup::Entry& entry : group.entries)
      out[entry.candidate] =
          entry.factor *
          moments_[static_cast<std::size_t>(group.has_products ? entry.i * n + entry.j : entry.i)];
  }

  Problem problem_;
  const Candidates& candidates_;
  DeviceProblem& device_;
  DeviceRows& rows_;
  std::vector<MomentGroup> groups_;
  std::unique_ptr<DeviceColumns> envelopes_;
  std::vector<Index> columns_;  // the other candidates, of which the first are kept
  Index n_kept_ = 0;
  std::unique_ptr<DeviceColumns> kept_columns_;
  std::unique_ptr<DeviceColumns> tile_;      // values of a few of the others
  std::unique_ptr<DeviceColumns> combined_;  // combinations of atoms
  std::vector<double> moments_;
  std::vector<double> square_norms_;
};

}  // namespace

std::unique_ptr<Engine> make_device_engine(const Problem& problem, const Candidates& candidates) {
  return std::make_unique<DeviceEngine>(problem, candidates);
}

}  // namespace mfga
