#include "charts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mfga::charts {

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char character : text) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default: {
        // Control characters are not allowed in a page.
        const auto code = static_cast<unsigned char>(character);
        const bool control = (code < 0x20 && code != '\t' && code != '\n') || code == 0x7f;
        if (control)
          escaped += "\uFFFD";
        else
          escaped += character;
      }
    }
  }
  return escaped;
}

std::string with_thousands(Index number) {
  const std::string digits = fmt::to_string(number);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool begins_group = i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-';
    if (begins_group) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  // The limits lie where rounding would add a digit.
  int decimals = 0;
  if (size < 0.0995) {
    decimals = 3;
  } else if (size < 9.995) {
    decimals = 2;
  } else if (size < 99.95) {
    decimals = 1;
  }
  return fmt::format("{:.{}f}", value, decimals);
}

std::string number_text(double value) {
  constexpr double kFirstWithThousands = 9999.5;
  constexpr double kLastWithThousands = 1e8;
  const double size = std::abs(value);
  if (size < 1e-15) return "0";
  const std::string digits = size < kFirstWithThousands || size >= kLastWithThousands
                                 ? fmt::format("{:.4g}", size)
                                 : with_thousands(static_cast<Index>(std::llround(size)));
  return fmt::format("{}{}", value < 0 ? "\u2212" : "", digits);
}

std::string signed_text(double value) {
  return fmt::format("{}{}", value < 0 ? "" : "+", number_text(value));
}

int decimals_of(double size) {
  constexpr int kMost = 12;
  if (!(std::abs(size) > 0)) return 0;
  return static_cast<int>(std::clamp(3 - std::floor(std::log10(std::abs(size))), 0.0, double{kMost}));
}

std::string fixed_text(double value, int decimals) {
  constexpr double kFirstWithThousands = 9999.5;
  constexpr double kLastWithThousands = 1e15;
  const double size = std::abs(value);
  if (!(size < kLastWithThousands)) return number_text(value);
  const std::string digits = decimals == 0 && size >= kFirstWithThousands
                                 ? with_thousands(static_cast<Index>(std::llround(size)))
                                 : fmt::format("{:.{}f}", size, decimals);
  const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
  return fmt::format("{}{}", value < 0 && !is_zero ? "\u2212" : "", digits);
}

std::string signed_fixed_text(double value, int decimals) {
  return fmt::format("{}{}", value < 0 ? "" : "+", fixed_text(value, decimals));
}

std::string percent_text(double part) {
  const double percent = 100 * std::abs(part);
  return fmt::format("{}{:.{}f} %", part < 0 && percent >= 0.05 ? "\u2212" : "", percent,
                     percent < 99.95 ? 1 : 0);
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{} s", short_number(seconds));
  const auto whole = static_cast<Index>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

int shared_decimals(std::span<const double> values) {
  double smallest = 1;
  for (const double value : values) {
    if (value > 0) smallest = std::min(smallest, value);
  }
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(smallest))), 2, 4);
}

int count_decimals(std::string_view number) {
  const std::size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(number.size() - point - 1);
}

std::string pad_decimals(std::string_view number, int decimals) {
  constexpr std::string_view kFigureSpace = "\u2007";
  constexpr std::string_view kPunctuationSpace = "\u2008";
  std::string padded(number);
  const int own = count_decimals(number);
  if (own == 0 && decimals > 0) padded += kPunctuationSpace;
  for (int i = own; i < decimals; ++i) padded += kFigureSpace;
  return padded;
}

std::string join_words(std::span<const std::string> words) {
  std::string joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += i + 1 == words.size() ? " and " : ", ";
    joined += words[i];
  }
  return joined;
}

}  // namespace mfga::charts
