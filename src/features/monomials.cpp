#include "features/monomials.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/monomial_kernels.hpp"
#include "core/row_kernels.hpp"
#include "core/typed_arena.hpp"
#include "core/vectorise.hpp"

namespace mfga {
namespace {

void envelope(const RowBlock& block, double rate, double* out) {
  if (rate == 0) {
    std::fill_n(out, block.rows, 1.0);
  } else {
    exponentials(block.square_norms, -rate, block.rows, out);
  }
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

class MonomialCandidates final : public CandidateFamily, public SingleCorrelator {
 public:
  MonomialCandidates(Index n_inputs, MonomialKernel kernel)
      : n_inputs_(n_inputs), kernel_(std::move(kernel)), squares_(kernel_.squares) {
    for (std::size_t k = 0; k < kernel_.order_factors.size(); ++k)
      offsets_.push_back(offsets_.back() + static_cast<Index>(monomial_count(n_inputs, order(k), squares_)));
  }

  [[nodiscard]] Index size() const override { return offsets_.back(); }

  // Candidates are numbered by order, then by their sorted tuple of inputs, lexicographically.
  [[nodiscard]] Atom atom(Index candidate) const override {
    std::size_t position = 0;
    while (candidate >= offsets_[position + 1]) ++position;
    Index rank = candidate - offsets_[position];
    Atom atom{kernel_.family, kernel_.nu, {}, {}, kernel_.parameters};
    Index lowest = 0;
    for (int left = order(position); left > 0; --left) {
      for (;; ++lowest) {
        const Index next_lowest = squares_ ? lowest : lowest + 1;
        const auto with_lowest =
            static_cast<Index>(monomial_count(n_inputs_ - next_lowest, left - 1, squares_));
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
    envelope(block, kernel_.rate, e);
    for (Index c = 0; c < columns; ++c) {
      multiply(weights + c * weight_stride, e, block.rows, weighted);
      add_all_orders(Inputs<double>{block.values, block.stride, block.rows}, weighted, Power::kOne, 1,
                     out + c * out_stride, arena);
    }
  }

  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* weights = arena.take(block.rows);
    envelope(block, 2 * kernel_.rate, weights);
    if (block.weights != nullptr) multiply(weights, block.weights, block.rows, weights);
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
    envelope(block, kernel_.rate, weighted);
    multiply(weights, weighted, block.rows, weighted);
    float* rounded = arena.take_single(block.rows);
    const double scale = round_scaled(weighted, block.rows, rounded);
    if (scale == 0) return;
    add_all_orders(Inputs<float>{block.single, block.stride, block.rows}, rounded, Power::kOne, scale, out,
                   arena);
  }

  // Rounding of the weights, of each input and of each product, and the sum of a block.
  [[nodiscard]] double relative_error() const override {
    return single_product_error(kBlockRows) + 0x1p-24 * (2 * order(kernel_.order_factors.size() - 1) + 2);
  }

 private:
  enum class Power { kOne, kTwo };  // correlations of phi, or of phi^2

  [[nodiscard]] int order(std::size_t position) const {
    return kernel_.lowest_order + static_cast<int>(position);
  }

  // The product of the inputs fixed so far, as weights, and what its continuation depends on.
  template <class T>
  struct Prefix {
    const T* weights;  // [rows]: w e times the inputs so far
    Power power;
    double factor;  // the feature's for the inputs so far, or its square
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
    for (std::size_t k = 0; k < kernel_.order_factors.size(); ++k) {
      const double own = kernel_.order_factors[k];
      const double order_factor = factor * (power == Power::kOne ? own : own * own);
      double* cursor = out + offsets_[k];
      add_products(x, Prefix<T>{weights, power, order_factor, 0, -1, 0}, order(k), cursor, arena);
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
  MonomialKernel kernel_;
  bool squares_;
  std::vector<Index> offsets_{0};  // first candidate of each order, and the total
};

class MonomialValues final : public AtomEvaluator {
 public:
  explicit MonomialValues(std::vector<Monomial> monomials) : monomials_(std::move(monomials)) {
    for (const Monomial& monomial : monomials_) {
      if (std::find(rates_.begin(), rates_.end(), monomial.rate) == rates_.end())
        rates_.push_back(monomial.rate);
      by_inputs_.push_back(std::ssize(by_inputs_));
    }
    std::ranges::stable_sort(by_inputs_, [&](Index a, Index b) {
      const Monomial& one = monomials_[static_cast<std::size_t>(a)];
      const Monomial& other = monomials_[static_cast<std::size_t>(b)];
      return std::tie(one.rate, one.inputs) < std::tie(other.rate, other.inputs);
    });
  }

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* envelopes = arena.take(static_cast<Index>(rates_.size()) * block.stride);
    for (std::size_t r = 0; r < rates_.size(); ++r)
      envelope(block, rates_[r], envelopes + static_cast<Index>(r) * block.stride);
    for (Index i = 0; i < count; ++i) {
      const Monomial& product = monomials_[static_cast<std::size_t>(first + i)];
      const auto rate = std::find(rates_.begin(), rates_.end(), product.rate) - rates_.begin();
      const double* e = envelopes + rate * block.stride;
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
  // the product of a pair of inputs.
  void correlate(const RowBlock& block, Index first, Index count, const double* weights, Index weight_stride,
                 Index columns, double* out, Arena& arena) const override {
    constexpr Index kTile = 48;  // atoms whose inputs stay in the second-level cache
    const Arena::Scope scope(arena);
    double* e = arena.take(block.rows);
    double* ones = arena.take(block.rows);
    std::fill_n(ones, block.rows, 1.0);
    double* weighted = arena.take(columns * block.stride);
    double* products = arena.take(kTile * block.stride);  // of all inputs but two, where there are more
    double* sums = arena.take(kTile * columns);
    Index tile[kTile];  // atoms
    const double* pair[2][kTile];
    Index height = 0;
    const auto add_tile = [&] {
      std::fill_n(sums, height * columns, 0.0);
      add_pair_products(pair[0], pair[1], height, weighted, columns, block.stride, block.rows, sums, columns);
      for (Index i = 0; i < height; ++i) {
        const double factor = monomials_[static_cast<std::size_t>(tile[i])].factor;
        for (Index c = 0; c < columns; ++c)
          out[(tile[i] - first) * columns + c] += factor * sums[i * columns + c];
      }
      height = 0;
    };
    const double* rate = nullptr;  // of the envelope
    for (const Index atom : by_inputs_) {
      if (atom < first || atom >= first + count) continue;
      const Monomial& monomial = monomials_[static_cast<std::size_t>(atom)];
      if (rate == nullptr || *rate != monomial.rate) {
        add_tile();
        rate = &monomial.rate;
        envelope(block, *rate, e);
        for (Index c = 0; c < columns; ++c)
          multiply(weights + c * weight_stride, e, block.rows, weighted + c * block.stride);
      }
      const std::vector<Index>& inputs = monomial.inputs;
      tile[height] = atom;
      pair[0][height] = inputs.empty() ? ones : block.input(inputs[0]);
      pair[1][height] = inputs.size() < 2 ? ones : block.input(inputs[1]);
      if (inputs.size() > 2) {
        double* product = products + height * block.stride;
        multiply(pair[1][height], block.input(inputs[2]), block.rows, product);
        for (std::size_t i = 3; i < inputs.size(); ++i)
          multiply(product, block.input(inputs[i]), block.rows, product);
        pair[1][height] = product;
      }
      if (++height == kTile) add_tile();
    }
    add_tile();
  }

 private:
  std::vector<Monomial> monomials_;
  std::vector<double> rates_;     // that occur
  std::vector<Index> by_inputs_;  // atoms: those of a rate follow one another, and those that share inputs
};

// sum_a c_a phi_a(x) = e(x) * sum over prefixes p of x^p * (sum over last inputs i of c_(p,i) x_i): atoms
// that share all inputs but the last are combined first, with one multiplication and one load per atom.
class MonomialCombination final : public AtomCombination {
 public:
  MonomialCombination(std::span<const Monomial> monomials, std::span<const double> coefficients) {
    std::map<std::pair<double, std::vector<Index>>, SumTimesRows> groups;  // by rate and prefix
    for (std::size_t i = 0; i < monomials.size(); ++i) {
      std::vector<Index> prefix = monomials[i].inputs;
      const double rate = monomials[i].rate;
      const double coefficient = coefficients[i] * monomials[i].factor;
      if (prefix.empty()) {
        groups[{rate, prefix}].constant += coefficient;
        continue;
      }
      const Index last = prefix.back();
      prefix.pop_back();
      SumTimesRows& group = groups[{rate, prefix}];
      group.summands.push_back(last);
      group.coefficients.push_back(coefficient);
    }
    for (auto& [key, group] : groups) {
      if (kernels_.empty() || kernels_.back().rate != key.first) kernels_.push_back({key.first, {}});
      group.factors = key.second;
      kernels_.back().groups.push_back(std::move(group));
    }
  }

  void add_to(const RowBlock& block, double* scores, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* e = arena.take(block.rows);
    double* sum = arena.take(block.rows);
    for (const Kernel& kernel : kernels_) {
      set_sums_times_rows(kernel.groups, block.values, block.stride, block.rows, sum);
      envelope(block, kernel.rate, e);
      add_product(e, sum, block.rows, scores);
    }
  }

 private:
  struct Kernel {
    double rate;
    std::vector<SumTimesRows> groups;
  };
  std::vector<Kernel> kernels_;
};

class MonomialDerivatives final : public AtomDerivatives {
 public:
  MonomialDerivatives(std::vector<Monomial> monomials, bool have_widths)
      : monomials_(std::move(monomials)), by_rate_(monomials_.size()), have_widths_(have_widths) {
    std::iota(by_rate_.begin(), by_rate_.end(), std::size_t{0});
    std::ranges::stable_sort(by_rate_, {}, [&](std::size_t i) { return monomials_[i].rate; });
  }

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* coordinates,
                 double* inputs, Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* e = arena.take(block.rows);
    double* weighted = arena.take(block.rows);  // weight * factor * envelope
    double* product = arena.take(block.rows);
    double* decays = arena.take(block.rows);  // sum over atoms of rate * weight * value
    std::fill_n(decays, block.rows, 0.0);
    std::optional<double> rate;  // of the envelope; none yet
    for (const std::size_t i : by_rate_) {
      const Monomial& monomial = monomials_[i];
      if (rate != monomial.rate) {
        rate = monomial.rate;
        envelope(block, *rate, e);
      }
      const double* own_weights = weights + static_cast<Index>(i) * weight_stride;
      multiply(own_weights, e, block.rows, weighted);
      cblas_dscal(static_cast<int>(block.rows), monomial.factor, weighted, 1);
      if (inputs != nullptr) add_by_inputs(block, monomial.inputs, weighted, product, inputs);
      if (!have_widths_) continue;
      for (const Index input : monomial.inputs) multiply(weighted, block.input(input), block.rows, weighted);
      cblas_daxpy(static_cast<int>(block.rows), *rate, weighted, 1, decays, 1);
      if (coordinates != nullptr) coordinates[i] += by_log_width(block, monomial, weighted);
    }
    if (inputs == nullptr || !have_widths_) return;
    for (Index j = 0; j < block.inputs; ++j) {
      multiply(decays, block.input(j), block.rows, product);
      cblas_daxpy(static_cast<int>(block.rows), -2.0, product, 1, inputs + j * block.stride, 1);
    }
  }

 private:
  // Of the product alone: for each of its factors, the product of the others.
  static void add_by_inputs(const RowBlock& block, const std::vector<Index>& factors, const double* weighted,
                            double* others, double* inputs) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      std::copy_n(weighted, block.rows, others);
      for (std::size_t other = 0; other < factors.size(); ++other) {
        if (other != i) multiply(others, block.input(factors[other]), block.rows, others);
      }
      add(others, 0.0, block.rows, inputs + factors[i] * block.stride);
    }
  }

  // phi is sigma^-order exp(-|x|^2 / 2 sigma^2) times what does not depend on sigma.
  static double by_log_width(const RowBlock& block, const Monomial& monomial, const double* weighted_values) {
    const double with_norms =
        cblas_ddot(static_cast<int>(block.rows), weighted_values, 1, block.square_norms, 1);
    return 2 * monomial.rate * with_norms -
           static_cast<double>(monomial.inputs.size()) * row_sum(weighted_values, block.rows);
  }

  std::vector<Monomial> monomials_;
  std::vector<std::size_t> by_rate_;  // positions, so that atoms with one envelope follow one another
  bool have_widths_;                  // and envelopes; otherwise no coordinates
};

}  // namespace

double monomial_count(Index n_inputs, int order, bool squares) {
  double count = 1;
  for (int i = 0; i < order; ++i) {
    const double choices = squares ? static_cast<double>(n_inputs + i) : static_cast<double>(n_inputs - i);
    count = std::max(0.0, count * choices / (i + 1));
  }
  return std::round(count);
}

std::unique_ptr<CandidateFamily> monomial_candidates(Index n_inputs, MonomialKernel kernel) {
  return std::make_unique<MonomialCandidates>(n_inputs, std::move(kernel));
}

int order_of(const Atom& atom) { return std::accumulate(atom.exponents.begin(), atom.exponents.end(), 0); }

std::vector<Index> inputs_with_repetitions(const Atom& atom) {
  std::vector<Index> inputs;
  for (std::size_t i = 0; i < atom.inputs.size(); ++i)
    inputs.insert(inputs.end(), static_cast<std::size_t>(atom.exponents[i]), atom.inputs[i]);
  return inputs;
}

std::vector<Monomial> MonomialFamily::monomials(std::span<const Atom> atoms) const {
  std::vector<Monomial> result;
  for (const Atom& atom : atoms) result.push_back(monomial(atom).value());
  return result;
}

std::unique_ptr<AtomEvaluator> MonomialFamily::evaluator(std::span<const Atom> atoms) const {
  return std::make_unique<MonomialValues>(monomials(atoms));
}

std::unique_ptr<AtomCombination> MonomialFamily::combination(std::span<const Atom> atoms,
                                                             std::span<const double> coefficients) const {
  return std::make_unique<MonomialCombination>(monomials(atoms), coefficients);
}

std::unique_ptr<AtomDerivatives> MonomialFamily::derivatives(std::span<const Atom> atoms) const {
  return std::make_unique<MonomialDerivatives>(monomials(atoms), !coordinates(atoms[0]).empty());
}

}  // namespace mfga
