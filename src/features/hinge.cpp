// Hinges max(0, x - t) and max(0, t - x) of single inputs at knots t near the quantiles of their training
// values, and products of two hinges of different inputs, as in multivariate adaptive regression splines
// (Friedman 1991). With a factor 1 / sqrt(knots) the inner products of the hinges of an input converge to
//
//   k(x, x') = E_t[max(0, x - t) max(0, x' - t) + max(0, t - x) max(0, t - x')],   t distributed as the
//   input,
//
// and those of the products of two inputs to the product of their kernels.
//
// Correlations of products are the entries of H diag(w) H^T, H [hinges x rows], of which only a few rows
// exist at a time; those of two inputs with many knots come from sums over bins.
#include "features/hinge.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/row_kernels.hpp"
#include "core/vectorise.hpp"
#include "features/columns.hpp"
#include "features/exclusive_levels.hpp"
#include "features/formula.hpp"
#include "features/hinge_products.hpp"
#include "features/knotted_candidates.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// The dictionary options, in the order of HingeFamily::options().
struct HingeOptions {
  Index knots;
  bool pairs;
};

constexpr std::array<FamilyOption, 2> kOptions = {{
    {"knots", "1 to 1000", "8",
     "knots per input, near the quantiles of its training values, each with a hinge to either side; fewer if "
     "it "
     "has few different values"},
    {"interactions", "1|2", "1", "2: also all products of two hinges of different inputs"},
}};

HingeOptions parse(const FamilyOptionValues& values) {
  constexpr int kMostKnots = 1000;
  return {parse_small_integer("knots", values[0], 1, kMostKnots),
          parse_small_integer("interactions", values[1], 1, 2) == 2};
}

// max(0, side * (x - knot)), side +1 or -1.
struct Hinge {
  Index input;
  double knot;
  double side;
};

// Of an atom's inputs in turn, Atom::parameters has knot and side.
Hinge hinge_of(const Atom& atom, std::size_t position) {
  return {atom.inputs[position], atom.parameters[2 * position], atom.parameters[2 * position + 1]};
}

// out = factor * hinge
MFGA_VECTORISED void set_hinge(const double* x, double knot, double side, double factor, Index rows,
                               double* out) {
  for (Index n = 0; n < rows; ++n) out[n] = std::max(0.0, side * (x[n] - knot)) * factor;
}

// out *= hinge
MFGA_VECTORISED void multiply_by_hinge(const double* x, double knot, double side, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] *= std::max(0.0, side * (x[n] - knot));
}

// out = weights * the derivative of the hinge by x, which is 0 at the knot
MFGA_VECTORISED void set_hinge_slope(const double* x, double knot, double side, const double* weights,
                                     Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] = side * (x[n] - knot) > 0 ? side * weights[n] : 0;
}

MFGA_VECTORISED void multiply(const double* factors, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] *= factors[n];
}

std::string hinge_text(const Hinge& hinge, const FormulaWriter& writer) {
  const std::string& name = writer.name(hinge.input);
  if (hinge.side < 0) return fmt::format("max(0, {} - {})", writer.number(hinge.knot), name);
  return fmt::format("max(0, {})", writer.shifted(name, -hinge.knot));
}

class HingeValues final : public AtomEvaluator {
 public:
  explicit HingeValues(std::span<const Atom> atoms) : atoms_(atoms.begin(), atoms.end()) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& /*arena*/) const override {
    for (Index i = 0; i < count; ++i) {
      const Atom& atom = atoms_[static_cast<std::size_t>(first + i)];
      double* value = out + i * out_stride;
      const auto [input, knot, side] = hinge_of(atom, 0);
      set_hinge(block.input(input), knot, side, std::sqrt(atom.nu), block.rows, value);
      if (atom.inputs.size() == 1) continue;
      const auto [second_input, second_knot, second_side] = hinge_of(atom, 1);
      multiply_by_hinge(block.input(second_input), second_knot, second_side, block.rows, value);
    }
  }

 private:
  std::vector<Atom> atoms_;
};

// A hinge depends on x - knot, so its derivative by the knot is minus that by the input.
class HingeDerivatives final : public AtomDerivatives {
 public:
  explicit HingeDerivatives(std::span<const Atom> atoms) : atoms_(atoms.begin(), atoms.end()) {}

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* coordinates,
                 double* inputs, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* slopes = arena.take(block.rows);
    for (const Atom& atom : atoms_) {
      const double factor = std::sqrt(atom.nu);
      for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
        const auto [input, knot, side] = hinge_of(atom, i);
        set_hinge_slope(block.input(input), knot, side, weights, block.rows, slopes);
        if (atom.inputs.size() == 2) {
          const auto [other_input, other_knot, other_side] = hinge_of(atom, 1 - i);
          multiply_by_hinge(block.input(other_input), other_knot, other_side, block.rows, slopes);
        }
        if (coordinates != nullptr) *coordinates++ -= factor * row_sum(slopes, block.rows);
        if (inputs != nullptr) {
          cblas_daxpy(static_cast<int>(block.rows), factor, slopes, 1, inputs + input * block.stride, 1);
        }
      }
      weights += weight_stride;
    }
  }

 private:
  std::vector<Atom> atoms_;
};

// The bins of some inputs' values, [inputs x rows].
struct KeptBins {
  Index rows;
  std::vector<std::uint16_t> values;
  [[nodiscard]] std::uint16_t* of(Index input, Index first_row) {
    return values.data() + input * rows + first_row;
  }
  [[nodiscard]] const std::uint16_t* of(Index input, Index first_row) const {
    return values.data() + input * rows + first_row;
  }
};

// All hinges, then all products of two, in the order of the first hinge and then of the second.
class HingeCandidates final : public CandidateFamily {
 public:
  // The hinges of all inputs, input by input.
  HingeCandidates(const FeatureFamily& family, const std::vector<Atom>& hinges, double nu)
      : singles_(knotted_candidates(family, hinges, KnotShape::kHinges)), nu_(nu) {
    for (const Atom& hinge : hinges) {
      if (inputs_.empty() || inputs_.back().input != hinge.inputs[0])
        inputs_.push_back({hinge.inputs[0], static_cast<Index>(hinges_.size()), 0, {}, 0});
      ++inputs_.back().hinges;
      hinges_.push_back({hinge_of(hinge, 0), std::sqrt(hinge.nu / nu)});
    }
    for (InputHinges& input : inputs_) {
      for (Index i = 0; i < input.hinges; ++i) {
        const Index partners = static_cast<Index>(hinges_.size()) - input.end();
        offsets_.push_back(offsets_.back() + partners);
      }
      bin_those_of_many_knots(input);
    }
  }
  HingeCandidates(const HingeCandidates& other, const BlockedRows& rows, Workers& workers)
      : singles_(other.singles_->kept_bytes(rows.rows()) > 0 ? other.singles_->kept_for(rows, workers)
                                                             : other.singles_),
        nu_(other.nu_),
        hinges_(other.hinges_),
        inputs_(other.inputs_),
        n_binned_(other.n_binned_),
        offsets_(other.offsets_) {
    KeptBins kept{rows.rows(), std::vector<std::uint16_t>(static_cast<std::size_t>(n_binned_ * rows.rows()))};
    for_each_block(rows, workers, [&](const RowBlock& block, Arena& /*arena*/) {
      for (const InputHinges& input : inputs_) {
        if (input.bins)
          input.bins->find(block.input(input.input), block.rows, kept.of(input.binned, block.first_row));
      }
    });
    kept_ = std::move(kept);
  }

  [[nodiscard]] Index size() const override { return singles_->size() + offsets_.back(); }

  [[nodiscard]] Atom atom(Index candidate) const override {
    if (candidate < singles_->size()) return singles_->atom(candidate);
    candidate -= singles_->size();
    const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), candidate);
    const Index first = next - offsets_.begin() - 1;
    // The partners of a hinge are the last of all.
    const Index second = static_cast<Index>(hinges_.size()) - (*next - candidate);
    const auto& [a, a_factor] = hinges_[static_cast<std::size_t>(first)];
    const auto& [b, b_factor] = hinges_[static_cast<std::size_t>(second)];
    return {"hinge",
            nu_ * std::pow(a_factor * b_factor, 2),
            {a.input, b.input},
            {1, 1},
            {a.knot, a.side, b.knot, b.side}};
  }

  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    singles_->correlate(block, weights, weight_stride, columns, out, out_stride, arena);
    out += singles_->size();
    for (Index c = 0; c < columns; ++c)
      add_pairs(block, weights + c * weight_stride, Power::kOne, out + c * out_stride, arena);
    if (n_binned_ > 1) add_binned_pairs(block, weights, weight_stride, columns, out, out_stride, arena);
  }

  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    singles_->add_square_norms(block, out, arena);
    const Arena::Scope scope(arena);
    double* ones = arena.take(block.rows);
    std::fill_n(ones, block.rows, 1.0);
    add_pairs(block, block.weights != nullptr ? block.weights : ones, Power::kTwo, out + singles_->size(),
              arena);
  }

  [[nodiscard]] double kept_bytes(Index rows) const override {
    if (n_binned_ < 2) return 0;
    return static_cast<double>(n_binned_) * static_cast<double>(rows) * sizeof(std::uint16_t) +
           singles_->kept_bytes(rows);
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> kept_for(const BlockedRows& rows,
                                                          Workers& workers) const override {
    return std::make_unique<HingeCandidates>(*this, rows, workers);
  }

 private:
  enum class Power { kOne, kTwo };  // correlations of phi, or of phi^2

  struct ScaledHinge {
    Hinge hinge;
    double factor;
  };
  struct InputHinges {
    Index input;
    Index first;
    Index hinges;
    std::optional<KnotBins> bins;  // where products with others that have them come from sums over bins
    Index binned;                  // its place among those
    [[nodiscard]] Index end() const { return first + hinges; }
  };

  void bin_those_of_many_knots(InputHinges& input) {
    constexpr Index kFewest = 6;  // with fewer hinges their products take no longer one by one
    constexpr Index kMost = 62;   // with more, the cells of two inputs would leave the second-level cache
    if (input.hinges < kFewest || input.hinges > kMost) return;
    std::vector<double> knots;
    for (Index h = input.first; h < input.end(); h += 2)
      knots.push_back(hinges_[static_cast<std::size_t>(h)].hinge.knot);
    input.bins.emplace(std::move(knots));
    input.binned = n_binned_++;
  }

  void set_values(const RowBlock& block, Index first, Index end, Power power, double* out) const {
    for (Index h = first; h < end; ++h, out += block.stride) {
      const auto& [hinge, factor] = hinges_[static_cast<std::size_t>(h)];
      set_hinge(block.input(hinge.input), hinge.knot, hinge.side, factor, block.rows, out);
      if (power == Power::kTwo) multiply(out, block.rows, out);
    }
  }

  // Some inputs' hinges, weighted, with those of each later input; without the pairs of add_binned_pairs.
  void add_pairs(const RowBlock& block, const double* weights, Power power, double* out, Arena& arena) const {
    constexpr Index kPanel = 48;  // hinges whose values stay in the second-level cache
    const auto is_binned = [&](std::size_t input) { return power == Power::kOne && inputs_[input].bins; };
    if (power == Power::kOne && n_binned_ == std::ssize(inputs_)) return;
    for (std::size_t panel = 0, panel_end = 0; panel + 1 < inputs_.size(); panel = panel_end) {
      const Index first = inputs_[panel].first;
      panel_end = panel + 1;
      while (panel_end < inputs_.size() && inputs_[panel_end].end() - first <= kPanel &&
             is_binned(panel_end) == is_binned(panel))
        ++panel_end;
      const Index height = inputs_[panel_end - 1].end() - first;

      const Arena::Scope scope(arena);
      double* weighted = arena.take(height * block.stride);
      set_values(block, first, first + height, power, weighted);
      for (Index i = 0; i < height; ++i) multiply(weights, block.rows, weighted + i * block.stride);
      for (std::size_t partner = panel + 1; partner < inputs_.size(); ++partner) {
        if (is_binned(panel) && is_binned(partner)) continue;
        add_pairs_with(block, inputs_[partner], first, weighted,
                       std::min(height, inputs_[partner].first - first), power, out, arena);
      }
    }
  }

  void add_pairs_with(const RowBlock& block, const InputHinges& partner, Index first, const double* weighted,
                      Index height, Power power, double* out, Arena& arena) const {
    const double kernel_factor = power == Power::kOne ? std::sqrt(nu_) : nu_;
    const Arena::Scope scope(arena);
    double* values = arena.take(partner.hinges * block.stride);
    double* products = arena.take(height * partner.hinges);
    set_values(block, partner.first, partner.end(), power, values);
    std::fill_n(products, height * partner.hinges, 0.0);
    add_row_products(weighted, height, block.stride, values, partner.hinges, block.stride, block.rows,
                     products, partner.hinges);
    for (Index i = 0; i < height; ++i) {
      double* own = out + first_product(first + i, partner);
      for (Index j = 0; j < partner.hinges; ++j) own[j] += kernel_factor * products[i * partner.hinges + j];
    }
  }

  // The product of a hinge with the first one of a later input.
  [[nodiscard]] Index first_product(Index hinge, const InputHinges& partner) const {
    // The partners of a hinge are the last of all.
    return offsets_[static_cast<std::size_t>(hinge) + 1] -
           (static_cast<Index>(hinges_.size()) - partner.first);
  }

  [[nodiscard]] BinnedRows binned_rows(const RowBlock& block, const InputHinges& input, Arena& arena) const {
    const double* x = block.input(input.input);
    const std::uint16_t* bins = nullptr;
    if (kept_) {
      bins = kept_->of(input.binned, block.first_row);
    } else {
      auto* found = arena.take_array<std::uint16_t>(block.rows);
      input.bins->find(x, block.rows, found);
      bins = found;
    }
    double* distances = arena.take(block.rows);
    for (Index n = 0; n < block.rows; ++n) distances[n] = x[n] - input.bins->lower()[bins[n]];
    return {&*input.bins, bins, distances};
  }

  // Products of two inputs that both have bins; of two columns of weights at a time.
  void add_binned_pairs(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                        double* out, Index out_stride, Arena& arena) const {
    const Arena::Scope scope(arena);
    auto* all_rows = arena.take_array<BinnedRows>(n_binned_);
    Index most_hinges = 0;
    for (const InputHinges& input : inputs_) {
      if (!input.bins) continue;
      all_rows[input.binned] = binned_rows(block, input, arena);
      most_hinges = std::max(most_hinges, input.hinges);
    }
    auto* weighted = arena.take_array<WeightedRow>(block.rows);
    auto* products = arena.take_array<Two>(most_hinges * most_hinges);
    for (Index c = 0; c < columns; c += 2) {
      const double* own = weights + c * weight_stride;
      const Index n_columns = std::min<Index>(2, columns - c);
      for (auto first = inputs_.begin(); first != inputs_.end(); ++first) {
        if (!first->bins) continue;
        const BinnedRows& rows = all_rows[first->binned];
        set_weighted_rows(own, n_columns == 2 ? own + weight_stride : own, rows, block.rows, weighted);
        for (auto second = first + 1; second != inputs_.end(); ++second) {
          if (!second->bins) continue;
          set_hinge_products(rows, weighted, all_rows[second->binned], block.rows, products, arena);
          for (Index k = 0; k < n_columns; ++k)
            add_products(*first, *second, products, k, out + (c + k) * out_stride);
        }
      }
    }
  }

  void add_products(const InputHinges& first, const InputHinges& second, const Two* products, Index column,
                    double* out) const {
    const double factor = std::sqrt(nu_) * hinges_[static_cast<std::size_t>(first.first)].factor *
                          hinges_[static_cast<std::size_t>(second.first)].factor;
    for (Index i = 0; i < first.hinges; ++i) {
      double* own = out + first_product(first.first + i, second);
      for (Index j = 0; j < second.hinges; ++j) own[j] += factor * products[i * second.hinges + j][column];
    }
  }

  std::shared_ptr<const CandidateFamily> singles_;
  double nu_;
  std::vector<ScaledHinge> hinges_;
  std::vector<InputHinges> inputs_;
  Index n_binned_ = 0;
  std::vector<Index> offsets_{0};  // first product of each hinge with later ones, and their number
  std::optional<KeptBins> kept_;   // of the rows of a search
};

class HingeFamily final : public FeatureFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "hinge"; }
  [[nodiscard]] std::string_view help() const override {
    return "hinges of single inputs, max(0, x - knot) and max(0, knot - x), and products of two of them";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { parse(values); }
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& /*values*/) const override { return false; }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    const HingeOptions options = parse(values);
    const auto d = static_cast<double>(n_inputs);
    const double per_input = 2 * static_cast<double>(options.knots);
    return per_input * d + (options.pairs ? per_input * per_input * d * (d - 1) / 2 : 0);
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const HingeOptions options = parse(values);
    const auto samples = column_samples(context.training_rows(name()), context.seed, context.parallel());
    std::vector<Atom> hinges;
    for (Index j = 0; j < context.n_inputs; ++j) {
      const std::vector<double> knots = quantile_knots(samples[static_cast<std::size_t>(j)], options.knots);
      for (const double knot : knots) {
        for (const double side : {1.0, -1.0})
          hinges.push_back({"hinge", nu / static_cast<double>(knots.size()), {j}, {1}, {knot, side}});
      }
    }
    if (options.pairs)
      return without_products_of_levels(std::make_unique<HingeCandidates>(*this, hinges, nu), context);
    return knotted_candidates(*this, hinges, KnotShape::kHinges);
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<HingeValues>(atoms);
  }
  // The knots.
  [[nodiscard]] std::vector<Coordinate> coordinates(const Atom& atom) const override {
    std::vector<Coordinate> result;
    for (std::size_t i = 0; i < atom.inputs.size(); ++i)
      result.push_back({hinge_of(atom, i).knot, 1, atom.inputs[i]});
    return result;
  }
  [[nodiscard]] Atom moved(const Atom& atom, std::span<const double> values) const override {
    Atom result = atom;
    for (std::size_t i = 0; i < values.size(); ++i) result.parameters[2 * i] = values[i];
    return result;
  }
  [[nodiscard]] std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const override {
    return std::make_unique<HingeDerivatives>(atoms);
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    std::string text = hinge_text(hinge_of(atom, 0), writer);
    if (atom.inputs.size() == 2) text += " * " + hinge_text(hinge_of(atom, 1), writer);
    return {std::sqrt(atom.nu), text};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    std::vector<Expression> factors;
    for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
      const auto [input, knot, side] = hinge_of(atom, i);
      const Expression x = inputs[static_cast<std::size_t>(input)];
      const Expression beyond = graph.sum(std::span(&x, 1), std::span(&side, 1), -side * knot);
      factors.push_back(graph.max(graph.constant(0), beyond));
    }
    return graph.times(graph.product(factors), std::sqrt(atom.nu));
  }
  void validate(const Atom& atom, Index /*n_inputs*/) const override {
    if (atom.inputs.empty() || atom.inputs.size() > 2 ||
        atom.exponents != std::vector(atom.inputs.size(), 1)) {
      throw Error(ErrorKind::kBadData, "a hinge term has one or two inputs with exponent 1");
    }
    if (atom.parameters.size() != 2 * atom.inputs.size()) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the hinges of a term are {} numbers, expected knot and side "
                              "of each of its inputs, {} numbers",
                              atom.parameters.size(), 2 * atom.inputs.size()));
    }
    for (std::size_t i = 0; i < atom.inputs.size(); ++i) {
      if (const double side = hinge_of(atom, i).side; side != 1 && side != -1) {
        throw Error(ErrorKind::kBadData, fmt::format("the side of a hinge is {}, expected 1 or -1", side));
      }
    }
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 1> kFields = {{{"hinges", ParameterField::Size::kRest}}};
    return kFields;
  }
};

}  // namespace

const FeatureFamily& hinge_family() {
  static const HingeFamily family;
  return family;
}

}  // namespace mfga
