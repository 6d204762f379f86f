// Fits of several ranks, each with some of the rows: the model is that of one process, to the last bit.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>
#include <tuple>

#include "data/table_fixture.hpp"
#include "mfga/mfga.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"
#include "thread_ranks.hpp"

namespace mfga {
namespace {

struct Sample {
  Matrix x;
  std::vector<double> y;
  std::vector<double> weights;
  std::vector<Index> groups;

  explicit Sample(Index rows, int classes = 0) : x(reference::random_matrix(rows, 4, 1)) {
    const std::vector<double> noise = reference::random_vector(rows, 2);
    for (Index i = 0; i < rows; ++i) {
      x(i, 3) = std::exp(2 * x(i, 3));
      const double value = x(i, 0) * x(i, 1) + std::abs(x(i, 2)) + 0.3 * noise[static_cast<std::size_t>(i)];
      y.push_back(classes == 0 ? value : std::floor(std::clamp(value + 1, 0.0, 1.9) * classes / 2));
    }
  }
  [[nodiscard]] TrainingData data() const {
    return {.x = x.view(), .y = y, .weights = weights, .groups = groups};
  }
};

// What a rank has of it, where rows are divided as this says.
using Divide = std::function<RowsOfRank(Index rows, const Communicator& communicator)>;

FitResult fit_of_ranks(const Sample& sample, const AllOptions& options, int count,
                       const Divide& divide = rows_of_rank, const Checkpoint& checkpoint = {},
                       const std::function<ProgressAction(int rank, const Progress&)>& progress = {}) {
  std::mutex mutex;
  std::vector<std::string> models;
  std::optional<FitResult> first;
  run_on_ranks(count, [&](Communicator& communicator) {
    const auto [begin, rows] = divide(sample.x.rows, communicator);
    // In memory of its own, so that nobody reads what is another's.
    Matrix own(rows, sample.x.cols);
    std::copy_n(sample.x.row(begin), own.values.size(), own.values.begin());
    const auto part = [&](const auto& all) {
      using List = std::decay_t<decltype(all)>;
      return all.empty() ? List() : List(all.begin() + begin, all.begin() + begin + rows);
    };
    const std::vector<double> y = part(sample.y);
    const std::vector<double> weights = part(sample.weights);
    const std::vector<Index> groups = part(sample.groups);
    AllOptions own_options = options;
    own_options.threads = 1 + communicator.rank() % 2;
    ProgressCallback show;
    if (progress) show = [&](const Progress& state) { return progress(communicator.rank(), state); };
    FitResult result = paper::fit({.x = own.view(), .y = y, .weights = weights, .groups = groups},
                                  own_options, own_options, show, nullptr, checkpoint, &communicator);
    const std::lock_guard lock(mutex);
    models.push_back(model_to_json(result.model));
    if (communicator.rank() == 0) first = std::move(result);
  });
  for (const std::string& model : models) EXPECT_EQ(model, models.front());
  return std::move(*first);
}

void expect_same_model(const Sample& sample, const AllOptions& options, const std::vector<int>& counts) {
  const FitResult expected = fit(sample.data(), options);
  for (const int count : counts) {
    const FitResult result = fit_of_ranks(sample, options, count);
    EXPECT_EQ(model_to_json(result.model), model_to_json(expected.model)) << count << " ranks";
    EXPECT_EQ(result.report.warnings, expected.report.warnings);
    EXPECT_EQ(result.report.rows, expected.report.rows);
  }
}

AllOptions untuned(std::string_view features = "linear + hinge(knots=8) + landmark(count=20)") {
  AllOptions options;
  options.terms = 6;
  options.features = features;
  options.tune = Tuning::none();
  options.engine = EngineKind::kLazy;
  return options;
}

TEST(SeveralRanks, FindTheSameModelByDefault) {
  AllOptions options;
  options.terms = 6;
  expect_same_model(Sample(1500), options, {1, 2, 3, 4});
}

TEST(SeveralRanks, FindTheSameModelWithoutTuning) { expect_same_model(Sample(3000), untuned(), {2, 3, 4}); }

// The gram engine, with moments and without, where a fold or nothing is held out.
TEST(SeveralRanks, FindTheSameModelFromProducts) {
  for (const std::string_view features :
       {"linear + hinge(knots=8)", "linear + polynomial(degree=2, offset=0)"}) {
    AllOptions options = untuned(features);
    options.engine = EngineKind::kGram;
    expect_same_model(Sample(2600), options, {2, 3});
    CrossValidationOptions folds;
    folds.folds = 3;
    folds.ridges = {0.1, 10};
    options.ridge = Ridge::cross_validated(folds);
    options.memory_limit = 2;  // less than what would have rows copied
    Sample sample(9000);
    for (Index i = 0; i < sample.x.rows; ++i) sample.weights.push_back(1 + static_cast<double>(i % 3));
    expect_same_model(sample, options, {2, 4});
  }
}

TEST(SeveralRanks, MustBeAskedForTheSame) {
  const Sample sample(600);
  try {
    run_on_ranks(2, [&](Communicator& communicator) {
      FitOptions options = untuned();
      options.terms = 3 + communicator.rank();
      static_cast<void>(fit(sample.data(), options, {}, nullptr, {}, &communicator));
    });
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    expect_message(error.what(), {"rank 1", "`terms`"});
  }
}

TEST(SeveralRanks, MustBeGivenTheSameTable) {
  const Sample sample(600);
  const auto error_of_ranks =
      [&](const std::function<void(int rank, TrainingData& data, Checkpoint&)>& change) {
        try {
          run_on_ranks(2, [&](Communicator& communicator) {
            TrainingData data = sample.data();
            Checkpoint checkpoint;
            change(communicator.rank(), data, checkpoint);
            static_cast<void>(fit(data, untuned(), {}, nullptr, checkpoint, &communicator));
          });
        } catch (const Error& error) {
          return std::string(error.what());
        }
        return std::string();
      };
  EXPECT_EQ(error_of_ranks([](int rank, TrainingData& data, Checkpoint&) {
              data.target_name = rank == 0 ? "price" : "size";
            }),
            "rank 1 was called with other options or columns than rank 0; not the same: the target");
  EXPECT_EQ(error_of_ranks([](int rank, TrainingData& data, Checkpoint&) {
              data.text_columns = {{"colour", 0, {"blue", rank == 0 ? "red" : "green"}}};
            }),
            "rank 1 was called with other options or columns than rank 0; not the same: the columns of text");
  EXPECT_EQ(error_of_ranks([](int rank, TrainingData&, Checkpoint& checkpoint) {
              if (rank == 1) checkpoint.path = "elsewhere";
            }),
            "rank 1 was called with other options or columns than rank 0; not the same: the path of the "
            "checkpoint");
}

TEST(SeveralRanks, FindTheSameModelOfClasses) {
  AllOptions options;
  options.terms = 4;
  expect_same_model(Sample(2000, 2), options, {2, 3});
  AllOptions plain = untuned();
  plain.terms = 5;
  expect_same_model(Sample(2600, 2), plain, {1, 4});
}

TEST(SeveralRanks, FindTheSameModelOfSeveralOutputs) {
  AllOptions options = untuned("linear + hinge(knots=8)");
  options.terms = 4;
  expect_same_model(Sample(2600, 3), options, {2, 3});
}

// Folds of all rows, which no rank may have a copy of.
TEST(SeveralRanks, FindTheSameModelWithFolds) {
  AllOptions options = untuned("linear + hinge(knots=4)");
  options.terms = 3;
  options.memory_limit = 1;
  CrossValidationOptions folds;
  folds.folds = 3;
  folds.ridges = {0.1, 10};
  options.ridge = Ridge::cross_validated(folds);
  expect_same_model(Sample(6000), options, {2, 3, 4});
  folds.in_time_order = true;
  options.ridge = Ridge::cross_validated(folds);
  expect_same_model(Sample(6000), options, {3});
}

TEST(SeveralRanks, FindTheSameModelWithWeightsGroupsAndMissingValues) {
  Sample sample(4000);
  const double missing = std::numeric_limits<double>::quiet_NaN();
  for (Index i = 0; i < sample.x.rows; ++i) {
    sample.weights.push_back(static_cast<double>(i % 4));
    sample.groups.push_back(i / 40);
    if (i % 9 == 0 || i < 700) sample.x(i, 1) = missing;  // the first rank has none of this column
  }
  AllOptions options = untuned("linear + step(knots=8)");
  options.scale = ScaleKind::kQuantile;
  expect_same_model(sample, options, {2, 4});
}

TEST(SeveralRanks, MayHaveAnyNumberOfRows) {
  const Sample sample(3100);
  const AllOptions options = untuned();
  const std::string expected = model_to_json(fit(sample.data(), options).model);
  const std::array<std::array<Index, 5>, 3> all_ends = {
      {{0, 0, 3100, 3100, 3100}, {0, 3090, 3091, 3092, 3100}, {0, 1, 2, 3, 3100}}};
  for (const auto& ends : all_ends) {
    const Divide divide = [&](Index, const Communicator& communicator) {
      const auto rank = static_cast<std::size_t>(communicator.rank());
      return RowsOfRank{ends[rank], ends[rank + 1] - ends[rank]};
    };
    EXPECT_EQ(model_to_json(fit_of_ranks(sample, options, 4, divide).model), expected);
  }
}

TEST(SeveralRanks, MayBeMoreThanThereAreBlocks) {
  AllOptions options = untuned("linear");
  options.terms = 1;
  options.ridge = 1;
  expect_same_model(Sample(12), options, {2, 4});
}

TEST(SeveralRanks, HearOfBadDataTogether) {
  Sample sample(2000);
  sample.x(1700, 2) = std::numeric_limits<double>::infinity();
  const std::string expected = error_of(sample.data(), untuned());
  try {
    static_cast<void>(fit_of_ranks(sample, untuned(), 3));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), expected);
  }
  AllOptions other = untuned();
  other.method = paper::Method::kRks;
  EXPECT_THROW(static_cast<void>(fit_of_ranks(Sample(600), other, 2)), Error);
}

TEST(SeveralRanks, StopTogether) {
  const Sample sample(3000);
  AllOptions options = untuned();
  options.terms = 40;
  for (const int asking : {0, 1}) {
    const FitResult result =
        fit_of_ranks(sample, options, 2, rows_of_rank, {}, [&](int rank, const Progress& state) {
          return rank == asking && state.terms >= 3 ? ProgressAction::kStop : ProgressAction::kContinue;
        });
    EXPECT_TRUE(result.report.stopped);
    EXPECT_GE(result.model.terms.size(), 3U);
    EXPECT_LT(result.model.terms.size(), 40U);
  }
}

TEST(SeveralRanks, EndByTheClockTogether) {
  AllOptions options;
  options.time_limit = 0.3;
  options.effort = Effort::kThorough;
  const FitResult result = fit_of_ranks(Sample(2000), options, 3);
  EXPECT_FALSE(result.report.cut_short.empty());
}

// A fit that was ended goes on with another number of ranks.
TEST(SeveralRanks, GoOnFromACheckpoint) {
  std::string folder = (folder_in_memory() / "mfga_ranks_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const Sample sample(2000);
  AllOptions options;
  options.terms = 6;
  const std::string expected = model_to_json(fit(sample.data(), options).model);
  const Checkpoint checkpoint{.path = folder + "/f", .every = 0, .resume = true};
  // Each time somewhat later. What counts is what was found: callbacks also come by the clock.
  int ended = 0;
  for (int count = 1; count <= 3; ++count) {
    std::set<std::tuple<std::string, Index, double>> found;
    try {
      static_cast<void>(fit_of_ranks(
          sample, options, count, rows_of_rank, checkpoint, [&](int rank, const Progress& state) {
            if (rank > 0) return ProgressAction::kContinue;
            found.insert({state.phase, state.terms, state.risk});
            return std::ssize(found) > 4 * count ? ProgressAction::kAbort : ProgressAction::kContinue;
          }));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInterrupted) << error.what();
      EXPECT_TRUE(std::filesystem::exists(checkpoint.path));
      ++ended;
    }
  }
  EXPECT_GT(ended, 0);
  EXPECT_EQ(model_to_json(fit_of_ranks(sample, options, 2, rows_of_rank, checkpoint).model), expected);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

class RanksReadTest : public TableTest {
 protected:
  // The error of ranks that read a file each.
  static std::string error_of_files(const std::vector<std::string>& paths) {
    return error_of(ErrorKind::kBadData, [&] {
      run_on_ranks(static_cast<int>(paths.size()), [&](Communicator& communicator) {
        ReadOptions options;
        options.communicator = &communicator;
        static_cast<void>(TableFile(paths[static_cast<std::size_t>(communicator.rank())], options));
      });
    });
  }
};

TEST_F(RanksReadTest, SeveralRanksNeedTheSameFile) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 50000; ++i) text += fmt::format("{},{},{}\n", i % 97, i % 89, i % 7);
  const std::string file = write(text, "new.csv");
  expect_message(error_of_files({file, file, write(text + "1,2,3\n", "longer.csv")}),
                 {"not the same file", "rank 2"});
  text[text.size() - 2] = text[text.size() - 2] == '1' ? '2' : '1';
  expect_message(error_of_files({file, write(text, "old.csv")}),
                 {"not the same file", "rank 1", "not the same ones"});
  // All hear of it where one has no file.
  EXPECT_NE(
      error_of(ErrorKind::kIo,
               [&] {
                 run_on_ranks(2, [&](Communicator& communicator) {
                   ReadOptions options;
                   options.communicator = &communicator;
                   static_cast<void>(TableFile(communicator.rank() == 0 ? file : path("none.csv"), options));
                 });
               })
          .find("none.csv"),
      std::string::npos);
}

}  // namespace
}  // namespace mfga
