// One pass where one pass is enough. For the squared loss, the sums of products of all candidates with one
// another and with the target say all that any model of them depends on. Statistics holds these sums: rows
// are added a batch at a time and need not be kept, parts that were summed apart are merged, and models are
// fitted from the sums alone, with their ridge and number of terms chosen by cross-validation.
//
//   mfga::Statistics statistics({.x = x, .y = y});  // these rows set scales, knots, centres and widths
//   statistics.update(x, y);                        // and are counted here, as are others
//   statistics.update(more_x, more_y);
//   mfga::FitResult result = statistics.fit({.terms = 20});
//
// The size depends on the dictionary and the number of folds, not on the number of rows. docs/statistics.md
// says what is promised.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/fit.hpp"
#include "mfga/model.hpp"
#include "mfga/options.hpp"
#include "mfga/progress.hpp"
#include "mfga/thread_pool.hpp"
#include "mfga/views.hpp"

namespace mfga {

class Statistics {
 public:
  // No rows yet. Scales, knots, centres, widths and, where `features` is not given, the dictionary itself are
  // set from the rows of the sample, which should be like all others, and never change. Of the options these
  // are looked at: features, scale, seed, threads, memory_limit, and the folds of ridge; what needs rows to
  // learn from, or another loss than the squared one, is refused. For one target.
  explicit Statistics(const TrainingData& sample, const FitOptions& options = {}, ThreadPool* pool = nullptr);
  Statistics(const Statistics& other);
  Statistics& operator=(const Statistics& other);
  Statistics(Statistics&& other) noexcept;
  Statistics& operator=(Statistics&& other) noexcept;
  ~Statistics();

  // Adds rows, whose columns are those of the sample; or, with `columns`, input i of empty_model() is column
  // columns[i] of x. Each row belongs to a fold by its position among all that were added. If it throws,
  // nothing was added.
  void update(const TableView& x, std::span<const double> y, std::span<const double> weights = {},
              std::span<const Index> columns = {}, const ProgressCallback& progress = {},
              ThreadPool* pool = nullptr);
  // Adds the rows of others, made from the same sample with the same options, as copies and saved ones are.
  // Throws Error(kInvalidArgument) otherwise. In whatever order and grouping parts are merged, the sums are
  // the same to the last bit.
  void merge(const Statistics& other);

  // A model of all rows so far. Whatever needs rows - tuning, a learned metric, `search=htp`,
  // `select=normalised`, `nu`, a start - is refused; `tune=auto` means none. Ridges and numbers of terms are
  // chosen by the folds of these statistics, whatever number the options say.
  [[nodiscard]] FitResult fit(const FitOptions& options = {}, const ProgressCallback& progress = {},
                              ThreadPool* pool = nullptr) const;
  // Throws what fit would throw because of the options alone.
  static void check_fit_options(const FitOptions& options);

  [[nodiscard]] Index rows() const;  // those with a weight above 0
  [[nodiscard]] Index candidates() const;
  [[nodiscard]] Index folds() const;
  [[nodiscard]] const std::string& features() const;
  // What all models of these statistics have in common: columns, scales and target, but no terms yet.
  [[nodiscard]] const Model& empty_model() const;
  // Threads of calls that are given no pool; 0: all cores.
  void set_threads(int threads);

  // As they stand in a file. `source` names it in messages; whatever is wrong with it is an Error(kBadData).
  [[nodiscard]] std::string to_bytes() const;
  [[nodiscard]] static Statistics from_bytes(std::string_view bytes, std::string_view source);

 private:
  struct Parts;
  explicit Statistics(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// A file is replaced whole or not at all.
void save_statistics(const Statistics& statistics, const std::string& path);
[[nodiscard]] Statistics load_statistics(const std::string& path);

}  // namespace mfga
