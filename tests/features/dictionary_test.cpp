#include "mfga/dictionary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "features/candidates.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

std::string error_of(const std::string& expression) {
  try {
    const Dictionary dictionary(expression);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  ADD_FAILURE() << expression << " was accepted";
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Dictionary, ReadsSumsWithOptions) {
  const Dictionary dictionary("  linear+gaussian( order = 2 ,sigma=auto*2 )+gaussian()");
  ASSERT_EQ(dictionary.requests().size(), 3U);
  EXPECT_EQ(dictionary.requests()[1].options[1].value, "auto*2");
  EXPECT_TRUE(dictionary.needs_sigma());
  EXPECT_FALSE(Dictionary("linear + gaussian(sigma=1e+1)").needs_sigma());
}

TEST(Dictionary, CountsTheCandidatesOfThePaper) {
  // M0 = C(d,2) + 2d + 1 for regression and 2d + 1 for classification.
  EXPECT_EQ(Dictionary("linear + gaussian(order=2, squares=no)").candidates(90), 4186);
  EXPECT_EQ(Dictionary("linear + gaussian(order=2, squares=no)").candidates(58), 1770);
  EXPECT_EQ(Dictionary("linear + gaussian(order=1)").candidates(122), 245);
  EXPECT_EQ(Dictionary("linear + gaussian(order=1)").candidates(178), 357);
  EXPECT_GT(Dictionary("gaussian(order=12)").candidates(10000), 1e38);
}

TEST(Dictionary, WeightsSumToOneAndScaleTheFeatures) {
  const Candidates uniform(Dictionary("linear + gaussian(order=0, sigma=1)"), {2, 1});
  EXPECT_DOUBLE_EQ(uniform.atom(0).nu, 0.5);
  const Candidates weighted(Dictionary("linear(nu=3) + gaussian(order=0, sigma=1)"), {2, 1});
  EXPECT_DOUBLE_EQ(weighted.atom(0).nu, 0.75);
  EXPECT_DOUBLE_EQ(weighted.atom(2).nu, 0.25);
  EXPECT_DOUBLE_EQ(describe(weighted.atom(0), std::vector<std::string>{"a", "b"}).factor, std::sqrt(0.75));
}

TEST(Dictionary, WidthsMayBeMultiplesOfTheAutomaticOne) {
  const Candidates candidates(
      Dictionary("gaussian(order=0) + gaussian(order=0, sigma=auto*2) + gaussian(order=0, sigma=0.8)"),
      {1, 3});
  EXPECT_EQ(candidates.sigmas(), (std::vector<double>{3, 6, 0.8}));
}

TEST(Dictionary, AListOfWidthsIsASumOfKernels) {
  const Dictionary dictionary("linear + gaussian(sigma=[auto*0.5, auto ,3e+0], order=0, nu=2)");
  ASSERT_EQ(dictionary.requests().size(), 4U);
  EXPECT_TRUE(dictionary.needs_sigma());
  const Candidates candidates(dictionary, {1, 2});
  EXPECT_EQ(candidates.sigmas(), (std::vector<double>{1, 2, 3}));
  EXPECT_DOUBLE_EQ(candidates.atom(0).nu, 1.0 / 7);
  for (Index j = 1; j < 4; ++j) EXPECT_DOUBLE_EQ(candidates.atom(j).nu, 2.0 / 7);
  EXPECT_FALSE(Dictionary("gaussian(sigma=[1])").needs_sigma());
}

TEST(Dictionary, SaysWhatIsWrongWithLists) {
  EXPECT_TRUE(contains(error_of("gaussian(order=[1, 2])"), "possible for sigma"));
  EXPECT_TRUE(contains(error_of("linear(sigma=[1, 2])"), "linear has no option"));
  EXPECT_TRUE(contains(error_of("gaussian(sigma=[1, 0])"), "positive"));
  EXPECT_TRUE(contains(error_of("gaussian(sigma=[1, 1])"), "the width 1 is given twice"));
  EXPECT_TRUE(contains(error_of("gaussian(sigma=[1], sigma=2)"), "sigma is given twice"));
  EXPECT_TRUE(contains(error_of("gaussian(sigma=auto(2))"), "auto*NUMBER"));
  for (const std::string bad : {"gaussian(sigma=[])", "gaussian(sigma=[1,])", "gaussian(sigma=[1",
                                "gaussian(sigma=[1)", "gaussian(sigma=[[1]])", "gaussian(sigma=1())",
                                "gaussian(sigma=1(2)", "gaussian(sigma=1(2(3)))", "gaussian(sigma=1 2)"}) {
    EXPECT_TRUE(contains(error_of(bad), "position")) << bad;
  }
}

TEST(Dictionary, SaysWhatIsWrongAndWhatExists) {
  EXPECT_TRUE(contains(error_of("sinc"), "there are: linear, polynomial, step, "));
  EXPECT_TRUE(contains(error_of("gaussian(width=2)"), "it has: order, squares, sigma, nu"));
  EXPECT_TRUE(contains(error_of("gaussian(order=-1)"), "0 to 12"));
  EXPECT_TRUE(contains(error_of("gaussian(order=2.5)"), "whole number"));
  EXPECT_TRUE(contains(error_of("gaussian(squares=maybe)"), "yes or no"));
  EXPECT_TRUE(contains(error_of("gaussian(sigma=0)"), "positive"));
  EXPECT_TRUE(contains(error_of("gaussian(sigma=auto2)"), "auto*NUMBER"));
  EXPECT_TRUE(contains(error_of("gaussian(sigma=nan)"), "positive"));
  EXPECT_TRUE(contains(error_of("linear(nu=-1)"), "positive"));
  EXPECT_TRUE(contains(error_of("gaussian(order=1, order=2)"), "twice"));
  for (const std::string bad : {"", "+", "linear +", "linear linear", "gaussian(", "gaussian(order)",
                                "gaussian(order=)", "gaussian(order=2", "gaussian(order=2,)", "(linear)"}) {
    EXPECT_TRUE(contains(error_of(bad), "position")) << bad;
  }
}

}  // namespace
}  // namespace mfga
