// mfga train: from a table in a file to a saved formula.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/train_report.hpp"

namespace mfga::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
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

// What is left of the time limit for a fit; 0: there is none.
double time_left(const TrainCommand& command, Clock::time_point start) {
  constexpr double kLeast = 1e-3;  // there is a model in any case
  const double limit = command.fit.time_limit;
  return limit > 0 ? std::max(kLeast, limit - seconds_since(start)) : 0;
}

// The fits with the seeds after the first one; their models are measured and forgotten.
void repeat_fits(const TrainCommand& command, const Tables& tables, FitResult& first, Clock::time_point start,
                 ProgressLine& progress, RepeatedEvaluations& repeats) {
  FitOptions options = command.resolved();
  options.ridge = first.model.training.ridge;
  for (Index repeat = 1; repeat < command.repeats; ++repeat) {
    if (options.time_limit > 0 && seconds_since(start) >= command.fit.time_limit) {
      first.report.cut_short.push_back(fmt::format("the repeats ({} of {})", repeat, command.repeats));
      return;
    }
    options.time_limit = time_left(command, start) / static_cast<double>(command.repeats - repeat);
    progress.show(fmt::format("seed {} of {}", repeat + 1, command.repeats));
    ++options.seed;
    const FitResult result =
        learn_from(tables.train, [&](const TrainingData& data) { return fit(data, options); });
    repeats.add(evaluate_on(tables, result.model, options.threads));
  }
}

std::string progress_text(const Progress& state) {
  const std::string phase = state.phase.empty() ? "" : state.phase + ": ";
  if (state.validated < 1)
    return fmt::format("cross-validation, {:.0f} %, {:.1f} s", 100 * state.validated, state.seconds);
  const std::string tuning =
      state.tuning_steps > 0 ? fmt::format("tuning, step {}, ", state.tuning_steps) : "";
  return fmt::format("{}{}{} of {} terms, risk {:.5g}, {:.1f} s", phase, tuning, state.terms,
                     state.terms_wanted, state.risk, state.seconds);
}

void check_arguments(const TrainCommand& command, bool validation_given) {
  command.resolved().validate();
  if (!command.test_path.empty() && command.test_fraction > 0) {
    throw Error(ErrorKind::kInvalidArgument,
                "--test and --test-fraction exclude each other; give one of them");
  }
  if (command.ridge_rule != RidgeRule::kCrossValidated && validation_given) {
    throw Error(ErrorKind::kInvalidArgument, "--folds and --ridges are for --ridge cv; give that, too");
  }
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

  if (!command.target.empty()) command.common.read.names = {command.target};
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
  TrainResult trained = learn_from(tables.train, [&](const TrainingData& data) {
    const auto show = [&](const Progress& state) {
      progress.show(progress_text(state));
      return true;
    };
    TrainOptions options = command;
    options.fit.time_limit = time_left(command, start);  // reading counts, too
    return train(data, options, show);
  });
  FitResult& result = trained.fit;
  measured.cross_validation = std::move(trained.cross_validation);
  const Model& model = result.model;
  measured.remarks = tables.train.remarks;
  measured.warnings = tables.train.warnings;
  measured.warnings.insert(measured.warnings.end(), result.report.warnings.begin(),
                           result.report.warnings.end());
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
  const auto repeat_start = Clock::now();
  repeat_fits(command, tables, result, start, progress, measured.repeats);
  timing.repeat = seconds_since(repeat_start);
  const auto save_start = Clock::now();
  if (!command.model_path.empty()) {
    OutputFile file(command.model_path);
    file.write(model_to_json(model));
    file.commit();
  }
  timing.save = seconds_since(save_start);
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
    command->ridge_rule = text == "auto" ? RidgeRule::kAutomatic
                          : text == "cv" ? RidgeRule::kCrossValidated
                                         : RidgeRule::kGiven;
    return command->ridge_rule == RidgeRule::kGiven ? text : "0";
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
