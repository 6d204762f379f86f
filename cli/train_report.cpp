// What `mfga train` shows of a fit: as JSON, and as text.
#include "cli/train_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "cli/output_file.hpp"

namespace mfga::cli {
namespace {

Json path_to_json(const FitReport& report) {
  Json path = Json::array();
  for (const PathStep& step : report.path) {
    path.push_back({{"terms", step.terms},
                    {"added", step.added},
                    {"removed", step.removed},
                    {"risk", step.risk},
                    {"largest_gradient", step.largest_gradient},
                    {"ridge", step.ridge},
                    {"seconds", step.seconds},
                    {"newton_steps", step.newton_steps},
                    {"tuning_steps", step.tuning_steps}});
  }
  return path;
}

Json validation_to_json(const CrossValidation& validation) {
  const auto rows_of = [](const Matrix& matrix) {
    Json rows = Json::array();
    for (Index i = 0; i < matrix.rows; ++i)
      rows.push_back(std::vector<double>(matrix.row(i), matrix.row(i) + matrix.cols));
    return rows;
  };
  const auto choice = [](const ValidatedChoice& chosen) {
    return Json({{"ridge", chosen.ridge},
                 {"terms", chosen.terms},
                 {"mean", chosen.mean},
                 {"standard_error", chosen.standard_error}});
  };
  return {{"folds", validation.folds},           {"measure", validation.measure},
          {"ridges", validation.ridges},         {"terms", validation.terms},
          {"mean", rows_of(validation.mean)},    {"standard_error", rows_of(validation.standard_error)},
          {"chosen", choice(validation.chosen)}, {"best", choice(validation.best)},
          {"seconds", validation.seconds}};
}

Json tuning_to_json(const TuningReport& tuning) {
  if (!tuning.is_tried) return {};
  Json json = {{"used", tuning.is_used}};
  if (!tuning.reason.empty()) json["reason"] = tuning.reason;
  if (tuning.held_out_without > 0)
    json["held_out"] = {{"without", tuning.held_out_without}, {"with", tuning.held_out_with}};
  return json;
}

Json sizes_to_json(const std::vector<TriedSize>& sizes) {
  Json list = Json::array();
  for (const TriedSize& size : sizes) {
    list.push_back({{"terms", size.terms},
                    {"held_out", size.held_out},
                    {"standard_error", size.standard_error},
                    {"ridge", size.ridge},
                    {"chosen", size.is_chosen}});
  }
  return list;
}

// The number of terms that was chosen, and what about half and twice as many would cost.
void print_sizes(const FitReport& report, const std::string& rule) {
  const std::vector<TriedSize>& sizes = report.sizes;
  const auto chosen = std::ranges::find(sizes, true, &TriedSize::is_chosen);
  if (chosen == sizes.end()) return;
  // Of those on one side of the chosen one, the nearest to a number of terms.
  const auto nearest = [](auto begin, auto end, Index terms) {
    return std::ranges::min_element(begin, end, {},
                                    [&](const TriedSize& size) { return std::abs(size.terms - terms); });
  };
  const auto text = [](std::string_view sign, auto size, auto none) {
    return size == none ? "" : fmt::format("{} {:.5g} with {}", sign, size->held_out, size->terms);
  };
  const auto half = nearest(sizes.begin(), chosen, chosen->terms / 2);
  const auto twice = nearest(chosen + 1, sizes.end(), 2 * chosen->terms);
  print("{} terms chosen of {} sizes up to {} ({}): mean loss of held-out rows {:.5g}{}{}\n", chosen->terms,
        sizes.size(), sizes.back().terms, rule, chosen->held_out, text(",", half, chosen),
        text(",", twice, sizes.end()));
}

// What the run consists of, in this order; `other` is what is left of the total.
std::vector<std::pair<std::string, double>> phases(const FitReport& report, const Timing& timing) {
  std::vector<std::pair<std::string, double>> result = {{"load", timing.load},
                                                        {"prepare", report.prepare_seconds},
                                                        {"validate", report.validate_seconds},
                                                        {"tune", report.tune_seconds},
                                                        {"score", report.score_seconds},
                                                        {"fit", report.fit_seconds},
                                                        {"leverage", report.leverage_seconds},
                                                        {"stability", report.stability_seconds},
                                                        {"predict", timing.predict},
                                                        {"repeat", timing.repeat},
                                                        {"save", timing.save}};
  double other = timing.total;
  for (const auto& [name, seconds] : result) other -= seconds;
  result.emplace_back("other", other);
  return result;
}

Json seconds_to_json(const FitReport& report, const Timing& timing) {
  Json json = Json::object();
  for (const auto& [name, seconds] : phases(report, timing)) json[name] = seconds;
  json["total"] = timing.total;
  json["resumed"] = report.resumed_seconds;  // of the total, those of earlier runs
  // Parts of the fit.
  json["gradient"] = report.gradient_seconds;
  json["products"] = report.products_seconds;
  json["refit"] = report.refit_seconds;
  json["refine"] = report.refine_seconds;
  return json;
}

std::string seconds_text(const FitReport& report, const Timing& timing) {
  std::string text = "seconds: ";
  for (const auto& [name, seconds] : phases(report, timing)) {
    constexpr double kShown = 0.0005;  // the least that is not printed as 0
    if (name != "load" && name != "fit" && name != "predict" && seconds < kShown) continue;
    text += fmt::format("{} {:.3f}", name, seconds);
    if (name == "fit" && report.gradient_seconds > 0) {
      text +=
          fmt::format(" (gradient {:.3f}, products {:.3f}, refit {:.3f}{})", report.gradient_seconds,
                      report.products_seconds, report.refit_seconds,
                      report.refine_seconds > 0 ? fmt::format(", refine {:.3f}", report.refine_seconds) : "");
    }
    text += ", ";
  }
  text += fmt::format("total {:.3f}", timing.total);
  if (report.resumed_seconds > 0) text += fmt::format(" ({:.3f} of earlier runs)", report.resumed_seconds);
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  constexpr std::size_t kMost = 8;
  const std::vector<std::string> shown(
      items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, items.size())));
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     items.size() > kMost ? fmt::format(" and {} more", items.size() - kMost) : "");
}

std::vector<std::string> printable(std::vector<std::string> texts) {
  for (std::string& text : texts) text = escaped(text);
  return texts;
}

// Few whole numbers may be meant as classes, which nothing in the table says.
std::string whole_number_note(const Table& table) {
  constexpr std::size_t kMost = 10;
  std::set<double> values;
  if (!table.target_names.empty()) return "";
  for (const double value : table.target) {
    values.insert(value);
    if (value != std::floor(value) || values.size() > kMost) return "";
  }
  if (values.size() < 3) return "";
  return fmt::format(
      "note: the {} values of the target ({}) are taken as numbers; if they are classes, say --task "
      "classification\n",
      values.size(), fmt::join(values, ", "));
}

// Held-out errors, by ridge and some of the numbers of terms.
void print_validation(const CrossValidation& validation) {
  constexpr std::size_t kMostColumns = 6;
  const std::size_t n_terms = validation.terms.size();
  const std::size_t n_columns = std::min(kMostColumns, n_terms);
  std::vector<Index> columns;
  for (std::size_t i = 1; i <= n_columns; ++i)
    columns.push_back(static_cast<Index>(i * n_terms / n_columns) - 1);
  print("cross-validation: {} of held-out rows, mean over {} folds, by ridge and number of terms\n",
        validation.measure == "mse"        ? "mean squared error"
        : validation.measure == "log_loss" ? "log-loss"
                                           : validation.measure,
        validation.folds);
  print("  {:>10}", "ridge");
  for (const Index column : columns) print(" {:>10}", validation.terms[static_cast<std::size_t>(column)]);
  print("\n");
  for (std::size_t r = 0; r < validation.ridges.size(); ++r) {
    print("  {:>10.4g}", validation.ridges[r]);
    for (const Index column : columns) print(" {:>10.5g}", validation.mean(static_cast<Index>(r), column));
    print("\n");
  }
  const auto text = [](const ValidatedChoice& choice) {
    return fmt::format("ridge {:.4g} with {} terms, {:.5g} +- {:.2g}", choice.ridge, choice.terms,
                       choice.mean, choice.standard_error);
  };
  const auto [least, most] = std::ranges::minmax(validation.ridges);
  const double ridge = validation.chosen.ridge;
  print("chosen: {}{}\n", text(validation.chosen),
        least == most    ? ""
        : ridge == least ? "; it is the smallest of --ridges"
        : ridge == most  ? "; it is the largest of --ridges"
                         : "");
  if (validation.best.terms != validation.chosen.terms)
    print("--terms {} would have been better: {}\n", validation.best.terms, text(validation.best));
}

void print_dictionary(const FitReport& report) {
  if (!report.dropped_columns.empty()) {
    print("dropped: {} constant column{}: {}\n", report.dropped_columns.size(),
          report.dropped_columns.size() > 1 ? "s" : "", list_text(printable(report.dropped_columns)));
  }
  print("dictionary: {}, {} candidates\n", report.features, report.candidates);
}

bool is_from_sums(const TrainCommand& command) { return !command.statistics_path.empty(); }

// Of the training rows, which are not there: their squared error follows from the sums.
Json errors_from_sums(const TrainCommand& command, const FitResult& result) {
  const double mse = result.model.training.risk;
  // Without an intercept it begins at zero, not at the mean.
  const bool begins_at_mean = command.fit.intercept.value_or(true) && result.report.initial_risk > 0;
  return {{"mse", mse},
          {"rmse", std::sqrt(mse)},
          {"r2", begins_at_mean ? Json(1 - mse / result.report.initial_risk) : Json()}};
}
std::string text_from_sums(const TrainCommand& command, const FitResult& result) {
  const Json errors = errors_from_sums(command, result);
  return fmt::format("RMSE {:.5g}, R2 {}", errors["rmse"].get<double>(),
                     errors["r2"].is_null() ? "-" : fmt::format("{:.4f}", errors["r2"].get<double>()));
}

void print_tuning(const FitReport& report, double ridge) {
  const TuningReport& tuning = report.tuning;
  if (!tuning.is_tried) return;
  if (report.scales && report.scales->is_standard) {
    print(
        "standard scales for all columns: mean loss of held-out rows {:.5g}, {:.5g} with quantiles of those "
        "with heavy tails\n",
        report.scales->held_out_standard, report.scales->held_out_quantile);
  }
  int steps = 0;
  for (const PathStep& step : report.path) steps += step.tuning_steps;
  if (tuning.is_used)
    print("tuned in {} rounds, {} steps, with ridge {:g}", report.path.size(), steps, ridge);
  if (!tuning.is_used) print("not tuned, with ridge {:g}: {}", ridge, tuning.reason);
  if (tuning.held_out_without > 0) {
    print("; mean loss of held-out rows {:.5g} with tuning, {:.5g} without", tuning.held_out_with,
          tuning.held_out_without);
  }
  print("\n");
}

Json scales_to_json(const std::optional<TriedScales>& scales) {
  if (!scales) return {};
  return {{"quantile", scales->held_out_quantile},
          {"standard", scales->held_out_standard},
          {"chosen", scales->is_standard ? "standard" : "quantile"}};
}

}  // namespace

Json report_to_json(const TrainCommand& command, const FitResult& result, Index n_test,
                    const Measured& measured) {
  const FitReport& report = result.report;
  const Model& model = result.model;
  Json json = Json::object();
  json["remarks"] = measured.remarks;
  json["missing"] = missing_to_json(measured.missing);
  json["task"] = task_name(model.task);
  json["method"] = option_text(command.paper, paper_option_table(), "method");
  json["loss"] = !model.loss.empty() ? model.loss : model.task == Task::kRegression ? "squared" : "logistic";
  json["features"] = report.features;
  json["engine"] = report.engine;
  if (!report.device.empty()) json["device"] = report.device;
  json["candidates"] = report.candidates;
  json["terms"] = model.terms.size();
  json["n_train"] = report.rows;
  json["n_test"] = n_test;
  json["inputs"] = model.inputs.size();
  json["dropped_columns"] = report.dropped_columns;
  json["dependent_atoms"] = report.dependent_atoms;
  json["labels"] = model.labels;
  json["select"] = report.select.empty() ? Json() : Json(report.select);
  json["kernel_weights"] = report.kernel_weights;
  json["sigma"] = report.sigmas.empty() ? Json() : Json(report.sigmas.front());
  json["sigmas"] = report.sigmas;
  json["auto_sigma"] = report.auto_sigma > 0 ? Json({{"value", report.auto_sigma},
                                                     {"standard_error", report.auto_sigma_error},
                                                     {"query_rows", report.auto_sigma_queries}})
                                             : Json();
  json["ridge"] = model.training.ridge;
  json["cross_validation"] = result.cross_validation ? validation_to_json(*result.cross_validation) : Json();
  json["norm_bound"] = model.training.norm_bound > 0 ? Json(model.training.norm_bound) : Json();
  json["intercept"] = Json::array();
  for (const Output& output : model.outputs) json["intercept"].push_back(output.intercept);
  if (model.has_one_output()) json["intercept"] = model.outputs.front().intercept;
  json["train"] = is_from_sums(command) ? errors_from_sums(command, result) : to_json(measured.first.train);
  json["train"]["risk"] = model.training.risk;
  json["test"] = measured.first.test ? to_json(*measured.first.test) : Json();
  json["repeats"] = measured.repeats.to_json();
  json["seconds"] = seconds_to_json(report, measured.timing);
  json["cut_short"] = spelled(report.cut_short);
  json["stopped"] = report.stopped;
  json["gradient_passes"] = report.gradient_passes;
  json["peak_rss_mib"] = peak_memory_mib();
  json["model"] = command.model_path.empty() ? Json() : Json(command.model_path);
  json["report"] = command.report_path.empty() ? Json() : Json(command.report_path);
  json["scales"] = scales_to_json(report.scales);
  json["tuning"] = tuning_to_json(report.tuning);
  json["sizes"] = sizes_to_json(report.sizes);
  json["metric_rounds"] = report.metric_rounds;
  json["stability"] = report.stability >= 0 ? Json(report.stability) : Json();
  json["warnings"] = measured.warnings;
  json["initial_risk"] = report.initial_risk;
  json["path"] = path_to_json(report);
  return json;
}

std::string progress_text(const Progress& state) {
  const std::string phase = state.phase.empty() ? "" : state.phase + ": ";
  if (state.validated < 1)
    return fmt::format("cross-validation, {:.0f} %, {:.1f} s", 100 * state.validated, state.seconds);
  const std::string tuning =
      state.tuning_steps > 0 ? fmt::format("tuning, step {}, ", state.tuning_steps) : "";
  // Before that it says too little.
  constexpr double kSomePart = 0.1;
  const std::string left =
      state.done >= kSomePart
          ? fmt::format(", about {:.0f} s left", std::ceil(state.seconds * (1 - state.done) / state.done))
          : "";
  return fmt::format("{}{}{} of {} terms, risk {:.5g}, {:.1f} s{}", phase, tuning, state.terms,
                     state.terms_wanted, state.risk, state.seconds, left);
}

void save_fit(const TrainCommand& command, const FitResult& result) {
  const auto save = [](const std::string& path, const std::string& text) {
    OutputFile file(path);
    file.write(text);
    file.commit();
  };
  if (!command.model_path.empty()) save(command.model_path, model_to_json(result.model));
  if (!command.sizes_path.empty())
    save(command.sizes_path, path_file_text(result.report, command.sizes_path));
}

void save_fit(const TrainCommand& command, const FitResult& result, std::vector<std::string>& remarks) {
  save_fit(command, result);
  if (!command.sizes_path.empty() && result.report.sizes.empty())
    remarks.emplace_back("the file of `path` has no sizes: no rows could be held out to choose one");
  const std::string kept = end_checkpoint(command.checkpoint, result.report);
  if (!kept.empty()) remarks.push_back(kept);
}

std::string path_file_text(const FitReport& report, const std::string& path) {
  if (!path.ends_with(".csv")) return sizes_to_json(report.sizes).dump(2) + "\n";
  std::string text = "terms,held_out,standard_error,ridge,chosen\n";
  for (const TriedSize& size : report.sizes) {
    text += fmt::format("{},{},{},{},{}\n", size.terms, size.held_out, size.standard_error, size.ridge,
                        size.is_chosen ? 1 : 0);
  }
  return text;
}

void print_data_report(const TrainCommand& command, const Table& train, const Table* test,
                       const FitResult& result) {
  const FitReport& report = result.report;
  print("{}\n", table_summary(train));
  if (test != nullptr)
    print("{}\n", test->source == train.source
                      ? fmt::format("{} more of its rows are held out for the test", test->rows())
                      : table_summary(*test));
  const Model model = with_printable_names(result.model);
  print("task: {} of \"{}\"{}{}{}\n", task_name(model.task), model.target_name,
        !command.fit.task && command.fit.loss.empty() ? " (inferred from the target; --task overrides)" : "",
        model.loss.empty() ? "" : fmt::format(", {} loss", model.loss),
        model.labels.empty() ? ""
        : model.labels.size() == 2
            ? fmt::format(", labels {} and {}", model.labels[0], model.labels[1])
            : fmt::format(", {} classes: {}", model.labels.size(), list_text(model.labels)));
  if (!command.fit.task && model.task == Task::kRegression) print_text(whole_number_note(train));
  print_dictionary(report);
  if (report.auto_sigma > 0 && !report.sigmas.empty()) {  // the terms may come from a part without widths
    print("sigma=auto: {:.4g} +- {:.2g} ({}; {} rows)\n", report.auto_sigma, report.auto_sigma_error,
          report.auto_sigma_rule, report.auto_sigma_queries);
  }
}

void print_statistics_report(const TrainCommand& command, const Statistics& statistics,
                             const FitResult& result) {
  print("{}: statistics of {} rows in {} folds\n", escaped(command.statistics_path), statistics.rows(),
        statistics.folds());
  print("task: regression of \"{}\"\n", escaped(result.model.target_name));
  print_dictionary(result.report);
}

void print_fit_report(const TrainCommand& command, const FitResult& result, const Measured& measured) {
  const FitReport& report = result.report;
  const auto n_terms = static_cast<Index>(result.model.terms.size());
  if (result.cross_validation && command.fit.ridge.validation() != nullptr) {
    print_validation(*result.cross_validation);
  } else if (result.cross_validation) {
    const CrossValidation& validation = *result.cross_validation;
    print("ridge {:g}{}: the best of {} on held-out rows ({} {:.5g})\n", validation.chosen.ridge,
          report.tuning.is_used ? " before tuning" : "", validation.ridges.size(), validation.measure,
          validation.chosen.mean);
  }
  print("fitted {} terms in {} steps, {} engine{}\n", n_terms, report.path.size(), report.engine,
        report.device.empty() ? "" : ", with " + report.device);
  print_sizes(report, option_text(command.fit, fit_option_table(), "choose"));
  print_tuning(report, result.model.training.ridge);
  if (!report.cut_short.empty())
    cli::print("left out or cut short by {}: {}\n", report.stopped ? "Ctrl-C" : "the time limit",
               fmt::join(spelled(report.cut_short), "; "));
  // The number of terms of an exact kernel is that of its rows.
  if (command.fit.terms && n_terms < *command.fit.terms && report.engine != "exact" &&
      report.cut_short.empty()) {
    print("  fewer than the {} asked for: {}\n", *command.fit.terms,
          command.paper.method == paper::Method::kMfga
              ? (report.tuning.is_used ? "held-out rows do not gain by more"
                                       : "the loss is down to the tolerance or no candidate is left")
              : "the other candidates have no weight or are combinations of these");
  }
  if (!report.dependent_atoms.empty()) {
    print("skipped as combinations of chosen terms: {}\n", list_text(printable(report.dependent_atoms)));
  }
  for (const std::string& warning : measured.warnings) print("warning: {}\n", escaped(warning));
  print("\n{}\n", formula_output(with_printable_names(result.model), command.show_terms));
  print("train: {}\n",
        is_from_sums(command) ? text_from_sums(command, result) : to_text(measured.first.train));
  if (measured.first.test) print("test:  {}\n", to_text(*measured.first.test));
  print("{}", measured.repeats.to_text());
  print("{}; peak memory {:.0f} MiB\n", seconds_text(report, measured.timing), peak_memory_mib());
  print("{}\n", command.model_path.empty() ? "the model was not saved: add --model FILE"
                                           : fmt::format("model: {}", escaped(command.model_path)));
  if (!command.report_path.empty()) print("report: {}\n", escaped(command.report_path));
}

}  // namespace mfga::cli
