// Computes the formulas that the tool prints.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <map>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mfga {

// A B-spline by the recursion that the text gives.
inline double b_spline(double v, std::span<const double> knots) {
  if (knots.size() == 2) return v >= knots[0] && v < knots[1] ? 1 : 0;
  const std::size_t n = knots.size() - 1;
  return (v - knots[0]) / (knots[n - 1] - knots[0]) * b_spline(v, knots.first(n)) +
         (knots[n] - v) / (knots[n] - knots[1]) * b_spline(v, knots.last(n));
}

// Computes the expressions of the text. A term with the root of a negative number is 0.
class Calculator {
 public:
  std::map<std::string, double> variables = {{"pi", std::numbers::pi}};

  double compute(const std::string& expression) {
    text_ = expression;
    at_ = 0;
    const double value = sum();
    skip();
    if (at_ != text_.size()) throw std::runtime_error("cannot read: " + text_.substr(at_));
    return value;
  }
  double line(double v, const std::vector<std::pair<double, double>>& points) {
    if (v <= points.front().first) return points.front().second;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto [x0, y0] = points[i - 1];
      const auto [x1, y1] = points[i];
      if (v <= x1) return y0 + (y1 - y0) * (v - x0) / (x1 - x0);
    }
    return points.back().second;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view symbol) {
    skip();
    if (!std::string_view(text_).substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void need(std::string_view symbol) {
    if (!take(symbol)) throw std::runtime_error(fmt::format("no {} before: {}", symbol, text_.substr(at_)));
  }
  double sum() {
    double value = 0;
    double sign = take("-") ? -1 : 1;
    do {
      value += sign * product();
      sign = take("+") ? 1 : take("-") ? -1 : 0;
    } while (sign != 0);
    return value;
  }
  double product() {
    double value = power();
    while (true) {
      if (take("*")) {
        value = value * power();
      } else if (take("/")) {
        value /= power();
      } else {
        break;
      }
    }
    if (!std::isnan(value)) return value;
    return 0;
  }
  double power() {
    const double base = factor();
    return take("^") ? std::pow(base, factor()) : base;
  }
  double factor() {
    skip();
    if (take("(")) {
      const double value = sum();
      need(")");
      return value;
    }
    if (take("[")) {
      const double left = sum();
      need(">=");
      const double right = sum();
      need("]");
      return left >= right ? 1 : 0;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      std::size_t length = 0;
      const double value = std::stod(text_.substr(at_), &length);
      at_ += length;
      return value;
    }
    std::string name;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)
      name += text_[at_++];
    if (!take("(")) return variables.at(name);
    std::vector<double> arguments = {sum()};
    while (take(",") || take(";")) arguments.push_back(sum());
    need(")");
    if (name[0] == 'B') return b_spline(arguments[0], std::span(arguments).subspan(1));
    if (name == "max") return std::max(arguments.at(0), arguments.at(1));
    if (name == "min") return std::min(arguments.at(0), arguments.at(1));
    static const std::map<std::string, double (*)(double)> functions = {
        {"sqrt", std::sqrt}, {"exp", std::exp}, {"log", std::log},
        {"cos", std::cos},   {"sin", std::sin}, {"abs", std::fabs}};
    return functions.at(name)(arguments.at(0));
  }

  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace mfga
