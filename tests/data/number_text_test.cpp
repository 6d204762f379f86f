#include "data/number_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mfga {
namespace {

TEST(NumberText, FieldsAreClassified) {
  double value = 0;
  EXPECT_EQ(classify_field(" +1.5e1\r", value), FieldContent::kFinite);
  EXPECT_EQ(value, 15.0);
  EXPECT_EQ(classify_field("-.5", value), FieldContent::kFinite);
  EXPECT_EQ(value, -0.5);
  EXPECT_EQ(classify_field("-inf", value), FieldContent::kNotFinite);
  EXPECT_EQ(classify_field("NaN", value), FieldContent::kNotFinite);
  EXPECT_EQ(classify_field("1e999", value), FieldContent::kNotFinite);
  EXPECT_EQ(classify_field(" \t", value), FieldContent::kEmpty);
  for (const char* text : {"abc", "1a", "1 2", "+-1", "++1", "+", "nano"}) {
    EXPECT_EQ(classify_field(text, value), FieldContent::kText) << text;
  }
}

TEST(NumberText, ShownTextsAreShortAndPrintable) {
  EXPECT_EQ(quoted_for_message("a\nb"), "\"a?b\"");
  EXPECT_EQ(quoted_for_message(std::string(40, 'x')), fmt::format("\"{:x>40}\"", ""));
  EXPECT_EQ(quoted_for_message(std::string(41, 'x')), fmt::format("\"{:x>40}...\"", ""));
  std::string accents;
  for (int i = 0; i < 41; ++i) accents += "\xC3\xA9";  // two bytes each
  EXPECT_EQ(quoted_for_message(accents), fmt::format("\"{}...\"", accents.substr(0, 80)));
}

}  // namespace
}  // namespace mfga
