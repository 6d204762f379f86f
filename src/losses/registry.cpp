#include <fmt/format.h>

#include <array>
#include <charconv>
#include <numeric>

#include "losses/gamma.hpp"
#include "losses/huber.hpp"
#include "losses/logistic.hpp"
#include "losses/loss.hpp"
#include "losses/one_vs_rest.hpp"
#include "losses/poisson.hpp"
#include "losses/quantile.hpp"
#include "losses/softmax.hpp"
#include "losses/squared.hpp"
#include "losses/squared_hinge.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr double kUsualDelta = 1;
constexpr double kFewestClasses = 2;
constexpr double kMedian = 0.5;

// A loss without a parameter lives as long as the program.
std::shared_ptr<const Loss> not_owned(const Loss& loss) { return {std::shared_ptr<const Loss>(), &loss}; }

struct Kind {
  std::string_view name;
  std::string_view parameter;  // what it is called; empty: there is none
  double usual;                // of the parameter
  std::shared_ptr<const Loss> (*make)(double parameter);
};
constexpr std::array<Kind, 9> kKinds = {{
    {"squared", "", 0, [](double) { return not_owned(squared_loss()); }},
    {"logistic", "", 0, [](double) { return not_owned(logistic_loss()); }},
    {"huber", "delta", kUsualDelta, huber_loss},
    {"poisson", "", 0, [](double) { return not_owned(poisson_loss()); }},
    {"gamma", "", 0, [](double) { return not_owned(gamma_loss()); }},
    {"softmax", "classes", kFewestClasses, softmax_loss},
    {"quantile", "part", kMedian, quantile_loss},
    {"one_vs_rest", "classes", kFewestClasses, one_vs_rest_loss},
    {"squared_hinge", "", 0, [](double) { return not_owned(squared_hinge_loss()); }},
}};

[[noreturn]] void refuse(std::string_view name) {
  std::string all;
  for (const Kind& kind : kKinds) {
    all += all.empty() ? "" : ", ";
    all += kind.parameter.empty() ? std::string(kind.name)
                                  : fmt::format("{0} or {0}({1})", kind.name, kind.parameter);
  }
  throw Error(ErrorKind::kInvalidArgument, fmt::format("the loss is \"{}\"; expected one of {}", name, all));
}

}  // namespace

double TargetColumn::total_weight() const {
  return weights.empty() ? static_cast<double>(values.size())
                         : std::accumulate(weights.begin(), weights.end(), 0.0);
}

double TargetColumn::mean() const {
  if (weights.empty()) return std::accumulate(values.begin(), values.end(), 0.0) / total_weight();
  return std::inner_product(values.begin(), values.end(), weights.begin(), 0.0) / total_weight();
}

void multiply_by(const double* weights, Index count, double* values) {
  for (Index n = 0; n < count; ++n) values[n] *= weights[n];
}

std::span<const Loss* const> losses() {
  static const std::shared_ptr<const Loss> huber = huber_loss(kUsualDelta);
  static const std::shared_ptr<const Loss> softmax = softmax_loss(kFewestClasses);
  static const std::shared_ptr<const Loss> quantile = quantile_loss(kMedian);
  static const std::shared_ptr<const Loss> one_vs_rest = one_vs_rest_loss(kFewestClasses);
  static const std::array<const Loss*, kKinds.size()> all = {
      &squared_loss(), &logistic_loss(), huber.get(),       &poisson_loss(),      &gamma_loss(),
      softmax.get(),   quantile.get(),   one_vs_rest.get(), &squared_hinge_loss()};
  return all;
}

const Loss& loss_of_kind(std::string_view name) {
  const std::string_view wanted = name.substr(0, name.find('('));
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].name == wanted) return *losses()[i];
  }
  refuse(name);
}

std::shared_ptr<const Loss> find_loss(std::string_view name) {
  const std::size_t open = name.find('(');
  for (const Kind& kind : kKinds) {
    if (name.substr(0, open) != kind.name) continue;
    if (open == std::string_view::npos) return kind.make(kind.usual);
    if (kind.parameter.empty() || name.back() != ')') refuse(name);
    double parameter = 0;
    const char* const end = name.data() + name.size() - 1;
    const auto [stopped, problem] = std::from_chars(name.data() + open + 1, end, parameter);
    if (problem != std::errc() || stopped != end) refuse(name);
    return kind.make(parameter);
  }
  refuse(name);
}

}  // namespace mfga
