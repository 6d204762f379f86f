// Random Maclaurin features of dot-product kernels K(x, x') = f(<x, x'> / sigma^2) = sum_n a_n (<x, x'> /
// sigma^2)^n (Kar and Karnick 2012): a product of N projections on random signs has the expectation
//
//   E[prod_i <s_i, x> <s_i, x'>] = <x, x'>^N,   s_i uniform on {-1, 1}^d,
//
// so features sqrt(a_N / P(N)) prod_i <s_i, x> / sigma with N drawn at random have the expectation K. The
// term n = 0 needs no drawing: it is one constant feature, and N >= 1 is drawn with P(N) proportional to
// 2^-N. Features that are drawn twice are one atom with the sum of their weights.
#include "features/maclaurin.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/random.hpp"
#include "core/row_kernels.hpp"
#include "core/typed_arena.hpp"
#include "core/vectorise.hpp"
#include "features/formula.hpp"
#include "features/projected.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

// Of the exponential kernel; higher ones would hardly ever be drawn.
constexpr int kHighestOrder = 30;
constexpr int kHighestDegree = 12;

constexpr FamilyOption kCountOption = {"count", "1 to 10000000", "500",
                                       "number of features: a constant and random ones"};
constexpr FamilyOption kKernelOption = {"kernel", "exponential|polynomial", "exponential",
                                        "exp(<x, x'> / sigma^2) or (1 + <x, x'> / sigma^2)^degree"};
constexpr FamilyOption kDegreeOption = {"degree", "1 to 12", "3", "degree of the polynomial kernel"};

// The kernel as a power series of <x, x'> / sigma^2.
class Series {
 public:
  explicit Series(const FamilyOptionValues& values) {
    constexpr std::array<std::string_view, 2> kKernels = {"exponential", "polynomial"};
    const int degree = parse_small_integer("degree", values[3], 1, kHighestDegree);
    const bool polynomial = parse_choice("kernel", values[2], kKernels) == 1;
    highest_ = polynomial ? degree : kHighestOrder;
    coefficients_.push_back(1);
    for (int n = 1; n <= highest_; ++n)
      coefficients_.push_back(coefficients_.back() * (polynomial ? degree - n + 1 : 1) / n);
  }

  [[nodiscard]] double coefficient(int n) const { return coefficients_[static_cast<std::size_t>(n)]; }
  // P(N = n), n >= 1.
  [[nodiscard]] double probability(int n) const {
    return std::ldexp(1.0, -n) / (1 - std::ldexp(1.0, -highest_));
  }
  // The N that a uniform number stands for.
  [[nodiscard]] int order(double uniform) const {
    int n = 1;
    while (n < highest_ && uniform >= probability(n)) uniform -= probability(n++);
    return n;
  }

 private:
  int highest_;
  std::vector<double> coefficients_;
};

// Sign vectors one after the other. Those with the same product up to its sign are written in the same way: a
// vector begins with +1, and vectors are sorted.
std::vector<bool> draw_signs(const CounterRandom& random, std::uint64_t first, int order, Index n_inputs) {
  std::vector<std::vector<bool>> vectors;
  for (int i = 0; i < order; ++i) {
    std::vector<bool>& positive = vectors.emplace_back();
    for (Index j = 0; j < n_inputs; ++j) positive.push_back(random.uniform(first++) < 0.5);
    if (!positive.front()) positive.flip();
  }
  std::sort(vectors.begin(), vectors.end());
  std::vector<bool> signs;
  for (const auto& vector : vectors) signs.insert(signs.end(), vector.begin(), vector.end());
  return signs;
}

std::vector<Atom> draw_atoms(const Series& series, Index count, Index n_inputs, double sigma, double nu,
                             std::uint64_t seed) {
  const CounterRandom random(seed, RandomStream::kMaclaurin);
  std::vector<Atom> atoms = {{"maclaurin", nu * series.coefficient(0), {}, {}, {sigma, 0}}};
  std::map<std::vector<bool>, std::size_t> known;  // positions in `atoms`
  for (Index i = 1; i < count; ++i) {
    const auto first = static_cast<std::uint64_t>(i) << 24U;  // room for half a million inputs
    const int order = series.order(random.uniform(first));
    const std::vector<bool> signs = draw_signs(random, first + 1, order, n_inputs);
    const auto [found, is_new] = known.emplace(signs, atoms.size());
    if (is_new) {
      Atom& atom = atoms.emplace_back(Atom{"maclaurin", 0, {}, {}, {sigma, 1.0 * order}});
      for (const bool positive : signs) atom.parameters.push_back(positive ? 1 : -1);
    }
    atoms[found->second].nu +=
        nu * series.coefficient(order) / (series.probability(order) * static_cast<double>(count - 1));
  }
  return atoms;
}

// Atom::parameters are sigma, the number of sign vectors, and these.
std::size_t order_of(const Atom& atom) { return static_cast<std::size_t>(atom.parameters[1]); }
std::span<const double> signs_of(const Atom& atom) { return std::span(atom.parameters).subspan(2); }

MFGA_VECTORISED void multiply(const double* a, Index rows, double* out) {
  for (Index n = 0; n < rows; ++n) out[n] *= a[n];
}

MFGA_VECTORISED void multiply(const float* a, Index rows, float* out) {
  for (Index n = 0; n < rows; ++n) out[n] *= a[n];
}

// smallest *= |a|, largest *= |a| + margin * norms
MFGA_VECTORISED void multiply_bounds(const double* a, double margin, const double* norms, Index rows,
                                     double* smallest, double* largest) {
  for (Index n = 0; n < rows; ++n) {
    smallest[n] *= std::abs(a[n]);
    largest[n] *= std::abs(a[n]) + margin * norms[n];
  }
}

// largest = largest - smallest + relative * largest
MFGA_VECTORISED void to_errors(const double* smallest, double relative, Index rows, double* largest) {
  for (Index n = 0; n < rows; ++n) largest[n] = largest[n] - smallest[n] + relative * largest[n];
}

class SignProducts final : public FunctionTiles {
 public:
  explicit SignProducts(std::span<const Atom> atoms) {
    for (const Atom& atom : atoms) {
      for (const double sign : signs_of(atom)) vectors_.values.push_back(sign / atom.parameters[0]);
      if (order_of(atom) > 0) vectors_.cols = static_cast<Index>(signs_of(atom).size() / order_of(atom));
      vectors_.rows += static_cast<Index>(order_of(atom));
      ends_.push_back(vectors_.rows);
      factors_.push_back(std::sqrt(atom.nu));
      sigmas_.push_back(atom.parameters[0]);
    }
    single_vectors_ = rounded_to_single(vectors_);
  }

  [[nodiscard]] Index size() const override { return static_cast<Index>(ends_.size()); }
  [[nodiscard]] Index tile() const override { return 32; }  // about twice as many projections

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    evaluate_with(block, vectors_.values.data(), first, count, out, out_stride, arena);
  }
  void evaluate_single(const RowBlock& block, Index first, Index count, float* out, Index out_stride,
                       Arena& arena) const override {
    evaluate_with(block, single_vectors_.data(), first, count, out, out_stride, arena);
  }

  // A projection is off by at most some margin, so a product by the difference of the products without and
  // with it, and by what the rounding of products and sums adds.
  void add_square_errors(const RowBlock& block, double* out, Arena& arena) const {
    constexpr double kRounding = 0x1p-24;
    const Arena::Scope scope(arena);
    double* norms = arena.take(block.rows);
    double* smallest = arena.take(block.rows);
    double* largest = arena.take(block.rows);
    square_roots(block.square_norms, block.rows, norms);
    const auto add = [&](Index atom, const double* projections) {
      const auto position = static_cast<std::size_t>(atom);
      const double length = std::sqrt(static_cast<double>(block.inputs)) / sigmas_[position];  // of a vector
      const double margin = single_projection_error(block.inputs) * length;
      const Index order = vectors_end(atom) - vectors_end(atom - 1);
      std::fill_n(smallest, block.rows, factors_[position]);
      std::fill_n(largest, block.rows, factors_[position]);
      for (Index v = 0; v < order; ++v)
        multiply_bounds(projections + v * block.stride, margin, norms, block.rows, smallest, largest);
      to_errors(smallest, single_sum_error() + kRounding * static_cast<double>(2 * order + 2), block.rows,
                largest);
      out[atom] += cblas_ddot(static_cast<int>(block.rows), largest, 1, largest, 1);
    };
    for_each_projected(block, vectors_.values.data(), 0, size(), arena, add);
  }

  // By the inputs; see AtomDerivatives.
  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* inputs,
                 Arena& arena) const {
    const Arena::Scope scope(arena);
    double* by_projections = arena.take(kHighestOrder * block.stride);
    for_each_projected(
        block, vectors_.values.data(), 0, size(), arena, [&](Index atom, const double* projections) {
          const Index order = vectors_end(atom) - vectors_end(atom - 1);
          if (order == 0) return;
          for (Index v = 0; v < order; ++v) {  // the product of the others
            double* others = by_projections + v * block.stride;
            std::copy_n(weights + atom * weight_stride, block.rows, others);
            cblas_dscal(static_cast<int>(block.rows), factors_[static_cast<std::size_t>(atom)], others, 1);
            for (Index other = 0; other < order; ++other) {
              if (other != v) multiply(projections + other * block.stride, block.rows, others);
            }
          }
          pull_back_projections(block, vectors_.row(vectors_end(atom - 1)), order, by_projections, nullptr, 0,
                                inputs);
        });
  }

 private:
  // The end of an atom's vectors.
  [[nodiscard]] Index vectors_end(Index atom) const {
    return atom < 0 ? 0 : ends_[static_cast<std::size_t>(atom)];
  }

  // Calls use(atom, the projections of the rows on its vectors), a few atoms' projections at a time.
  template <class T, class Use>
  void for_each_projected(const RowBlock& block, const T* vectors, Index first, Index count, Arena& arena,
                          Use use) const {
    constexpr Index kProjections = 64;  // that stay in the second-level cache
    for (Index begin = first, end = first; begin < first + count; begin = end) {
      ++end;
      while (end < first + count && vectors_end(end) - vectors_end(begin - 1) <= kProjections) ++end;
      const Index start = vectors_end(begin - 1);
      const Index wanted = vectors_end(end - 1) - start;
      const Arena::Scope scope(arena);
      T* projections = take(arena, std::max<Index>(wanted, 1) * block.stride, vectors);
      if (wanted > 0) project(block, vectors + start * vectors_.cols, wanted, projections, block.stride);
      for (Index atom = begin; atom < end; ++atom)
        use(atom, projections + (vectors_end(atom - 1) - start) * block.stride);
    }
  }

  template <class T>
  void evaluate_with(const RowBlock& block, const T* vectors, Index first, Index count, T* out,
                     Index out_stride, Arena& arena) const {
    for_each_projected(block, vectors, first, count, arena, [&](Index atom, const T* projections) {
      T* value = out + (atom - first) * out_stride;
      std::fill_n(value, block.rows, static_cast<T>(factors_[static_cast<std::size_t>(atom)]));
      const Index order = vectors_end(atom) - vectors_end(atom - 1);
      for (Index v = 0; v < order; ++v) multiply(projections + v * block.stride, block.rows, value);
    });
  }

  Matrix vectors_;  // signs / sigma of all atoms
  std::vector<float> single_vectors_;
  std::vector<Index> ends_;  // of each atom's vectors
  std::vector<double> factors_;
  std::vector<double> sigmas_;
};

class MaclaurinCandidates final : public TiledCandidates {
 public:
  explicit MaclaurinCandidates(std::vector<Atom> atoms) : atoms_(std::move(atoms)), products_(atoms_) {}

  [[nodiscard]] Atom atom(Index candidate) const override {
    return atoms_[static_cast<std::size_t>(candidate)];
  }
  [[nodiscard]] const SingleCorrelator* single() const override { return this; }
  void add_square_errors(const RowBlock& block, double* out, Arena& arena) const override {
    products_.add_square_errors(block, out, arena);
  }

 private:
  [[nodiscard]] const FunctionTiles& tiles() const override { return products_; }

  std::vector<Atom> atoms_;
  SignProducts products_;
};

class MaclaurinEvaluator final : public AtomEvaluator {
 public:
  explicit MaclaurinEvaluator(std::span<const Atom> atoms) : products_(atoms) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    products_.evaluate(block, first, count, out, out_stride, arena);
  }

 private:
  SignProducts products_;
};

class MaclaurinDerivatives final : public AtomDerivatives {
 public:
  explicit MaclaurinDerivatives(std::span<const Atom> atoms) : products_(atoms) {}

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* /*coordinates*/,
                 double* inputs, Arena& arena) const override {
    if (inputs != nullptr) products_.pull_back(block, weights, weight_stride, inputs, arena);
  }

 private:
  SignProducts products_;
};

// `(a + b - c)` for signs of inputs, in short formulas the first few of them.
std::string signs_text(std::span<const double> signs, const FormulaWriter& writer) {
  constexpr std::size_t kShort = 8;
  const std::span<const std::string> names = writer.names();
  const std::size_t shown = writer.is_full() || signs.size() <= kShort ? signs.size() : 3;
  std::string text;
  for (std::size_t j = 0; j < shown; ++j)
    text +=
        fmt::format("{}{}", j == 0 ? (signs[j] < 0 ? "-" : "") : (signs[j] < 0 ? " - " : " + "), names[j]);
  if (signs.size() > shown) text += fmt::format(" + {} more", signs.size() - shown);
  return signs.size() == 1 && signs[0] > 0 ? text : fmt::format("({})", text);
}

class MaclaurinFamily final : public ProjectedFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "maclaurin"; }
  [[nodiscard]] std::string_view help() const override {
    return "random Maclaurin features of a dot-product kernel: products of sums of inputs with random signs, "
           "drawn "
           "from the seed";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override {
    static constexpr std::array<FamilyOption, 4> kOptions = {kCountOption, kSigmaOption, kKernelOption,
                                                             kDegreeOption};
    return kOptions;
  }
  void check(const FamilyOptionValues& values) const override {
    ProjectedFamily::check(values);
    static_cast<void>(Series(values));
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const double sigma = sigma_of(values).resolve(context.auto_sigma);
    return std::make_unique<MaclaurinCandidates>(
        draw_atoms(Series(values), count_of(values), context.n_inputs, sigma, nu, context.seed));
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<MaclaurinEvaluator>(atoms);
  }
  [[nodiscard]] std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const override {
    return std::make_unique<MaclaurinDerivatives>(atoms);
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    const std::size_t n_inputs = writer.names().size();
    double factor = std::sqrt(atom.nu);
    std::string text;
    for (std::size_t i = 0; i < order_of(atom); ++i) {
      factor /= atom.parameters[0];
      text += (i == 0 ? "" : " * ") + signs_text(signs_of(atom).subspan(i * n_inputs, n_inputs), writer);
    }
    return {factor, text.empty() ? "1" : text};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    std::vector<Expression> factors;
    std::vector<double> weights(inputs.size());
    for (std::size_t i = 0; i < order_of(atom); ++i) {
      const std::span<const double> signs = signs_of(atom).subspan(i * inputs.size(), inputs.size());
      std::ranges::transform(signs, weights.begin(), [&](double sign) { return sign / atom.parameters[0]; });
      factors.push_back(graph.sum(inputs, weights));
    }
    return graph.times(graph.product(factors), std::sqrt(atom.nu));
  }
  void validate(const Atom& atom, Index n_inputs) const override {
    ProjectedFamily::validate(atom, n_inputs);
    if (!(atom.parameters[0] > 0)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("sigma of a maclaurin term is {}, expected a positive number", atom.parameters[0]));
    }
    const double order = atom.parameters[1];
    if (!(order >= 0 && order <= kHighestOrder && order == std::floor(order))) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("the order of a maclaurin term is {}, expected a whole number from 0 to {}",
                              order, kHighestOrder));
    }
    const std::size_t expected = order_of(atom) * static_cast<std::size_t>(n_inputs);
    if (signs_of(atom).size() != expected) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("a maclaurin term of order {} has {} signs, expected {}, one per factor and input "
                      "of the model",
                      order, signs_of(atom).size(), expected));
    }
    for (const double sign : signs_of(atom)) {
      if (sign != 1 && sign != -1) {
        throw Error(ErrorKind::kBadData,
                    fmt::format("a sign of a maclaurin term is {}, expected 1 or -1", sign));
      }
    }
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 3> kFields = {
        {{"sigma"}, {"order"}, {"signs", ParameterField::Size::kRest}}};
    return kFields;
  }
};

}  // namespace

const FeatureFamily& maclaurin_family() {
  static const MaclaurinFamily family;
  return family;
}

}  // namespace mfga
