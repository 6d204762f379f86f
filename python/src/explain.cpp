#include "src/explain.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "mfga/explain.hpp"

namespace mfga::python {

nb::tuple explain_rows(const Model& model, const Array& x, bool by_column, int threads) {
  const TableView table = table_of(x);
  const auto outputs = static_cast<std::size_t>(model.n_outputs());
  std::optional<Explainer> explainer;
  Explanation explanation;
  {
    const nb::gil_scoped_release release;
    explainer.emplace(model, threads);
    explanation = by_column ? explainer->by_column(table) : explainer->by_term(table);
  }
  std::vector<std::size_t> shape = {static_cast<std::size_t>(explanation.rows),
                                    static_cast<std::size_t>(explanation.parts)};
  if (outputs > 1) shape.push_back(outputs);
  return nb::make_tuple(
      shaped(std::move(explanation.contributions), shape), array_of(std::move(explanation.averages), 1),
      array_of(std::move(explanation.rounding), outputs), array_of(std::move(explanation.totals), outputs),
      by_column ? explainer->column_names() : explainer->term_names());
}

}  // namespace mfga::python
