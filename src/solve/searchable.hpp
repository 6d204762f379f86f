// What a selection from the rows of a fold begins with: candidates for the inputs as they are stretched, and
// an engine that knows them.
#pragma once

#include <memory>
#include <vector>

#include "solve/device_problem.hpp"
#include "solve/tuned_search.hpp"

namespace mfga {

struct Searchable {
  Searchable(const Problem& all, const std::vector<double>& stretch_of_inputs,
             const TunedSearchOptions& options, double most_kept_bytes)
      : stretch(stretch_of_inputs),
        rows(all.rows.stretched(stretch).kept(all.workers)),
        problem(all.with_rows(rows)),
        candidates(options.dictionary, {rows.inputs(), width(options), options.seed, &rows,
                                        options.text_columns, &problem.workers}) {
    if (options.normalise)
      candidates.normalise(rows, problem.intercept == Intercept::kUnpenalised, problem.workers);
    device = DeviceProblem::if_worthwhile(problem, candidates.size());
    problem.device = device.get();
    engine = make_lazy_engine(problem, candidates, options.precision, most_kept_bytes);
  }
  Searchable(const Searchable&) = delete;  // its parts refer to one another
  Searchable& operator=(const Searchable&) = delete;

  std::vector<double> stretch;
  BlockedRows rows;
  Problem problem;
  Candidates candidates;
  std::unique_ptr<DeviceProblem> device;
  std::unique_ptr<Engine> engine;

 private:
  [[nodiscard]] double width(const TunedSearchOptions& options) const {
    if (!options.dictionary.needs_sigma()) return 1;
    return width_by(options.width_rule, rows, options.seed, problem.workers).sigma;
  }
};

}  // namespace mfga
