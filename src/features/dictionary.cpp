// The dictionary language: family(option=value, ...) + family + ...
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
      requests.push_back(parse_family());
    } while (accept('+'));
    skip_spaces();
    if (position_ != text_.size()) fail("expected + or the end");
    return requests;
  }

 private:
  FamilyRequest parse_family() {
    FamilyRequest request;
    request.family = parse_word("the name of a feature family");
    if (!accept('(') || accept(')')) return request;
    do {
      FamilyRequest::Option option;
      option.name = parse_word("the name of an option");
      if (!accept('=')) fail(fmt::format("expected = after {}", option.name));
      option.value = parse_word("a value");
      for (const auto& other : request.options) {
        if (other.name == option.name) fail(fmt::format("{} is given twice", option.name));
      }
      request.options.push_back(std::move(option));
    } while (accept(','));
    if (!accept(')')) fail("expected , or )");
    return request;
  }

  std::string parse_word(std::string_view expected) {
    skip_spaces();
    const std::size_t begin = position_;
    while (position_ < text_.size() && is_word_character(text_[position_])) ++position_;
    if (position_ == begin) fail(fmt::format("expected {}", expected));
    return std::string(text_.substr(begin, position_ - begin));
  }

  // '+' belongs to a word only inside a number such as 1e+3.
  [[nodiscard]] bool is_word_character(char c) const {
    if (c == '+') {
      return position_ >= 2 && (text_[position_ - 1] == 'e' || text_[position_ - 1] == 'E') &&
             std::isdigit(static_cast<unsigned char>(text_[position_ - 2])) != 0;
    }
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._*-").find(c) != std::string_view::npos;
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
                fmt::format("--features \"{}\": {} at position {}; an example: linear + gaussian(order=2)",
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
                  fmt::format("--features: there is no feature family \"{}\"; there are: {}", request.family,
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
