#include "mfga/predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "core/row_blocks.hpp"
#include "core/thread_arenas.hpp"
#include "features/candidates.hpp"
#include "mfga/error.hpp"
#include "model/scoring.hpp"

namespace mfga {
namespace {

// An input that is not finite need not show in the score, for no term may look at it; it always shows in the
// norm, which may also just have overflowed.
void mark_not_finite(const RowBlock& block, double* scores) {
  for (Index n = 0; n < block.rows; ++n) {
    if (std::isfinite(block.square_norms[n])) continue;
    for (Index j = 0; j < block.inputs; ++j) {
      if (!std::isfinite(block.input(j)[n])) scores[n] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

bool are_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

// Says why a row has no score.
[[noreturn]] void throw_without_score(const Model& model, const TableView& x, std::span<const Index> columns,
                                      Index row, const std::string& row_name) {
  std::size_t farthest = 0;
  double largest = 0;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    const double value = x(row, columns[i]);
    if (std::isinf(value)) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("{}: the value of \"{}\", column {} of x, is {}; expected a finite number, or NaN "
                      "where it is missing",
                      row_name, input.name, columns[i], value));
    }
    if (input.is_missing || std::isnan(value)) continue;
    const double z = std::abs(value / input.deviation - input.mean / input.deviation);
    if (z >= largest) farthest = i;
    largest = std::max(largest, z);
  }
  const std::string because =
      model.inputs.empty()
          ? "its intercept is not one"
          : fmt::format(
                "the row is too far from those of the training: its \"{}\" is {:.4g}, and theirs were "
                "{:.4g} on average with a deviation of {:.4g}. Correct the row or leave it out",
                model.inputs[farthest].name, x(row, columns[farthest]), model.inputs[farthest].mean,
                model.inputs[farthest].deviation);
  throw Error(ErrorKind::kBadData,
              fmt::format("{}: the prediction is not a finite number, for {}", row_name, because));
}

void check_columns(const Model& model, std::span<const Index> columns, Index n_columns) {
  if (columns.size() != model.inputs.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there are {} columns for the model's {} inputs; give one for each",
                            columns.size(), model.inputs.size()));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] >= 0 && columns[i] < n_columns) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("the input {} is to be column {} of x, which has {} columns",
                            model.inputs[i].name, columns[i], n_columns));
  }
}

void check_classes(const Model& model) {
  if (model.task == Task::kClassification) return;
  throw Error(ErrorKind::kInvalidArgument,
              "probabilities need a classification model; this one is for regression");
}

// The rows of x as the terms see them.
BlockedRows seen_rows(const Model& model, const TableView& x, std::span<const Index> columns) {
  const BlockedRows rows(x, input_columns(model, columns));
  return model.mixing.rows > 0 ? rows.mixed(model.mixing) : rows;
}

ScoreFunction score_function(const Model& model) {
  std::vector<Atom> atoms;
  std::vector<double> coefficients;
  for (const Term& term : model.terms) {
    atoms.push_back(term.atom);
    coefficients.insert(coefficients.end(), term.coefficients.begin(), term.coefficients.end());
  }
  std::vector<double> intercepts;
  for (const Output& output : model.outputs) intercepts.push_back(output.intercept);
  return {atoms, coefficients, intercepts};
}

}  // namespace

std::vector<Index> columns_of_training(const Model& model) {
  std::vector<Index> columns;
  for (const ModelInput& input : model.inputs) columns.push_back(input.column);
  return columns;
}

std::vector<InputColumn> input_columns(const Model& model, std::span<const Index> columns) {
  std::vector<InputColumn> inputs;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    inputs.push_back({columns[i], input.mean, input.deviation, input.warp, input.stretch, input.is_missing});
  }
  return inputs;
}

struct Predictor::Impl {
  Impl(Model given, int n_threads)
      : model(std::move(given)),
        columns(columns_of_training(model)),
        score(score_function(model)),
        seen(seen_rows(model, ConstMatrixView{nullptr, 0, model.n_columns, model.n_columns}, columns)),
        has_its_columns(std::ranges::all_of(
            columns, [&](Index column) { return column >= 0 && column < model.n_columns; })),
        threads(n_threads) {}

  Model model;
  std::vector<Index> columns;  // of the inputs, in the table of the training
  ScoreFunction score;
  BlockedRows seen;      // none: how the numbers of one row are seen
  bool has_its_columns;  // which a model that was put together by hand may not have
  int threads;
  Workers own_thread{1};
  std::once_flag are_threads_started;
  std::unique_ptr<Workers> many_threads;
  mutable ThreadArenas arenas;

  Workers& workers_for(Index blocks) {
    if (blocks <= 1 || threads == 1) return own_thread;
    std::call_once(are_threads_started, [&] { many_threads = std::make_unique<Workers>(threads); });
    return *many_threads;
  }

  // One score per output.
  void score_row(std::span<const double> row, std::span<double> out, Arena& arena) const {
    const auto n_values = static_cast<Index>(row.size());
    if (n_values != model.n_columns) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("the row has {} values; the model was trained on {} columns", n_values,
                              model.n_columns));
    }
    if (!has_its_columns) check_columns(model, columns, n_values);
    const Arena::Scope scope(arena);
    const RowBlock block = seen.single_row(row.data(), arena);
    score.evaluate(block, out.data(), arena);  // whose stride is 1
    mark_not_finite(block, out.data());
    if (!are_finite(out)) {
      throw_without_score(model, ConstMatrixView{row.data(), 1, n_values, n_values}, columns, 0, "the row");
    }
  }

  [[nodiscard]] double score_of(std::span<const double> row) const {
    if (!model.has_one_output()) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("the model has {} outputs; ask for the scores of all", model.n_outputs()));
    }
    double result = 0;
    const ThreadArenas::Lease lease(arenas);
    score_row(row, {&result, 1}, *lease);
    return result;
  }

  [[nodiscard]] std::vector<double> scores_of(const TableView& x, std::span<const Index> own_columns,
                                              const RowName& row_name) {
    check_columns(model, own_columns, x.cols);
    const BlockedRows rows = seen_rows(model, x, own_columns);
    const Index outputs = model.n_outputs();
    std::vector<double> result(static_cast<std::size_t>(x.rows * outputs));
    for_each_block(rows, workers_for(rows.blocks()), [&](const RowBlock& block, Arena& arena) {
      double* scores_of_block = result.data() + block.first_row * outputs;
      if (outputs == 1) {
        score.evaluate(block, scores_of_block, arena);
        mark_not_finite(block, scores_of_block);
        return;
      }
      double* columns_of_block = arena.take(outputs * block.stride);
      score.evaluate(block, columns_of_block, arena);
      mark_not_finite(block, columns_of_block);
      for (Index n = 0; n < block.rows; ++n) {
        for (Index k = 0; k < outputs; ++k)
          scores_of_block[n * outputs + k] = columns_of_block[k * block.stride + n];
      }
    });
    const auto without = std::ranges::find_if(result, [](double value) { return !std::isfinite(value); });
    if (without != result.end()) {
      const Index row = (without - result.begin()) / outputs;
      throw_without_score(model, x, own_columns, row,
                          row_name ? row_name(row) : fmt::format("row {} (counted from 0)", row));
    }
    return result;
  }

  // The columns of the training, if x has as many.
  [[nodiscard]] std::span<const Index> columns_in(const TableView& x) const {
    if (x.cols == model.n_columns) return columns;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("x has {} columns; the model was trained on {}", x.cols, model.n_columns));
  }
};

Predictor::Predictor(Model model, int threads) : impl_(std::make_unique<Impl>(std::move(model), threads)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

const Model& Predictor::model() const { return impl_->model; }

double Predictor::score(std::span<const double> row) const { return impl_->score_of(row); }

void Predictor::scores(std::span<const double> row, std::span<double> out) const {
  if (std::ssize(out) != impl_->model.n_outputs()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("there is room for {} scores; the model has {} outputs", out.size(),
                            impl_->model.n_outputs()));
  }
  const ThreadArenas::Lease lease(impl_->arenas);
  impl_->score_row(row, out, *lease);
}

double Predictor::predict(std::span<const double> row) const {
  if (impl_->model.task == Task::kRegression || impl_->model.has_one_output())
    return impl_->model.prediction_from_score(impl_->score_of(row));
  const ThreadArenas::Lease lease(impl_->arenas);
  const Arena::Scope scope(*lease);
  const std::size_t outputs = impl_->model.outputs.size();
  const std::span<double> scores((*lease).take(static_cast<Index>(outputs)), outputs);
  impl_->score_row(row, scores, *lease);
  return static_cast<double>(std::ranges::max_element(scores) - scores.begin());
}

double Predictor::probability(std::span<const double> row) const {
  check_classes(impl_->model);
  return Model::probability_from_score(log_odds(impl_->model, impl_->score_of(row)));
}

std::vector<double> Predictor::scores(const TableView& x) const { return scores(x, impl_->columns_in(x)); }

std::vector<double> Predictor::predictions(const TableView& x) const {
  return predictions(x, impl_->columns_in(x));
}

std::vector<double> Predictor::probabilities(const TableView& x) const {
  check_classes(impl_->model);
  return probabilities(x, impl_->columns_in(x));
}

std::vector<double> Predictor::scores(const TableView& x, std::span<const Index> columns,
                                      const RowName& row_name) const {
  return impl_->scores_of(x, columns, row_name);
}

std::vector<double> Predictor::predictions(const TableView& x, std::span<const Index> columns,
                                           const RowName& row_name) const {
  return impl_->model.predictions_from_scores(impl_->scores_of(x, columns, row_name));
}

std::vector<double> Predictor::probabilities(const TableView& x, std::span<const Index> columns,
                                             const RowName& row_name) const {
  check_classes(impl_->model);
  return impl_->model.probabilities_from_scores(impl_->scores_of(x, columns, row_name));
}

}  // namespace mfga
