// What matters to a model on some rows.
#pragma once

#include <string>
#include <vector>

#include "mfga/explain.hpp"
#include "report/columns.hpp"
#include "report/sample.hpp"

namespace mfga::report {

// The parts of the score's variance that the terms are: the covariance of a term with the score over the
// variance of the score, so that they add up to one. A term that others make up for has a negative part.
[[nodiscard]] std::vector<double> term_shares(const Model& model, const Sample& sample, int threads);

struct ColumnImportance {
  Index column = 0;           // in columns_of
  Index terms = 0;            // that look at it
  double share = 0;           // of the score's variance, as that of a term, of what the column adds to it
  double loss = 0;            // by how much the error grows when it is shuffled; if the targets are known
  double standard_error = 0;  // of that, over the shuffles
};

struct Importance {
  std::string measure;  // of the error, such as RMSE; empty: the targets are not known
  double error = 0;     // of these rows as they are
  Index rows = 0;       // that were shuffled
  int shuffles = 0;
  std::vector<ColumnImportance> columns;  // the most important first
};
[[nodiscard]] Importance column_importance(const Predictor& predictor, const Explainer& explainer,
                                           const std::vector<Column>& columns, const Sample& sample);

}  // namespace mfga::report
