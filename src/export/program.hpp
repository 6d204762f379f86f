// A model as expressions, from the values of a row to its prediction: what every printer starts from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/expression.hpp"
#include "mfga/model.hpp"

namespace mfga {

// A column of the table that the model needs; where it is text, with what becomes of a text.
struct ProgramColumn {
  static constexpr int kMissing = -1;  // no level: the text is missing
  static constexpr int kUnknown = -2;  // no level: the text is none of them

  std::string name;
  Index position = 0;  // among the predictors of the training table
  bool is_text = false;
  std::vector<std::string> levels = {};
  std::map<std::string, int> codes = {};  // the level of each text that is known; those of marks, too
  int of_missing = kMissing;              // where there is no text at all
  int of_unknown = kUnknown;              // of all other texts

  // The texts of a level, or of kMissing.
  [[nodiscard]] std::vector<std::string> texts_of(int code) const;
};

// For which columns missing values are provided for: programs meet them anywhere; for a reader only those
// matter that had some in the training.
enum class MissingCases { kAll, kOfTraining };

struct Program {
  const Model* model = nullptr;
  ExpressionGraph graph = {};
  std::vector<ProgramColumn> columns = {};  // those that are needed, in the order of the table
  Index n_predictors = 0;                   // of the training table
  std::vector<Expression> inputs = {};      // of the model, scaled, as its terms see them
  std::vector<Index> input_columns = {};    // the column of each input; -1: it is not needed
  std::vector<Expression> terms = {};       // without coefficients
  std::vector<Expression> scores = {};      // one per output
  Expression largest_score = {};
  // Regression: what is predicted, in the units of the target. Classification: the probability of each
  // label.
  std::vector<Expression> results = {};
  bool predicts_scores = false;  // but for a shift and a scale

  [[nodiscard]] bool is_classification() const { return model->task == Task::kClassification; }
  [[nodiscard]] bool has_text() const;
  // By what a term has to be multiplied for what it adds to an output: to the score, or where the prediction
  // is a sum of terms, to that.
  [[nodiscard]] double contribution_factor(std::size_t term, std::size_t output) const;
};
[[nodiscard]] Program make_program(const Model& model, MissingCases missing = MissingCases::kAll);

// Which nodes some expressions are made of, by id.
[[nodiscard]] std::vector<bool> reachable(const ExpressionGraph& graph, const std::vector<Expression>& roots);

}  // namespace mfga
