// What a program that uses the library may get wrong, and what it may do at the same time.
#include <gtest/gtest.h>

#include <thread>

#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

struct Sample {
  Matrix x = reference::random_matrix(400, 4, 1);
  std::vector<double> numbers;
  std::vector<double> classes;

  Sample() {
    const std::vector<double> noise = reference::random_vector(x.rows, 2);
    for (Index i = 0; i < x.rows; ++i) {
      numbers.push_back(x(i, 0) * x(i, 1) + x(i, 2) + 0.5 * noise[static_cast<std::size_t>(i)]);
      classes.push_back(numbers.back() > 0.3 ? 1 : 0);
    }
  }
};

AllOptions few_terms() {
  AllOptions options = plain_options();
  options.terms = 6;
  return options;
}

template <class Call>
void expect_error(ErrorKind kind, const std::string& part, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(LibraryUse, TargetsThatAreNoPositionsOfLabelsAreRefused) {
  Sample sample;
  for (const double wrong : {2.0, -1.0, 0.5, 1e300}) {
    sample.classes[7] = wrong;
    expect_error(ErrorKind::kBadData, "in row 7; expected the position of one of its 2 labels", [&] {
      static_cast<void>(fit({sample.x.view(), sample.classes, {}, "y", {"no", "yes"}}, few_terms()));
    });
  }
}

TEST(LibraryUse, ColumnsForTheInputsAreChecked) {
  const Sample sample;
  const Model model = fit({sample.x.view(), sample.numbers}, few_terms()).model;
  const std::vector<Index> right = {0, 1, 2, 3};
  EXPECT_EQ(model.scores(sample.x.view(), right), model.scores(sample.x.view()));
  expect_error(ErrorKind::kInvalidArgument, "3 columns for the model's 4 inputs", [&] {
    static_cast<void>(model.scores(sample.x.view(), std::vector<Index>{0, 1, 2}));
  });
  for (const Index wrong : {-1, 4}) {
    expect_error(ErrorKind::kInvalidArgument, "the input x2 is to be column", [&] {
      static_cast<void>(model.scores(sample.x.view(), std::vector<Index>{0, 1, wrong, 3}));
    });
  }
}

TEST(LibraryUse, FoldsThatCannotBeAreRefused) {
  const Sample sample;
  const auto validate = [&](const CrossValidationOptions& validation) {
    return [&, validation] {
      static_cast<void>(cross_validate({sample.x.view(), sample.numbers}, few_terms(), validation));
    };
  };
  expect_error(ErrorKind::kInvalidArgument, "6 folds are to be held out", validate({5, {1}, 6}));
  expect_error(ErrorKind::kInvalidArgument, "-1 folds are to be held out", validate({5, {1}, -1}));
  expect_error(ErrorKind::kInvalidArgument, "4 rows are to be divided into 5 folds",
               validate({5, {1}, 0, 4}));
  expect_error(ErrorKind::kInvalidArgument, "-1 rows are to be divided", validate({5, {1}, 0, -1}));
  expect_error(ErrorKind::kBadData, "2 rows cannot be divided into 2 folds", validate({2, {1}, 0, 2}));
  validate({5, {1}, 5, 5})();
}

TEST(LibraryUse, TuningNeedsARidgeAndSaysSoBeforeTheWork) {
  const Sample sample;
  AllOptions options = few_terms();
  options.tune = Tuning::by_steps(3);
  bool has_begun = false;
  const ProgressCallback note = [&](const Progress&) {
    has_begun = true;
    return ProgressAction::kContinue;
  };
  expect_error(ErrorKind::kInvalidArgument, "`tune` needs all of `ridges` above 0", [&] {
    static_cast<void>(cross_validate({sample.x.view(), sample.numbers}, options, {5, {0, 1, 10}}, note));
  });
  options.ridge = 0;
  expect_error(ErrorKind::kInvalidArgument, "`tune` needs a `ridge` above 0", [&] {
    static_cast<void>(fit({sample.x.view(), sample.numbers}, options, note));
  });
  EXPECT_FALSE(has_begun);
}

TEST(LibraryUse, TwoFitsAtOnceFindWhatEachFindsAlone) {
  const Sample sample;
  AllOptions options = few_terms();
  options.threads = 2;
  options.tune = Tuning::automatic();
  const auto learn = [&](const std::vector<double>& target) {
    return model_to_json(fit({sample.x.view(), target}, options).model);
  };
  const std::string numbers = learn(sample.numbers);
  const std::string classes = learn(sample.classes);
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::string other;
    std::thread second([&] { other = learn(sample.classes); });
    EXPECT_EQ(learn(sample.numbers), numbers);
    second.join();
    EXPECT_EQ(other, classes);
  }
}

}  // namespace
}  // namespace mfga
