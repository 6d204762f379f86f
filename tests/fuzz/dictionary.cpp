// The dictionary language: what is understood can be written and means the same.
#include <fmt/format.h>

#include <cmath>

#include "fuzz/targets.hpp"
#include "mfga/dictionary.hpp"

namespace mfga::fuzz {
namespace {

std::string written(const Dictionary& dictionary) {
  std::string text;
  for (const FamilyRequest& request : dictionary.requests()) {
    text += (text.empty() ? "" : " + ") + request.family;
    for (std::size_t i = 0; i < request.options.size(); ++i)
      text += fmt::format("{}{}={}", i == 0 ? "(" : ", ", request.options[i].name, request.options[i].value);
    if (!request.options.empty()) text += ')';
  }
  return text;
}

void run(std::string_view bytes) {
  static_cast<void>(refusal_of([&] {
    const Dictionary dictionary(bytes);
    const std::string text = written(dictionary);
    require_same(text, written(Dictionary(text)), "what is understood means the same again");
    require(dictionary.needs_sigma() == Dictionary(text).needs_sigma(), "the same widths are to be found");
    for (const Index inputs : {Index{0}, Index{1}, Index{3}, Index{90}, Index{1} << 31U}) {
      const double candidates = dictionary.candidates(inputs);
      require(candidates >= 0 && !std::isnan(candidates), "a number of candidates");
    }
  }));
}

}  // namespace

constexpr Target kDictionary = {"dictionary", 128, run};

}  // namespace mfga::fuzz
