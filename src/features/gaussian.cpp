// Taylor features of the Gaussian kernel K(x, x') = exp(-|x - x'|^2 / 2 sigma^2) (Cotter, Keshet and Srebro
// 2011; the paper, section 4): for a multi-index a of order k = |a|,
//
//   phi_a(x) = exp(-|x|^2 / 2 sigma^2) * x^a / (sigma^k sqrt(a!)),     sum over all a of phi_a(x) phi_a(x') =
//   K.
//
// Correlations are never computed from materialised features: those of order 2 with weights w are the
// entries of X^T diag(w e) X with e_n = exp(-|x_n|^2 / 2 sigma^2); order k > 2 is order 2 with the weights
// multiplied by k - 2 further inputs. They are computed in double or, when a search only needs to know which
// are large, in single precision.
#include "features/gaussian.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/row_kernels.hpp"
#include "core/vectorise.hpp"
#include "features/formula.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr int kHighestOrder = 12;

// The dictionary options, in the order of GaussianFamily::options().
struct GaussianOptions {
  int order;
  bool squares;
  SigmaChoice sigma;
};

constexpr std::array<FamilyOption, 3> kOptions = {{
    {"order", "0 to 12", "2", "highest order of the Taylor features"},
    {"squares", "yes|no", "yes", "no: only products of different inputs"},
    kSigmaOption,
}};

GaussianOptions parse(const FamilyOptionValues& values) {
  return {parse_small_integer("order", values[0], 0, kHighestOrder), parse_yes_no("squares", values[1]),
          parse_sigma(values[2])};
}

// How many sorted index tuples of this order there are out of n inputs; as a double, since it may be huge.
double tuple_count(Index n, int order, bool squares) {
  double count = 1;
  for (int i = 0; i < order; ++i) {
    const double choices = squares ? static_cast<double>(n + i) : static_cast<double>(n - i);
    count = std::max(0.0, count * choices / (i + 1));
  }
  return std::round(count);
}

// exp(-decay |x|^2) is the envelope.
double decay(double sigma) { return 0.5 / (sigma * sigma); }

void envelope(const RowBlock& block, double sigma, double* out) {
  exponentials(block.square_norms, -decay(sigma), block.rows, out);
}

MFGA_VECTORISED void multiply(const double* a, const double* b, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] = a[n] * b[n];
}

MFGA_VECTORISED void multiply(const float* a, const float* b, Index count, float* out) {
  for (Index n = 0; n < count; ++n) out[n] = a[n] * b[n];
}

// out += a + constant
MFGA_VECTORISED void add(const double* a, double constant, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] += a[n] + constant;
}

// out += a * b
MFGA_VECTORISED void add_product(const double* a, const double* b, Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] += a[n] * b[n];
}

MFGA_VECTORISED void multiply_three(double factor, const double* a, const double* b, const double* c,
                                    Index count, double* out) {
  for (Index n = 0; n < count; ++n) out[n] = factor * a[n] * b[n] * c[n];
}

// The inputs of a block in one of the two precisions.
template <class T>
struct Inputs {
  const T* values;
  Index stride;
  Index rows;
  [[nodiscard]] const T* input(Index j) const { return values + j * stride; }
};

double* take(Arena& arena, Index count, const double* /*like*/) { return arena.take(count); }
float* take(Arena& arena, Index count, const float* /*like*/) { return arena.take_single(count); }

class GaussianCandidates final : public CandidateFamily, public SingleCorrelator {
 public:
  GaussianCandidates(Index n_inputs, int order, bool squares, double sigma, double nu)
      : n_inputs_(n_inputs), order_(order), squares_(squares), sigma_(sigma), nu_(nu) {
    for (int k = 0; k <= order; ++k) {
      offsets_.push_back(offsets_.back() + static_cast<Index>(tuple_count(n_inputs, k, squares)));
    }
  }

  [[nodiscard]] Index size() const override { return offsets_.back(); }

  // Candidates are numbered by order, then by their sorted tuple of inputs, lexicographically.
  [[nodiscard]] Atom atom(Index candidate) const override {
    int order = 0;
    while (candidate >= offsets_[static_cast<std::size_t>(order) + 1]) ++order;
    Index rank = candidate - offsets_[static_cast<std::size_t>(order)];
    Atom atom{"gaussian", nu_, {}, {}, {sigma_}};
    Index lowest = 0;
    for (int left = order; left > 0; --left) {
      for (;; ++lowest) {
        const Index next_lowest = squares_ ? lowest : lowest + 1;
        const auto with_lowest = static_cast<Index>(tuple_count(n_inputs_ - next_lowest, left - 1, squares_));
        if (rank < with_lowest) break;
        rank -= with_lowest;
      }
      if (!atom.inputs.empty() && atom.inputs.back() == lowest) {
        ++atom.exponents.back();
      } else {
        atom.inputs.push_back(lowest);
        atom.exponents.push_back(1);
      }
      if (!squares_) ++lowest;
    }
    return atom;
  }

  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* e = arena.take(block.rows);
    double* weighted = arena.take(block.rows);
    envelope(block, sigma_, e);
    for (Index c = 0; c < columns; ++c) {
      multiply(weights + c * weight_stride, e, block.rows, weighted);
      add_all_orders(Inputs<double>{block.values, block.stride, block.rows}, weighted, Power::kOne, 1,
                     out + c * out_stride, arena);
    }
  }

  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* weights = arena.take(block.rows);
    exponentials(block.square_norms, -2 * decay(sigma_), block.rows, weights);
    double* squares = arena.take(n_inputs_ * block.stride);
    for (Index j = 0; j < n_inputs_; ++j)
      multiply(block.input(j), block.input(j), block.rows, squares + j * block.stride);
    add_all_orders(Inputs<double>{squares, block.stride, block.rows}, weights, Power::kTwo, 1, out, arena);
  }

  [[nodiscard]] const SingleCorrelator* single() const override { return this; }

  void correlate_single(const RowBlock& block, const double* weights, double* out,
                        Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* weighted = arena.take(block.rows);
    envelope(block, sigma_, weighted);
    multiply(weights, weighted, block.rows, weighted);
    float* rounded = arena.take_single(block.rows);
    const double scale = round_scaled(weighted, block.rows, rounded);
    if (scale == 0) return;
    add_all_orders(Inputs<float>{block.single, block.stride, block.rows}, rounded, Power::kOne, scale, out,
                   arena);
  }

  // Rounding of the weights, of each input and of each product, and the sum of a block.
  [[nodiscard]] double relative_error() const override {
    return single_product_error(kBlockRows) + 0x1p-24 * (2 * order_ + 2);
  }

 private:
  enum class Power { kOne, kTwo };  // correlations of phi, or of phi^2

  // The product of the inputs fixed so far, as weights, and what its continuation depends on.
  template <class T>
  struct Prefix {
    const T* weights;  // [rows]: w e times the inputs so far
    Power power;
    double factor;  // sqrt(nu) / (sigma^k sqrt(a!)) for the inputs so far, or its square
    Index lowest;   // the next input is at least this
    Index last;     // the last input, -1 if none
    int repeats;    // how often `last` occurs in a row
  };

  template <class T>
  [[nodiscard]] Prefix<T> extended(const Prefix<T>& prefix, Index input) const {
    const int repeats = input == prefix.last ? prefix.repeats + 1 : 1;
    const double divisor = prefix.power == Power::kOne ? std::sqrt(repeats) : repeats;
    return {prefix.weights, prefix.power, prefix.factor / divisor, squares_ ? input : input + 1,
            input,          repeats};
  }

  template <class T>
  void add_all_orders(const Inputs<T>& x, const T* weights, Power power, double factor, double* out,
                      Arena& arena) const {
    factor *= power == Power::kOne ? std::sqrt(nu_) : nu_;
    const double per_order = power == Power::kOne ? sigma_ : sigma_ * sigma_;
    for (int k = 0; k <= order_; ++k, factor /= per_order) {
      double* cursor = out + offsets_[static_cast<std::size_t>(k)];
      add_products(x, Prefix<T>{weights, power, factor, 0, -1, 0}, k, cursor, arena);
    }
  }

  // Adds the correlations of all tuples that continue the prefix by `left` inputs; advances `out`.
  template <class T>
  void add_products(const Inputs<T>& x, const Prefix<T>& prefix, int left, double*& out, Arena& arena) const {
    if (left == 0) {
      double sum = 0;
      for (Index n = 0; n < x.rows; ++n) sum += static_cast<double>(prefix.weights[n]);
      *out++ += prefix.factor * sum;
      return;
    }
    const Index n_free = n_inputs_ - prefix.lowest;
    if (n_free <= 0) return;
    if (left == 1) {
      const Arena::Scope scope(arena);
      double* sums = arena.take(n_free);
      std::fill_n(sums, n_free, 0.0);
      add_row_products(prefix.weights, 1, x.stride, x.input(prefix.lowest), n_free, x.stride, x.rows, sums,
                       n_free);
      for (Index i = 0; i < n_free; ++i) *out++ += extended(prefix, prefix.lowest + i).factor * sums[i];
      return;
    }
    if (left == 2) {
      add_pairs(x, prefix, out, arena);
      return;
    }
    const Arena::Scope scope(arena);
    T* weights = take(arena, x.rows, x.values);
    for (Index i = prefix.lowest; i < n_inputs_; ++i) {
      multiply(prefix.weights, x.input(i), x.rows, weights);
      Prefix<T> next = extended(prefix, i);
      next.weights = weights;
      add_products(x, next, left - 1, out, arena);
    }
  }

  // The last two inputs at once: the upper triangle of X diag(weights) X^T, with X [inputs x rows], in
  // panels of rows so that most of the lower triangle is never computed.
  template <class T>
  void add_pairs(const Inputs<T>& x, const Prefix<T>& prefix, double*& out, Arena& arena) const {
    constexpr Index kPanel = 6;  // the height of a register tile; the rows stay in the first-level cache
    const Arena::Scope scope(arena);
    const Index n_free = n_inputs_ - prefix.lowest;
    T* weighted = take(arena, kPanel * x.stride, x.values);
    double* products = arena.take(kPanel * n_free);
    for (Index panel = 0; panel < n_free; panel += kPanel) {
      const Index height = std::min(kPanel, n_free - panel);
      const Index width = n_free - panel;
      for (Index i = 0; i < height; ++i) {
        multiply(prefix.weights, x.input(prefix.lowest + panel + i), x.rows, weighted + i * x.stride);
      }
      std::fill_n(products, height * width, 0.0);
      add_row_products(weighted, height, x.stride, x.input(prefix.lowest + panel), width, x.stride, x.rows,
                       products, width);
      for (Index i = 0; i < height; ++i) {
        const Prefix<T> first = extended(prefix, prefix.lowest + panel + i);
        const double* row = products + i * width;
        if (squares_) *out++ += extended(first, first.last).factor * row[i];
        for (Index j = i + 1; j < width; ++j) *out++ += first.factor * row[j];
      }
    }
  }

  Index n_inputs_;
  int order_;
  bool squares_;
  double sigma_;
  double nu_;
  std::vector<Index> offsets_{0};  // first candidate of each order, and the total
};

// sqrt(nu) / (sigma^k sqrt(a!))
double taylor_factor(const Atom& atom) {
  double factor = std::sqrt(atom.nu);
  for (const int exponent : atom.exponents) {
    for (int i = 1; i <= exponent; ++i) factor /= atom.parameters[0] * std::sqrt(i);
  }
  return factor;
}

std::vector<Index> inputs_with_repetitions(const Atom& atom) {
  std::vector<Index> inputs;
  for (std::size_t i = 0; i < atom.inputs.size(); ++i)
    inputs.insert(inputs.end(), static_cast<std::size_t>(atom.exponents[i]), atom.inputs[i]);
  return inputs;
}

class GaussianValues final : public AtomEvaluator {
 public:
  explicit GaussianValues(std::span<const Atom> atoms) {
    for (const Atom& atom : atoms) {
      const double sigma = atom.parameters[0];
      auto known = std::find(sigmas_.begin(), sigmas_.end(), sigma);
      if (known == sigmas_.end()) known = sigmas_.insert(sigmas_.end(), sigma);
      products_.push_back({static_cast<std::size_t>(known - sigmas_.begin()), taylor_factor(atom),
                           inputs_with_repetitions(atom)});
    }
  }

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* envelopes = arena.take(static_cast<Index>(sigmas_.size()) * block.stride);
    for (std::size_t s = 0; s < sigmas_.size(); ++s) {
      envelope(block, sigmas_[s], envelopes + static_cast<Index>(s) * block.stride);
    }
    for (Index i = 0; i < count; ++i) {
      const Product& product = products_[static_cast<std::size_t>(first + i)];
      const double* e = envelopes + static_cast<Index>(product.sigma) * block.stride;
      double* value = out + i * out_stride;
      if (product.inputs.size() == 2) {  // by far the most frequent
        multiply_three(product.factor, e, block.input(product.inputs[0]), block.input(product.inputs[1]),
                       block.rows, value);
        continue;
      }
      for (Index n = 0; n < block.rows; ++n) value[n] = product.factor * e[n];
      for (const Index input : product.inputs) multiply(value, block.input(input), block.rows, value);
    }
  }

  // The envelope goes with the weights and the factor with the sums: what is left of an atom of order 2 is
  // one product.
  void correlate(const RowBlock& block, Index first, Index count, const double* weights, Index weight_stride,
                 Index columns, double* out, Arena& arena) const override {
    constexpr Index kTile = 48;  // atoms whose monomials stay in the second-level cache
    const Arena::Scope scope(arena);
    double* e = arena.take(block.rows);
    double* weighted = arena.take(columns * block.stride);
    double* monomials = arena.take(std::min(kTile, count) * block.stride);
    double* sums = arena.take(std::min(kTile, count) * columns);
    std::vector<Index> tile;  // atoms
    const auto add_tile = [&] {
      const auto height = static_cast<Index>(tile.size());
      std::fill_n(sums, height * columns, 0.0);
      add_row_products(monomials, height, block.stride, weighted, columns, block.stride, block.rows, sums,
                       columns);
      for (Index i = 0; i < height; ++i) {
        const Index atom = tile[static_cast<std::size_t>(i)];
        const double factor = products_[static_cast<std::size_t>(atom)].factor;
        for (Index c = 0; c < columns; ++c)
          out[(atom - first) * columns + c] += factor * sums[i * columns + c];
      }
      tile.clear();
    };
    for (std::size_t s = 0; s < sigmas_.size(); ++s) {
      envelope(block, sigmas_[s], e);
      for (Index c = 0; c < columns; ++c)
        multiply(weights + c * weight_stride, e, block.rows, weighted + c * block.stride);
      for (Index atom = first; atom < first + count; ++atom) {
        const Product& product = products_[static_cast<std::size_t>(atom)];
        if (product.sigma != s) continue;
        set_monomial(block, product.inputs, monomials + static_cast<Index>(tile.size()) * block.stride);
        tile.push_back(atom);
        if (static_cast<Index>(tile.size()) == kTile) add_tile();
      }
      add_tile();
    }
  }

 private:
  struct Product {
    std::size_t sigma;  // position in sigmas_
    double factor;
    std::vector<Index> inputs;  // with repetitions
  };

  static void set_monomial(const RowBlock& block, const std::vector<Index>& inputs, double* out) {
    if (inputs.size() < 2) {
      if (inputs.empty()) std::fill_n(out, block.rows, 1.0);
      if (!inputs.empty()) std::copy_n(block.input(inputs[0]), block.rows, out);
      return;
    }
    multiply(block.input(inputs[0]), block.input(inputs[1]), block.rows, out);
    for (std::size_t i = 2; i < inputs.size(); ++i) multiply(out, block.input(inputs[i]), block.rows, out);
  }

  std::vector<double> sigmas_;
  std::vector<Product> products_;
};

// sum_a c_a phi_a(x) = e(x) * sum over prefixes p of x^p * (sum over last inputs i of c_(p,i) x_i): atoms
// that share all inputs but the last are combined first, with one multiplication and one load per atom.
class GaussianCombination final : public AtomCombination {
 public:
  GaussianCombination(std::span<const Atom> atoms, std::span<const double> coefficients) {
    std::map<std::pair<double, std::vector<Index>>, Group> groups;  // by sigma and prefix
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      std::vector<Index> prefix = inputs_with_repetitions(atoms[i]);
      const double coefficient = coefficients[i] * taylor_factor(atoms[i]);
      const double sigma = atoms[i].parameters[0];
      if (prefix.empty()) {
        groups[{sigma, prefix}].constant += coefficient;
        continue;
      }
      const Index last = prefix.back();
      prefix.pop_back();
      Group& group = groups[{sigma, prefix}];
      group.last_inputs.push_back(last);
      group.coefficients.push_back(coefficient);
    }
    for (auto& [key, group] : groups) {
      if (kernels_.empty() || kernels_.back().sigma != key.first) kernels_.push_back({key.first, {}});
      group.prefix = key.second;
      kernels_.back().groups.push_back(std::move(group));
    }
  }

  void add_to(const RowBlock& block, double* scores, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* e = arena.take(block.rows);
    double* sum = arena.take(block.rows);
    double* combined = arena.take(block.rows);
    std::vector<const double*> rows;
    for (const Kernel& kernel : kernels_) {
      std::fill(sum, sum + block.rows, 0.0);
      for (const Group& group : kernel.groups) {
        rows.clear();
        for (const Index input : group.last_inputs) rows.push_back(block.input(input));
        combine_rows(rows.data(), group.coefficients.data(), static_cast<Index>(rows.size()), block.rows,
                     combined);
        for (const Index input : group.prefix) multiply(combined, block.input(input), block.rows, combined);
        add(combined, group.constant, block.rows, sum);
      }
      envelope(block, kernel.sigma, e);
      add_product(e, sum, block.rows, scores);
    }
  }

 private:
  struct Group {
    std::vector<Index> prefix;       // inputs that all atoms of the group share, with repetitions
    std::vector<Index> last_inputs;  // one per atom
    std::vector<double> coefficients;
    double constant = 0;  // of the atom without inputs
  };
  struct Kernel {
    double sigma;
    std::vector<Group> groups;
  };
  std::vector<Kernel> kernels_;
};

class GaussianFamily final : public FeatureFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "gaussian"; }
  [[nodiscard]] std::string_view help() const override {
    return "Taylor features of the Gaussian kernel: products of inputs times exp(-|x|^2 / 2 sigma^2)";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override { return kOptions; }
  void check(const FamilyOptionValues& values) const override { parse(values); }
  [[nodiscard]] bool needs_sigma(const FamilyOptionValues& values) const override {
    return parse(values).sigma.automatic;
  }
  [[nodiscard]] double candidates(const FamilyOptionValues& values, Index n_inputs) const override {
    const GaussianOptions options = parse(values);
    double total = 0;
    for (int k = 0; k <= options.order; ++k) total += tuple_count(n_inputs, k, options.squares);
    return total;
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const GaussianOptions options = parse(values);
    return std::make_unique<GaussianCandidates>(context.n_inputs, options.order, options.squares,
                                                options.sigma.resolve(context.auto_sigma), nu);
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<GaussianValues>(atoms);
  }
  [[nodiscard]] std::unique_ptr<AtomCombination> combination(
      std::span<const Atom> atoms, std::span<const double> coefficients) const override {
    return std::make_unique<GaussianCombination>(atoms, coefficients);
  }
  [[nodiscard]] std::optional<Monomial> monomial(const Atom& atom) const override {
    return Monomial{taylor_factor(atom), decay(atom.parameters[0]), inputs_with_repetitions(atom)};
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom,
                                     std::span<const std::string> input_names) const override {
    std::string text = monomial_text(atom, input_names);
    if (!text.empty()) text += " * ";
    return {taylor_factor(atom), fmt::format("{}G({:.4g})", text, atom.parameters[0])};
  }
  void validate(const Atom& atom, Index /*n_inputs*/) const override {
    int order = 0;
    for (const int exponent : atom.exponents) order += exponent;
    if (order > kHighestOrder) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("the order of a gaussian term is {}, at most {} is possible", order, kHighestOrder));
    }
    if (!(atom.parameters[0] > 0)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("sigma of a gaussian term is {}, expected a positive number", atom.parameters[0]));
    }
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 1> kFields = {{{"sigma"}}};
    return kFields;
  }
};

}  // namespace

const FeatureFamily& gaussian_family() {
  static const GaussianFamily family;
  return family;
}

}  // namespace mfga
