#include "mfga/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>

#include "core/blas.hpp"
#include "core/row_combinations.hpp"
#include "features/candidates.hpp"
#include "features/tunable_atoms.hpp"
#include "losses/loss.hpp"
#include "mfga/error.hpp"
#include "model/scoring.hpp"
#include "model/term_names.hpp"

namespace mfga {
namespace {

// Terms of up to so many columns are divided by Shapley values, from the values at all 2^columns corners
// between the average row and the row; others along the line between the two.
constexpr std::size_t kMostCorners = 4;

// The inputs that an atom looks at.
std::vector<Index> inputs_seen_by(const Model& model, const Atom& atom) {
  const FeatureFamily& family = *find_feature_family(atom.family);
  const std::optional<Monomial> monomial = family.monomial(atom);
  const bool is_constant = monomial && monomial->inputs.empty() && monomial->rate == 0;
  if (is_constant) return {};
  const bool sees_all = model.mixing.rows > 0 || atom.inputs.empty() || (monomial && monomial->rate != 0);
  if (!sees_all) return atom.inputs;
  std::vector<Index> all(model.inputs.size());
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace

double rounding_of(double total, double average, std::span<double> parts) {
  constexpr int kMostTries = 4;
  double left = 0;
  for (int tries = 0; tries < kMostTries; ++tries) {
    double sum = average;
    for (const double part : parts) sum += part;
    left = total - sum;
    if (sum + left == total || parts.empty()) break;
    parts.back() += left;
  }
  return left;
}

struct Explainer::Impl {
  // Nodes and weights of the Gauss-Legendre rule on [0, 1].
  struct Quadrature {
    static constexpr std::size_t kNodes = 32;
    std::array<double, kNodes> nodes{};
    std::array<double, kNodes> weights{};

    Quadrature() {
      constexpr double kCount = kNodes;
      for (std::size_t i = 0; i < kNodes; ++i) {
        double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (kCount + 0.5));
        double slope = 0;
        constexpr int kNewtonSteps = 10;
        for (int step = 0; step < kNewtonSteps; ++step) {
          double before = 1;
          double value = x;  // of the Legendre polynomials, by their recurrence
          for (std::size_t k = 2; k <= kNodes; ++k) {
            const auto order = static_cast<double>(k);
            before = std::exchange(value, ((2 * order - 1) * x * value - (order - 1) * before) / order);
          }
          slope = kCount * (x * value - before) / (x * x - 1);
          x -= value / slope;
        }
        nodes[i] = 0.5 * (1 + x);
        weights[i] = 1 / ((1 - x * x) * slope * slope);
      }
    }
  };

  // Terms that look at the same columns.
  struct TermGroup {
    std::vector<Index> columns;  // positions in the list of columns, sorted
    std::vector<Index> terms;
    std::unique_ptr<AtomValues> values;               // where its terms are divided by corners
    std::unique_ptr<DerivativesOfAtoms> derivatives;  // or along the line
  };

  Impl(Model given, int n_threads)
      : predictor(std::move(given), n_threads),
        model(predictor.model()),
        threads(n_threads),
        term_names(names_of_terms(model)),
        columns_of_inputs(columns_of_training(model)) {
    name_columns();
    std::vector<Atom> atoms;
    for (const Term& term : model.terms) atoms.push_back(term.atom);
    values = std::make_unique<AtomValues>(atoms);
    set_means();
    make_groups();
  }

  Predictor predictor;
  const Model& model;
  int threads;
  std::vector<std::string> term_names;
  std::vector<Index> columns_of_inputs;  // in the table of the training
  std::vector<std::string> column_names;
  std::vector<Index> column_of_input;          // position among the names
  std::vector<std::vector<Index>> own_inputs;  // of each column
  std::vector<std::vector<Index>> term_columns;
  std::unique_ptr<AtomValues> values;
  bool knows_means = false;
  std::vector<double> means;  // of each atom
  std::vector<double> averages;
  std::vector<TermGroup> groups;
  Quadrature quadrature;

  void name_columns() {
    std::map<Index, Index> positions;  // of predictors of the file
    for (Index i = 0; i < std::ssize(model.inputs); ++i) {
      const ModelInput& input = model.inputs[static_cast<std::size_t>(i)];
      const ColumnOrigin origin = origin_of(input.column, model.text_columns);
      const auto [place, is_new] = positions.emplace(origin.predictor, std::ssize(column_names));
      if (is_new) {
        column_names.push_back(origin.text != nullptr ? origin.text->name : input.column_name());
        own_inputs.emplace_back();
      }
      column_of_input.push_back(place->second);
      own_inputs[static_cast<std::size_t>(place->second)].push_back(i);
    }
  }

  void set_means() {
    knows_means = std::ranges::all_of(model.terms, [](const Term& term) { return term.mean.has_value(); });
    means = at_average_row(*values);
    for (std::size_t m = 0; m < means.size(); ++m) {
      const bool is_constant = inputs_seen_by(model, model.terms[m].atom).empty();
      if (knows_means && !is_constant) means[m] = *model.terms[m].mean;
    }
    for (std::size_t k = 0; k < model.outputs.size(); ++k) {
      const Output& output = model.outputs[k];
      double score = output.intercept;
      for (std::size_t m = 0; m < means.size(); ++m) score += model.terms[m].coefficients[k] * means[m];
      averages.push_back(output.shift + output.scale * score);
    }
  }

  // The values of atoms where every input is 0, the middle of its scale.
  [[nodiscard]] std::vector<double> at_average_row(const AtomValues& atoms) const {
    Arena arena;
    const std::vector<double> row(std::max<std::size_t>(model.inputs.size(), 1));
    std::vector<double> result(static_cast<std::size_t>(atoms.size()));
    const double norm = 0;
    const RowBlock block{.rows = 1,
                         .inputs = std::ssize(model.inputs),
                         .values = row.data(),
                         .stride = 1,
                         .square_norms = &norm};
    atoms.evaluate(block, 0, atoms.size(), result.data(), 1, arena);
    return result;
  }

  void make_groups() {
    std::map<std::vector<Index>, std::vector<Index>> terms_by_columns;
    for (Index m = 0; m < std::ssize(model.terms); ++m) {
      std::set<Index> own;
      for (const Index input : inputs_seen_by(model, model.terms[static_cast<std::size_t>(m)].atom))
        own.insert(column_of_input[static_cast<std::size_t>(input)]);
      term_columns.emplace_back(own.begin(), own.end());
      terms_by_columns[term_columns.back()].push_back(m);
    }
    for (const auto& [columns, terms] : terms_by_columns) {
      if (columns.empty()) continue;  // a constant has nothing to explain
      TermGroup group{columns, terms, nullptr, nullptr};
      std::vector<Atom> atoms;
      for (const Index m : terms) atoms.push_back(model.terms[static_cast<std::size_t>(m)].atom);
      if (columns.size() > kMostCorners)
        group.derivatives = std::make_unique<DerivativesOfAtoms>(atoms);
      else if (columns.size() > 1)
        group.values = std::make_unique<AtomValues>(atoms);
      groups.push_back(std::move(group));
    }
  }

  // The factor of a term in an output, in the units of the target.
  [[nodiscard]] double factor(Index term, Index output) const {
    const auto k = static_cast<std::size_t>(output);
    return model.outputs[k].scale * model.terms[static_cast<std::size_t>(term)].coefficients[k];
  }

  // Points of scaled inputs as the terms see them: mixed, where the model does that, and with their norms.
  [[nodiscard]] RowBlock seen(RowBlock points, Arena& arena) const {
    if (model.mixing.rows > 0) {
      double* combined = arena.take(points.inputs * points.stride);
      set_combinations(model.mixing.values.data(), points.inputs, points.values, points.inputs, points.stride,
                       points.stride, combined, points.stride);
      points.values = combined;
    }
    double* norms = arena.take(points.stride);
    std::fill_n(norms, points.stride, 0.0);
    for (Index j = 0; j < points.inputs; ++j) {
      const double* input = points.input(j);
      for (Index n = 0; n < points.stride; ++n) norms[n] += input[n] * input[n];
    }
    points.square_norms = norms;
    return points;
  }

  // The contributions of all terms for the rows of a block, which is not mixed yet: [terms x outputs x
  // stride].
  [[nodiscard]] double* contributions_of(const RowBlock& block, Arena& arena) const {
    const Index terms = values->size();
    const Index outputs = model.n_outputs();
    double* result = arena.take(std::max<Index>(terms * outputs * block.stride, 1));
    const Arena::Scope scope(arena);
    double* atoms = arena.take(std::max<Index>(terms * block.stride, 1));
    values->evaluate(seen(block, arena), 0, terms, atoms, block.stride, arena);
    for (Index m = 0; m < terms; ++m) {
      const double mean = means[static_cast<std::size_t>(m)];
      for (Index k = 0; k < outputs; ++k) {
        const double own_factor = factor(m, k);
        double* out = result + (m * outputs + k) * block.stride;
        for (Index n = 0; n < block.rows; ++n) out[n] = own_factor * (atoms[m * block.stride + n] - mean);
      }
    }
    return result;
  }

  // Adds to totals [columns x stride] of one output what the columns of a group get along the line from the
  // average row.
  void add_along_line(const TermGroup& group, const RowBlock& block, Index output, double* totals,
                      Arena& arena) const {
    const Arena::Scope scope(arena);
    const Index size = block.inputs * block.stride;
    double* points = arena.take(size);
    double* slopes = arena.take(size);
    std::fill_n(slopes, size, 0.0);
    const Index terms = std::ssize(group.terms);
    double* weights = arena.take(terms * block.stride);
    for (std::size_t q = 0; q < Quadrature::kNodes; ++q) {
      const Arena::Scope node(arena);
      for (Index i = 0; i < size; ++i) points[i] = quadrature.nodes[q] * block.values[i];
      for (Index i = 0; i < terms; ++i)
        std::fill_n(weights + i * block.stride, block.stride,
                    quadrature.weights[q] * factor(group.terms[static_cast<std::size_t>(i)], output));
      RowBlock at = block;
      at.values = points;
      group.derivatives->pull_back(seen(at, arena), weights, block.stride, nullptr, slopes, arena);
    }
    if (model.mixing.rows > 0) {
      double* unmixed = arena.take(size);
      Matrix transposed(block.inputs, block.inputs);
      for (Index i = 0; i < block.inputs; ++i) {
        for (Index j = 0; j < block.inputs; ++j) transposed(j, i) = model.mixing(i, j);
      }
      set_combinations(transposed.values.data(), block.inputs, slopes, block.inputs, block.stride,
                       block.stride, unmixed, block.stride);
      slopes = unmixed;
    }
    for (Index j = 0; j < block.inputs; ++j) {
      double* own = totals + column_of_input[static_cast<std::size_t>(j)] * block.stride;
      for (Index n = 0; n < block.rows; ++n)
        own[n] += slopes[j * block.stride + n] * block.values[j * block.stride + n];
    }
  }

  // Adds to totals [outputs x columns x stride] the Shapley values of the columns of a group.
  void add_from_corners(const TermGroup& group, const RowBlock& block, double* totals, Arena& arena) const {
    const Arena::Scope scope(arena);
    const Index size = block.inputs * block.stride;
    const Index terms = std::ssize(group.terms);
    const Index outputs = model.n_outputs();
    double* points = arena.take(size);
    double* atoms = arena.take(terms * block.stride);
    double* score = arena.take(block.stride);
    const std::size_t players = group.columns.size();
    for (unsigned corner = 0; corner < (1U << players); ++corner) {
      const Arena::Scope own(arena);
      std::fill_n(points, size, 0.0);
      for (std::size_t p = 0; p < players; ++p) {
        if ((corner >> p & 1U) == 0) continue;
        for (const Index j : own_inputs[static_cast<std::size_t>(group.columns[p])])
          std::copy_n(block.input(j), block.rows, points + j * block.stride);
      }
      RowBlock at = block;
      at.values = points;
      group.values->evaluate(seen(at, arena), 0, terms, atoms, block.stride, arena);
      for (Index k = 0; k < outputs; ++k) {
        std::fill_n(score, block.rows, 0.0);
        for (Index i = 0; i < terms; ++i) {
          const double own_factor = factor(group.terms[static_cast<std::size_t>(i)], k);
          for (Index n = 0; n < block.rows; ++n) score[n] += own_factor * atoms[i * block.stride + n];
        }
        for (std::size_t p = 0; p < players; ++p) {
          const double weight = corner_weight(corner, p, players);
          double* out = totals + (k * std::ssize(column_names) + group.columns[p]) * block.stride;
          for (Index n = 0; n < block.rows; ++n) out[n] += weight * score[n];
        }
      }
    }
  }

  // How much the value at a corner counts in the Shapley value of a player.
  [[nodiscard]] static double corner_weight(unsigned corner, std::size_t player, std::size_t players) {
    const bool is_in = (corner >> player & 1U) != 0;
    const int others = std::popcount(corner) - (is_in ? 1 : 0);
    const double weight = std::tgamma(others + 1) * std::tgamma(static_cast<double>(players) - others) /
                          std::tgamma(static_cast<double>(players) + 1);
    return is_in ? weight : -weight;
  }

  // What the columns get for the rows of a block: [outputs x columns x stride].
  [[nodiscard]] double* column_totals(const RowBlock& block, Arena& arena) const {
    const Index outputs = model.n_outputs();
    const Index columns = std::ssize(column_names);
    double* totals = arena.take(std::max<Index>(outputs * columns * block.stride, 1));
    std::fill_n(totals, outputs * columns * block.stride, 0.0);
    const Arena::Scope scope(arena);
    const double* contributions = contributions_of(block, arena);
    double* own = arena.take(std::max<Index>(outputs * columns * block.stride, 1));
    for (const TermGroup& group : groups) {
      std::fill_n(own, outputs * columns * block.stride, 0.0);
      if (group.derivatives) {
        for (Index k = 0; k < outputs; ++k)
          add_along_line(group, block, k, own + k * columns * block.stride, arena);
      } else if (group.values) {
        add_from_corners(group, block, own, arena);
      }
      // What the terms add, less what has been given out: by how much they are at the average row another
      // number than on average, and what the quadrature is off by. It belongs to no column more than to
      // another. Of a term of one column it is all.
      const auto players = static_cast<double>(group.columns.size());
      for (Index k = 0; k < outputs; ++k) {
        double* of_output = own + k * columns * block.stride;
        for (Index n = 0; n < block.rows; ++n) {
          double left = 0;
          for (const Index m : group.terms) left += contributions[(m * outputs + k) * block.stride + n];
          for (const Index c : group.columns) left -= of_output[c * block.stride + n];
          for (const Index c : group.columns) {
            totals[(k * columns + c) * block.stride + n] += of_output[c * block.stride + n] + left / players;
          }
        }
      }
    }
    return totals;
  }

  [[nodiscard]] Explanation explain(const TableView& x, std::span<const Index> columns,
                                    const RowName& row_name, bool is_by_column) const {
    Explanation result;
    result.rows = x.rows;
    result.outputs = model.n_outputs();
    result.parts = is_by_column ? std::ssize(column_names) : std::ssize(model.terms);
    result.averages = averages;
    result.totals = predictor.scores(x, columns, row_name);
    for (std::size_t i = 0; i < result.totals.size(); ++i) {
      const Output& output = model.outputs[i % model.outputs.size()];
      result.totals[i] = output.shift + output.scale * result.totals[i];
    }
    result.rounding.resize(result.totals.size());
    result.contributions.resize(static_cast<std::size_t>(x.rows * result.parts * result.outputs));
    const BlockedRows rows(x, input_columns(model, columns));
    const SingleThreadedBlas single_threaded;
    Workers workers(rows.blocks() > 1 ? threads : 1);
    for_each_block(rows, workers, [&](const RowBlock& block, Arena& arena) {
      const double* parts = is_by_column ? column_totals(block, arena) : contributions_of(block, arena);
      // Columns are output by output, terms one by one.
      const Index part_stride = is_by_column ? block.stride : result.outputs * block.stride;
      const Index output_stride = is_by_column ? result.parts * block.stride : block.stride;
      std::vector<double> own(static_cast<std::size_t>(result.parts));
      for (Index n = 0; n < block.rows; ++n) {
        for (Index k = 0; k < result.outputs; ++k) {
          for (Index i = 0; i < result.parts; ++i)
            own[static_cast<std::size_t>(i)] = parts[i * part_stride + k * output_stride + n];
          const Index place = (block.first_row + n) * result.outputs + k;
          result.rounding[static_cast<std::size_t>(place)] = rounding_of(
              result.totals[static_cast<std::size_t>(place)], averages[static_cast<std::size_t>(k)], own);
          double* out =
              result.contributions.data() + (block.first_row + n) * result.parts * result.outputs + k;
          for (Index i = 0; i < result.parts; ++i) out[i * result.outputs] = own[static_cast<std::size_t>(i)];
        }
      }
    });
    return result;
  }

  [[nodiscard]] std::span<const Index> columns_in(const TableView& x) const {
    if (x.cols == model.n_columns) return columns_of_inputs;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("x has {} columns; the model was trained on {}", x.cols, model.n_columns));
  }
};

Explainer::Explainer(Model model, int threads) : impl_(std::make_unique<Impl>(std::move(model), threads)) {}
Explainer::Explainer(Explainer&&) noexcept = default;
Explainer& Explainer::operator=(Explainer&&) noexcept = default;
Explainer::~Explainer() = default;

const Model& Explainer::model() const { return impl_->model; }

bool Explainer::knows_means() const { return impl_->knows_means; }

std::string Explainer::score_name(Index output) const {
  const Model& model = impl_->model;
  const std::string& own = model.outputs[static_cast<std::size_t>(output)].name;
  const std::string name = own.empty() ? model.target_name : own;
  if (model.task == Task::kClassification && !model.has_one_output())
    return fmt::format("score of {} = {}", model.target_name, name);
  const std::string of =
      model.task == Task::kClassification ? fmt::format("{} = {}", model.target_name, model.labels[1]) : name;
  if (!model.loss.empty()) return loss_of_kind(model.loss).score_text(of);
  return model.task == Task::kClassification ? fmt::format("log-odds of {}", of) : of;
}

const std::vector<std::string>& Explainer::term_names() const { return impl_->term_names; }

const std::vector<std::string>& Explainer::column_names() const { return impl_->column_names; }

std::span<const Index> Explainer::columns_of_term(Index term) const {
  return impl_->term_columns[static_cast<std::size_t>(term)];
}

std::string Explainer::value_text(Index column, const TableView& x, Index row,
                                  std::span<const Index> columns) const {
  bool is_missing = true;
  for (const Index i : impl_->own_inputs[static_cast<std::size_t>(column)]) {
    const ModelInput& input = impl_->model.inputs[static_cast<std::size_t>(i)];
    const ColumnOrigin origin = origin_of(input.column, impl_->model.text_columns);
    const double value = x(row, columns[static_cast<std::size_t>(i)]);
    if (std::isnan(value)) continue;
    is_missing = false;
    if (origin.text == nullptr) return fmt::format("{:.6g}", value);
    if (value != 0 && !input.is_missing) return origin.level;
  }
  return is_missing ? std::string(kMissingLevel) : "unknown";
}

Explanation Explainer::by_term(const TableView& x) const { return by_term(x, impl_->columns_in(x)); }

Explanation Explainer::by_term(const TableView& x, std::span<const Index> columns,
                               const RowName& row_name) const {
  return impl_->explain(x, columns, row_name, false);
}

Explanation Explainer::by_column(const TableView& x) const { return by_column(x, impl_->columns_in(x)); }

Explanation Explainer::by_column(const TableView& x, std::span<const Index> columns,
                                 const RowName& row_name) const {
  return impl_->explain(x, columns, row_name, true);
}

}  // namespace mfga
