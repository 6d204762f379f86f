// Columns of the Gaussian kernel at data points c: exp(-|x - c|^2 / 2 sigma^2). A combination of them is what
// an exact kernel method learns, and a sparse one is kernel matching pursuit (Vincent and Bengio 2002).
#include "features/landmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "core/row_kernels.hpp"
#include "features/projected.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr FamilyOption kCountOption = {"count", "1 to 10000000", "500",
                                       "number of training rows, drawn at random, that become landmarks"};

// sqrt(nu) exp(-(|x|^2 + |c|^2 - 2 <x, c>) / 2 sigma^2); the offsets of the directions are |c|^2.
class GaussianColumnValues final : public ProjectionValues {
 public:
  struct Shape {
    double sigma;
    double factor;
  };
  GaussianColumnValues(const Directions& directions, std::vector<Shape> shapes)
      : directions_(directions), shapes_(std::move(shapes)) {}

  void finish(const RowBlock& block, Index first, Index count, double* projections,
              Index stride) const override {
    for (Index i = 0; i < count; ++i) {
      const auto position = static_cast<std::size_t>(first + i);
      const auto [sigma, factor] = shapes_[position];
      const double square_norm = directions_.offsets[position];
      double* value = projections + i * stride;
      for (Index n = 0; n < block.rows; ++n) {
        value[n] = std::max(0.0, block.square_norms[n] + square_norm - 2 * value[n]);
      }
      exponentials(value, -0.5 / (sigma * sigma), block.rows, value);
      for (Index n = 0; n < block.rows; ++n) value[n] *= factor;
    }
  }

 private:
  const Directions& directions_;
  std::vector<Shape> shapes_;
};

double square_norm(const double* vector, Index size) {
  return std::inner_product(vector, vector + size, vector, 0.0);
}

class LandmarkCandidates final : public CandidateFamily {
 public:
  LandmarkCandidates(Directions centres, double sigma, double nu)
      : centres_(std::move(centres)),
        sigma_(sigma),
        nu_(nu),
        values_(centres_, std::vector<GaussianColumnValues::Shape>(static_cast<std::size_t>(centres_.size()),
                                                                   {sigma, std::sqrt(nu)})) {}

  [[nodiscard]] Index size() const override { return centres_.size(); }
  [[nodiscard]] Atom atom(Index candidate) const override {
    return landmark_atom({centres_.vectors.row(candidate), static_cast<std::size_t>(centres_.vectors.cols)},
                         sigma_, nu_);
  }
  void correlate(const RowBlock& block, const double* weights, Index weight_stride, Index columns,
                 double* out, Index out_stride, Arena& arena) const override {
    correlate_directions(centres_, values_, block, weights, weight_stride, columns, out, out_stride, arena);
  }
  void add_square_norms(const RowBlock& block, double* out, Arena& arena) const override {
    add_squares_of_directions(centres_, values_, block, out, arena);
  }

 private:
  Directions centres_;
  double sigma_;
  double nu_;
  GaussianColumnValues values_;
};

class LandmarkEvaluator final : public AtomEvaluator {
 public:
  explicit LandmarkEvaluator(std::span<const Atom> atoms)
      : centres_(centres_of(atoms)), values_(centres_, shapes_of(atoms)) {}

  void evaluate(const RowBlock& block, Index first, Index count, double* out, Index out_stride,
                Arena& /*arena*/) const override {
    evaluate_directions(centres_, values_, block, first, count, out, out_stride);
  }

 private:
  static Directions centres_of(std::span<const Atom> atoms) {
    const auto n_inputs = static_cast<Index>(atoms[0].parameters.size()) - 1;
    Directions centres{Matrix(static_cast<Index>(atoms.size()), n_inputs), {}};
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      double* centre = centres.vectors.row(static_cast<Index>(i));
      std::copy_n(atoms[i].parameters.begin() + 1, n_inputs, centre);
      centres.offsets.push_back(square_norm(centre, n_inputs));
    }
    return centres;
  }
  static std::vector<GaussianColumnValues::Shape> shapes_of(std::span<const Atom> atoms) {
    std::vector<GaussianColumnValues::Shape> shapes;
    for (const Atom& atom : atoms) shapes.push_back({atom.parameters[0], std::sqrt(atom.nu)});
    return shapes;
  }

  Directions centres_;
  GaussianColumnValues values_;
};

class LandmarkFamily final : public ProjectedFamily {
 public:
  [[nodiscard]] std::string_view name() const override { return "landmark"; }
  [[nodiscard]] std::string_view help() const override {
    return "columns of the Gaussian kernel at training rows: exp(-|x - c|^2 / 2 sigma^2)";
  }
  [[nodiscard]] std::span<const FamilyOption> options() const override {
    static constexpr std::array<FamilyOption, 2> kOptions = {kCountOption, kSigmaOption};
    return kOptions;
  }
  [[nodiscard]] std::unique_ptr<CandidateFamily> bind(const FamilyOptionValues& values,
                                                      const CandidateContext& context,
                                                      double nu) const override {
    const BlockedRows& rows = context.training_rows(name());
    const Index count = std::min(count_of(values), rows.rows());
    const std::vector<Index> chosen = random_rows(rows.rows(), count, context.seed, RandomStream::kLandmarks);
    Arena arena;
    const RowBlock block = rows.gather(chosen, arena);
    Directions centres{Matrix(count, context.n_inputs), {}};
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < context.n_inputs; ++j) centres.vectors(i, j) = block.input(j)[i];
      centres.offsets.push_back(square_norm(centres.vectors.row(i), context.n_inputs));
    }
    return std::make_unique<LandmarkCandidates>(std::move(centres),
                                                sigma_of(values).resolve(context.auto_sigma), nu);
  }
  [[nodiscard]] std::unique_ptr<AtomEvaluator> evaluator(std::span<const Atom> atoms) const override {
    return std::make_unique<LandmarkEvaluator>(atoms);
  }
  [[nodiscard]] AtomFormula describe(const Atom& atom,
                                     std::span<const std::string> input_names) const override {
    const std::span<const double> centre = std::span(atom.parameters).subspan(1);
    return {std::sqrt(atom.nu),
            fmt::format("near({}; {:.4g})", largest_entries_text(centre, input_names), atom.parameters[0])};
  }
  void validate(const Atom& atom, Index n_inputs) const override {
    ProjectedFamily::validate(atom, n_inputs);
    if (!(atom.parameters[0] > 0)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("sigma of a landmark term is {}, expected a positive number", atom.parameters[0]));
    }
  }
  [[nodiscard]] std::span<const ParameterField> parameter_fields() const override {
    static constexpr std::array<ParameterField, 2> kFields = {
        {{"sigma"}, {"centre", ParameterField::Size::kPerInput}}};
    return kFields;
  }
};

}  // namespace

Atom landmark_atom(std::span<const double> centre, double sigma, double nu) {
  Atom atom{"landmark", nu, {}, {}, {sigma}};
  atom.parameters.insert(atom.parameters.end(), centre.begin(), centre.end());
  return atom;
}

const FeatureFamily& landmark_family() {
  static const LandmarkFamily family;
  return family;
}

}  // namespace mfga
