// The rows that a page is made from.
#pragma once

#include <optional>
#include <vector>

#include "mfga/predictor.hpp"
#include "mfga/report.hpp"

namespace mfga::report {

struct Sample {
  Matrix rows;                  // [rows x inputs]: input i of the model is column i
  std::vector<double> targets;  // target after target; empty: not known
  std::vector<double> weights;  // empty: 1
  Index all_rows = 0;           // that these were drawn from
  std::vector<double> scores;   // [rows x outputs]

  [[nodiscard]] Index size() const { return rows.rows; }
  [[nodiscard]] bool is_drawn() const { return rows.rows < all_rows; }
  [[nodiscard]] double weight(Index row) const {
    return weights.empty() ? 1 : weights[static_cast<std::size_t>(row)];
  }
};

// With the scores of the rows. Throws for data that do not go with the model.
[[nodiscard]] Sample draw_sample(const Predictor& predictor, const ReportData& data, Index most_rows);

// The scores of rows whose column i is input i.
[[nodiscard]] std::vector<double> scores_of(const Predictor& predictor, const Matrix& rows);
// What is shown of scores: predicted numbers, or probabilities: of the second of two classes, or of each.
// There are as many columns as outputs.
[[nodiscard]] std::vector<double> shown_values(const Model& model, std::span<const double> scores);
// How what is shown is called, such as `probability of yes`; of several outputs, that of output k.
[[nodiscard]] std::string shown_name(const Model& model, Index output);

// Numbers from 0 to 1, the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] double next();
  // The numbers from 0 to count - 1 in any order.
  [[nodiscard]] std::vector<Index> permutation(Index count);

 private:
  std::uint64_t state_;
};

}  // namespace mfga::report
