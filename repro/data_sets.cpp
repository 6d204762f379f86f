#include "repro/data_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/random.hpp"
#include "data/standardise.hpp"
#include "features/neighbour_width.hpp"
#include "losses/logistic.hpp"
#include "losses/squared.hpp"
#include "mfga/error.hpp"
#include "mfga/generate.hpp"
#include "mfga/table.hpp"

namespace mfga::repro {
namespace {

// Where a data set is and how its files are read.
struct Source {
  std::string name;
  std::string paper_name;
  std::string title;
  std::string note;
  Task task;
  std::string train_file;
  std::string test_file;
  std::string target;
  std::vector<std::string> ignore;
  std::string header = "auto";
  Index n_features = 0;
  std::optional<std::pair<double, double>> target_range =
      std::nullopt;  // where the rows do not show all of it
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = {
      {"year",
       "year",
       "Year prediction",
       "A random sample of YearPredictionMSD with 5,000 training and 2,000 test rows; the paper used 46,371 "
       "and 5,163.",
       Task::kRegression,
       "year/train.csv",
       "year/test.csv",
       "0",
       {},
       "no",
       0,
       std::pair(1922.0, 2011.0)},
      {"news",
       "news",
       "Online news popularity",
       "A random split of the paper's size.",
       Task::kRegression,
       "news/train.csv",
       "news/test.csv",
       "shares",
       {},
       "auto",
       0},
      {"adult",
       "adult",
       "Adult",
       "The LIBSVM version a9a with its own test file.",
       Task::kClassification,
       "adult/a9a",
       "adult/a9a.t",
       "",
       {},
       "auto",
       123},
      {"epileptic",
       "epileptic",
       "Epileptic seizure recognition",
       "A random split, as the paper's. Each recording is cut into 23 rows that lie on both sides of it, "
       "which flatters "
       "every method.",
       Task::kClassification,
       "epileptic/train.csv",
       "epileptic/test.csv",
       "seizure",
       {"recording"},
       "auto",
       0},
      {"epileptic by recording",
       "epileptic",
       "Epileptic seizure recognition, split by recording",
       "The honest split: no recording has rows on both sides. The paper's figures are for the random split.",
       Task::kClassification,
       "epileptic/train_by_recording.csv",
       "epileptic/test_by_recording.csv",
       "seizure",
       {"recording"},
       "auto",
       0},
  };
  return all;
}

constexpr std::string_view kFullYearFile = "year/YearPredictionMSD.txt";
constexpr Index kFullYearTrainRows = 463715;

void keep_rows(Rows& rows, Index most) {
  if (most <= 0 || rows.size() <= most) return;
  const std::vector<Index> chosen = random_rows(rows.size(), most, 0, RandomStream::kSubsample);
  Rows kept{Matrix(most, rows.x.cols), {}};
  for (Index i = 0; i < most; ++i) {
    const Index row = chosen[static_cast<std::size_t>(i)];
    std::copy_n(rows.x.row(row), rows.x.cols, kept.x.row(i));
    kept.y.push_back(rows.y[static_cast<std::size_t>(row)]);
  }
  rows = std::move(kept);
}

// The paper's protocol: inputs standardised on the training rows, the response of a regression mapped to [-1,
// 1] by the range of the whole data set, the width from the 50th neighbours of training rows.
void prepare(Setting& setting, const std::optional<std::pair<double, double>>& known_range,
             Workers& workers) {
  setting.loss = setting.task == Task::kRegression ? &squared_loss() : &logistic_loss();
  const auto [train_low, train_high] = std::minmax_element(setting.train.y.begin(), setting.train.y.end());
  const auto [test_low, test_high] = std::minmax_element(setting.test.y.begin(), setting.test.y.end());
  const auto [low, high] =
      known_range.value_or(std::pair(std::min(*train_low, *test_low), std::max(*train_high, *test_high)));
  const double shift = 0.5 * (low + high);
  const double scale = 0.5 * (high - low);
  if (!(scale > 0)) throw Error(ErrorKind::kBadData, "the target has the same value in every training row");
  for (Rows* rows : {&setting.train, &setting.test}) {
    for (double& y : rows->y) y = (y - shift) / scale;  // classes become -1 and +1
  }
  setting.inputs = fit_standardisation(setting.train.x.view(), workers).inputs;
  setting.sigma = paper_width({setting.train.x.view(), setting.inputs}, 0, workers).sigma;
}

Rows rows_of(Table table) { return {std::move(table.values), std::move(table.target)}; }

DataSet describe_source(const Source& source) {
  DataSet data;
  data.name = source.name;
  data.paper_name = source.paper_name;
  data.title = source.title;
  data.source_note = source.note;
  data.setting.task = source.task;
  data.is_published = source.name == source.paper_name;
  return data;
}

DataSet load(const Source& source, const LoadOptions& options, Workers& workers) {
  DataSet data = describe_source(source);
  ReadOptions read;
  read.header = source.header;
  read.n_features = source.n_features;
  const std::string folder = options.folder + "/";
  data.setting.train =
      rows_of(TableFile(folder + source.train_file, read).read_for_training(source.target, source.ignore));
  data.setting.test =
      rows_of(TableFile(folder + source.test_file, read).read_for_training(source.target, source.ignore));
  keep_rows(data.setting.train, options.most_train_rows);
  keep_rows(data.setting.test, options.most_test_rows);
  prepare(data.setting, source.target_range, workers);
  return data;
}

// The whole file, with random rows of its training and test parts in the paper's numbers.
DataSet load_full_year(const Source& source, const LoadOptions& options, Workers& workers) {
  constexpr Index kPaperTrainRows = 46371;
  constexpr Index kPaperTestRows = 5163;
  DataSet data = describe_source(source);
  data.source_note = "Random rows of YearPredictionMSD's training and test parts, as many as in the paper.";
  ReadOptions read;
  read.header = "no";
  const Rows all = rows_of(
      TableFile(fmt::format("{}/{}", options.folder, kFullYearFile), read).read_for_training("0", {}));
  if (all.size() <= kFullYearTrainRows) {
    throw Error(ErrorKind::kBadData,
                fmt::format("{}/{}: expected more than {} rows, found {}", options.folder, kFullYearFile,
                            kFullYearTrainRows, all.size()));
  }
  const auto slice = [&](Index first, Index count) {
    Rows rows{Matrix(count, all.x.cols), {}};
    std::copy_n(all.x.row(first), count * all.x.cols, rows.x.row(0));
    rows.y.assign(all.y.begin() + first, all.y.begin() + first + count);
    return rows;
  };
  data.setting.train = slice(0, kFullYearTrainRows);
  data.setting.test = slice(kFullYearTrainRows, all.size() - kFullYearTrainRows);
  keep_rows(data.setting.train, options.most_train_rows > 0 ? options.most_train_rows : kPaperTrainRows);
  keep_rows(data.setting.test, options.most_test_rows > 0 ? options.most_test_rows : kPaperTestRows);
  prepare(data.setting, source.target_range, workers);
  return data;
}

DataSet generate_year_shape(const LoadOptions& options, Workers& workers) {
  DataSet data;
  data.name = "year, generated";
  data.paper_name = "year";
  data.title = "Generated data of the shape of Year prediction";
  data.source_note =
      "Synthetic rows in the paper's number, for the times only: what is learned means nothing.";
  data.is_published = false;
  data.is_for_times = true;
  GenerateOptions generate;
  generate.rows = options.generated_rows;
  generate.inputs = 90;
  generate.terms = 50;
  generate.noise = 1;
  const Generator generator(generate);
  data.setting.train.x = Matrix(options.generated_rows, generate.inputs);
  generator.make_rows(0, data.setting.train.x, data.setting.train.y, workers.threads());
  data.setting.test.x = Matrix(options.generated_rows / 9, generate.inputs);
  generator.make_rows(options.generated_rows, data.setting.test.x, data.setting.test.y, workers.threads());
  prepare(data.setting, std::nullopt, workers);
  return data;
}

}  // namespace

std::vector<std::string> data_set_names() { return {"year", "news", "adult", "epileptic"}; }

std::vector<DataSetLoader> data_set_loaders(std::string_view name, const LoadOptions& options) {
  std::vector<DataSetLoader> loaders;
  for (const Source& source : sources()) {
    if (source.paper_name != name) continue;
    const bool full_year =
        source.name == "year" && std::filesystem::exists(fmt::format("{}/{}", options.folder, kFullYearFile));
    loaders.push_back({source.name, [&source, options, full_year](Workers& workers) {
                         return full_year ? load_full_year(source, options, workers)
                                          : load(source, options, workers);
                       }});
  }
  if (name == "year") {
    loaders.push_back(
        {"year, generated", [options](Workers& workers) { return generate_year_shape(options, workers); }});
  }
  return loaders;
}

}  // namespace mfga::repro
