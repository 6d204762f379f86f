// A table as the learner sees it, column by column.
//
//   const mfga::TableDescription description = mfga::describe({.x = x, .y = y});
//   description.columns[0].scale;
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mfga/fit.hpp"

namespace mfga {

// A predictor of the table: a column of numbers, or all levels of a text together.
struct ColumnDescription {
  std::string name;
  bool is_text = false;
  Index missing = 0;   // rows without a value
  Index distinct = 0;  // numbers: different values; text: levels
  // Numbers that are there: their range, mean and standard deviation.
  double lowest = 0;
  double highest = 0;
  double mean = 0;
  double deviation = 0;
  std::vector<std::pair<std::string, Index>> levels = {};  // of text, with their rows, most frequent first
  Index rare = 0;                                          // texts that the level `other` stands for
  std::string scale = {};         // standard or quantile, as it is chosen from the rows; of text: 0/1
  bool is_constant = false;       // such a column is left out
  bool tells_of_missing = false;  // there is an input that tells where it is missing
  bool numbers_the_rows = false;  // each value is one more than that of the row before
  std::string same_as = {};       // an earlier column that has the same values in every row
  std::string gives_away = {};    // why it may be the target in another form; empty: nothing speaks for that
};

struct TableDescription {
  Index rows = 0;
  Task task = Task::kRegression;                       // as it is inferred from the target
  std::vector<std::pair<std::string, Index>> classes;  // of the target, with their rows
  ColumnDescription target;                            // of numbers
  std::vector<ColumnDescription> columns;
};

// Predictors that have the same values as an earlier one in every row: the names of both.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> equal_columns(const TrainingData& data);

// Of several targets the first one.
[[nodiscard]] TableDescription describe(const TrainingData& data, int threads = 0);

}  // namespace mfga
