// mfga._core: fits and models for the Python package. Arrays are used where they are; the interpreter's lock
// is released while there is work to do.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>
#include <pthread.h>

#include <atomic>
#include <cmath>
#include <mutex>

#include "mfga/dictionary.hpp"
#include "mfga/error.hpp"
#include "mfga/export.hpp"
#include "mfga/report.hpp"
#include "mfga/version.hpp"
#include "src/arrays.hpp"
#include "src/communicator.hpp"
#include "src/explain.hpp"
#include "src/listener.hpp"
#include "src/options.hpp"
#include "src/report.hpp"
#include "src/stored_table.hpp"

namespace mfga::python {
namespace nb = nanobind;
namespace {

using Groups = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Name, first column, levels, rare texts.
using TextColumns =
    std::vector<std::tuple<std::string, Index, std::vector<std::string>, std::vector<std::string>>>;

// How often this process is a fork of one that had loaded the module: threads stay behind in the parent.
std::atomic<int> forks = 0;

// A model, and what predicts with it, made when it is first asked for.
class SharedModel {
 public:
  explicit SharedModel(Model model) : model_(std::move(model)) {}
  SharedModel(const SharedModel&) = delete;
  SharedModel& operator=(const SharedModel&) = delete;
  ~SharedModel() { forget_if_forked(); }

  [[nodiscard]] const Model& model() const { return model_; }

  // Nothing here lets go of the interpreter's lock, so no fork finds the mutex taken.
  [[nodiscard]] std::shared_ptr<const Predictor> predictor(int threads) {
    const std::lock_guard lock(mutex_);
    forget_if_forked();
    if (!predictor_ || threads_ != threads) predictor_ = std::make_shared<Predictor>(model_, threads);
    threads_ = threads;
    return predictor_;
  }

 private:
  // Its threads do not exist in a fork, so nobody can wait for their end: it is left where it is.
  void forget_if_forked() {
    if (forks_ == forks.load()) return;
    forks_ = forks.load();
    if (predictor_) new std::shared_ptr<const Predictor>(std::move(predictor_));  // NOLINT
    predictor_.reset();
  }

  Model model_;
  std::mutex mutex_;
  std::shared_ptr<const Predictor> predictor_;
  int threads_ = 0;
  int forks_ = forks.load();
};

enum class Wanted { kScores, kPredictions, kProbabilities };

template <Wanted kWanted>
Result values_of(SharedModel& shared, const Array& x, int threads) {
  const std::shared_ptr<const Predictor> predictor = shared.predictor(threads);
  const Model& model = shared.model();
  const TableView table = table_of(x);
  std::vector<double> values;
  // One row is done before the lock would have been given away and come back.
  if (table.rows == 1 && table.pieces.front().doubles != nullptr && table.pieces.front().col_stride == 1) {
    values.resize(static_cast<std::size_t>(model.n_outputs()));
    predictor->scores(std::span(table.pieces.front().doubles, static_cast<std::size_t>(table.cols)), values);
  } else {
    const nb::gil_scoped_release release;
    values = predictor->scores(table);
  }
  auto columns = static_cast<std::size_t>(model.n_outputs());
  if (kWanted == Wanted::kPredictions) {
    values = model.predictions_from_scores(values);
    if (model.task == Task::kClassification) columns = 1;
  } else if (kWanted == Wanted::kProbabilities) {
    values = model.probabilities_from_scores(values);
  }
  return array_of(std::move(values), columns);
}

// The terms of a model, each as an output of its own.
std::unique_ptr<SharedModel> terms_as_outputs(const SharedModel& shared) {
  Model model = shared.model();
  const std::size_t count = model.terms.size();
  model.task = Task::kRegression;
  model.loss.clear();
  model.labels.clear();
  model.outputs.assign(count, Output{});
  for (std::size_t i = 0; i < count; ++i) {
    model.outputs[i].name = "t" + std::to_string(i);
    model.terms[i].coefficients.assign(count, 0.0);
    model.terms[i].coefficients[i] = 1;
  }
  return std::make_unique<SharedModel>(std::move(model));
}

// A page about the model; without rows, what needs none.
std::string page_of(const SharedModel& shared, const std::optional<Array>& x,
                    const std::optional<Numbers>& targets, const std::optional<Numbers>& weights,
                    const std::string& title, int threads) {
  std::optional<ReportData> data;
  if (x) data = ReportData{.x = table_of(*x)};
  if (data && targets) data->targets = span_of(*targets);
  if (data && weights) data->weights = span_of(*weights);
  const nb::gil_scoped_release release;
  return report_page(shared.model(), data, {.title = title, .threads = threads});
}

bool has_infinite(const Array& x) {
  const TableView table = table_of(x);
  for (Index i = 0; i < table.rows; ++i) {
    for (Index j = 0; j < table.cols; ++j) {
      if (std::isinf(table(i, j))) return true;
    }
  }
  return false;
}

nb::tuple model_and_report(FitResult result) {
  nb::dict report = report_of(result);
  return nb::make_tuple(nb::cast(std::make_unique<SharedModel>(std::move(result.model))), report);
}

// One array, or several whose rows follow one another, or rows that may be on disk.
using Rows = std::variant<Array, std::vector<Array>, const StoredTable*>;

TableView table_of(const Rows& x) {
  if (const auto* array = std::get_if<Array>(&x)) return python::table_of(*array);
  if (const auto* stored = std::get_if<const StoredTable*>(&x)) return (*stored)->view();
  std::vector<TableView> tables;
  for (const Array& array : std::get<std::vector<Array>>(x)) tables.push_back(python::table_of(array));
  return TableView::of_pieces(tables);
}

TrainingData training_data(TableView x, const Numbers& y, const std::vector<std::string>& columns,
                           const std::string& target_name, const TextColumns& text_columns,
                           const std::optional<Numbers>& weights) {
  TrainingData data{.x = std::move(x), .y = span_of(y), .columns = columns, .target_name = target_name};
  if (columns.empty()) data.unnamed_columns = data.x.cols;
  if (weights) data.weights = span_of(*weights);
  for (const auto& [name, first, levels, rare] : text_columns)
    data.text_columns.push_back({name, first, levels, rare});
  return data;
}

nb::tuple fit_rows(const Rows& x, const Numbers& y, const std::map<std::string, std::string>& options,
                   const std::vector<std::string>& columns, const std::string& target_name,
                   const std::vector<std::string>& target_names, const std::vector<std::string>& labels,
                   const TextColumns& text_columns, const std::optional<Numbers>& weights,
                   const std::optional<Groups>& groups, const SharedModel* start, nb::object callback,
                   const std::string& checkpoint, bool resume, nb::object communicator) {
  AllOptions all = options_of(options);
  if (start != nullptr) {
    all.fit.start = &start->model();
    all.paper.validate(all.fit);
  }
  TrainingData data = training_data(table_of(x), y, columns, target_name, text_columns, weights);
  data.labels = labels;
  data.target_names = target_names;
  if (groups) data.groups = {groups->data(), groups->shape(0)};
  std::optional<PythonCommunicator> others;
  if (!communicator.is_none()) others.emplace(std::move(communicator));
  return model_and_report(while_listening(std::move(callback), [&](const ProgressCallback& show) {
    return paper::fit(data, all.fit, all.paper, show, nullptr, {.path = checkpoint, .resume = resume},
                      others ? &*others : nullptr);
  }));
}

// Statistics that threads may use at the same time.
class SharedStatistics {
 public:
  explicit SharedStatistics(Statistics statistics) : statistics_(std::move(statistics)) {}

  // Without the interpreter's lock, so that whoever holds the mutex can get it.
  template <class Use>
  auto use(Use use) {
    const std::lock_guard lock(mutex_);
    return use(statistics_);
  }

 private:
  Statistics statistics_;
  std::mutex mutex_;
};

std::unique_ptr<SharedStatistics> begin_statistics(const Array& x, const Numbers& y,
                                                   const std::map<std::string, std::string>& options,
                                                   const std::vector<std::string>& columns,
                                                   const std::string& target_name,
                                                   const TextColumns& text_columns,
                                                   const std::optional<Numbers>& weights) {
  const AllOptions all = options_of(options);
  const TrainingData data = training_data(table_of(x), y, columns, target_name, text_columns, weights);
  const nb::gil_scoped_release release;
  return std::make_unique<SharedStatistics>(Statistics(data, all.fit));
}

void update_statistics(SharedStatistics& shared, const Array& x, const Numbers& y,
                       const std::optional<Numbers>& weights, int threads, nb::object callback) {
  const TableView table = table_of(x);
  const std::span<const double> row_weights = weights ? span_of(*weights) : std::span<const double>();
  while_listening(std::move(callback), [&](const ProgressCallback& show) {
    return shared.use([&](Statistics& statistics) {
      statistics.set_threads(threads);
      statistics.update(table, span_of(y), row_weights, {}, show);
      return 0;
    });
  });
}

nb::tuple fit_statistics(SharedStatistics& shared, const std::map<std::string, std::string>& options,
                         nb::object callback) {
  const AllOptions all = options_of(options);
  return model_and_report(while_listening(std::move(callback), [&](const ProgressCallback& show) {
    // Of a copy: the callback may ask the statistics something.
    const Statistics now = shared.use([](Statistics& statistics) { return statistics; });
    return now.fit(all.fit, show);
  }));
}

// A copy first: two that are merged with one another at the same time do not wait for one another.
void merge_statistics(SharedStatistics& shared, SharedStatistics& other) {
  const nb::gil_scoped_release release;
  const Statistics added = other.use([](Statistics& statistics) { return statistics; });
  shared.use([&](Statistics& statistics) {
    statistics.merge(added);
    return 0;
  });
}

nb::bytes bytes_of_statistics(SharedStatistics& shared) {
  std::string bytes;
  {
    const nb::gil_scoped_release release;
    bytes = shared.use([](Statistics& statistics) { return statistics.to_bytes(); });
  }
  return nb::bytes(bytes.data(), bytes.size());
}

std::unique_ptr<SharedStatistics> statistics_from_bytes(const nb::bytes& bytes) {
  return std::make_unique<SharedStatistics>(
      Statistics::from_bytes({bytes.c_str(), bytes.size()}, "the statistics"));
}

// What statistics say of themselves.
template <class Ask>
auto asked(Ask ask) {
  return [ask](SharedStatistics& shared) {
    const nb::gil_scoped_release release;
    return shared.use(ask);
  };
}

void translate(const std::exception_ptr& pointer, void* /*payload*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    PyObject* type = PyExc_ValueError;
    if (error.kind() == ErrorKind::kNumerical) type = PyExc_ArithmeticError;
    if (error.kind() == ErrorKind::kIo || error.kind() == ErrorKind::kSystem) type = PyExc_OSError;
    if (error.kind() == ErrorKind::kInterrupted) type = PyExc_KeyboardInterrupt;
    PyErr_SetString(type, error.what());
  }
}

std::vector<std::string> output_names(const SharedModel& shared) {
  std::vector<std::string> names;
  for (const Output& output : shared.model().outputs) names.push_back(output.name);
  return names;
}

// The summands of a dictionary: family, and the options that were written.
std::vector<std::tuple<std::string, std::map<std::string, std::string>>> families_of(
    const Dictionary& dictionary) {
  std::vector<std::tuple<std::string, std::map<std::string, std::string>>> families;
  for (const FamilyRequest& request : dictionary.requests()) {
    std::map<std::string, std::string> options;
    for (const FamilyRequest::Option& option : request.options) options[option.name] = option.value;
    families.emplace_back(request.family, std::move(options));
  }
  return families;
}

TextColumns text_columns_of(const SharedModel& shared) {
  TextColumns columns;
  for (const TextColumn& column : shared.model().text_columns)
    columns.emplace_back(column.name, column.first, column.levels, column.rare);
  return columns;
}

// By the names of their columns.
std::vector<std::tuple<std::string, Index>> inputs_of(const SharedModel& shared) {
  std::vector<std::tuple<std::string, Index>> inputs;
  for (const ModelInput& input : shared.model().inputs)
    inputs.emplace_back(input.column_name(), input.column);
  return inputs;
}

std::unique_ptr<SharedModel> model_from_text(const std::string& text) {
  return std::make_unique<SharedModel>(model_from_json(text, "the model"));
}

}  // namespace
}  // namespace mfga::python

NB_MODULE(_core, m) {
  using namespace mfga;          // NOLINT(google-build-using-namespace)
  using namespace mfga::python;  // NOLINT(google-build-using-namespace)
  using namespace nb::literals;  // NOLINT(google-build-using-namespace)
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  nb::register_exception_translator(translate);
  m.doc() = "Fits and models of the mfga library; use the estimators of `mfga`.";
  m.def("version", [] { return std::string(version()); });
  m.def("option_tables", option_tables, "The rows of the tables of options: name, default, value, help.");
  m.def("has_infinite", has_infinite, "x"_a, "Whether a number of an array is infinite.");

  nb::class_<Dictionary>(m, "Dictionary", "A sum of feature families.")
      .def(nb::init<std::string_view>(), "expression"_a)
      .def_prop_ro("families", families_of)
      .def("candidates", &Dictionary::candidates, "n_inputs"_a);

  nb::class_<Progress>(m, "Progress", "Where a fit stands.")
      .def_ro("terms", &Progress::terms)
      .def_ro("terms_wanted", &Progress::terms_wanted)
      .def_ro("risk", &Progress::risk)
      .def_ro("seconds", &Progress::seconds)
      .def_ro("validated", &Progress::validated)
      .def_ro("tuning_steps", &Progress::tuning_steps)
      .def_ro("phase", &Progress::phase)
      .def_ro("done", &Progress::done);

  nb::class_<SharedModel>(m, "Model", "A trained model.")
      .def_static("from_json", model_from_text, "text"_a)
      .def_static(
          "load", [](const std::string& path) { return std::make_unique<SharedModel>(load_model(path)); },
          "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "save",
          [](const SharedModel& shared, const std::string& path) { save_model(shared.model(), path); },
          "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("to_json", [](const SharedModel& shared) { return model_to_json(shared.model()); })
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(self.type().attr("from_json"), nb::make_tuple(self.attr("to_json")()));
           })
      .def("scores", values_of<Wanted::kScores>, "x"_a, "threads"_a = 0)
      .def("predictions", values_of<Wanted::kPredictions>, "x"_a, "threads"_a = 0)
      .def("probabilities", values_of<Wanted::kProbabilities>, "x"_a, "threads"_a = 0)
      .def(
          "explain",
          [](SharedModel& shared, const Array& x, bool by_column, int threads) {
            return explain_rows(shared.model(), x, by_column, threads);
          },
          "x"_a, "by_column"_a, "threads"_a = 0)
      .def("terms_as_outputs", terms_as_outputs)
      .def("report", page_of, "x"_a.none(), "targets"_a.none(), "weights"_a.none(), "title"_a, "threads"_a)
      .def(
          "formula",
          [](const SharedModel& shared, std::size_t most) { return formula_text(shared.model(), most); },
          "most_terms"_a)
      .def("table_formula", [](const SharedModel& shared) { return table_formula_text(shared.model()); })
      .def("full_formula", [](const SharedModel& shared) { return full_formula_text(shared.model()); })
      .def(
          "exported",
          [](const SharedModel& shared, const std::string& format) {
            const std::string content = export_model(shared.model(), format);
            return nb::bytes(content.data(), content.size());
          },
          "format"_a)
      .def(
          "save_export",
          [](const SharedModel& shared, const std::string& format, const std::string& path) {
            save_export(shared.model(), format, path);
          },
          "format"_a, "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("terms", [](const SharedModel& shared) { return terms_of(shared.model()); })
      .def_prop_ro("n_terms", [](const SharedModel& shared) { return shared.model().terms.size(); })
      .def_prop_ro("task",
                   [](const SharedModel& shared) { return std::string(task_name(shared.model().task)); })
      .def_prop_ro("loss", [](const SharedModel& shared) { return shared.model().loss; })
      .def_prop_ro("target_name", [](const SharedModel& shared) { return shared.model().target_name; })
      .def_prop_ro("labels", [](const SharedModel& shared) { return shared.model().labels; })
      .def_prop_ro("n_columns", [](const SharedModel& shared) { return shared.model().n_columns; })
      .def_prop_ro("unnamed_columns",
                   [](const SharedModel& shared) { return shared.model().unnamed_columns; })
      .def_prop_ro("output_names", output_names)
      .def_prop_ro("text_columns", text_columns_of)
      .def_prop_ro("inputs", inputs_of)
      .def_prop_ro("formula_names", [](const SharedModel& shared) { return shared.model().formula_names(); })
      .def_prop_ro("intercepts", [](const SharedModel& shared) {
        std::vector<double> intercepts;
        for (const Output& output : shared.model().outputs)
          intercepts.push_back(output.shift + output.scale * output.intercept);
        return intercepts;
      });

  nb::class_<StoredTable>(m, "StoredTable", "Rows that come in batches, on disk if they are many.")
      .def(nb::init<Index, const std::map<std::string, std::string>&>(), "kept"_a, "options"_a)
      .def("add", &StoredTable::add, "rows"_a)
      .def("finish", &StoredTable::finish, "levels"_a, "outputs"_a,
           "`levels`: of each number that is kept, of how many levels it is the place, or None.")
      .def_prop_ro("is_on_disk", &StoredTable::is_on_disk)
      .def_prop_ro("rows", &StoredTable::rows);

  nb::class_<SharedStatistics>(m, "Statistics", "Sums that models are fitted from.")
      .def_static("begin", begin_statistics, "x"_a, "y"_a, "options"_a, "columns"_a, "target_name"_a,
                  "text_columns"_a, "weights"_a.none(), "Without rows yet; these set the dictionary.")
      .def_static("from_bytes", statistics_from_bytes, "bytes"_a)
      .def_static(
          "load",
          [](const std::string& path) { return std::make_unique<SharedStatistics>(load_statistics(path)); },
          "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_static(
          "check_options",
          [](const std::map<std::string, std::string>& options) {
            Statistics::check_fit_options(options_of(options).fit);
          },
          "options"_a, "Raises where an option needs rows.")
      .def("update", update_statistics, "x"_a, "y"_a, "weights"_a.none(), "threads"_a, "callback"_a.none())
      .def("merge", merge_statistics, "other"_a)
      .def("fit", fit_statistics, "options"_a, "callback"_a.none())
      .def(
          "save",
          [](SharedStatistics& shared, const std::string& path) {
            shared.use([&](Statistics& statistics) {
              save_statistics(statistics, path);
              return 0;
            });
          },
          "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("to_bytes", bytes_of_statistics)
      .def("empty_model", asked([](Statistics& statistics) {
             return std::make_unique<SharedModel>(statistics.empty_model());
           }))
      .def_prop_ro("rows", asked([](Statistics& statistics) { return statistics.rows(); }))
      .def_prop_ro("candidates", asked([](Statistics& statistics) { return statistics.candidates(); }))
      .def_prop_ro("folds", asked([](Statistics& statistics) { return statistics.folds(); }))
      .def_prop_ro("features", asked([](Statistics& statistics) { return statistics.features(); }));

  m.def("fit", fit_rows, "x"_a, "y"_a, "options"_a, "columns"_a, "target_name"_a, "target_names"_a,
        "labels"_a, "text_columns"_a, "weights"_a.none(), "groups"_a.none(), "start"_a.none(),
        "callback"_a.none(), "checkpoint"_a = "", "resume"_a = false, "communicator"_a.none() = nb::none(),
        "Learns a model; the report of the fit comes with it.");
}
