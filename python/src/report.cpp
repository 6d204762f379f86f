#include "src/report.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "mfga/dictionary.hpp"

namespace mfga::python {
namespace nb = nanobind;
namespace {

nb::list path_of(const FitReport& report) {
  nb::list path;
  for (const PathStep& step : report.path) {
    nb::dict entry;
    entry["terms"] = step.terms;
    entry["added"] = step.added;
    entry["removed"] = step.removed;
    entry["risk"] = step.risk;
    entry["largest_gradient"] = step.largest_gradient;
    entry["ridge"] = step.ridge;
    entry["seconds"] = step.seconds;
    entry["tuning_steps"] = step.tuning_steps;
    path.append(entry);
  }
  return path;
}

nb::list sizes_of(const FitReport& report) {
  nb::list sizes;
  for (const TriedSize& size : report.sizes) {
    nb::dict entry;
    entry["terms"] = size.terms;
    entry["held_out"] = size.held_out;
    entry["standard_error"] = size.standard_error;
    entry["ridge"] = size.ridge;
    entry["chosen"] = size.is_chosen;
    sizes.append(entry);
  }
  return sizes;
}

nb::object tuning_of(const TuningReport& tuning) {
  if (!tuning.is_tried) return nb::none();
  nb::dict entry;
  entry["used"] = tuning.is_used;
  entry["reason"] = tuning.reason;
  entry["held_out_without"] = tuning.held_out_without;
  entry["held_out_with"] = tuning.held_out_with;
  return entry;
}

nb::list rows_of(const Matrix& matrix) {
  nb::list rows;
  for (Index i = 0; i < matrix.rows; ++i)
    rows.append(nb::cast(std::vector<double>(matrix.row(i), matrix.row(i) + matrix.cols)));
  return rows;
}

nb::object scales_of(const std::optional<TriedScales>& scales) {
  if (!scales) return nb::none();
  nb::dict entry;
  entry["quantile"] = scales->held_out_quantile;
  entry["standard"] = scales->held_out_standard;
  entry["chosen"] = scales->is_standard ? "standard" : "quantile";
  return entry;
}

nb::dict choice_of(const ValidatedChoice& choice) {
  nb::dict entry;
  entry["ridge"] = choice.ridge;
  entry["terms"] = choice.terms;
  entry["mean"] = choice.mean;
  entry["standard_error"] = choice.standard_error;
  return entry;
}

nb::object validation_of(const std::optional<CrossValidation>& validation) {
  if (!validation) return nb::none();
  nb::dict entry;
  entry["folds"] = validation->folds;
  entry["measure"] = validation->measure;
  entry["ridges"] = validation->ridges;
  entry["terms"] = validation->terms;
  entry["mean"] = rows_of(validation->mean);
  entry["standard_error"] = rows_of(validation->standard_error);
  entry["chosen"] = choice_of(validation->chosen);
  entry["best"] = choice_of(validation->best);
  return entry;
}

nb::dict seconds_of(const FitReport& report) {
  nb::dict seconds;
  seconds["prepare"] = report.prepare_seconds;
  seconds["validate"] = report.validate_seconds;
  seconds["tune"] = report.tune_seconds;
  seconds["score"] = report.score_seconds;
  seconds["fit"] = report.fit_seconds;
  seconds["leverage"] = report.leverage_seconds;
  seconds["stability"] = report.stability_seconds;
  seconds["resumed"] = report.resumed_seconds;
  return seconds;
}

}  // namespace

nb::dict report_of(const FitResult& result) {
  const FitReport& report = result.report;
  nb::dict entry;
  entry["features"] = report.features;
  entry["engine"] = report.engine;
  entry["device"] = report.device;
  entry["select"] = report.select;
  entry["candidates"] = report.candidates;
  entry["rows"] = report.rows;
  entry["terms"] = result.model.terms.size();
  entry["ridge"] = result.model.training.ridge;
  entry["risk"] = result.model.training.risk;
  entry["initial_risk"] = report.initial_risk;
  entry["dropped_columns"] = report.dropped_columns;
  entry["dependent_atoms"] = report.dependent_atoms;
  entry["kernel_weights"] = report.kernel_weights;
  entry["sigmas"] = report.sigmas;
  entry["stability"] = report.stability >= 0 ? nb::object(nb::float_(report.stability)) : nb::none();
  entry["scales"] = scales_of(report.scales);
  entry["tuning"] = tuning_of(report.tuning);
  entry["sizes"] = sizes_of(report);
  entry["cross_validation"] = validation_of(result.cross_validation);
  entry["metric_rounds"] = report.metric_rounds;
  entry["warnings"] = report.warnings;
  entry["cut_short"] = report.cut_short;
  entry["stopped"] = report.stopped;
  entry["seconds"] = seconds_of(report);
  entry["path"] = path_of(report);
  return entry;
}

nb::list terms_of(const Model& model) {
  const std::vector<std::string> names = model.formula_names();
  const std::vector<std::string> inputs = model.input_names();
  nb::list terms;
  for (const Term& term : model.terms) {
    const AtomFormula formula = describe(term.atom, names);
    std::vector<double> coefficients = term.coefficients;
    for (std::size_t k = 0; k < coefficients.size(); ++k)
      coefficients[k] *= model.outputs[k].scale * formula.factor;
    nb::list used;
    for (const Index input : term.atom.inputs)
      used.append(nb::str(inputs[static_cast<std::size_t>(input)].c_str()));
    nb::list places;
    for (const Place& place : model.places(term.atom))
      places.append(nb::make_tuple(place.column, place.value));
    nb::dict entry;
    entry["term"] = formula.text;
    entry["coefficients"] = coefficients;
    entry["family"] = term.atom.family;
    entry["inputs"] = used;
    entry["places"] = places;
    terms.append(entry);
  }
  return terms;
}

}  // namespace mfga::python
