#include "report/importance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/row_blocks.hpp"
#include "features/candidates.hpp"
#include "mfga/evaluate.hpp"

namespace mfga::report {
namespace {

constexpr std::uint64_t kSeedOfShuffles = 2;
constexpr int kShuffles = 3;
// Values of terms that may be computed in all; with more columns or terms there are fewer rows.
constexpr double kMostWork = 6e9;
constexpr double kFewestRows = 300;

// The error of predictions, in few words and as a number that is smaller for better ones.
class ErrorMeasure {
 public:
  ErrorMeasure(const Model& model, const Sample& sample) : model_(model), sample_(sample) {
    if (model.task != Task::kRegression) return;
    double weights = 0;
    for (Index n = 0; n < sample.size(); ++n) weights += sample.weight(n);
    for (Index k = 0; k < model.n_outputs(); ++k) {
      const double* const own = sample.targets.data() + k * sample.size();
      double mean = 0;
      for (Index n = 0; n < sample.size(); ++n) mean += sample.weight(n) * own[n] / weights;
      double squares = 0;
      for (Index n = 0; n < sample.size(); ++n)
        squares += sample.weight(n) * (own[n] - mean) * (own[n] - mean) / weights;
      deviations_.push_back(std::sqrt(squares));
    }
  }

  [[nodiscard]] std::string name() const {
    if (model_.task == Task::kClassification) return "log-loss";
    if (!model_.has_one_output()) return "standardised RMSE";
    const Evaluation evaluation = evaluate_scores(model_, sample_.scores, sample_.targets, sample_.weights);
    return evaluation.own_loss ? evaluation.own_measure : "RMSE";
  }

  [[nodiscard]] double of(std::span<const double> scores) const {
    if (model_.task == Task::kClassification) return log_loss(scores);
    if (model_.has_one_output()) {
      const Evaluation evaluation = evaluate_scores(model_, scores, sample_.targets, sample_.weights);
      return evaluation.own_loss ? *evaluation.own_loss : evaluation.regression->rmse;
    }
    const Evaluation evaluation = evaluate_scores(model_, scores, sample_.targets, sample_.weights);
    double sum = 0;
    for (std::size_t k = 0; k < deviations_.size(); ++k)
      sum += evaluation.targets[k].metrics.rmse / (deviations_[k] > 0 ? deviations_[k] : 1);
    return sum / static_cast<double>(deviations_.size());
  }

 private:
  [[nodiscard]] double log_loss(std::span<const double> scores) const {
    constexpr double kLeast = 1e-15;
    const std::vector<double> values = shown_values(model_, scores);
    const Index outputs = model_.n_outputs();
    double sum = 0;
    double weights = 0;
    for (Index n = 0; n < sample_.size(); ++n) {
      const double target = sample_.targets[static_cast<std::size_t>(n)];
      double probability = 0;
      if (outputs == 1) {
        const double second = values[static_cast<std::size_t>(n)];
        probability = target > 0.5 ? second : 1 - second;
      } else {
        probability = values[static_cast<std::size_t>(n * outputs + static_cast<Index>(target))];
      }
      sum -= sample_.weight(n) * std::log(std::max(kLeast, probability));
      weights += sample_.weight(n);
    }
    return sum / weights;
  }

  const Model& model_;
  const Sample& sample_;
  std::vector<double> deviations_;
};

// The first rows of a sample, which are as random as any.
Sample some_of(const Sample& sample, Index most, Index outputs) {
  if (most >= sample.size()) return sample;
  Sample some;
  some.all_rows = sample.all_rows;
  const Index apart = sample.size() / most;
  some.rows = Matrix::uninitialised(most, sample.rows.cols);
  for (Index r = 0; r < most; ++r) {
    std::copy_n(sample.rows.row(r * apart), sample.rows.cols, some.rows.row(r));
    for (Index k = 0; k < outputs; ++k)
      some.scores.push_back(sample.scores[static_cast<std::size_t>(r * apart * outputs + k)]);
    if (!sample.weights.empty()) some.weights.push_back(sample.weight(r * apart));
  }
  for (Index first = 0; first < std::ssize(sample.targets); first += sample.size()) {
    for (Index r = 0; r < most; ++r)
      some.targets.push_back(sample.targets[static_cast<std::size_t>(first + r * apart)]);
  }
  return some;
}

// What the scores of each output go up and down by: without their means, and times the weights of the rows.
std::vector<double> centred_scores(const Sample& sample, Index outputs) {
  std::vector<double> centred(sample.scores.size());
  double weights = 0;
  for (Index n = 0; n < sample.size(); ++n) weights += sample.weight(n);
  for (Index k = 0; k < outputs; ++k) {
    double mean = 0;
    for (Index n = 0; n < sample.size(); ++n)
      mean += sample.weight(n) * sample.scores[static_cast<std::size_t>(n * outputs + k)] / weights;
    for (Index n = 0; n < sample.size(); ++n)
      centred[static_cast<std::size_t>(k * sample.size() + n)] =
          sample.weight(n) * (sample.scores[static_cast<std::size_t>(n * outputs + k)] - mean);
  }
  return centred;
}

// The sum over the outputs of the variance of their scores, in the units of `centred_scores` times scores.
double variance_of(const Sample& sample, const std::vector<double>& centred, Index outputs) {
  double variance = 0;
  for (Index k = 0; k < outputs; ++k) {
    for (Index n = 0; n < sample.size(); ++n)
      variance += centred[static_cast<std::size_t>(k * sample.size() + n)] *
                  sample.scores[static_cast<std::size_t>(n * outputs + k)];
  }
  return variance;
}

// The rows that can be afforded where each costs so much.
Sample affordable(const Sample& sample, double work_of_a_row, Index outputs) {
  return some_of(sample, static_cast<Index>(std::clamp(kMostWork / work_of_a_row, kFewestRows, 1e9)),
                 outputs);
}

// Shares as those of terms, of what columns add to the scores.
std::vector<double> column_shares(const Explainer& explainer, const Sample& all) {
  const Model& model = explainer.model();
  const Index outputs = model.n_outputs();
  double work = 1;
  for (Index t = 0; t < std::ssize(model.terms); ++t) {
    // Beyond so many a term is looked at in many places of a line, and else at the corners of a box.
    constexpr Index kMostCorners = 4;
    constexpr double kPlacesOfALine = 32;
    const Index columns = std::ssize(explainer.columns_of_term(t));
    work += columns <= kMostCorners ? std::exp2(columns) * static_cast<double>(columns)
                                    : kPlacesOfALine * static_cast<double>(columns * outputs);
  }
  const Sample sample = affordable(all, work, outputs);
  const std::vector<double> centred = centred_scores(sample, outputs);
  const double variance = variance_of(sample, centred, outputs);
  std::vector<double> shares(explainer.column_names().size());
  if (!(variance > 0)) return shares;
  std::vector<Index> inputs(model.inputs.size());
  std::iota(inputs.begin(), inputs.end(), Index{0});
  // Some rows at a time, so that contributions of all need no memory.
  constexpr Index kNumbersAtOnce = Index{1} << 21U;
  const Index rows_at_once = std::clamp<Index>(kNumbersAtOnce / (1 + std::ssize(shares) * outputs), 16, 8192);
  for (Index first = 0; first < sample.size(); first += rows_at_once) {
    const Index count = std::min(rows_at_once, sample.size() - first);
    const Explanation explanation = explainer.by_column(sample.rows.view().middle_rows(first, count), inputs);
    for (Index n = 0; n < count; ++n) {
      for (Index c = 0; c < explanation.parts; ++c) {
        for (Index k = 0; k < outputs; ++k)
          shares[static_cast<std::size_t>(c)] +=
              explanation.contribution(n, c, k) / model.outputs[static_cast<std::size_t>(k)].scale *
              centred[static_cast<std::size_t>(k * sample.size() + first + n)] / variance;
      }
    }
  }
  return shares;
}

}  // namespace

std::vector<double> term_shares(const Model& model, const Sample& sample, int threads) {
  std::vector<Atom> atoms;
  for (const Term& term : model.terms) atoms.push_back(term.atom);
  const auto count = static_cast<Index>(atoms.size());
  std::vector<double> shares(atoms.size());
  if (atoms.empty()) return shares;
  std::vector<InputColumn> inputs;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const ModelInput& input = model.inputs[i];
    inputs.push_back(
        {static_cast<Index>(i), input.mean, input.deviation, input.warp, input.stretch, input.is_missing});
  }
  BlockedRows rows(sample.rows.view(), inputs);
  if (model.mixing.rows > 0) rows = rows.mixed(model.mixing);
  const Index outputs = model.n_outputs();
  const std::vector<double> centred = centred_scores(sample, outputs);
  const AtomValues values(atoms);
  std::vector<double> products(static_cast<std::size_t>(count * outputs));
  Workers workers(threads);
  sum_over_blocks(rows, workers, products, [&](const RowBlock& block, Arena& arena, double* out) {
    values.correlate(block, centred.data() + block.first_row, sample.size(), outputs, out, arena);
  });
  const double variance = variance_of(sample, centred, outputs);
  for (std::size_t t = 0; t < atoms.size(); ++t) {
    for (Index k = 0; k < outputs; ++k)
      shares[t] += model.terms[t].coefficients[static_cast<std::size_t>(k)] *
                   products[t * static_cast<std::size_t>(outputs) + static_cast<std::size_t>(k)];
    shares[t] = variance > 0 ? shares[t] / variance : 0;
  }
  return shares;
}

Importance column_importance(const Predictor& predictor, const Explainer& explainer,
                             const std::vector<Column>& columns, const Sample& sample) {
  const Model& model = predictor.model();
  const Index outputs = model.n_outputs();
  Importance importance;
  std::vector<ColumnImportance> used(columns.size());
  const std::vector<double> shares = column_shares(explainer, sample);
  for (Index t = 0; t < std::ssize(model.terms); ++t) {
    for (const Index column : explainer.columns_of_term(t)) ++used[static_cast<std::size_t>(column)].terms;
  }
  for (std::size_t c = 0; c < used.size(); ++c) {
    used[c].column = static_cast<Index>(c);
    used[c].share = shares[c];
  }
  std::erase_if(used, [](const ColumnImportance& column) { return column.terms == 0; });
  if (sample.targets.empty()) {
    std::ranges::stable_sort(used, std::greater<>(),
                             [](const ColumnImportance& one) { return std::abs(one.share); });
    importance.columns = std::move(used);
    return importance;
  }

  // A term that looks at all inputs costs as many times more.
  double per_row = 0;
  for (Index t = 0; t < std::ssize(model.terms); ++t)
    per_row += static_cast<double>(std::ssize(explainer.columns_of_term(t)) + outputs);
  const Sample some = affordable(
      sample, 1 + per_row * static_cast<double>(used.size()) * static_cast<double>(kShuffles), outputs);
  const ErrorMeasure measure(model, some);
  importance.rows = some.size();
  importance.shuffles = kShuffles;
  importance.measure = measure.name();
  importance.error = measure.of(some.scores);
  Draws draws(kSeedOfShuffles);
  Matrix shuffled = some.rows;
  for (ColumnImportance& one : used) {
    const Column& column = columns[static_cast<std::size_t>(one.column)];
    double sum = 0;
    double squares = 0;
    for (int shuffle = 0; shuffle < kShuffles; ++shuffle) {
      const std::vector<Index> order = draws.permutation(some.size());
      for (Index n = 0; n < some.size(); ++n) {
        for (const Index input : column.inputs)
          shuffled(n, input) = some.rows(order[static_cast<std::size_t>(n)], input);
      }
      const double growth = measure.of(scores_of(predictor, shuffled)) - importance.error;
      sum += growth;
      squares += growth * growth;
    }
    for (Index n = 0; n < some.size(); ++n) {
      for (const Index input : column.inputs) shuffled(n, input) = some.rows(n, input);
    }
    one.loss = sum / kShuffles;
    one.standard_error =
        std::sqrt(std::max(0.0, squares / kShuffles - one.loss * one.loss) / (kShuffles - 1));
  }
  std::ranges::stable_sort(used, std::greater<>(), &ColumnImportance::loss);
  importance.columns = std::move(used);
  return importance;
}

}  // namespace mfga::report
