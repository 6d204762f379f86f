// A table made ready for learning: the target as the loss wants it, inputs scaled, rows in blocks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/row_blocks.hpp"
#include "data/standardise.hpp"
#include "model/target.hpp"
#include "solve/cross_validation.hpp"
#include "solve/problem.hpp"

namespace mfga {

struct Plan;  // model/plan.hpp

struct PreparedData {
  PreparedTarget target;
  std::vector<InputColumn> inputs;
  std::vector<Index> text_columns;  // of each input: see CandidateContext
  BlockedRows rows;                 // with their weights
  Intercept intercept;
  CoefficientCost cost = {};
  std::vector<Index> kept_rows = {};  // of the table, where those without a weight were left out; else empty
  std::vector<Index> groups =
      {};  // of each row: rows of one group are held out together; empty: there are none

  // The row of the table at a position.
  [[nodiscard]] Index row_of_table(Index position) const {
    return kept_rows.empty() ? position : kept_rows[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] Problem problem(Workers& workers) const {
    return {rows, target.values, *target.loss, intercept, workers, cost};
  }
  // Some of the rows, by their positions; with what was found out about all of them: scales and the target's
  // units.
  [[nodiscard]] PreparedData subset(std::span<const Index> positions, Workers* workers = nullptr) const;
  // Inputs times factors, or combinations of inputs in their places.
  void stretch(std::span<const double> factors);
  void mix(const Matrix& matrix) { rows = rows.mixed(matrix); }
  // Whether each of so many folds can have a group of its own.
  [[nodiscard]] bool has_groups_for(Index folds) const;
  // How these rows are divided into folds. Throws if there are too few groups.
  [[nodiscard]] Folds folds(const Plan& plan, const CrossValidationOptions& options) const;
  // Whether all targets are the same, so that there is nothing to learn.
  [[nodiscard]] bool has_one_target() const;
};

// The rows of the table with a weight above 0, by their positions; empty: all. Their targets and weights.
struct CountedRows {
  explicit CountedRows(const TrainingData& data);
  std::vector<Index> positions;
  std::vector<double> targets;
  std::vector<double> weights;
  std::vector<Index> groups;
  // The data with these targets, weights and groups; the table is still that of all rows.
  [[nodiscard]] TrainingData without_others(const TrainingData& data) const;
};

// How the columns of the table become inputs: standardised and scaled. `standard` is set to the
// standardisation of the columns. Throws Error(kBadData) if every column is constant.
[[nodiscard]] std::vector<InputColumn> prepare_inputs(const TrainingData& data, const Plan& plan,
                                                      Workers& workers, Standardisation& standard);
// Of each input, what it excludes others by (CandidateContext::text_columns): levels of a text, and a column
// and the input that tells where it is missing. Empty: nothing.
[[nodiscard]] std::vector<Index> exclusive_columns(const std::vector<InputColumn>& inputs,
                                                   const TrainingData& data);
// Sets what a model says of its table; `missing`: of each column, in how many rows its value is.
void describe_table(const TrainingData& data, const std::vector<InputColumn>& inputs,
                    std::span<const Index> missing, Model& model);

// Throws Error(kBadData) if every column is constant. `standard` is set to the standardisation of the
// columns.
[[nodiscard]] PreparedData prepare(const TrainingData& data, const CountedRows& counted, const Plan& plan,
                                   Workers& workers, Standardisation& standard);

}  // namespace mfga
