// One field of a table as a number: the quick ways to read it against strtod.
#include <clocale>
#include <cmath>
#include <cstdlib>

#include "data/number_text.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

bool is_decimal(std::string_view text) {
  return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

void run(std::string_view bytes) {
  const unsigned how = take_byte(bytes);
  double value = 0;
  if (how >= 128) {
    const NumberStyle style{how % 2 == 0 ? '.' : ',', how / 2 % 2 == 0, how / 4 % 2 == 0};
    const FieldContent content = classify_field(bytes, style, value);
    if (content == FieldContent::kFinite) require(std::isfinite(value), "a finite number is finite");
    return;
  }
  const FieldContent content = classify_field(bytes, value);
  if (content == FieldContent::kFinite) require(std::isfinite(value), "a finite number is finite");
  require(trim(trim(bytes)) == trim(bytes), "trimmed once is trimmed");
  static_cast<void>(is_utf8(bytes));
  require(is_utf8(quoted_for_message(bytes)), "a message is UTF-8");

  // The same text behind which there is more to look at, as in the middle of a line, is read another way.
  char line[128] = {};
  if (bytes.size() + kPlainNumberReach + 1 >= sizeof line || bytes.empty()) return;
  std::memcpy(line, bytes.data(), bytes.size());
  std::memset(line + bytes.size(), ',', kPlainNumberReach);
  double of_text = 0;
  double of_line = 0;
  const char* const end = scan_number(bytes.data(), bytes.data() + bytes.size(), of_text);
  const char* const line_end = line + bytes.size() + kPlainNumberReach;
  const char* const end_in_line = scan_number(line, line_end, of_line);
  require((end == nullptr) == (end_in_line == nullptr), "what follows does not make a number");
  if (end == nullptr) return;
  require(end - bytes.data() == end_in_line - line, "a number ends where it ends");
  require(are_same({&of_text, 1}, {&of_line, 1}), "both ways read the same number");
  const std::string number(bytes.data(), end);
  if (!is_decimal(number)) return;
  char* stop = nullptr;
  const double expected = std::strtod(number.c_str(), &stop);
  require(stop == number.c_str() + number.size(), "strtod reads as much");
  require(are_same({&of_text, 1}, {&expected, 1}), "the number is that of strtod");
}

}  // namespace

constexpr Target kNumbers = {"numbers", 64, run};

}  // namespace mfga::fuzz
