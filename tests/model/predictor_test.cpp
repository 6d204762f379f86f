// Predictors: rows by themselves and in tables, with every family, from several threads, without memory.
#include "mfga/predictor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>

#include "features/expressions.hpp"
#include "mfga/error.hpp"
#include "reference.hpp"

// Sanitizers bring their own new and delete.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MFGA_COUNTS_ALLOCATIONS

namespace {

thread_local long allocations = 0;
thread_local long allocations_left = -1;  // until there is no memory; less than 0: there always is

void count_allocation() {
  ++allocations;
  if (allocations_left < 0) return;
  if (allocations_left == 0) throw std::bad_alloc();
  --allocations_left;
}

}  // namespace

// The other forms of new and delete come down to these. The compiler must not look into one of a pair alone.
[[gnu::noinline]] void* operator new(std::size_t size) {
  count_allocation();
  if (void* memory = std::malloc(std::max<std::size_t>(size, 1))) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  count_allocation();
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/,
                                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
#endif

namespace mfga {
namespace {

constexpr Index kInputs = 5;
constexpr Index kColumns = kInputs + 2;

// How the inputs of a model are seen.
enum class Seen { kPlain, kStretched, kWarped, kMixed };

// Terms of every candidate of the dictionary, over columns of a table that has more of them.
Model model_of(const std::string& expression, Seen seen) {
  const BoundCandidates bound(expression, 100, kInputs);
  Model model;
  model.n_columns = kColumns;
  model.outputs[0].intercept = 0.75;
  for (Index j = 0; j < kInputs; ++j)
    model.inputs.push_back({"x" + std::to_string(j), j + (j > 1 ? 2 : 0), 0.1 * static_cast<double>(j), 1.3});
  if (seen == Seen::kStretched || seen == Seen::kMixed) {
    for (ModelInput& input : model.inputs) input.stretch = 0.5 + input.mean;
  }
  if (seen == Seen::kWarped) {
    model.inputs[1].warp.limit = 1.5;
    model.inputs[3].warp = {0, {-1.2, -0.3, 0.4, 1.1}, {-2, -0.5, 0.5, 2}};
  }
  if (seen == Seen::kMixed) model.mixing = reference::random_matrix(kInputs, kInputs, 8);
  const std::vector<double> coefficients = reference::random_vector(bound.candidates.size(), 4);
  for (Index j = bound.candidates.size(); j-- > 0;)
    model.terms.push_back({bound.candidates.atom(j), {coefficients[static_cast<std::size_t>(j)]}});
  return model;
}

Model classifier() {
  Model model = model_of("linear + hinge(knots=2)", Seen::kPlain);
  model.task = Task::kClassification;
  model.labels = {"no", "yes"};
  return model;
}

Matrix some_rows(Index rows) { return reference::random_matrix(rows, kColumns, 3); }

std::span<const double> row_of(const Matrix& x, Index n) {
  return {x.row(n), static_cast<std::size_t>(x.cols)};
}

template <class Call>
void expect_error(ErrorKind kind, const std::string& part, Call call) {
  try {
    static_cast<void>(call());
    ADD_FAILURE() << "no error; expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// A score that is off in its last bit is another one, as it would be in a table that is sorted by score.
TEST(Predictor, ARowGetsTheSameScoreByItselfAndInAnyTable) {
  const Matrix x = some_rows(kBlockRows + 21);
  for (const std::string& expression : kExpressions) {
    for (const Seen seen : {Seen::kPlain, Seen::kStretched, Seen::kWarped, Seen::kMixed}) {
      SCOPED_TRACE(expression + ", " + std::to_string(static_cast<int>(seen)));
      const Predictor predictor(model_of(expression, seen), 2);
      const std::vector<double> scores = predictor.scores(x.view());
      for (Index n = 0; n < x.rows; ++n)
        ASSERT_EQ(predictor.score(row_of(x, n)), scores[static_cast<std::size_t>(n)]) << n;
      for (const Index count : {1, 3, 4, 7, 30}) {
        const Index first = kBlockRows - 2;
        const std::vector<double> part =
            predictor.scores(x.view().middle_rows(first, std::min(count, x.rows - first)));
        for (std::size_t i = 0; i < part.size(); ++i)
          ASSERT_EQ(part[i], scores[static_cast<std::size_t>(first) + i]) << count << ' ' << i;
      }
    }
  }
}

TEST(Predictor, ScoresAreThoseOfTheFormula) {
  const Matrix x = some_rows(40);
  const Model model = model_of("linear + landmark(count=5, sigma=2) + hinge(knots=2)", Seen::kStretched);
  const Predictor predictor(model);
  for (Index n = 0; n < x.rows; ++n) {
    std::vector<double> seen;
    for (const ModelInput& input : model.inputs)
      seen.push_back((x(n, input.column) - input.mean) / input.deviation * input.stretch);
    double expected = model.outputs[0].intercept;
    for (const Term& term : model.terms)
      expected += term.coefficients[0] * reference::atom_value(term.atom, seen.data(), kInputs);
    EXPECT_NEAR(predictor.score(row_of(x, n)), expected, 1e-11 * (1 + std::abs(expected)));
  }
}

TEST(Predictor, PredictionsAndProbabilitiesComeFromScores) {
  const Matrix x = some_rows(40);
  Model numbers = model_of("linear", Seen::kPlain);
  numbers.outputs[0].shift = 10;
  numbers.outputs[0].scale = 3;
  const Predictor regression(numbers);
  const Predictor classification(classifier());
  const std::vector<double> scores = classification.scores(x.view());
  const std::vector<double> predictions = regression.predictions(x.view());
  const std::vector<double> classes = classification.predictions(x.view());
  const std::vector<double> probabilities = classification.probabilities(x.view());
  for (Index n = 0; n < x.rows; ++n) {
    const auto i = static_cast<std::size_t>(n);
    EXPECT_EQ(regression.predict(row_of(x, n)), predictions[i]);
    EXPECT_DOUBLE_EQ(predictions[i], 10 + 3 * regression.score(row_of(x, n)));
    EXPECT_EQ(classification.predict(row_of(x, n)), classes[i]);
    EXPECT_EQ(classes[i], scores[i] > 0 ? 1 : 0);
    EXPECT_EQ(classification.probability(row_of(x, n)), probabilities[i]);
    EXPECT_EQ(probabilities[i], Model::probability_from_score(scores[i]));
  }
  EXPECT_EQ(numbers.predict(x.view()), predictions);
  EXPECT_EQ(classifier().scores(x.view(), 1), scores);
  EXPECT_EQ(classifier().probabilities(x.view()), probabilities);
}

TEST(Predictor, ColumnsMayStandAnywhere) {
  const Matrix x = some_rows(600);
  const Model model = classifier();
  Matrix shuffled(x.rows, kInputs + 1);
  std::vector<Index> columns;
  for (Index j = 0; j < kInputs; ++j) {
    columns.push_back(kInputs - j);
    for (Index n = 0; n < x.rows; ++n)
      shuffled(n, columns.back()) = x(n, model.inputs[static_cast<std::size_t>(j)].column);
  }
  const Predictor predictor(model, 2);
  EXPECT_EQ(predictor.scores(shuffled.view(), columns), predictor.scores(x.view()));
  EXPECT_EQ(predictor.predictions(shuffled.view(), columns), predictor.predictions(x.view()));
  EXPECT_EQ(predictor.probabilities(shuffled.view(), columns), predictor.probabilities(x.view()));
  EXPECT_TRUE(predictor.scores(x.view().middle_rows(0, 0)).empty());
}

TEST(Predictor, ThreadsShareOne) {
  const Matrix x = some_rows(3 * kBlockRows);
  const Predictor predictor(model_of(kExpressions.back(), Seen::kMixed), 3);
  const std::vector<double> expected = Predictor(predictor.model(), 1).scores(x.view());
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (Index n = 0; n < x.rows; ++n)
        count += predictor.score(row_of(x, n)) == expected[static_cast<std::size_t>(n)] ? 0 : 1;
      for (int i = 0; i < 3; ++i) count += predictor.scores(x.view()) == expected ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(Predictor, CanBeMoved) {
  const Matrix x = some_rows(3);
  Predictor first(classifier());
  const double score = first.score(row_of(x, 1));
  Predictor second = std::move(first);
  EXPECT_EQ(second.score(row_of(x, 1)), score);
  first = std::move(second);
  EXPECT_EQ(first.score(row_of(x, 1)), score);
  EXPECT_EQ(first.model().labels[1], "yes");
}

TEST(Predictor, ARowByItselfTakesNoMemory) {
#ifdef MFGA_COUNTS_ALLOCATIONS
  const auto use = [] {
    const Matrix x = some_rows(50);
    const Predictor classes(classifier());
    long in_first_calls = 0;
    for (const std::string& expression : kExpressions) {
      for (const Seen seen : {Seen::kPlain, Seen::kWarped, Seen::kMixed}) {
        const Predictor predictor(model_of(expression, seen));
        long before = allocations;
        double sum = predictor.predict(row_of(x, 0)) + classes.probability(row_of(x, 0));
        in_first_calls += allocations - before;
        before = allocations;
        for (Index n = 0; n < x.rows; ++n) {
          sum += predictor.score(row_of(x, n)) + predictor.predict(row_of(x, n));
          sum += classes.probability(row_of(x, n));
        }
        EXPECT_EQ(allocations - before, 0) << expression;
        EXPECT_TRUE(std::isfinite(sum));
      }
    }
    EXPECT_GT(in_first_calls, 0) << "nothing is counted";
  };
  std::thread(use).join();  // which has nothing yet from the tests before
#else
  GTEST_SKIP() << "the sanitizer allocates by itself";
#endif
}

// Whatever of a first row finds no memory, the rows after it are predicted as if it had not been.
TEST(Predictor, GoesOnAfterARowThatFoundNoMemory) {
#ifdef MFGA_COUNTS_ALLOCATIONS
  const Matrix x = some_rows(kBlockRows + 21);
  Model model = classifier();
  model.labels = {"no", "yes", "perhaps"};
  model.outputs.resize(3);
  for (Term& term : model.terms) term.coefficients = {term.coefficients[0], 0.25, -term.coefficients[0]};
  const std::vector<double> expected = Predictor(model, 1).predictions(x.view());
  long refused = 0;
  for (bool is_refused = true; is_refused;) {
    const Predictor predictor(model, 1);
    is_refused = false;
    const auto expect_row = [&](Index n) {
      EXPECT_EQ(predictor.predict(row_of(x, n)), expected[static_cast<std::size_t>(n)]) << refused;
    };
    std::thread([&] {
      allocations_left = refused;
      try {
        static_cast<void>(predictor.predict(row_of(x, 0)));
        static_cast<void>(predictor.predictions(x.view().middle_rows(0, 3)));
        static_cast<void>(predictor.predictions(x.view()));  // with larger blocks than before
      } catch (const std::bad_alloc&) {
        is_refused = true;
      }
      allocations_left = -1;
      for (Index n = 0; n < 3; ++n) expect_row(n);
      const std::vector<double> few = predictor.predictions(x.view().middle_rows(0, 3));
      EXPECT_EQ(few, std::vector<double>(expected.begin(), expected.begin() + 3)) << refused;
    }).join();
    expect_row(3);
    refused += is_refused ? 1 : 0;
  }
  EXPECT_GT(refused, 20);
#else
  GTEST_SKIP() << "the sanitizer allocates by itself";
#endif
}

TEST(Predictor, RowsOfAnotherSizeAreRefused) {
  const Predictor predictor(model_of("linear", Seen::kPlain));
  const std::vector<double> row(kColumns - 1);
  expect_error(ErrorKind::kInvalidArgument, "the row has 6 values; the model was trained on 7 columns",
               [&] { return predictor.score(row); });
  expect_error(ErrorKind::kInvalidArgument, "x has 6 columns; the model was trained on 7", [&] {
    return predictor.scores(ConstMatrixView{row.data(), 1, kColumns - 1, kColumns - 1});
  });
  const Matrix x = some_rows(2);
  expect_error(ErrorKind::kInvalidArgument, "there are 2 columns for the model's 5 inputs; give one for each",
               [&] {
                 return predictor.predictions(x.view(), std::vector<Index>{0, 1});
               });
  expect_error(ErrorKind::kInvalidArgument, "the input x2 is to be column 7 of x, which has 7 columns", [&] {
    return predictor.scores(x.view(), std::vector<Index>{0, 1, 7, 3, 4});
  });

  Model model = predictor.model();
  model.inputs[4].column = kColumns;
  expect_error(ErrorKind::kInvalidArgument, "the input x4 is to be column 7 of x, which has 7 columns",
               [&] { return Predictor(model).score(row_of(x, 0)); });
}

TEST(Predictor, RowsWithoutAFiniteScoreAreNamed) {
  for (const Seen seen : {Seen::kPlain, Seen::kWarped, Seen::kMixed}) {
    Model model = model_of("linear + polynomial(degree=3)", seen);
    model.terms.resize(3);  // which do not look at every input
    const Predictor predictor(model);
    for (const double bad :
         {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}) {
      Matrix x = some_rows(600);
      x(550, 3) = bad;  // x3 is column 5, x2 column 4; the column 3 is no input
      EXPECT_EQ(predictor.scores(x.view()).size(), 600U);
      EXPECT_TRUE(std::isfinite(predictor.score(row_of(x, 550))));
      x(550, 4) = bad;
      const std::string what = fmt::format("the value of \"x2\", column 4 of x, is {}; expected", bad);
      expect_error(ErrorKind::kBadData, "row 550 (counted from 0): " + what,
                   [&] { return predictor.scores(x.view()); });
      expect_error(ErrorKind::kBadData, "the row: " + what, [&] { return predictor.score(row_of(x, 550)); });
      const std::vector<Index> columns = {0, 1, 4, 5, 6};
      expect_error(ErrorKind::kBadData, "t.csv:552: " + what, [&] {
        return predictor.predictions(x.view(), columns,
                                     [](Index row) { return fmt::format("t.csv:{}", row + 2); });
      });
    }
  }
  const Predictor predictor(model_of("polynomial(degree=3)", Seen::kPlain));
  Matrix x = some_rows(1);
  x(0, 4) = 1e200;
  expect_error(ErrorKind::kBadData,
               "the row: the prediction is not a finite number, for the row is too far from those of the "
               "training: its \"x2\" is 1e+200, and theirs were 0.2 on average with a deviation of 1.3",
               [&] { return predictor.score(row_of(x, 0)); });
  Model model = predictor.model();
  model.outputs[0].scale = 1e300;
  x(0, 4) = 1e50;
  expect_error(ErrorKind::kBadData, "has no finite prediction",
               [&] { return Predictor(model).predict(row_of(x, 0)); });
}

TEST(Predictor, OnlyClassesHaveProbabilities) {
  const Matrix x = some_rows(2);
  const Predictor predictor(model_of("linear", Seen::kPlain));
  const std::string part = "probabilities need a classification model";
  expect_error(ErrorKind::kInvalidArgument, part, [&] { return predictor.probability(row_of(x, 0)); });
  expect_error(ErrorKind::kInvalidArgument, part, [&] { return predictor.probabilities(x.view()); });
}

}  // namespace
}  // namespace mfga
