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

TEST(NumberText, Utf8IsTold) {
  for (const std::string_view good :
       {"", "plain",
        "gr\xC3\xB6\xC3\x9F"
        "e",
        "\xE2\x82\xAC", "\xED\x9F\xBF", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  // Latin-1, a lone or missing continuation, overlong forms, a surrogate, a number above the last character.
  for (const std::string_view bad :
       {"gr\xF6\xDF"
        "e",
        "\x80", "\xC3", "\xC3(", "\xE2\x82", "\xE2\x82(", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80",
        "\xF0\x80\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

}  // namespace
}  // namespace mfga
