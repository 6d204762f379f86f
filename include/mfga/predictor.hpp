// A model made ready to predict: once, for rows that come one at a time, or for tables.
//
//   const mfga::Predictor predictor(model);
//   double price = predictor.predict(row);                         // a microsecond or so
//   std::vector<double> prices = predictor.predictions(x_new);     // on all cores
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mfga/model.hpp"
#include "mfga/views.hpp"

namespace mfga {

// What an error calls a row of a table, such as `houses.csv:17`.
using RowName = std::function<std::string(Index row)>;

// Keeps a copy of the model. Every method may be called from many threads at once. A row gets the same score,
// to the last bit, by itself and in any table.
//
// NaN is a missing value, see ModelInput. Scores, predictions and probabilities are finite: a row with an
// infinite input, or one that is so far out that its score is not finite, throws Error(kBadData).
class Predictor {
 public:
  // Threads are for tables, and started with the first one that is worth it; 0: as many as there are cores.
  explicit Predictor(Model model, int threads = 0);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  [[nodiscard]] const Model& model() const;

  // One row, with the columns that the model was trained on. Memory is allocated with the first rows,
  // hardly ever later, and no thread is started. Of models with one output:
  [[nodiscard]] double score(std::span<const double> row) const;
  // Regression: the predicted target. Classification, of any number of classes: the position of the predicted
  // label.
  [[nodiscard]] double predict(std::span<const double> row) const;
  // Two classes: the probability of labels[1].
  [[nodiscard]] double probability(std::span<const double> row) const;
  // Of any model: one score per output.
  void scores(std::span<const double> row, std::span<double> out) const;

  // The same of each row of x, which has the columns that the model was trained on: doubles or floats, in any
  // layout. See Model for what there is of several outputs.
  [[nodiscard]] std::vector<double> scores(const TableView& x) const;
  [[nodiscard]] std::vector<double> predictions(const TableView& x) const;
  [[nodiscard]] std::vector<double> probabilities(const TableView& x) const;
  // Of a table in which input i is column columns[i]; match_columns (mfga/columns.hpp) finds them by name.
  // Without a row_name, errors count the rows from 0.
  [[nodiscard]] std::vector<double> scores(const TableView& x, std::span<const Index> columns,
                                           const RowName& row_name = {}) const;
  [[nodiscard]] std::vector<double> predictions(const TableView& x, std::span<const Index> columns,
                                                const RowName& row_name = {}) const;
  [[nodiscard]] std::vector<double> probabilities(const TableView& x, std::span<const Index> columns,
                                                  const RowName& row_name = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mfga
