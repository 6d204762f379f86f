// Nystrom features: with landmarks Z and the eigenvectors u_j and eigenvalues l_j of their kernel matrix,
// phi_j(x) = l_j^(-1/2) u_j^T k(Z, x). Inner products of all of them are k(x, Z) K_ZZ^+ k(Z, x'), the
// kernel's best approximation by its columns at Z (Williams and Seeger 2001).
//
// Every feature uses all landmarks, so atoms have these in common, and k(Z, x) is computed once for all.
#include "features/nystrom.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/row_combinations.hpp"
#include "core/symmetric_eigen.hpp"
#include "features/formula.hpp"
#include "features/kernel_columns.hpp"
#include "features/landmark_choice.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr int kMostLandmarks = 5000;
constexpr FamilyOption kCountOption = {"count", "1 to 5000", "100",
                                       "number of training rows that become landmarks, and of features"};

// out[count x stride] = weights[count x m] * columns[m x stride], on the block's rows.
void weighted_columns(const RowBlock& block, double factor, const double* weights, Index count, Index m,
                      const double* columns, double* out) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(count),
              static_cast<int>(block.rows), static_cast<int>(m), factor, weights, static_cast<int>(m),
              columns, static_cast<int>(block.stride), 0.0, out, static_cast<int>(block.stride));
}

KernelColumns columns_at(const Matrix& landmarks, const Kernel& kernel) {
  return {landmarks,
          std::vector<KernelColumns::Column>(static_cast<std::size_t>(landmarks.rows), {kernel, 1.0})};
}

// k(Z, x) on the block's rows, [landmarks x stride].
double* take_columns(const KernelColumns& columns, const RowBlock& block, Arena& arena) {
  double* values = arena.take(columns.size() * block.stride);
  columns.evaluate(block, 0, columns.size(), values, block.stride, arena);
  return values;
}

// l^(-1/2) u^T for the eigenvalues that are not negligible, the largest first. [features x landmarks]
Matrix inverse_root(const Matrix& landmarks, const KernelColumns& columns) {
  // Below, eigenvalues are noise: their features would be differences of nearly equal columns.
  constexpr double kNegligible = 1e-10;
  std::vector<InputColumn> inputs;
  for (Index j = 0; j < landmarks.cols; ++j) inputs.push_back({j, 0, 1});
  const BlockedRows rows(landmarks.view(), inputs);
  const Index m = landmarks.rows;
  Matrix kernel(m, m);
  Arena arena;
  for (Index b = 0; b < rows.blocks(); ++b) {
    const Arena::Scope scope(arena);
    const RowBlock block = rows.load(b, arena);
    const double* values = take_columns(columns, block, arena);
    for (Index i = 0; i < m; ++i) {
      for (Index n = 0; n < block.rows; ++n) kernel(i, block.first_row + n) = values[i * block.stride + n];
    }
  }
  const SymmetricEigen eigen = symmetric_eigen(kernel);
  const auto value = [&](Index j) { return eigen.values[static_cast<std::size_t>(m - 1 - j)]; };
  Index kept = 0;
  while (kept < m && value(kept) > kNegligible * value(0)) ++kept;
  Matrix result(kept, m);
  for (Index j = 0; j < kept; ++j) {
    const double* const vector = eigen.vectors.row(m - 1 - j);
    // An eigenvector has no sign of its own; the entry that is largest is positive.
    const double largest =
        *std::max_element(vector, vector + m, [](double a, double b) { return std::abs(a) < std::abs(b); });
    const double factor = std::copysign(1 / std::sqrt(value(j)), largest);
    for (Index i = 0; i < m; ++i) result(j, i) = factor * vector[i];
  }
  return result;
}

class NystromCandidates final : public CandidateFamily, public SingleCorrelator {
 public:
  NystromCandidates(const Matrix& landmarks, const Kernel& kernel, double nu)
      : kernel_(kernel),
        nu_(nu),
        shared_(std::vector<double>(landmarks.values.begin(), landmarks.values.end())),
        columns_(columns_at(landmarks, kernel)),
        weights_(inverse_root(landmarks, columns_)),
        absolute_weights_(weights_) {
    for (double& weight : absolute_weights_.values) weight = std::abs(weight);
  }

  [[nodiscard]] Index size() const override { return weights_.rows; }
  [[nodiscard]] Atom atom(Index candidate) const override {
    Atom atom{"nystrom", nu_, {}, {}, kernel_parameters(kernel_), shared_};
    const double* weights = weights_.row(candidate);
    atom.parameters.insert(atom.parameters.end(), weights, weights + weights_.cols);
    return atom;
  }
  // Sums over rows of the columns first: weighting these is less work than weighting columns.
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    const Arena::Scope scope(arena);
    const Index m = columns_.size();
    double* sums = arena.take(columns * m);
    std::fill_n(sums, columns * m, 0.0);
    columns_.correlate(block, weights, weight_stride, columns, sums, m, arena);
    for (Index c = 0; c < columns; ++c) add_weighted(sums + c * m, out + c * out_stride);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    const double* values = take_columns(columns_, block, arena);
    add_squares(block, weights_, values, out, arena);
  }

  // Errors of columns are multiplied by l^(-1/2): where an eigenvalue is too small, they say nothing.
  [[nodiscard]] const SingleCorrelator* single() const override {
    constexpr double kSmallestRoot = 1e-3;
    const auto root_of = [&](Index j) {  // l_j^(1/2)
      return 1 / cblas_dnrm2(static_cast<int>(weights_.cols), weights_.row(j), 1);
    };
    return size() > 0 && root_of(size() - 1) >= kSmallestRoot * root_of(0) ? this : nullptr;
  }
  void correlate_single(const RowBlock& block, const double* weights, double* out,
                        Arena& arena) const override {
    const Arena::Scope scope(arena);
    double* sums = arena.take(columns_.size());
    std::fill_n(sums, columns_.size(), 0.0);
    columns_.correlate_single(block, weights, sums, arena);
    add_weighted(sums, out);
  }
  [[nodiscard]] double relative_error() const override { return 0; }
  void add_square_errors(const RowBlock& block, double* out, Arena& arena) const override {
    const Arena::Scope scope(arena);
    const Index m = columns_.size();
    double* errors = arena.take(m * block.stride);
    columns_.single_errors(block, 0, m, errors, block.stride, arena);
    add_squares(block, absolute_weights_, errors, out, arena);
  }

 private:
  void add_weighted(const double* sums, double* out) const {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(size()), static_cast<int>(weights_.cols),
                std::sqrt(nu_), weights_.values.data(), static_cast<int>(weights_.cols), sums, 1, 1.0, out,
                1);
  }
  // out[j] += nu sum over rows of their weight times (sum over i of weights(j, i) columns(i, n))^2
  void add_squares(const RowBlock& block, const Matrix& weights, const double* columns, double* out,
                   Arena& arena) const {
    constexpr Index kTile = 64;
    double* values = arena.take(kTile * block.stride);
    for (Index first = 0; first < size(); first += kTile) {
      const Index count = std::min(kTile, size() - first);
      weighted_columns(block, std::sqrt(nu_), weights.row(first), count, weights.cols, columns, values);
      for (Index i = 0; i < count; ++i)
        out[first + i] += weighted_square_norm(block, values + i * block.stride);
    }
  }

  Kernel kernel_;
  double nu_;
  SharedNumbers shared_;
  KernelColumns columns_;
  Matrix weights_;
  Matrix absolute_weights_;
};

// Atoms with the same kernel and landmarks.
struct Group {
  Atom first;  // for its kernel and landmarks
  KernelColumns columns;
  std::vector<Index> positions;  // in the list of atoms, ascending
  std::vector<double> weights;   // [positions x landmarks], with the factor sqrt(nu)
};

std::vector<Group> groups_of(std::span<const Atom> atoms) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const Atom& atom = atoms[i];
    const std::span<const double> weights = parameters_after_kernel(atom);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return std::ranges::equal(kernel_parameters(kernel_of(g.first)), kernel_parameters(kernel_of(atom))) &&
             g.first.shared == atom.shared;
    });
    if (group == groups.end()) {
      const std::span<const double> numbers = atom.shared.numbers();
      const auto m = static_cast<Index>(weights.size());
      Matrix landmarks(m, static_cast<Index>(numbers.size()) / m);
      std::ranges::copy(numbers, landmarks.values.begin());
      groups.push_back({atom, columns_at(landmarks, kernel_of(atom)), {}, {}});
      group = groups.end() - 1;
    }
    group->positions.push_back(static_cast<Index>(i));
    for (const double weight : weights) group->weights.push_back(std::sqrt(atom.nu) * weight);
  }
  return groups;
}

class NystromEvaluator final : public AtomEvaluator {
 public:
  explicit NystromEvaluator(std::span<const Atom> atoms) : groups_(groups_of(atoms)) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& arena) const override {
    for (const Group& group : groups_) {
      const auto [begin, end] = positions_within(group, first, count);
      if (begin == end) continue;
      const Arena::Scope scope(arena);
      const Index m = group.columns.size();
      const double* columns = take_columns(group.columns, block, arena);
      double* values = arena.take((end - begin) * block.stride);
      weighted_columns(block, 1.0, group.weights.data() + begin * m, end - begin, m, columns, values);
      for (Index i = begin; i < end; ++i) {
        std::copy_n(values + (i - begin) * block.stride, block.rows,
                    out + (group.positions[static_cast<std::size_t>(i)] - first) * out_stride);
      }
    }
  }

  void correlate(const RowBlock& block, Index first, Index count, const double* weights, Index weight_stride,
                 Index columns, double* out, Arena& arena) const override {
    for (const Group& group : groups_) {
      const auto [begin, end] = positions_within(group, first, count);
      if (begin == end) continue;
      const Arena::Scope scope(arena);
      const Index m = group.columns.size();
      double* sums = arena.take(columns * m);
      std::fill_n(sums, columns * m, 0.0);
      group.columns.correlate(block, weights, weight_stride, columns, sums, m, arena);
      for (Index i = begin; i < end; ++i) {
        double* own = out + (group.positions[static_cast<std::size_t>(i)] - first) * columns;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(columns), static_cast<int>(m), 1.0, sums,
                    static_cast<int>(m), group.weights.data() + i * m, 1, 1.0, own, 1);
      }
    }
  }

 private:
  // The part of a group's positions that is in [first, first + count), as indices of the list of positions.
  static std::pair<Index, Index> positions_within(const Group& group, Index first, Index count) {
    const auto& all = group.positions;
    return {std::lower_bound(all.begin(), all.end(), first) - all.begin(),
            std::lower_bound(all.begin(), all.end(), first + count) - all.begin()};
  }

  std::vector<Group> groups_;
};

// The derivatives of the columns, with the weights that the atoms give to these.
class NystromDerivatives final : public AtomDerivatives {
 public:
  explicit NystromDerivatives(std::span<const Atom> atoms) : groups_(groups_of(atoms)) {}

  void pull_back(const RowBlock& block, const double* weights, Index weight_stride, double* /*coordinates*/,
                 double* inputs, Arena& arena) const override {
    if (inputs == nullptr) return;
    for (const Group& group : groups_) {
      const Arena::Scope scope(arena);
      const Index m = group.columns.size();
      const auto n_atoms = static_cast<Index>(group.positions.size());
      double* own_weights = arena.take(n_atoms * block.stride);
      for (Index i = 0; i < n_atoms; ++i) {
        std::copy_n(weights + group.positions[static_cast<std::size_t>(i)] * weight_stride, block.rows,
                    own_weights + i * block.stride);
      }
      double* column_weights = arena.take(m * block.stride);
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(block.rows),
                  static_cast<int>(n_atoms), 1.0, group.weights.data(), static_cast<int>(m), own_weights,
                  static_cast<int>(block.stride), 0.0, column_weights, static_cast<int>(block.stride));
      group.columns.pull_back(block, column_weights, block.stride, nullptr, inputs, arena);
    }
  }

 private:
  std::vector<Group> groups_;
};

// A combination is one weight per landmark.
class NystromCombination final : public AtomCombination {
 public:
  NystromCombination(std::span<const Atom> atoms, std::span<const double> coefficients)
      : groups_(groups_of(atoms)) {
    for (Group& group : groups_) {
      const auto m = static_cast<std::size_t>(group.columns.size());
      std::vector<double> combined(m);
      for (std::size_t i = 0; i < group.positions.size(); ++i) {
        const double coefficient = coefficients[static_cast<std::size_t>(group.positions[i])];
        for (std::size_t k = 0; k < m; ++k) combined[k] += coefficient * group.weights[i * m + k];
      }
      group.weights = std::move(combined);
    }
  }

  void add_to(const RowBlock& block, double* scores, Arena& arena) const override {
    for (const Group& group : groups_) {
      group.columns.for_each_tile(block, arena, [&](Index first, Index count, const double* values) {
        add_combination(group.weights.data() + first, values, count, block.stride, block.rows, scores);
      });
    }
  }

 private:
  std::vector<Group> groups_;
};

class NystromFamily final : public ProjectedFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "nystrom"; }
  [[nodiscard]] std::string_view help() const override {
    return "columns of a kernel at training rows, made orthonormal (Nystrom approximation of the kernel)";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override {
    static constexpr std::array<FamilyOption, 4> kOptions = {kCountOption, kSigmaOption, kColumnKernelOption,
                                                             kLandmarkChoiceOption};
    return kOptions;
  }
  void check(const FamilyOptionValues& values) const override {
    ProjectedFamily::check(values);
    static_cast<void>(parse_small_integer(kCountOption.name, values[0], 1, kMostLandmarks));
    static_cast<void>(parse_column_kernel(values[2]));
    static_cast<void>(parse_landmark_choice(values[3]));
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    Kernel kernel = parse_column_kernel(values[2]);
    kernel.sigma = sigma_of(values).resolve(context.auto_sigma);
    return std::make_unique<NystromCandidates>(
        choose_landmarks(parse_landmark_choice(values[3]), count_of(values), kernel, context, name()), kernel,
        nu);
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<NystromEvaluator>(atoms);
  }
  [[nodiscard]] std::unique_ptr<AtomCombination> combination(
      std::span<const Atom> atoms, std::span<const double> coefficients) const override {
    return std::make_unique<NystromCombination>(atoms, coefficients);
  }
  [[nodiscard]] std::unique_ptr<AtomDerivatives> derivatives(std::span<const Atom> atoms) const override {
    return std::make_unique<NystromDerivatives>(atoms);
  }
  // The columns with the largest weights.
  [[nodiscard]] AtomFormula describe(const Atom& atom, FormulaWriter& writer) const override {
    const std::span<const double> weights = parameters_after_kernel(atom);
    const std::span<const double> landmarks = atom.shared.numbers();
    const std::size_t n_inputs = writer.names().size();
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::string column =
          column_text(kernel_of(atom), landmarks.subspan(i * n_inputs, n_inputs), writer);
      columns.push_back(writer.is_full() ? writer.define("k", column) : column);
    }
    return {std::sqrt(atom.nu), fmt::format("({})", writer.sum(weights, columns))};
  }
  [[nodiscard]] Expression expression(const Atom& atom, std::span<const Expression> inputs,
                                      ExpressionGraph& graph) const override {
    const std::span<const double> weights = parameters_after_kernel(atom);
    const std::span<const double> landmarks = atom.shared.numbers();
    std::vector<Expression> columns;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::span<const double> landmark = landmarks.subspan(i * inputs.size(), inputs.size());
      columns.push_back(column_expression(kernel_of(atom), landmark, inputs, graph));
    }
    return graph.times(graph.sum(columns, weights), std::sqrt(atom.nu));
  }
  void validate(const Atom& atom, Index n_inputs) const override {
    ProjectedFamily::validate(atom, n_inputs);
    validate_column_kernel(atom);
    const std::size_t weights = parameters_after_kernel(atom).size();
    const std::size_t numbers = atom.shared.numbers().size();
    if (weights == 0 || numbers != weights * static_cast<std::size_t>(n_inputs)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("a nystrom term has {} weights, and its landmarks in \"shared\" are {} numbers; "
                      "expected one weight and {} numbers for each landmark",
                      weights, numbers, n_inputs));
    }
  }
  [[nodiscard]] bool shares_numbers() const override { return true; }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 4> kFields = {
        kColumnKernelFields[0], kColumnKernelFields[1], kColumnKernelFields[2],
        ParameterField{"weights", ParameterField::Size::kRest}};
    return kFields;
  }
};

}  // namespace

const FeatureFamily& nystrom_family() {
  static const NystromFamily family;
  return family;
}

}  // namespace mfga
