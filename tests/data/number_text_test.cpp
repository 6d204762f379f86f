#include "data/number_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

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

// The number at the begin of the text, read with much and with little behind it, must be strtod's.
void expect_nearest(const std::string& text) {
  char* expected_stop = nullptr;
  const double expected = std::strtod(text.c_str(), &expected_stop);
  for (const std::string behind : {"", ",", "\n1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"}) {
    const std::string line = text + behind;
    double value = 0;
    const char* const stop = scan_number(line.data(), line.data() + line.size(), value);
    ASSERT_NE(stop, nullptr) << line;
    EXPECT_EQ(stop - line.data(), expected_stop - text.c_str()) << line;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(expected)) << line;
  }
}

TEST(NumberText, NumbersAreTheNearestDoubles) {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.0",
                           "7",
                           "-7",
                           "1234567",
                           "12345678",
                           "123456789012345678901234567890",
                           "0.1",
                           "-0.3",
                           "49.94357",
                           "0.0000001",
                           "9999999.9999999",
                           "99999999.99999999",
                           "00000001.5",
                           "1.",
                           ".5",
                           "-.5",
                           "1e5",
                           "1.5e-5",
                           "1.5E+05",
                           "12345.6e7",
                           "1e",
                           "1.5e",
                           "1.5ex",
                           "1.2.3",
                           "1x",
                           "5-3",
                           "-0.1480007443985612",
                           "9007199254740993",
                           "9007199254740992.5",
                           "0.1000000000000000055511151231257827",
                           "2.2250738585072011e-308",
                           "4.9406564584124654e-324",
                           "1.7976931348623157e308",
                           "9007199.2547409",
                           "4503599.6273705",
                           "8388607.4999999",
                           "1.0000001",
                           "16777217.0",
                           "3.0000000000000004",
                           "1,5",
                           "1 5"}) {
    expect_nearest(text);
  }
}

TEST(NumberText, RandomNumbersAreTheNearestDoubles) {
  std::mt19937_64 random(1);
  const auto digits = [&](std::uint64_t most) {
    std::string text;
    const bool is_edge = random() % 8 == 0;  // near the next number of fewer digits
    for (std::uint64_t left = random() % most + 1; left > 0; --left)
      text += is_edge && left > 2 ? '9' : static_cast<char>('0' + random() % 10);
    return text;
  };
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random() % 2 == 0 ? "-" : "";
    text += digits(random() % 4 == 0 ? 20 : 8);
    if (random() % 8 != 0) text += "." + digits(random() % 4 == 0 ? 20 : 8);
    if (random() % 16 == 0) text += fmt::format("e{}", static_cast<int>(random() % 600) - 300);
    expect_nearest(text);
  }
  for (int i = 0; i < 50'000; ++i) {  // what printing a double gives must give it back
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) expect_nearest(fmt::format("{}", value));
    expect_nearest(fmt::format("{:.6g}", std::ldexp(static_cast<double>(random()), -60)));
  }
}

TEST(NumberText, NothingBeyondTheEndIsLookedAt) {
  const std::string line = "12345.67890123456789012345678901234567890";
  for (std::size_t length = 1; length < line.size(); ++length) {
    const std::vector<char> exact(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(length));
    double value = 0;
    EXPECT_EQ(scan_number(exact.data(), exact.data() + length, value), exact.data() + length);
    EXPECT_EQ(value, std::stod(line.substr(0, length)));
  }
}

TEST(NumberText, ShownTextsAreShortAndPrintable) {
  EXPECT_EQ(quoted_for_message("a\nb"), "\"a?b\"");
  EXPECT_EQ(quoted_for_message(std::string(40, 'x')), fmt::format("\"{:x>40}\"", ""));
  EXPECT_EQ(quoted_for_message(std::string(41, 'x')), fmt::format("\"{:x>40}...\"", ""));
  EXPECT_EQ(quoted_for_message("caf\xe9!"), "\"caf\\xE9!\"");
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
