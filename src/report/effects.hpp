// What a model predicts when one column, or two, have other values: means over rows whose other columns stay
// as they are (partial dependence).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mfga/explain.hpp"
#include "report/columns.hpp"
#include "report/sample.hpp"

namespace mfga::report {

// Values that a column is set to.
struct Places {
  std::vector<double> values = {};       // of numbers
  std::vector<std::string> levels = {};  // of text, the most frequent first
  std::vector<Index> inputs = {};        // of text: the input of each level
  bool are_few = false;                  // numbers: all there are in the rows

  [[nodiscard]] std::size_t size() const { return levels.empty() ? values.size() : levels.size(); }
};

struct Effect {
  Index column = 0;  // in columns_of
  Places places;
  Matrix means;                      // [places x outputs]: mean of what is shown
  std::vector<Index> listed = {};    // places for a table: all but those beside jumps
  std::vector<double> missing = {};  // the same where the value is missing, if it was in some rows
  double missing_rows = 0;           // the part of the rows in which it is
  std::vector<double> rows = {};  // the part of the rows at each level; or in bins from first to last place
};

// Pairs of columns that are together in terms, in the order of what these terms contribute; `shares` as
// term_shares gives them.
struct Pair {
  Index first = 0, second = 0;  // in columns_of
  double share = 0;
  Index terms = 0;
};
[[nodiscard]] std::vector<Pair> pairs_in_terms(const Explainer& explainer, const std::vector<double>& shares);

struct PairEffect {
  Pair pair;
  Places across, up;
  Index output = 0;   // that differs most
  Matrix means;       // [up x across]; NaN: no row is like that
  double middle = 0;  // the mean over all rows
};

class Effects {
 public:
  Effects(const Predictor& predictor, const std::vector<Column>& columns, const Sample& sample);

  [[nodiscard]] Effect of(Index column) const;
  [[nodiscard]] PairEffect of(const Pair& pair) const;

 private:
  [[nodiscard]] const Column& column(Index c) const { return columns_[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Places places(const Column& column, std::size_t most) const;
  // Among places that are as far apart, so that a curve is known best where the rows are.
  void add_quantiles(const Column& column, Places& places) const;
  // [places x outputs], and a last row for a missing value where that is asked for.
  [[nodiscard]] Matrix means(const Column& column, const Places& places, bool has_missing) const;
  // Adds places, so that steps are upright where they are drawn as lines.
  void find_jumps(Effect& effect) const;
  // Puts a place into the rows from `first` to `last`.
  void put(const Column& column, const Places& places, std::size_t place, Index first, Index last,
           Matrix& rows) const;
  // So many rows of the sample, again and again.
  [[nodiscard]] Matrix background(Index copies, Index& each) const;
  // The mean of each copy.
  [[nodiscard]] Matrix means_of(const Matrix& rows, Index each) const;
  // What a row counts of all.
  [[nodiscard]] double part_of(Index row) const;
  // The place of a row's value; -1: it has none.
  [[nodiscard]] std::vector<Index> nearest(const Column& column, const Places& places) const;

  const Predictor& predictor_;
  const std::vector<Column>& columns_;
  const Sample& sample_;
  double weights_ = 0;
};

}  // namespace mfga::report
