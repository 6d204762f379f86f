// Text for the page: escaped, rounded, aligned.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mfga/views.hpp"

namespace mfga::charts {

// Safe in the text and in quoted attributes of HTML and SVG.
std::string escape_html(std::string_view text);

// 46371 -> 46,371
std::string with_thousands(Index number);

// Three significant digits, at most three decimals, no exponent: 0.012, 1.53, 24.1, 139.
std::string short_number(double value);

// Four significant digits: 0.01234, 12.34, 1234, 12,346, 1.235e+09.
std::string number_text(double value);
// The same with a sign, and a true minus.
std::string signed_text(double value);
// Decimals that show four significant digits of a number of this size, and as many of all that stand with it.
int decimals_of(double size);
// With so many decimals, and a true minus: 1998.40, 12,346.
std::string fixed_text(double value, int decimals);
// The same with a sign.
std::string signed_fixed_text(double value, int decimals);
// 12.3 %
std::string percent_text(double part);

// 83 s is 1 min 23 s.
std::string duration(double seconds);

// Decimals that show two significant digits of the smallest positive value, between 2 and 4.
int shared_decimals(std::span<const double> values);

int count_decimals(std::string_view number);

// Pads with spaces as wide as digits so that right-aligned numbers stand with their points below each other.
std::string pad_decimals(std::string_view number, int decimals);

// "a, b and c"
std::string join_words(std::span<const std::string> words);

}  // namespace mfga::charts
