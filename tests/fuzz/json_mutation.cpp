#include "fuzz/json_mutation.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace mfga::fuzz {
namespace {

using Json = nlohmann::ordered_json;

// One of all values inside, itself included.
Json* any_value(Json& json, std::mt19937& random) {
  Json* chosen = &json;
  while (chosen->is_structured() && !chosen->empty() && random() % 5 != 0) {
    auto child = chosen->begin();
    std::advance(child, static_cast<std::ptrdiff_t>(random() % chosen->size()));
    chosen = &*child;
  }
  return chosen;
}

Json any_scalar(std::mt19937& random) {
  constexpr std::array<double, 14> kNumbers = {
      0,      -0.0,         1,       -1,   0.5, 2, 1e-300, 1e300, 1.7976931348623157e308,
      5e-324, 4294967296.0, -9.3e18, 1e15, 3.25};
  constexpr std::array<const char*, 28> kTexts = {
      "",          "linear",   "gaussian", "polynomial",     "step",          "hinge",     "spline",
      "fourier",   "periodic", "additive", "landmark",       "nystrom",       "maclaurin", "regression",
      "logistic",  "softmax",  "huber",    "classification", "quantile(0.5)", "robust",    "quantile",
      "a=missing", "x0",       "\xc3\xa9", "\n\"\\'$`;--",   "poisson",       "gamma",     "squared_hinge"};
  switch (random() % 5) {
    case 0:
      return kTexts[random() % kTexts.size()];
    case 1:
      return static_cast<int>(random() % 12) - 2;
    case 2:
      return random() % 2 == 0 ? Json(nullptr) : Json(random() % 2 == 0);
    case 3:
      return std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80) - 60);
    default:
      return kNumbers[random() % kNumbers.size()];
  }
}

}  // namespace

std::string mutated_json(std::string_view text, std::mt19937& random) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return {};
  for (auto changes = 1 + random() % 3; changes > 0; --changes) {
    Json& value = *any_value(json, random);
    const Json other = *any_value(json, random);
    switch (random() % 6) {
      case 0:
        value = other;
        break;
      case 1:
        if (value.is_structured() && !value.empty()) {
          auto child = value.begin();
          std::advance(child, static_cast<std::ptrdiff_t>(random() % value.size()));
          value.erase(child);
          break;
        }
        [[fallthrough]];
      case 2:
        if (value.is_array()) {
          value.push_back(value.empty() || random() % 2 == 0 ? any_scalar(random)
                                                             : Json(value[random() % value.size()]));
          break;
        }
        [[fallthrough]];
      default:
        if (!value.is_structured() || random() % 16 == 0) value = any_scalar(random);
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mfga::fuzz
