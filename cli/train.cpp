// mfga train: from a table in a file to a saved formula.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>

#include "cli/command.hpp"
#include "cli/repeats.hpp"

namespace mfga::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct TrainCommand {
  std::string train_path;
  std::string test_path;
  double test_fraction = 0;
  std::string target;
  std::vector<std::string> ignore;
  std::vector<std::string> text;
  std::string model_path;
  CommonOptions common;
  FitOptions fit;
  bool cross_validate = false;   // --ridge cv
  bool automatic_ridge = true;   // --ridge auto
  bool automatic_tuning = true;  // no --tune
  CrossValidationOptions validation;
  Index repeats = 1;
  std::size_t show_terms = 12;
};

struct Timing {
  double load = 0;
  double predict = 0;
  double total = 0;
};

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

// What was measured, beside the fit itself.
struct Measured {
  std::optional<CrossValidation> cross_validation;
  Evaluations first;  // of the first seed, whose model is saved
  RepeatedEvaluations repeats;
  std::vector<std::string> warnings;  // of the fit and the test table
  Timing timing;
};

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

Json tuning_to_json(const TrainCommand& command, const FitReport& report) {
  const TuningReport& tuning = report.tuning;
  if (command.fit.tune == "no") return {};
  Json json = {{"used", tuning.is_used}};
  if (!tuning.reason.empty()) json["reason"] = tuning.reason;
  if (tuning.held_out_without > 0)
    json["held_out"] = {{"without", tuning.held_out_without}, {"with", tuning.held_out_with}};
  return json;
}

Json report_to_json(const TrainCommand& command, const FitResult& result, Index n_test,
                    const Measured& measured) {
  const Timing& timing = measured.timing;
  const FitReport& report = result.report;
  const Model& model = result.model;
  Json json;
  json["task"] = task_name(model.task);
  json["method"] = command.fit.method;
  json["loss"] = model.task == Task::kRegression ? "squared" : "logistic";
  json["features"] = report.features;
  json["engine"] = report.engine;
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
  json["cross_validation"] =
      measured.cross_validation ? validation_to_json(*measured.cross_validation) : Json();
  json["norm_bound"] = model.training.norm_bound > 0 ? Json(model.training.norm_bound) : Json();
  json["intercept"] = model.intercept;
  json["train"] = to_json(measured.first.train);
  json["train"]["risk"] = model.training.risk;
  json["test"] = measured.first.test ? to_json(*measured.first.test) : Json();
  json["repeats"] = measured.repeats.to_json();
  json["seconds"] = {{"load", timing.load},
                     {"prepare", report.prepare_seconds},
                     {"score", report.score_seconds},
                     {"fit", report.fit_seconds},
                     {"gradient", report.gradient_seconds},
                     {"products", report.products_seconds},
                     {"refit", report.refit_seconds},
                     {"refine", report.refine_seconds},
                     {"predict", timing.predict},
                     {"total", timing.total}};
  json["gradient_passes"] = report.gradient_passes;
  json["peak_rss_mib"] = peak_memory_mib();
  json["model"] = command.model_path.empty() ? Json() : Json(command.model_path);
  json["tuning"] = tuning_to_json(command, report);
  json["metric_rounds"] = report.metric_rounds;
  json["stability"] = report.stability >= 0 ? Json(report.stability) : Json();
  json["warnings"] = measured.warnings;
  json["initial_risk"] = report.initial_risk;
  json["path"] = path_to_json(report);
  return json;
}

std::string list_text(const std::vector<std::string>& items) {
  constexpr std::size_t kMost = 8;
  const std::vector<std::string> shown(
      items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, items.size())));
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     items.size() > kMost ? fmt::format(" and {} more", items.size() - kMost) : "");
}

void print_data_report(const TrainCommand& command, const Table& train, const Table* test,
                       const FitResult& result) {
  const FitReport& report = result.report;
  fmt::print("{}\n", table_summary(train));
  if (test != nullptr)
    fmt::print("{}\n", test->source == train.source
                           ? fmt::format("{} more of its rows are held out for the test", test->rows())
                           : table_summary(*test));
  fmt::print("task: {} of \"{}\"{}{}\n", task_name(result.model.task), result.model.target_name,
             command.fit.task == "auto" ? " (inferred from the target; --task overrides)" : "",
             result.model.labels.empty()
                 ? ""
                 : fmt::format(", labels {} and {}", result.model.labels[0], result.model.labels[1]));
  if (!report.dropped_columns.empty()) {
    fmt::print("dropped: {} constant column{}: {}\n", report.dropped_columns.size(),
               report.dropped_columns.size() > 1 ? "s" : "", list_text(report.dropped_columns));
  }
  fmt::print("dictionary: {}, {} candidates\n", report.features, report.candidates);
  if (report.auto_sigma > 0) {
    fmt::print("sigma=auto: {:.4g} +- {:.2g} (mean distance to the 50th neighbour, {} sampled rows)\n",
               report.auto_sigma, report.auto_sigma_error, report.auto_sigma_queries);
  }
}

// Held-out errors, by ridge and some of the numbers of terms.
void print_validation(const CrossValidation& validation) {
  constexpr std::size_t kMostColumns = 6;
  const std::size_t n_terms = validation.terms.size();
  const std::size_t n_columns = std::min(kMostColumns, n_terms);
  std::vector<Index> columns;
  for (std::size_t i = 1; i <= n_columns; ++i)
    columns.push_back(static_cast<Index>(i * n_terms / n_columns) - 1);
  fmt::print("cross-validation: {} of held-out rows, mean over {} folds, by ridge and number of terms\n",
             validation.measure == "mse" ? "mean squared error" : "log-loss", validation.folds);
  fmt::print("  {:>10}", "ridge");
  for (const Index column : columns)
    fmt::print(" {:>10}", validation.terms[static_cast<std::size_t>(column)]);
  fmt::print("\n");
  for (std::size_t r = 0; r < validation.ridges.size(); ++r) {
    fmt::print("  {:>10.4g}", validation.ridges[r]);
    for (const Index column : columns)
      fmt::print(" {:>10.5g}", validation.mean(static_cast<Index>(r), column));
    fmt::print("\n");
  }
  const auto text = [](const ValidatedChoice& choice) {
    return fmt::format("ridge {:.4g} with {} terms, {:.5g} +- {:.2g}", choice.ridge, choice.terms,
                       choice.mean, choice.standard_error);
  };
  const auto [least, most] = std::ranges::minmax(validation.ridges);
  const double ridge = validation.chosen.ridge;
  fmt::print("chosen: {}{}\n", text(validation.chosen),
             least == most    ? ""
             : ridge == least ? "; it is the smallest of --ridges"
             : ridge == most  ? "; it is the largest of --ridges"
                              : "");
  if (n_terms > 1) fmt::print("best of all: {}\n", text(validation.best));
}

void print_tuning(const TrainCommand& command, const FitReport& report) {
  const TuningReport& tuning = report.tuning;
  if (command.fit.tune == "no") return;
  int steps = 0;
  for (const PathStep& step : report.path) steps += step.tuning_steps;
  if (tuning.is_used) fmt::print("tuned in {} rounds, {} steps", report.path.size(), steps);
  if (!tuning.is_used) fmt::print("not tuned: {}", tuning.reason);
  if (tuning.held_out_without > 0) {
    fmt::print("; mean loss of held-out rows {:.5g} with tuning, {:.5g} without", tuning.held_out_with,
               tuning.held_out_without);
  }
  fmt::print("\n");
}

void print_fit_report(const TrainCommand& command, const FitResult& result, const Measured& measured) {
  const FitReport& report = result.report;
  const Timing& timing = measured.timing;
  const auto n_terms = static_cast<Index>(result.model.terms.size());
  if (command.cross_validate) {
    print_validation(*measured.cross_validation);
  } else if (command.automatic_ridge) {
    const CrossValidation& validation = *measured.cross_validation;
    fmt::print("ridge {:g}: the best of {} on held-out rows ({} {:.5g})\n", validation.chosen.ridge,
               validation.ridges.size(), validation.measure, validation.chosen.mean);
  }
  fmt::print("fitted {} terms in {} steps, {} engine\n", n_terms, report.path.size(), report.engine);
  print_tuning(command, report);
  // The number of terms of an exact kernel is that of its rows.
  if (n_terms < command.fit.terms && report.engine != "exact") {
    fmt::print("  fewer than the {} asked for: {}\n", command.fit.terms,
               command.fit.method == "mfga"
                   ? "the loss is down to the tolerance or no candidate is left"
                   : "the other candidates have no weight or are combinations of these");
  }
  if (!report.dependent_atoms.empty()) {
    fmt::print("skipped as combinations of chosen terms: {}\n", list_text(report.dependent_atoms));
  }
  for (const std::string& warning : measured.warnings) fmt::print("warning: {}\n", warning);
  fmt::print("\n{}\n", formula_text(result.model, command.show_terms));
  fmt::print("train: {}\n", to_text(measured.first.train));
  if (measured.first.test) fmt::print("test:  {}\n", to_text(*measured.first.test));
  fmt::print("{}", measured.repeats.to_text());
  fmt::print(
      "seconds: load {:.3f}, prepare {:.3f}{}{}, fit {:.3f}, predict {:.3f}, total {:.3f}; peak memory "
      "{:.0f} "
      "MiB\n",
      timing.load, report.prepare_seconds,
      measured.cross_validation ? fmt::format(", cross-validate {:.3f}", measured.cross_validation->seconds)
                                : "",
      report.score_seconds > 0 ? fmt::format(", score {:.3f}", report.score_seconds) : "", report.fit_seconds,
      timing.predict, timing.total, peak_memory_mib());
  fmt::print("{}\n", command.model_path.empty() ? "the model was not saved: add --model FILE"
                                                : fmt::format("model: {}", command.model_path));
}

// Learns from the table; what is wrong with the data is said with the name of its file.
template <class Learn>
auto learn_from(const Table& table, Learn learn) {
  try {
    return learn(TrainingData{table.values.view(), table.target, table.columns, table.target_name,
                              table.labels, table.unnamed_columns, table.text_columns, &table.lines});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    throw Error(error.kind(), fmt::format("{}: {}", table.source, error.what()));
  }
}

// The tables of a run. A test table in a file of its own is read for the model, by the model's columns.
struct Tables {
  Table train;
  std::optional<Table> held_out;
  std::optional<ModelTable> test_file;

  [[nodiscard]] const Table* test() const {
    return test_file ? &test_file->table : held_out ? &*held_out : nullptr;
  }
};

Evaluations evaluate_on(const Tables& tables, const Model& model, int threads) {
  const auto measure = [&](const Table& table) {
    std::vector<std::string> none;  // the model's own labels
    return evaluate(
        model, model.scores(table.values.view(), threads), table.target,
        model.task == Task::kClassification ? positives_of(table, model, none) : std::vector<double>());
  };
  Evaluations result{measure(tables.train), {}};
  if (tables.held_out) result.test = measure(*tables.held_out);
  if (tables.test_file) {
    const ModelTable& file = *tables.test_file;
    result.test =
        evaluate(model, model_scores(model, file.table, threads), file.table.target, file.positives);
  }
  return result;
}

// The fits with the seeds after the first one; their models are measured and forgotten.
void repeat_fits(const TrainCommand& command, const Tables& tables, const Model& first,
                 ProgressLine& progress, RepeatedEvaluations& repeats) {
  FitOptions options = command.fit;
  options.ridge = first.training.ridge;
  for (Index repeat = 1; repeat < command.repeats; ++repeat) {
    progress.show(fmt::format("seed {} of {}", repeat + 1, command.repeats));
    ++options.seed;
    const FitResult result =
        learn_from(tables.train, [&](const TrainingData& data) { return fit(data, options); });
    repeats.add(evaluate_on(tables, result.model, options.threads));
  }
}

std::string progress_text(const Progress& state) {
  if (state.validated < 1)
    return fmt::format("cross-validation, {:.0f} %, {:.1f} s", 100 * state.validated, state.seconds);
  const std::string tuning =
      state.tuning_steps > 0 ? fmt::format("tuning, step {}, ", state.tuning_steps) : "";
  return fmt::format("{}{} of {} terms, risk {:.5g}, {:.1f} s", tuning, state.terms, state.terms_wanted,
                     state.risk, state.seconds);
}

// Without --tune, tuning is tried where nothing speaks against it.
void resolve_tuning(TrainCommand& command) {
  FitOptions& options = command.fit;
  if (!command.automatic_tuning) return;
  const bool is_possible = options.method == "mfga" && options.preset == "none" && options.norm_bound == 0 &&
                           options.search == "greedy" && options.refine == "no" && options.nu == "uniform" &&
                           options.engine != "gram" && options.tolerance == 0 &&
                           (options.ridge > 0 || command.cross_validate);
  options.tune = is_possible ? "auto" : "no";
}

void check_arguments(TrainCommand& command, bool validation_given) {
  resolve_tuning(command);
  command.fit.validate();
  if (!command.test_path.empty() && command.test_fraction > 0) {
    throw Error(ErrorKind::kInvalidArgument,
                "--test and --test-fraction exclude each other; give one of them");
  }
  if (!command.cross_validate && validation_given) {
    throw Error(ErrorKind::kInvalidArgument, "--folds and --ridges are for --ridge cv; give that, too");
  }
  if (command.fit.norm_bound > 0 && command.fit.ridge > 0) command.fit.ridge = 0;
  command.automatic_ridge = command.automatic_ridge && command.fit.method == "mfga" &&
                            command.fit.preset == "none" && command.fit.norm_bound == 0;
  // That the model can be saved where it is to be saved is found out before the work.
  if (!command.model_path.empty()) {
    const OutputFile writable(command.model_path);
  }
}

void run_train(TrainCommand& command, bool validation_given) {
  const auto start = Clock::now();
  check_arguments(command, validation_given);
  command.common.read.threads = command.fit.threads;
  ProgressLine progress(command.common.quiet);

  progress.show("reading " + command.train_path);
  Measured measured;
  Timing& timing = measured.timing;
  Tables tables;
  tables.train = TableFile(command.train_path, command.common.read)
                     .read_for_training(command.target, command.ignore, command.text);
  timing.load = tables.train.load_seconds;
  if (command.test_fraction > 0)
    tables.held_out = split_off(tables.train, command.test_fraction, command.fit.seed);

  progress.show("preparing");
  const FitResult result = learn_from(tables.train, [&](const TrainingData& data) {
    const auto show = [&](const Progress& state) {
      progress.show(progress_text(state));
      return true;
    };
    command.automatic_ridge = command.automatic_ridge && can_validate_quickly(data);
    if (!command.cross_validate && !command.automatic_ridge) return fit(data, command.fit, show);
    CrossValidatedFit validated = cross_validate(
        data, command.fit, command.cross_validate ? command.validation : quick_validation(), show);
    measured.cross_validation = std::move(validated.cross_validation);
    return std::move(validated.fit);
  });
  const Model& model = result.model;
  measured.warnings = result.report.warnings;
  if (!command.test_path.empty()) {
    // By the target's name: an index is one into the training file.
    tables.test_file = read_for_model(command.test_path, model, command.common.read, "");
    timing.load += tables.test_file->table.load_seconds;
    const std::vector<std::string>& more = tables.test_file->warnings;
    measured.warnings.insert(measured.warnings.end(), more.begin(), more.end());
  }

  progress.show("predicting");
  const auto predict_start = Clock::now();
  measured.first = evaluate_on(tables, model, command.fit.threads);
  timing.predict = seconds_since(predict_start);
  measured.repeats.add(measured.first);
  repeat_fits(command, tables, model, progress, measured.repeats);
  if (!command.model_path.empty()) {
    OutputFile file(command.model_path);
    file.write(model_to_json(model));
    file.commit();
  }
  timing.total = seconds_since(start);
  progress.clear();
  if (command.common.json) {
    const Index n_test = tables.test() != nullptr ? tables.test()->rows() : 0;
    fmt::print("{}\n", report_to_json(command, result, n_test, measured).dump(2));
  } else if (!command.common.quiet) {
    print_data_report(command, tables.train, tables.test(), result);
    print_fit_report(command, result, measured);
  }
}

}  // namespace

void add_train(CLI::App& tool) {
  auto command = std::make_shared<TrainCommand>();
  CLI::App* app = tool.add_subcommand("train", "learn a model from a table");
  app->add_option("--train", command->train_path,
                  "table to learn from: CSV, TSV, LIBSVM or .npy, also gzip-compressed")
      ->required()
      ->type_name("FILE")
      ->group("Data files");
  app->add_option("--test", command->test_path, "table to measure the error on")
      ->type_name("FILE")
      ->group("Data files");
  app->add_option("--test-fraction", command->test_fraction,
                  "hold this part of the rows out and measure the error on it")
      ->type_name("F")
      ->check(CLI::Range(0.0, 1.0))
      ->group("Data files");
  app->add_option("--target", command->target,
                  "column to predict, by name or index (-1: the last); default: the last, or LIBSVM's label")
      ->type_name("COLUMN")
      ->group("Data files");
  app->add_option("--ignore", command->ignore, "columns to leave out, by name or index")
      ->delimiter(',')
      ->type_name("A,B")
      ->group("Data files");
  app->add_option("--text", command->text,
                  "columns to read as text although they begin with a number, by name or index")
      ->delimiter(',')
      ->type_name("A,B")
      ->group("Data files");
  add_read_options(*app, command->common.read);
  add_option_table(*app, command->fit, fit_option_table(), "Learning");
  app->get_option("--ridge")->default_str("auto")->transform([command](const std::string& text) {
    command->cross_validate = text == "cv";
    command->automatic_ridge = text == "auto";
    return command->cross_validate ? "0" : command->automatic_ridge ? "1" : text;
  });
  app->get_option("--tune")->default_str("auto");
  add_option_table(*app, command->validation, cross_validation_option_table(), "Learning");
  app->add_option(
         "--repeats", command->repeats,
         "fit with this many seeds, from --seed on, and report mean and standard error of the errors; "
         "the model and the times are those of the first")
      ->capture_default_str()
      ->type_name("R")
      ->check(CLI::Range(1, 1000000))
      ->group("Learning");
  app->add_flag_callback(
         "--no-intercept", [command] { command->fit.intercept = "no"; }, "the same as --intercept no")
      ->group("Learning");
  app->add_option("--model", command->model_path, "where to save the model (JSON)")
      ->type_name("FILE")
      ->group("Output");
  app->add_option("--show", command->show_terms, "terms of the formula to print")
      ->capture_default_str()
      ->type_name("N")
      ->group("Output");
  add_output_options(*app, command->common);
  app->callback([command, app] {
    command->automatic_tuning = app->count("--tune") == 0;
    run_train(*command, app->count("--folds") > 0 || app->count("--ridges") > 0);
  });
}

}  // namespace mfga::cli
