#include "mfga/statistics.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "model/noisy_sample.hpp"
#include "model/plain_fit.hpp"
#include "solve/dealt_folds.hpp"

namespace mfga {
namespace {

const std::string kFeatures = "linear + polynomial(degree=2, offset=0) + hinge(knots=5)";

FitOptions with_features(const std::string& features = kFeatures) {
  FitOptions options;
  options.features = features;
  return options;
}

FitOptions some_terms(Index terms = 8) {
  FitOptions options;
  options.terms = terms;
  options.ridge = 1;
  return options;
}

Statistics statistics_of(const TrainingData& data, const FitOptions& options = with_features()) {
  Statistics statistics(data, options);
  statistics.update(data.x, data.y, data.weights);
  return statistics;
}

FitResult fit_by_gram(const TrainingData& data, FitOptions options, const std::string& features = kFeatures) {
  options.features = features;
  options.engine = EngineKind::kGram;
  options.tune = Tuning::none();
  return fit(data, options);
}

void expect_same_model(const Model& a, const Model& b, double relative) {
  ASSERT_EQ(a.terms.size(), b.terms.size());
  double largest = std::abs(a.outputs.front().intercept);
  for (const Term& term : a.terms) largest = std::max(largest, std::abs(term.coefficients.front()));
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    EXPECT_EQ(a.terms[i].atom, b.terms[i].atom) << i;
    EXPECT_NEAR(a.terms[i].coefficients.front(), b.terms[i].coefficients.front(), relative * largest) << i;
  }
  EXPECT_NEAR(a.outputs.front().intercept, b.outputs.front().intercept, relative * largest);
}

template <class Call>
std::string error_of_call(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

ConstMatrixView rows_of(const Matrix& x, Index first, Index count) {
  return x.view().middle_rows(first, count);
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mfga_statistics_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    folder_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

TEST(Statistics, GiveTheModelOfTheGramEngine) {
  const NoisySample sample(2100);
  for (const std::string features :
       {"linear + polynomial(degree=2, offset=0) + hinge(knots=5)", "gaussian(order=2)",
        "linear + landmark(count=40) + step(knots=9)", "nystrom(count=30) + linear"}) {
    SCOPED_TRACE(features);
    const Statistics statistics = statistics_of(sample.data(), with_features(features));
    const FitResult expected = fit_by_gram(sample.data(), some_terms(), features);
    const FitResult found = statistics.fit(some_terms());
    expect_same_model(found.model, expected.model, 1e-9);
    EXPECT_EQ(found.report.engine, "gram");
    EXPECT_EQ(found.report.features, features);
    EXPECT_EQ(found.report.candidates, expected.report.candidates);
    EXPECT_EQ(found.report.sigmas, expected.report.sigmas);
    EXPECT_EQ(found.report.kernel_weights, expected.report.kernel_weights);
    EXPECT_EQ(found.model.training.rows, 2100);
    EXPECT_NEAR(found.model.training.risk, expected.model.training.risk, 1e-10);
    ASSERT_EQ(found.report.path.size(), expected.report.path.size());
    EXPECT_EQ(found.report.path.back().added, expected.report.path.back().added);
  }
}

TEST(Statistics, GiveItWithOtherOptionsOfASearch) {
  NoisySample sample(1500);
  for (double& y : sample.y) y += 100;  // a mean that matters
  const Statistics statistics = statistics_of(sample.data());
  const auto expect_same = [&](const std::string& name, const std::string& value) {
    SCOPED_TRACE(name + "=" + value);
    AllOptions options;
    static_cast<FitOptions&>(options) = some_terms();
    set(options, name, value);
    expect_same_model(statistics.fit(options).model, fit_by_gram(sample.data(), options).model, 1e-9);
  };
  expect_same("select", "gradient");
  expect_same("intercept", "no");
  expect_same("refine", "yes");
}

TEST(Statistics, KnowWeightsAndMissingValues) {
  NoisySample sample(900);
  for (Index i = 0; i < 100; ++i) sample.x(9 * i, 2) = std::nan("");
  std::vector<double> weights;
  for (std::size_t n = 0; n < sample.y.size(); ++n) weights.push_back(static_cast<double>(n % 4));
  TrainingData data = sample.data();
  data.weights = weights;
  const FitResult found = statistics_of(data).fit(some_terms());
  const FitResult expected = fit_by_gram(data, some_terms());
  expect_same_model(found.model, expected.model, 1e-9);
  for (std::size_t j = 0; j < found.model.inputs.size(); ++j)
    EXPECT_EQ(found.model.inputs[j].missing, expected.model.inputs[j].missing);
  EXPECT_EQ(found.model.training.rows, expected.model.training.rows);
}

TEST(Statistics, RowsWithoutWeightAreNotThere) {
  const NoisySample sample(600);
  const Statistics empty(sample.data(), with_features());
  Statistics with(empty);
  Statistics without(empty);
  std::vector<double> weights(600, 1.0);
  std::fill(weights.begin() + 200, weights.begin() + 300, 0.0);
  with.update(sample.x.view(), sample.y, weights);
  const TableView parts[] = {rows_of(sample.x, 0, 200), rows_of(sample.x, 300, 300)};
  std::vector<double> y(sample.y.begin(), sample.y.begin() + 200);
  y.insert(y.end(), sample.y.begin() + 300, sample.y.end());
  without.update(TableView::of_pieces(parts), y, std::vector<double>(500, 1.0));
  EXPECT_EQ(with.to_bytes(), without.to_bytes());
  EXPECT_EQ(with.rows(), 500);
}

TEST(Statistics, DoNotDependOnHowRowsAreBatched) {
  const NoisySample sample(3000);
  const Statistics empty({.x = rows_of(sample.x, 0, 300), .y = std::span(sample.y).first(300)},
                         with_features());
  Statistics at_once(empty);
  at_once.update(sample.x.view(), sample.y);
  Statistics in_batches(empty);
  Index first = 0;
  for (const Index count : {1, 299, 700, 13, 1987}) {
    in_batches.update(
        rows_of(sample.x, first, count),
        std::span(sample.y).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    first += count;
  }
  ASSERT_EQ(first, 3000);
  EXPECT_EQ(in_batches.rows(), at_once.rows());
  expect_same_model(in_batches.fit(some_terms()).model, at_once.fit(some_terms()).model, 1e-11);
  // So do the choices by folds, for a row's fold depends on its position alone.
  const FitResult chosen = in_batches.fit();
  const FitResult expected = at_once.fit();
  expect_same_model(chosen.model, expected.model, 1e-10);
  for (std::size_t i = 0; i < expected.cross_validation->mean.values.size(); ++i)
    EXPECT_NEAR(chosen.cross_validation->mean.values[i], expected.cross_validation->mean.values[i], 1e-11);
}

TEST(Statistics, MergeToTheSameBitsInAnyGrouping) {
  const NoisySample sample(1000);
  const Statistics empty(sample.data(), with_features());
  std::vector<Statistics> parts;
  for (Index part = 0; part < 4; ++part) {
    Statistics& own = parts.emplace_back(empty);
    own.update(rows_of(sample.x, 250 * part, 250),
               std::span(sample.y).subspan(static_cast<std::size_t>(250 * part), 250));
  }
  const auto merged = [](Statistics a, const Statistics& b) {
    a.merge(b);
    return a;
  };
  const std::string one_by_one = merged(merged(merged(parts[0], parts[1]), parts[2]), parts[3]).to_bytes();
  EXPECT_EQ(merged(merged(parts[0], parts[1]), merged(parts[2], parts[3])).to_bytes(), one_by_one);
  EXPECT_EQ(merged(parts[3], merged(merged(parts[2], parts[0]), parts[1])).to_bytes(), one_by_one);
  EXPECT_EQ(merged(merged(empty, parts[1]), merged(merged(parts[3], parts[2]), parts[0])).to_bytes(),
            one_by_one);

  const Statistics all = Statistics::from_bytes(one_by_one, "bytes");
  EXPECT_EQ(all.rows(), 1000);
  expect_same_model(all.fit(some_terms()).model, fit_by_gram(sample.data(), some_terms()).model, 1e-9);
}

TEST(Statistics, DoNotDependOnThreads) {
  const NoisySample sample(1300);
  FitOptions options = with_features();
  options.threads = 1;
  const Statistics one = statistics_of(sample.data(), options);
  options.threads = 3;
  const Statistics three = statistics_of(sample.data(), options);
  EXPECT_EQ(one.to_bytes(), three.to_bytes());
  EXPECT_EQ(model_to_json(one.fit().model), model_to_json(three.fit().model));
}

TEST(Statistics, RefuseToMergeWhatDiffers) {
  const NoisySample sample(300);
  Statistics own(sample.data(), with_features());
  const auto message = [&](const TrainingData& data, const FitOptions& options) {
    return error_of_call([&] { own.merge(Statistics(data, options)); });
  };
  TrainingData data = sample.data();
  data.columns = {"a", "b", "c", "d"};
  EXPECT_NE(message(data, with_features()).find("their columns"), std::string::npos);
  data = sample.data();
  data.target_name = "price";
  EXPECT_NE(message(data, with_features()).find("their target"), std::string::npos);
  data = {.x = rows_of(sample.x, 0, 200), .y = std::span(sample.y).first(200)};
  EXPECT_NE(message(data, with_features()).find("their scales"), std::string::npos);
  EXPECT_NE(message(sample.data(), with_features("linear + hinge(knots=4)")).find("their dictionary"),
            std::string::npos);
  FitOptions options = with_features();
  options.ridge = Ridge::cross_validated({.folds = 4});
  EXPECT_NE(message(sample.data(), options).find("their folds"), std::string::npos);
  own.merge(Statistics(sample.data(), with_features()));
}

TEST(Statistics, CrossValidateAsFitsOfTheOtherRowsWould) {
  const NoisySample sample(400);
  const Index folds = 4;
  FitOptions made = with_features();
  made.ridge = Ridge::cross_validated({.folds = folds});
  made.seed = 3;
  const Statistics empty(sample.data(), made);
  Statistics all(empty);
  all.update(sample.x.view(), sample.y);
  FitOptions options;
  options.terms = 6;
  options.ridge =
      Ridge::cross_validated({.folds = 99, .ridges = {0.1, 10}});  // the folds are those of the sums
  const FitResult found = all.fit(options);
  ASSERT_TRUE(found.cross_validation);
  EXPECT_EQ(found.cross_validation->folds, folds);
  DealtFolds dealt(folds, 3);
  for (Index ridge = 0; ridge < 2; ++ridge) {
    double mean = 0;
    for (Index fold = 0; fold < folds; ++fold) {
      std::vector<double> held_out(sample.y.size());
      std::vector<double> learned_from(sample.y.size());
      for (std::size_t n = 0; n < sample.y.size(); ++n) {
        const bool is_own = dealt.of(static_cast<Index>(n)) == fold;
        (is_own ? held_out : learned_from)[n] = 1;
      }
      Statistics others(empty);
      others.update(sample.x.view(), sample.y, learned_from);
      FitOptions fixed = some_terms(6);
      fixed.ridge = ridge == 0 ? 0.1 : 10;
      const std::vector<double> predicted = others.fit(fixed).model.predict(sample.x.view());
      double sum = 0;
      for (std::size_t n = 0; n < predicted.size(); ++n)
        sum += held_out[n] * (predicted[n] - sample.y[n]) * (predicted[n] - sample.y[n]);
      mean += sum / std::accumulate(held_out.begin(), held_out.end(), 0.0) / folds;
    }
    EXPECT_NEAR(found.cross_validation->mean(ridge, 5), mean, 1e-9) << ridge;
  }
}

TEST(Statistics, ChooseRidgeAndSize) {
  const NoisySample sample(2000);
  const NoisySample test(2000);
  const FitResult result = statistics_of(sample.data(), {}).fit();
  ASSERT_TRUE(result.cross_validation);
  EXPECT_EQ(result.cross_validation->folds, 5);
  EXPECT_FALSE(result.report.sizes.empty());
  EXPECT_GE(result.model.terms.size(), 2);
  EXPECT_LT(result.model.terms.size(), 60);
  EXPECT_EQ(result.model.training.ridge, result.cross_validation->chosen.ridge);
  // The variance of the noise is 0.03 if it is uniform in [-1, 1], and that of the target some 0.4.
  EXPECT_LT(result.model.training.risk, 0.12);
  // Too few rows to hold some out.
  const NoisySample few(40);
  const FitResult small = statistics_of(few.data(), with_features("linear")).fit();
  EXPECT_FALSE(small.cross_validation);
  EXPECT_EQ(small.model.training.ridge, 1);
}

TEST(Statistics, HaveADictionaryOfTheirOwnOfSomeThousandAtMost) {
  const NoisySample sample(500);
  const Statistics few(sample.data());
  EXPECT_EQ(few.features(), "linear + polynomial(degree=2, offset=0) + hinge(knots=32)");
  for (const Index columns : {1, 30, 90, 600}) {
    const Matrix x = reference::random_matrix(200, columns, 1);
    const std::vector<double> y = reference::random_vector(200, 2);
    const Statistics statistics({.x = x.view(), .y = y});
    EXPECT_LE(statistics.candidates(), 1000) << statistics.features();
    EXPECT_GE(statistics.candidates(), columns);
  }
}

TEST(Statistics, SurviveAFile) {
  const NoisySample sample(500);
  const Statistics statistics =
      statistics_of(sample.data(), with_features("linear + nystrom(count=9) + step(knots=3)"));
  const TemporaryFolder folder;
  const std::string path = folder.path("s.bin");
  save_statistics(statistics, path);
  Statistics loaded = load_statistics(path);
  EXPECT_EQ(loaded.to_bytes(), statistics.to_bytes());
  EXPECT_EQ(loaded.rows(), 500);
  EXPECT_EQ(loaded.features(), statistics.features());
  EXPECT_EQ(model_to_json(loaded.fit().model), model_to_json(statistics.fit().model));
  // And can be gone on with.
  Statistics more(statistics);
  more.update(sample.x.view(), sample.y);
  loaded.update(sample.x.view(), sample.y);
  EXPECT_EQ(loaded.to_bytes(), more.to_bytes());
  loaded.merge(statistics);
  EXPECT_EQ(loaded.rows(), 1500);
}

// Small enough for every byte to be damaged.
std::string small_bytes() {
  const NoisySample sample(60);
  FitOptions options = with_features("linear");
  options.ridge = Ridge::cross_validated({.folds = 2});
  return statistics_of(sample.data(), options).to_bytes();
}

std::string with_checksum(std::string bytes) {
  bytes.resize(bytes.size() - 8);
  const std::uint64_t sum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  bytes.append(8, '\0');
  std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
  return bytes;
}

TEST(Statistics, RefuseDamagedBytes) {
  const std::string bytes = small_bytes();
  ASSERT_EQ(with_checksum(bytes), bytes);
  static_cast<void>(Statistics::from_bytes(bytes, "bytes"));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(static_cast<void>(Statistics::from_bytes(bytes.substr(0, size), "bytes")), Error) << size;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 8)));
    EXPECT_THROW(static_cast<void>(Statistics::from_bytes(damaged, "bytes")), Error) << place;
  }
  EXPECT_THROW(static_cast<void>(Statistics::from_bytes(bytes + "x", "bytes")), Error);
}

// Whoever writes such a file on purpose knows checksums: it is an Error, or statistics that can be asked.
TEST(Statistics, RefuseHostileBytes) {
  const std::string bytes = small_bytes();
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = bytes;
    const std::size_t place = other.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    other.replace(place, from.size(), to);
    std::uint64_t header = 0;
    std::memcpy(&header, other.data() + 16, 8);
    header += to.size() - from.size();
    std::memcpy(other.data() + 16, &header, 8);
    return with_checksum(other);
  };
  const std::string counts = "\"count\":4";
  for (const std::string& other :
       {replaced(counts, "\"count\":5"), replaced(counts, "\"count\":1000000000000"),
        replaced(counts, "\"count\":-4"), replaced("\"folds\":2", "\"folds\":2000000000"),
        replaced("\"folds\":2", "\"folds\":1"), replaced("\"units\":[", "\"units\":[1e9,"),
        replaced("\"units\":[", "\"units\":[0,"), replaced("\"seed\":[0,", "\"seed\":[-1,"),
        replaced("regression", "classification"), replaced("linear", "liniar"),
        replaced("{\"model\"", "[{\"model\"")}) {
    EXPECT_THROW(static_cast<void>(Statistics::from_bytes(other, "bytes")), Error);
  }
  std::string endless = bytes;
  std::memset(endless.data() + 16, 0xff, 8);  // of the header
  EXPECT_THROW(static_cast<void>(Statistics::from_bytes(with_checksum(endless), "bytes")), Error);
  int loaded = 0;
  for (std::size_t place = 8; place + 8 < bytes.size(); ++place) {
    for (const int change : {1, 0x80, 0x7f}) {
      std::string other = bytes;
      other[place] = static_cast<char>(other[place] ^ change);
      try {
        const Statistics statistics = Statistics::from_bytes(with_checksum(other), "bytes");
        ++loaded;
        static_cast<void>(statistics.fit(some_terms(3)));
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(loaded, 0);
}

TEST(Statistics, RefuseFilesOfAnotherKind) {
  const TemporaryFolder folder;
  EXPECT_NE(
      error_of_call([&] { static_cast<void>(load_statistics(folder.path("none"))); }).find("no such file"),
      std::string::npos);
  EXPECT_NE(error_of_call([&] { static_cast<void>(load_statistics(folder.path(""))); }).find("regular file"),
            std::string::npos);
  for (const std::string content : {"", "a,b\n1,2\n", "MFGASTA", "MFGASTAT"}) {
    const std::string path = folder.path("file");
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_NE(error_of_call([&] { static_cast<void>(load_statistics(path)); }).find("of statistics"),
              std::string::npos);
  }
}

TEST(Statistics, RefuseWhatNeedsRows) {
  const NoisySample sample(200);
  const Statistics statistics = statistics_of(sample.data());
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"tune", "20"},
                                                        {"penalty", "logcosh"},
                                                        {"metric", "diagonal"},
                                                        {"search", "htp"},
                                                        {"nu", "norm"},
                                                        {"select", "normalised"},
                                                        {"engine", "lazy"},
                                                        {"loss", "huber"},
                                                        {"task", "classification"}}) {
    SCOPED_TRACE(name);
    AllOptions options;
    set(options, name, value);
    for (const std::string& message :
         {error_of_call([&] { static_cast<void>(statistics.fit(options)); }),
          error_of_call([&] { static_cast<void>(Statistics(sample.data(), options)); })}) {
      EXPECT_NE(message.find("`" + name), std::string::npos) << message;
      EXPECT_NE(message.find("the rows"), std::string::npos) << message;
    }
  }
  FitOptions other = some_terms();
  other.features = "linear";
  EXPECT_NE(error_of_call([&] { static_cast<void>(statistics.fit(other)); }).find("`features`"),
            std::string::npos);
  const Statistics empty(sample.data());
  EXPECT_NE(error_of_call([&] { static_cast<void>(empty.fit()); }).find("0 rows"), std::string::npos);
}

TEST(Statistics, RefuseTargetsTheyAreNotFor) {
  const NoisySample classes(100, true);
  EXPECT_NE(error_of_call([&] { static_cast<void>(Statistics(classes.data())); }).find("`task=regression`"),
            std::string::npos);
  FitOptions options;
  options.task = Task::kRegression;
  EXPECT_EQ(statistics_of(classes.data(), options).rows(), 100);
  const NoisySample sample(100);
  TrainingData data = sample.data();
  std::vector<double> two(sample.y);
  two.insert(two.end(), sample.y.begin(), sample.y.end());
  data.y = two;
  data.target_names = {"a", "b"};
  EXPECT_NE(error_of_call([&] { static_cast<void>(Statistics(data)); }).find("one target"),
            std::string::npos);
}

TEST(Statistics, StayWithinTheMemoryLimit) {
  const NoisySample sample(200);
  FitOptions options = with_features("linear + step(knots=100) + hinge(knots=100)");
  options.memory_limit = 10;
  const std::string message = error_of_call([&] { static_cast<void>(Statistics(sample.data(), options)); });
  EXPECT_NE(message.find("`features`"), std::string::npos) << message;
  EXPECT_NE(message.find("the limit is 10.0 MiB"), std::string::npos) << message;
}

// An update that is refused, or broken off, leaves everything as it was.
TEST(Statistics, AreUnchangedByUpdatesThatFail) {
  const NoisySample sample(400);
  Statistics statistics = statistics_of(sample.data());
  const std::string before = statistics.to_bytes();
  const auto expect_unchanged = [&](const std::string& part, auto call) {
    const std::string message = error_of_call(call);
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(statistics.to_bytes(), before) << message;
  };
  NoisySample bad(400);
  bad.x(7, 2) = std::numeric_limits<double>::infinity();
  expect_unchanged("x2 has the value inf in row 7", [&] { statistics.update(bad.x.view(), bad.y); });
  bad.x(7, 2) = 1e40;
  expect_unchanged("overflow", [&] { statistics.update(bad.x.view(), bad.y); });
  bad = NoisySample(400);
  bad.y[11] = std::nan("");
  expect_unchanged("in row 11", [&] { statistics.update(bad.x.view(), bad.y); });
  expect_unchanged("399 values", [&] { statistics.update(sample.x.view(), std::span(sample.y).first(399)); });
  const Matrix wide = reference::random_matrix(400, 5, 1);
  expect_unchanged("5 columns", [&] { statistics.update(wide.view(), sample.y); });
  std::vector<double> weights(400, 1);
  weights[5] = -1;
  expect_unchanged("row 5", [&] { statistics.update(sample.x.view(), sample.y, weights); });
  for (const ProgressAction action : {ProgressAction::kAbort, ProgressAction::kStop}) {
    expect_unchanged("", [&] {
      statistics.update(sample.x.view(), sample.y, {}, {}, [&](const Progress&) { return action; });
    });
  }
  statistics.update(sample.x.view(), sample.y);
  EXPECT_NE(statistics.to_bytes(), before);
}

TEST(Statistics, TakeColumnsFromAnywhere) {
  const NoisySample sample(300);
  Matrix turned(300, 6);
  const std::vector<Index> columns = {5, 0, 3, 1};
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 4; ++j) turned(i, columns[static_cast<std::size_t>(j)]) = sample.x(i, j);
  }
  const Statistics empty(sample.data(), with_features());
  Statistics direct(empty);
  Statistics chosen(empty);
  direct.update(sample.x.view(), sample.y);
  chosen.update(turned.view(), sample.y, {}, columns);
  EXPECT_EQ(chosen.to_bytes(), direct.to_bytes());
}

TEST(Statistics, EndAFitSoonWithWhatThereIs) {
  const NoisySample sample(500);
  const Statistics statistics = statistics_of(sample.data());
  const FitResult result = statistics.fit({}, [](const Progress&) { return ProgressAction::kStop; });
  EXPECT_TRUE(result.report.stopped);
  EXPECT_FALSE(result.report.cut_short.empty());
  EXPECT_THROW(static_cast<void>(statistics.fit({}, [](const Progress&) { return ProgressAction::kAbort; })),
               Error);
  FitOptions options;
  options.time_limit = 1e-6;
  EXPECT_FALSE(statistics.fit(options).report.cut_short.empty());
}

TEST(Statistics, TakeASampleWhoseTargetIsConstant) {
  const NoisySample sample(400);
  const std::vector<double> constant(100, 3.0);
  Statistics statistics({.x = rows_of(sample.x, 0, 100), .y = constant}, with_features());
  statistics.update(sample.x.view(), sample.y);
  EXPECT_LT(statistics.fit(some_terms()).model.training.risk, 0.2);
}

}  // namespace
}  // namespace mfga
