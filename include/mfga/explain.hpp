// Why a row has the score it has: what each term, or each column of the table, adds to that of the average
// row.
//
//   const mfga::Explainer explainer(model);
//   const mfga::Explanation terms = explainer.by_term(x);
//   terms.contribution(0, 2);   // of the third term to the score of the first row
//
// docs/explain.md says how contributions are defined.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mfga/model.hpp"
#include "mfga/predictor.hpp"
#include "mfga/views.hpp"

namespace mfga {

// Of some rows. Parts are terms or columns. A total is the score as `predict` writes it with `link`: in the
// units of the target where the model predicts a number without a link. To the last bit,
//
//   total == average + contribution of part 0 + contribution of part 1 + ... + rounding
//
// where the sum is taken from left to right; rounding is what the addition of floating-point numbers loses.
struct Explanation {
  Index rows = 0;
  Index parts = 0;
  Index outputs = 1;
  std::vector<double> averages;       // [outputs]: of the scores of the training rows
  std::vector<double> contributions;  // [rows x parts x outputs]
  std::vector<double> rounding;       // [rows x outputs]
  std::vector<double> totals;         // [rows x outputs]

  [[nodiscard]] double contribution(Index row, Index part, Index output = 0) const {
    return contributions[static_cast<std::size_t>((row * parts + part) * outputs + output)];
  }
};

// The rounding of parts that are added in this order. Next to a total that is itself no more than rounding it
// takes a change of the last part, too, by as little.
[[nodiscard]] double rounding_of(double total, double average, std::span<double> parts);

// Keeps a copy of the model. Every method may be called from many threads at once.
class Explainer {
 public:
  // Threads are for tables; 0: as many as there are cores.
  explicit Explainer(Model model, int threads = 0);
  Explainer(Explainer&&) noexcept;
  Explainer& operator=(Explainer&&) noexcept;
  ~Explainer();

  [[nodiscard]] const Model& model() const;
  // Whether the model knows the means of its terms over the rows of the training. Older model files, and
  // models of sums, do not tell: then the average is the score of a row with the mean of every input.
  [[nodiscard]] bool knows_means() const;

  // What the scores of an output are: `log-odds of income = >50K`.
  [[nodiscard]] std::string score_name(Index output) const;
  // What the terms are, in the units of the table where a term allows it, such as `age >= 40.5`. No two are
  // the same.
  [[nodiscard]] const std::vector<std::string>& term_names() const;
  // The columns of the table that the model has inputs of; a text is one column.
  [[nodiscard]] const std::vector<std::string>& column_names() const;
  // Which of these a term looks at.
  [[nodiscard]] std::span<const Index> columns_of_term(Index term) const;
  // What a row has in a column, such as `Masters` or `40.5`; `missing` where it has nothing, `unknown` for
  // a text that the model does not know. In x input i is column columns[i].
  [[nodiscard]] std::string value_text(Index column, const TableView& x, Index row,
                                       std::span<const Index> columns) const;

  // x has the columns that the model was trained on, or those that `columns` says; see Predictor, whose
  // errors these throw as well.
  [[nodiscard]] Explanation by_term(const TableView& x) const;
  [[nodiscard]] Explanation by_term(const TableView& x, std::span<const Index> columns,
                                    const RowName& row_name = {}) const;
  [[nodiscard]] Explanation by_column(const TableView& x) const;
  [[nodiscard]] Explanation by_column(const TableView& x, std::span<const Index> columns,
                                      const RowName& row_name = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mfga
