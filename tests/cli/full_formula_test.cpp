// Predictions computed from the text of `mfga inspect --full` alone, as a reader with a calculator would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <sstream>

#include "cli/calculator.hpp"
#include "cli/tool.hpp"
#include "features/expressions.hpp"
#include "mfga/model.hpp"

namespace mfga {
namespace {

// The texts in quotes in a line.
std::vector<std::string> texts_in(const std::string& line) {
  std::vector<std::string> texts;
  for (std::size_t begin = line.find('"'); begin != std::string::npos;) {
    std::size_t end = begin + 1;
    while (line[end] != '"') end += line[end] == '\\' ? 2 : 1;
    texts.push_back(Json::parse(line.substr(begin, end + 1 - begin)).get<std::string>());
    begin = line.find('"', end + 1);
  }
  return texts;
}

using Row = std::map<std::string, std::string>;  // column -> what it holds

// The score and, for numbers, the prediction of a row; for classes, the probability of the second label.
struct ByHand {
  double prediction = 0;
  std::string label;
};
ByHand compute_by_hand(const std::string& text, const Row& row) {
  Calculator calculator;
  ByHand result;
  std::istringstream stream(text);
  std::string line;
  std::string score;
  std::string interpolated;
  bool is_missing = false;
  std::vector<std::pair<double, double>> points;
  const auto finish_line = [&] {
    if (interpolated.empty()) return;
    double& z = calculator.variables[interpolated];
    z = is_missing ? 0 : calculator.line(z, points);
    interpolated.clear();
    points.clear();
  };
  while (std::getline(stream, line) && !line.starts_with("1. ")) {
  }
  while (std::getline(stream, line)) {
    if (line.starts_with("      ")) {  // a point of a line
      const std::size_t comma = line.find(',');
      points.emplace_back(std::stod(line), std::stod(line.substr(comma + 1)));
      continue;
    }
    finish_line();
    if (line.starts_with("    + ") || line.starts_with("    - ")) {
      score += line.substr(3);
      continue;
    }
    if (!score.empty()) {
      calculator.variables["score"] = calculator.compute(score);
      score.clear();
    }
    const std::size_t equals = line.find(" = ");
    if (const std::size_t colon = line.find(": value is "); colon != std::string::npos) {
      const std::vector<std::string> names = texts_in(line);
      const std::string& held = row.at(names.at(0));
      const bool tells = line.find("is missing") != std::string::npos;
      is_missing = held.empty() && !tells;
      calculator.variables["value"] = tells               ? (held.empty() ? 1 : 0)
                                      : is_missing        ? 0
                                      : names.size() == 1 ? std::stod(held)
                                                          : (held == names[1] ? 1 : 0);
    } else if (line.find("= line(") != std::string::npos) {
      interpolated = line.substr(4, equals - 4);
    } else if (line.starts_with("  score = ")) {
      score = line.substr(equals + 3);
    } else if (line.starts_with("  probability of ")) {
      result.prediction = calculator.compute(line.substr(line.find("\" = ") + 4));
    } else if (line.starts_with("  prediction = \"")) {
      const std::vector<std::string> labels = texts_in(line);
      result.label = labels.at(calculator.variables.at("score") > 0 ? 0 : 1);
    } else if (line.starts_with("  prediction = ")) {
      result.prediction = calculator.compute(line.substr(equals + 3));
    } else if (line.starts_with("  ") && equals != std::string::npos) {
      const std::size_t begin = line.find_first_not_of(' ');
      const std::string name = line.substr(begin, equals - begin);
      const bool is_input = line.starts_with("    ");
      calculator.variables[name] = is_input && is_missing ? 0 : calculator.compute(line.substr(equals + 3));
    }
  }
  return result;
}

const std::vector<std::string> kColours = {"blue", "red \"1\"", "yellow"};

// Five inputs: standard, stretched, robust, quantile, and a text.
Model model_of_inputs() {
  Model model;
  model.target_name = "price";
  model.n_columns = 7;
  model.text_columns = {{"colour", 4, kColours}};
  model.inputs = {{"a", 0, 0.25, 1.7}, {"b", 1, -3, 0.1}, {"c", 2, 1e9, 1e7}, {"d, e", 3, 0, 1}};
  model.inputs.push_back({level_name("colour", kColours[1]), 5, 0.3, 0.4});
  model.inputs[1].stretch = 0.37;
  model.inputs[2].warp.limit = 1.25;
  model.inputs[3].warp.knots = {-2, -0.5, 1, 7};
  model.inputs[3].warp.values = {-2.5, -0.25, 0.125, 2.5};
  model.inputs[3].stretch = 1.1;
  model.outputs[0].intercept = -1.0 / 3;
  return model;
}

void add_terms_of(const std::string& expression, Model& model) {
  const BoundCandidates bound(expression, 100, std::ssize(model.inputs));
  constexpr Index kMost = 7;
  const Index step = std::max<Index>(1, bound.candidates.size() / kMost);
  for (Index j = 0; j < bound.candidates.size(); j += step)
    model.terms.push_back({bound.candidates.atom(j), {std::sin(static_cast<double>(17 + j)) / 3}});
}

std::vector<Row> some_rows() {
  std::vector<Row> rows;
  const std::vector<double> values = reference::random_vector(4 * 12, 5);
  for (std::size_t n = 0; n < 12; ++n) {
    const double* v = values.data() + 4 * n;
    rows.push_back({{"a", fmt::format("{}", 0.25 + v[0])},
                    {"b", fmt::format("{}", -3 + 0.2 * v[1])},
                    {"c", fmt::format("{}", 1e9 + 1.5e7 * v[2])},
                    {"d, e", fmt::format("{}", 3 * v[3])},
                    {"colour", kColours[n % kColours.size()]}});
  }
  return rows;
}

std::string csv_field(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

class FullFormula : public ToolTest {
 protected:
  // The tool's predictions of some rows, and those that its text gives.
  void compare(const Model& model, const std::string& what, const std::vector<Row>& rows = some_rows()) {
    save_model(model, path("m.json"));
    std::string csv = "a,b,c,\"d, e\",colour\n";
    for (const Row& row : rows) {
      csv += fmt::format("{},{},{},{},{}\n", row.at("a"), row.at("b"), row.at("c"), row.at("d, e"),
                         csv_field(row.at("colour")));
    }
    const std::string table = write(csv, "rows.csv");
    const std::string text = run_well({"inspect", path("m.json"), "--full"}).out;
    const bool is_number = model.task == Task::kRegression;
    Arguments predict = {"predict", path("m.json"), table, "-o", path("p.csv"), "--quiet"};
    run_well(predict);
    const std::vector<std::string> predicted = lines("p.csv");
    predict.emplace_back("--proba");
    if (!is_number) run_well(predict);
    const std::vector<std::string> probabilities = is_number ? predicted : lines("p.csv");
    ASSERT_EQ(predicted.size(), rows.size() + 1);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const ByHand by_hand = compute_by_hand(text, rows[n]);
      const std::string& numbers = probabilities[n + 1];
      const double expected = std::stod(is_number ? numbers : numbers.substr(numbers.find(',') + 1));
      EXPECT_NEAR(by_hand.prediction, expected, 1e-9 * std::max(1.0, std::abs(expected)))
          << what << ", row " << n;
      if (!is_number) {
        EXPECT_EQ(by_hand.label, predicted[n + 1]) << what << ", row " << n;
      }
    }
  }
};

TEST_F(FullFormula, GivesThePredictionsOfEveryFamily) {
  std::set<std::string> families;
  for (const std::string& expression : kExpressions) {
    Model model = model_of_inputs();
    model.outputs[0].shift = 1000;
    model.outputs[0].scale = 2.5;
    add_terms_of(expression, model);
    for (const Term& term : model.terms) families.insert(term.atom.family);
    compare(model, expression);
  }
  EXPECT_EQ(families.size(), feature_families().size());
}

TEST_F(FullFormula, GivesTheProbabilitiesOfClassesAndKnowsMixing) {
  Model model = model_of_inputs();
  model.task = Task::kClassification;
  model.labels = {"no", "yes = \"1\""};
  for (const std::string& expression : kExpressions) {
    if (expression.find("order=5") == std::string::npos) add_terms_of(expression, model);
  }
  for (Term& term : model.terms) term.coefficients[0] /= 100;
  compare(model, "classes");
  model.loss = "squared_hinge";
  compare(model, "squared hinge");
  model.loss.clear();
  const Index d = std::ssize(model.inputs);
  model.mixing = reference::random_matrix(d, d, 3);
  compare(model, "mixing");
}

TEST_F(FullFormula, KnowsMissingValues) {
  Model model = model_of_inputs();
  model.inputs.insert(model.inputs.begin() + 1, {"a=missing", 0, 0.1, 0.3});
  model.inputs[1].is_missing = true;
  add_terms_of("linear + landmark(count=5)", model);
  std::vector<Row> rows = some_rows();
  for (std::size_t n = 0; n < rows.size(); n += 2)
    rows[n].at(std::vector<std::string>{"a", "b", "c", "d, e", "colour"}[n / 2 % 5]) = "";
  compare(model, "missing", rows);
}

TEST_F(FullFormula, GivesThePredictionsOfATunedModel) {
  std::string csv = "a,b,c,\"d, e\",colour,y\n";
  for (std::size_t n = 0; n < 300; ++n) {
    const double t = static_cast<double>(n);
    csv +=
        fmt::format("{},{},{},{},{},{}\n", std::sin(t), -3 + 0.2 * std::cos(3 * t),
                    1e9 + 1.5e7 * std::sin(5 * t), std::pow(std::sin(7 * t), 5), csv_field(kColours[n % 3]),
                    std::sin(t) * std::cos(3 * t) + (n % 3 == 1 ? 2 : 0) + std::max(0.0, std::sin(7 * t)));
  }
  run_well({"train", "--train", write(csv), "--terms", "12", "--ridge", "0.01", "--tune", "5", "--quiet",
            "--model", path("tuned.json")});
  compare(load_model(path("tuned.json")), "tuned");
}

// What `mfga inspect` prints of a model with these terms over inputs t and b.
class ShortFormula : public ToolTest {
 protected:
  [[nodiscard]] std::string shown(const std::vector<Term>& terms) {
    Model model;
    model.n_columns = 2;
    model.inputs = {{"t", 0, 1.6e9, 1e7}, {"b", 1, 0.5, 0.25}};
    model.terms = terms;
    model.outputs[0].intercept = 1e-17;
    save_model(model, path("m.json"));
    return run_well({"inspect", path("m.json")}).out;
  }
};

TEST_F(ShortFormula, TermsThatDifferLookDifferent) {
  const std::string text = shown({{{"step", 1, {0}, {1}, {0.12345678}}, {1}},
                                  {{"step", 1, {0}, {1}, {0.12346678}}, {1}},
                                  {{"step", 1, {0}, {1}, {0.5}}, {1}},
                                  {{"landmark", 1, {}, {}, {2, 0, 0, 0.25, -1.5}}, {1}}});
  expect_message(text, {"[t >= 0.1235]   at t = 1601234568\n", "[t >= 0.1235]   at t = 1601234668\n",
                        "[t >= 0.5]   at t = 1605000000\n", "near(b = -1.5, t = 0.25; 2)"});
  EXPECT_EQ(text.find("e+09"), std::string::npos) << text;
  const std::string closer =
      shown({{{"step", 1, {1}, {1}, {0.12345678}}, {1}}, {{"step", 1, {1}, {1}, {0.12345679}}, {1}}});
  expect_message(closer, {"[b >= 0.12345678]", "[b >= 0.12345679]"});
}

TEST_F(ShortFormula, WhatIsZeroButForRoundingIsZero) {
  const std::string text = shown({{{"step", 1, {1}, {1}, {-5.551e-17}}, {2}},
                                  {{"hinge", 1, {0}, {1}, {5.551e-17, 1}}, {1e-16}},
                                  {{"step", 1, {1}, {1}, {-2}}, {2}}});
  expect_message(text, {"= 0\n", "+ 2  [b >= 0]   at b = 0.5\n", "+ 0  max(0, t - 0)   at t = 1600000000\n",
                        "[b >= -2]   at b = 0\n"});
}

TEST_F(ShortFormula, EverySymbolIsExplained) {
  const std::map<std::string, std::string> legends = {
      {"near(", "near(p; s"},
      {"laplace", "near(p; s, laplace) ="},
      {"G(", "G(s) = exp("},
      {"matern(2.5)", "near(p; s, matern(2.5)) = (1 + t + t^2 / 3) exp(-t)"},
      {">=", "[condition] is 1"},
      {"B3(", "Bk(v; knots) is"},
      {"max(", "max(0, v) is v"},
      {"cos(", "radians"},
      {"sqrt(", "a term with sqrt(v) is 0"}};
  std::set<std::string> seen;
  for (const std::string& expression : kExpressions) {
    const BoundCandidates bound(expression, 100, 2);
    std::vector<Term> terms;
    for (Index j = 0; j < bound.candidates.size(); ++j) terms.push_back({bound.candidates.atom(j), {1}});
    const std::string text = shown(terms);
    const std::size_t where = text.find("\nwhere each column");
    ASSERT_NE(where, std::string::npos);
    for (const auto& [symbol, legend] : legends) {
      if (text.find(symbol) >= where) continue;
      seen.insert(symbol);
      EXPECT_NE(text.find(legend, where), std::string::npos) << expression << ": " << symbol;
    }
  }
  EXPECT_EQ(seen.size(), legends.size());
}

}  // namespace
}  // namespace mfga
