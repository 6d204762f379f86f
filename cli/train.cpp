// mfga train: from a table in a file to a saved formula.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <ranges>

#include "cli/output_file.hpp"
#include "cli/ranks.hpp"
#include "cli/readable.hpp"
#include "cli/train_report.hpp"
#include "core/clock.hpp"
#include "data/number_text.hpp"
#include "model/row_memory.hpp"
#include "model/target.hpp"

namespace mfga::cli {
namespace {

// LABEL=WEIGHT between commas. A label may hold =, but no comma.
std::vector<std::pair<std::string, double>> parse_class_weights(const std::string& text) {
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t equals = part.rfind('=');
    double weight = 0;
    const bool is_pair =
        equals != std::string::npos && equals > 0 &&
        classify_field(std::string_view(part).substr(equals + 1), weight) == FieldContent::kFinite;
    if (!is_pair || weight <= 0) {
      throw Error(
          ErrorKind::kInvalidArgument,
          fmt::format("--class-weights: found \"{}\"; expected balanced, or LABEL=WEIGHT between commas "
                      "with weights above 0",
                      part));
    }
    result.emplace_back(part.substr(0, equals), weight);
    begin = end + 1;
  }
  return result;
}

// A test table in a file of its own. It is read before the fit, with every column that a model may need.
struct TestFile {
  ModelTable data;
  std::vector<Index> place_of_column;  // by column of the training table; those that no model has: -1

  [[nodiscard]] std::vector<double> scores(const Model& model, int threads) const {
    std::vector<Index> columns;
    for (const ModelInput& input : model.inputs)
      columns.push_back(place_of_column[static_cast<std::size_t>(input.column)]);
    return Predictor(model, threads).scores(data.table.values.view(), columns, row_names(data.table));
  }
};

struct Tables {
  Table train;
  std::vector<double> fit_weights;  // of its rows where classes have weights; they are for the fit alone
  std::optional<Table> held_out;
  std::optional<TestFile> test_file;

  [[nodiscard]] const Table* test() const {
    return test_file ? &test_file->data.table : held_out ? &*held_out : nullptr;
  }
};

// The weights of the rows, times those of their classes.
std::vector<double> class_weights(const TrainCommand& command, const Table& table) {
  return learn_from(table, [&](const TrainingData& data) {
    if (resolve_task(command.fit.task, command.fit.loss, data) != Task::kClassification) {
      throw Error(ErrorKind::kInvalidArgument,
                  "--class-weights is for classes, and the target is a number; leave it out");
    }
    std::map<double, double> weights;  // by value of the target
    double total = 0;
    for (std::size_t n = 0; n < data.y.size(); ++n) {
      const double weight = data.weights.empty() ? 1 : data.weights[n];
      weights[data.y[n]] += weight;
      total += weight;
    }
    if (command.class_weights == "balanced") {
      for (auto& [value, weight] : weights)
        weight = weight > 0 ? total / (static_cast<double>(weights.size()) * weight) : 0;
    } else {
      std::map<std::string, double*> by_label;
      for (auto& [value, weight] : weights) {
        weight = 1;
        by_label[data.labels.empty() ? number_label(value) : data.labels[static_cast<std::size_t>(value)]] =
            &weight;
      }
      for (const auto& [label, weight] : parse_class_weights(command.class_weights)) {
        const auto found = by_label.find(label);
        if (found == by_label.end()) {
          throw Error(ErrorKind::kInvalidArgument,
                      fmt::format("--class-weights: the target has no class \"{}\"; it has {}", label,
                                  fmt::join(std::views::keys(by_label), ", ")));
        }
        *found->second = weight;
      }
    }
    std::vector<double> result;
    for (std::size_t n = 0; n < data.y.size(); ++n)
      result.push_back(weights.at(data.y[n]) * (data.weights.empty() ? 1 : data.weights[n]));
    return result;
  });
}

TrainingData with_weights(TrainingData data, std::span<const double> weights) {
  if (!weights.empty()) data.weights = weights;
  return data;
}

Evaluations evaluate_on(const Tables& tables, const Model& model, int threads) {
  const auto measure = [&](const Table& table) {
    std::vector<std::string> none;  // the model's own labels
    return evaluate_scores(model, model.scores(table.view(), threads), targets_of(model, table, none),
                           table.weights);
  };
  Evaluations result{measure(tables.train), {}};
  if (tables.held_out) result.test = measure(*tables.held_out);
  if (tables.test_file) {
    const ModelTable& data = tables.test_file->data;
    result.test =
        evaluate_scores(model, tables.test_file->scores(model, threads), data.targets, data.table.weights);
  }
  return result;
}

// What is left of the time limit for a fit; 0: there is none.
double time_left(const TrainCommand& command, Clock::time_point start) {
  constexpr double kLeast = 1e-3;  // there is a model in any case
  const double limit = command.fit.time_limit;
  return limit > 0 ? std::max(kLeast, limit - seconds_since(start)) : 0;
}

bool is_constant(const TableView& values, Index column) {
  for (Index i = 1; i < values.rows; ++i) {
    const bool are_missing = std::isnan(values(i, column)) && std::isnan(values(0, column));
    if (values(i, column) != values(0, column) && !are_missing) return false;
  }
  return true;
}

// Reads the test file as if for a model of all columns of the training table that are not constant, which
// models leave out. So whatever is wrong with the file is known before the fit.
TestFile read_test_file(const TrainCommand& command, const Table& train, const std::string& weight) {
  Model model;
  learn_from(train, [&](const TrainingData& data) {
    model.task = resolve_task(command.fit.task, command.fit.loss, data);
    if (model.task == Task::kClassification) {
      const auto loss = resolve_loss(command.fit.loss, model.task, data);
      model.labels = prepare_target(data, loss, false, Intercept::kNone).labels;
    }
    return 0;
  });
  if (!train.target_names.empty()) {
    model.outputs.clear();
    for (const std::string& name : train.target_names) model.outputs.push_back({.name = name});
  }
  model.target_name = train.target_name;
  model.n_columns = train.cols();
  model.unnamed_columns = train.unnamed_columns;
  model.text_columns = train.text_columns;
  model.missing_texts = train.missing_texts;
  std::vector<Index> places(static_cast<std::size_t>(train.cols()), -1);
  for (Index j = 0; j < train.cols(); ++j) {
    if (is_constant(train.view(), j)) continue;
    places[static_cast<std::size_t>(j)] = std::ssize(model.inputs);
    ModelInput& input = model.inputs.emplace_back();
    input.name = train.columns[static_cast<std::size_t>(j)];
    input.column = j;
    const auto values = std::ranges::find(train.missing, input.name, &MissingValues::column);
    if (values != train.missing.end()) input.missing = values->count;
  }
  return {read_for_model(command.test_path, model, command.common.read, "", weight), std::move(places)};
}

// The fits with the seeds after the first one; their models are measured and forgotten.
void repeat_fits(const TrainCommand& command, const Tables& tables, FitResult& first, Clock::time_point start,
                 ProgressLine& progress, RepeatedEvaluations& repeats) {
  FitOptions options = command.fit;
  options.ridge = first.model.training.ridge;
  options.terms = std::max<Index>(1, std::ssize(first.model.terms));
  for (Index repeat = 1; repeat < command.repeats; ++repeat) {
    if (first.report.stopped) {
      first.report.cut_short.push_back(fmt::format("the repeats ({} of {})", repeat, command.repeats));
      return;
    }
    if (options.time_limit > 0 && seconds_since(start) >= command.fit.time_limit) {
      first.report.cut_short.push_back(fmt::format("the repeats ({} of {})", repeat, command.repeats));
      return;
    }
    options.time_limit = time_left(command, start) / static_cast<double>(command.repeats - repeat);
    progress.show(fmt::format("seed {} of {}", repeat + 1, command.repeats));
    ++options.seed;
    const FitResult result = learn_from(tables.train, [&](const TrainingData& data) {
      return paper::fit(with_weights(data, tables.fit_weights), options, command.paper);
    });
    repeats.add(evaluate_on(tables, result.model, options.threads));
  }
}

void read_tables(const TrainCommand& command, Tables& tables) {
  const TableFile file(command.columns.path, command.common.read);
  tables.train = read_training_table(file, command.columns);
  check_rows_fit(tables.train, command.fit);
  if (command.test_fraction > 0)
    tables.held_out = command.fit.in_time_order
                          ? split_last_off(tables.train, command.test_fraction)
                          : split_off(tables.train, command.test_fraction, command.fit.seed);
  if (!command.class_weights.empty()) tables.fit_weights = class_weights(command, tables.train);
  if (!command.test_path.empty()) {
    // By the names of the target and the weights: an index is one into the training file.
    const std::string weight =
        command.columns.weight.empty()
            ? ""
            : file.columns()[static_cast<std::size_t>(file.column(command.columns.weight, "--weight"))];
    tables.test_file = read_test_file(command, tables.train, weight);
  }
}

FitResult fit_model(const TrainCommand& command, const Tables& tables, Clock::time_point start,
                    ProgressLine& progress) {
  return learn_from(tables.train, [&](const TrainingData& data) {
    const StopOnInterrupt stop;
    const auto show = [&](const Progress& state) {
      const bool is_stopping = StopOnInterrupt::requested();
      progress.show(is_stopping ? "stopping with what there is (Ctrl-C again: leave at once)"
                                : progress_text(state));
      return is_stopping ? ProgressAction::kStop : ProgressAction::kContinue;
    };
    FitOptions options = command.fit;
    options.time_limit = time_left(command, start);  // reading counts, too
    return paper::fit(with_weights(data, tables.fit_weights), options, command.paper, show, nullptr,
                      command.checkpoint);
  });
}

// The page about the model, with the rows of the test where there are such.
void write_report(const TrainCommand& command, const Tables& tables, const Model& model) {
  const Table& table = tables.test() != nullptr ? *tables.test() : tables.train;
  std::vector<std::string> none;  // the model's own labels
  std::vector<Index> columns;
  for (const ModelInput& input : model.inputs)
    columns.push_back(tables.test_file
                          ? tables.test_file->place_of_column[static_cast<std::size_t>(input.column)]
                          : input.column);
  const std::string name = tables.test_file  ? "the test rows"
                           : tables.held_out ? "rows that were held out for the test"
                                             : "the training rows, on which a model looks better than it is";
  OutputFile file(command.report_path);
  file.write(report_page(model,
                         ReportData{.x = table.view(),
                                    .columns = columns,
                                    .targets = targets_of(model, table, none),
                                    .weights = table.weights,
                                    .name = name,
                                    .row_name = row_names(table)},
                         {.threads = command.fit.threads}));
  file.commit();
}

// The errors of the model, and those of the models with other seeds.
void measure(const TrainCommand& command, const Tables& tables, FitResult& result, Clock::time_point start,
             ProgressLine& progress, Measured& measured) {
  progress.show("predicting");
  const auto predict_start = Clock::now();
  measured.first = evaluate_on(tables, result.model, command.fit.threads);
  measured.timing.predict = seconds_since(predict_start);
  measured.repeats.add(measured.first);
  const auto repeat_start = Clock::now();
  repeat_fits(command, tables, result, start, progress, measured.repeats);
  measured.timing.repeat = seconds_since(repeat_start);
}

void run_train(TrainCommand& command, bool validation_given) {
  const auto start = Clock::now();
  check_arguments(command, validation_given);
  if (Communicator* const ranks = launched_ranks(); ranks != nullptr) {
    train_on_ranks(command, *ranks);
    return;
  }
  check_outputs(command);
  command.common.read.threads = command.fit.threads;
  ProgressLine progress(command.common.quiet);

  command.common.read = read_options_for(command.columns, command.common.read);
  command.common.read.most_bytes = most_bytes_of_table(command.fit);
  progress.show("reading " + command.columns.path);
  Measured measured;
  Tables tables;
  read_tables(command, tables);
  if (command.readable) choose_readable_terms(tables.train, command);
  measured.timing.load = tables.train.load_seconds;
  if (tables.test_file) measured.timing.load += tables.test_file->data.table.load_seconds;

  // Where somebody waits for it; in a log the report says it.
  if (command.model_path.empty() && !command.common.json && !command.common.quiet &&
      isatty(STDERR_FILENO) == 1) {
    progress.clear();
    print_message("the model will not be saved: add --model FILE to keep it");
  }
  progress.show("preparing");
  FitResult result = fit_model(command, tables, start, progress);
  if (result.report.stopped && result.model.terms.empty())
    throw Error(ErrorKind::kInterrupted, "stopped before there was a model; nothing is saved");
  if (command.readable && !result.report.stopped) {
    progress.show("rounding thresholds");
    Table weighted = tables.train;
    if (!tables.fit_weights.empty()) weighted.weights = tables.fit_weights;
    const std::string done = round_thresholds(weighted, command, result.model);
    if (!done.empty()) tables.train.remarks.push_back(done);
  }
  // Whatever fails from here on, the work is not lost.
  const auto save_start = Clock::now();
  save_fit(command, result, tables.train.remarks);
  measured.timing.save = seconds_since(save_start);
  try {
    measure(command, tables, result, start, progress, measured);
    if (!command.report_path.empty()) {
      progress.show("making the report");
      write_report(command, tables, result.model);
    }
  } catch (const Error& error) {
    if (command.model_path.empty()) throw;
    throw Error(error.kind(), fmt::format("{} (the model is saved: {})", error.what(), command.model_path));
  }
  for (const auto& [name, earlier] : equal_columns(training_data(tables.train))) {
    tables.train.remarks.push_back(
        fmt::format("\"{}\" is the same as \"{}\" in every row (`ignore` leaves it out)", name, earlier));
  }
  measured.remarks = spelled(tables.train.remarks);
  measured.missing = tables.train.missing;
  measured.warnings = tables.train.warnings;
  measured.warnings.insert(measured.warnings.end(), result.report.warnings.begin(),
                           result.report.warnings.end());
  if (tables.test_file) {
    const std::vector<std::string>& more = tables.test_file->data.warnings;
    measured.warnings.insert(measured.warnings.end(), more.begin(), more.end());
  }
  measured.warnings = spelled(measured.warnings);
  measured.timing.total = seconds_since(start) + result.report.resumed_seconds;
  progress.clear();
  if (command.common.json) {
    const Index n_test = tables.test() != nullptr ? tables.test()->rows() : 0;
    print_json(report_to_json(command, result, n_test, measured));
  } else if (!command.common.quiet) {
    print_data_report(command, tables.train, tables.test(), result);
    print_fit_report(command, result, measured);
  }
}

}  // namespace

void add_train(CLI::App& tool) {
  auto command = std::make_shared<TrainCommand>();
  CLI::App* app = tool.add_subcommand("train", "learn a model from a table");
  app->add_option("table,--train", command->columns.path,
                  "table to learn from: CSV, TSV, LIBSVM or .npy, also gzip-compressed; -: standard input")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Data files");
  app->add_option("--statistics", command->statistics_path,
                  "sums over rows to learn from, in place of a table, as mfga statistics saves them")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Data files");
  app->add_option("--test", command->test_path, "table to measure the error on")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Data files");
  app->add_option("--test-fraction", command->test_fraction,
                  "hold this part of the rows out and measure the error on it")
      ->check(fraction())
      ->type_name("F")
      ->group("Data files");
  add_training_columns(*app, command->columns);
  add_read_options(*app, command->common.read);
  add_option_table(*app, command->fit, fit_option_table(), "Learning");
  add_option_table(*app, command->paper, paper_option_table(), "Comparisons with the paper");
  add_option_table(*app, command->validation, cross_validation_option_table(), "Learning");
  app->add_option(
         "--repeats", command->repeats,
         "fit with this many seeds, from --seed on, and report mean and standard error of the errors; "
         "the model and the times are those of the first")
      ->capture_default_str()
      ->type_name("R")
      ->check(CLI::Range(1, 1000000))
      ->group("Learning");
  app->add_flag(
         "--readable", command->readable,
         "only terms that people read: columns, steps, hinges and products of two columns, in standard "
         "scales and not tuned, with thresholds of few digits where held-out rows do not mind")
      ->group("Learning");
  app->add_option(
         "--classes", command->classes,
         "scores of more than two classes; softmax: fitted together; one-vs-rest: each class against all "
         "others, with the same terms")
      ->check(CLI::IsMember({"softmax", "one-vs-rest"}))
      ->capture_default_str()
      ->type_name("softmax|one-vs-rest")
      ->group("Learning");
  app->add_option(
         "--class-weights", command->class_weights,
         "how much rows count in the fit, by their class: balanced, so that all classes count alike, or "
         "as in yes=5,no=1 (others: 1); errors are measured without")
      ->type_name("WEIGHTS")
      ->group("Learning");
  app->add_flag_callback(
         "--no-intercept", [command] { command->fit.intercept = false; }, "the same as --intercept no")
      ->group("Learning");
  app->add_option(
         "--start", command->start_path,
         "model to go on from: its terms and the scales of its inputs are kept, terms are added up to "
         "--terms in all, and all coefficients are fitted again; nothing is tuned")
      ->check(file_name())
      ->type_name("MODEL")
      ->group("Learning");
  app->add_option("--model", command->model_path, "where to save the model (JSON)")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Output");
  app->add_option(
         "--path", command->sizes_path,
         "where to save the losses of held-out rows by number of terms, with --terms auto: CSV if the "
         "name ends in .csv, else JSON")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Output");
  app->add_option("--report", command->report_path,
                  "where to write a page about the model (HTML), with the rows of the test if there are such")
      ->check(file_name())
      ->type_name("FILE")
      ->group("Output");
  add_cache_option(*app, command->common.read);
  add_checkpoint_options(*app, command->checkpoint);
  app->add_option("--show", command->show_terms, "terms of the formula to print")
      ->capture_default_str()
      ->check(whole_number())
      ->type_name("N")
      ->group("Output");
  add_output_options(*app, command->common);
  app->callback([command, app] {
    if (command->columns.path.empty() && command->statistics_path.empty()) throw CLI::RequiredError("table");
    if (command->fit.ridge.validation() != nullptr)
      command->fit.ridge = Ridge::cross_validated(command->validation);
    command->fit.in_time_order = command->validation.in_time_order;
    if (!command->statistics_path.empty()) {
      if (launched_ranks() != nullptr)
        throw Error(ErrorKind::kInvalidArgument, "--statistics is for one process; leave mpirun out");
      train_from_statistics(*command, *app);
      return;
    }
    const bool folds_are_counted = app->count("--folds") > 0 && !command->fit.in_time_order;
    run_train(*command, folds_are_counted || app->count("--ridges") > 0);
  });
}

}  // namespace mfga::cli
