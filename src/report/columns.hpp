// The columns of the table that a model's inputs come from, as its reader knows them.
#pragma once

#include <string>
#include <vector>

#include "mfga/model.hpp"

namespace mfga::report {

struct Column {
  std::string name;
  bool is_text = false;
  // Numbers: the input, and the one that tells of missing values, if there is one. Text: one per level.
  std::vector<Index> inputs = {};
  std::vector<std::string> levels = {};  // of text, by input
};

// In the order of the table, as the columns of an Explainer are.
[[nodiscard]] std::vector<Column> columns_of(const Model& model);

}  // namespace mfga::report
