// The dictionary language: family(option=value, ...) + family + ..., where a value is a word, a call such as
// matern(1.5), or for sigma a list of widths in brackets.
#include "mfga/dictionary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "features/family.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  std::vector<FamilyRequest> parse() {
    std::vector<FamilyRequest> requests;
    do {
      parse_family(requests);
    } while (accept('+'));
    skip_spaces();
    if (position_ != text_.size()) fail("expected + or the end");
    return requests;
  }

 private:
  // Appends one request, or one for each width of a list.
  void parse_family(std::vector<FamilyRequest>& requests) {
    FamilyRequest request;
    std::vector<std::string> widths;
    request.family = parse_word("the name of a feature family", kNameCharacters);
    if (accept('(') && !accept(')')) {
      do {
        parse_option(request, widths);
      } while (accept(','));
      if (!accept(')')) fail("expected , or )");
    }
    if (widths.empty()) requests.push_back(request);
    for (const std::string& width : widths) {
      requests.push_back(request);
      requests.back().options.push_back({std::string(kSigmaOption.name), width});
    }
  }

  void parse_option(FamilyRequest& request, std::vector<std::string>& widths) {
    FamilyRequest::Option option;
    option.name = parse_word("the name of an option", kNameCharacters);
    const bool is_width = option.name == kSigmaOption.name;
    if (!accept('=')) fail(fmt::format("expected = after {}", option.name));
    for (const auto& other : request.options) {
      if (other.name == option.name) fail(fmt::format("{} is given twice", option.name));
    }
    if (is_width && !widths.empty()) fail(fmt::format("{} is given twice", option.name));
    if (accept('[')) {
      if (!is_width)
        fail(fmt::format("{} takes one value; a list in brackets is possible for sigma", option.name));
      do {
        widths.push_back(parse_value());
        if (std::count(widths.begin(), widths.end(), widths.back()) > 1)
          fail(fmt::format("the width {} is given twice", widths.back()));
      } while (accept(','));
      if (!accept(']')) fail("expected , or ]");
    } else {
      option.value = parse_value();
      request.options.push_back(std::move(option));
    }
  }

  // A word or a call, without its spaces.
  std::string parse_value() {
    std::string value = parse_word("a value", kValueCharacters);
    if (!accept('(')) return value;
    value += '(';
    do {
      if (value.back() != '(') value += ',';
      value += parse_word("a number", kValueCharacters);
    } while (accept(','));
    if (!accept(')')) fail("expected , or )");
    return value + ')';
  }

  // Besides letters and digits. No sum is inside of a family's parentheses, so values may have a + in them.
  static constexpr std::string_view kNameCharacters = "._*-";
  static constexpr std::string_view kValueCharacters = "._*-+";

  std::string parse_word(std::string_view expected, std::string_view characters) {
    skip_spaces();
    const std::size_t begin = position_;
    while (position_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[position_])) != 0 ||
                                        characters.find(text_[position_]) != std::string_view::npos))
      ++position_;
    if (position_ == begin) fail(fmt::format("expected {}", expected));
    return std::string(text_.substr(begin, position_ - begin));
  }

  bool accept(char c) {
    skip_spaces();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void skip_spaces() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0)
      ++position_;
  }

  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`features` \"{}\": {} at position {}; an example: linear + gaussian(order=2)",
                            text_, problem, position_ + 1));
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

Dictionary::Dictionary(std::string_view expression) : requests_(ExpressionParser(expression).parse()) {
  for (const FamilyRequest& request : requests_) {
    const FeatureFamily* family = find_feature_family(request.family);
    if (family == nullptr) {
      std::vector<std::string_view> names;
      for (const FeatureFamily* known : feature_families()) names.push_back(known->name());
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`features`: there is no feature family \"{}\"; there are: {}", request.family,
                              fmt::join(names, ", ")));
    }
    family->check(option_values(*family, request));
    static_cast<void>(kernel_weight(request));  // throws if it is wrong
  }
}

bool Dictionary::needs_sigma() const {
  return std::any_of(requests_.begin(), requests_.end(), [](const FamilyRequest& request) {
    const FeatureFamily& family = *find_feature_family(request.family);
    return family.needs_sigma(option_values(family, request));
  });
}

double Dictionary::candidates(Index n_inputs) const {
  double total = 0;
  for (const FamilyRequest& request : requests_) {
    const FeatureFamily& family = *find_feature_family(request.family);
    total += family.candidates(option_values(family, request), n_inputs);
  }
  return total;
}

}  // namespace mfga
