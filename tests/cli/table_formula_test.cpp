// Predictions computed from the text of `mfga inspect --units table` alone.
#include <cmath>
#include <optional>
#include <sstream>

#include "cli/calculator.hpp"
#include "cli/tool.hpp"
#include "mfga/model.hpp"

namespace mfga {
namespace {

using Row = std::map<std::string, std::string>;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// What stands before and after the separator in a line that begins with the prefix.
std::optional<std::pair<std::string, std::string>> parts(const std::string& line, const std::string& prefix,
                                                         const std::string& separator) {
  const std::size_t at = line.find(separator, prefix.size());
  if (!line.starts_with(prefix) || at == std::string::npos) return std::nullopt;
  return std::pair(line.substr(prefix.size(), at - prefix.size()), line.substr(at + separator.size()));
}

// The first formula of the text for a row of the table.
double by_hand(const std::string& text, const Row& row) {
  std::istringstream stream(text);
  std::string line;
  std::string sum;
  std::map<std::string, double> centres;
  std::map<std::string, std::vector<std::pair<double, double>>> points;
  std::string interpolated;
  std::vector<std::pair<std::string, std::string>> definitions;
  while (std::getline(stream, line)) {
    if (line.starts_with("  = ")) {
      sum = line.substr(4);
    } else if (line.starts_with("  + ") || line.starts_with("  - ")) {
      sum += line.substr(1);
    } else if (const auto point = parts(line, "      ", ", ")) {
      points[interpolated].emplace_back(std::stod(point->first), std::stod(point->second));
    } else if (const auto centre = parts(line, "  ", " for ")) {
      centres[centre->second] = std::stod(centre->first);
    } else if (const auto quantile = parts(line, "q(", ") is on straight lines")) {
      interpolated = quantile->first;
    } else if (const auto definition = parts(line, "with ", " = ")) {
      definitions.push_back(*definition);
    }
  }
  Calculator calculator;
  const auto prepared = [&](std::string expression) {
    for (const auto& [name, held] : row) {
      expression = replaced(expression, "[" + name + " is missing]", held.empty() ? "1" : "0");
      for (const std::string level : {"red", "blue", "green"}) {
        const std::string value = fmt::format("[{} = \"{}\"]", name, level);
        const double centre_of_level = centres.contains(value) ? centres.at(value) : 0;
        expression = replaced(expression, value,
                              held.empty()    ? fmt::format("{}", centre_of_level)
                              : held == level ? "1"
                                              : "0");
      }
      expression = replaced(expression, "q(" + name + ")", "q" + name);
    }
    return expression;
  };
  for (const auto& [name, held] : row) {
    if (name == "colour") continue;
    const bool has_centre = centres.contains(name);
    const double value = !held.empty() ? std::stod(held) : has_centre ? centres.at(name) : 0;
    calculator.variables[name] = value;
    if (points.contains(name)) calculator.variables["q" + name] = calculator.line(value, points.at(name));
  }
  for (const auto& [name, expression] : definitions)
    calculator.variables[name] = calculator.compute(prepared(expression));
  return calculator.compute(prepared(sum));
}

class TableFormulaCommand : public ToolTest {
 protected:
  static std::vector<Row> rows(bool has_missing) {
    std::vector<Row> result;
    const std::vector<std::string> colours = {"red", "blue", "green"};
    for (int i = 0; i < 400; ++i) {
      const double t = i;
      Row row = {{"a", fmt::format("{:.4f}", 40 + 10 * std::sin(t))},
                 {"b", fmt::format("{:.3f}", 1000 * std::cos(3 * t))},
                 {"c", fmt::format("{:.5f}", std::exp(4 * std::sin(7 * t)))},
                 {"d", fmt::format("{}", i * 7 % 10)},
                 {"colour", colours[static_cast<std::size_t>(i * i % 3)]}};
      if (has_missing && i % 9 == 4) row["a"] = "";
      if (has_missing && i % 20 == 7) row["colour"] = "";
      result.push_back(row);
    }
    return result;
  }
  // Trains, and compares predictions, or scores, with those of the text.
  void compare(const Arguments& options, bool has_missing = false, const std::string& label = "") {
    const std::vector<Row> all = rows(has_missing);
    std::string csv = "a,b,c,d,colour,y\n";
    for (const Row& row : all) {
      const double a = row.at("a").empty() ? 30 : std::stod(row.at("a"));
      const double y = a + 0.01 * std::stod(row.at("b")) * std::stod(row.at("d")) +
                       (row.at("colour") == "red" ? 9 : 0) +
                       5 * std::max(0.0, std::log(std::stod(row.at("c"))));
      csv += fmt::format("{},{},{},{},{},{}\n", row.at("a"), row.at("b"), row.at("c"), row.at("d"),
                         row.at("colour"),
                         label.empty() ? fmt::format("{}", y)
                         : y > 50      ? label
                                       : "other");
    }
    const std::string file = write(csv);
    Arguments train = {"train", file, "--terms", "10", "--model", path("m.json"), "--quiet"};
    train.insert(train.end(), options.begin(), options.end());
    run_well(train);
    const std::string text = run_well({"inspect", path("m.json"), "--units", "table"}).out;
    run_well({"predict", path("m.json"), file, "-o", path("p.csv"), "--link", "--quiet"});
    const std::vector<std::string> predicted = lines("p.csv");
    for (std::size_t n = 0; n < all.size(); n += 7) {
      const double expected = std::stod(predicted[n + 1]);
      ASSERT_NEAR(by_hand(text, all[n]), expected, 1e-5 * std::max(1.0, std::abs(expected)))
          << "row " << n << "\n"
          << text.substr(0, 3000);
    }
  }
};

TEST_F(TableFormulaCommand, GivesThePredictions) {
  compare({"--scale", "standard", "--features",
           "linear + step(knots=20) + hinge(knots=20) + polynomial(degree=2)"});
  compare({"--features", "linear + step(knots=20) + hinge(knots=20)", "--scale", "quantile"});
  compare({"--features", "linear + hinge(knots=10) + landmark(count=20)", "--scale", "robust"});
  compare({"--features", "linear + gaussian(order=2)", "--tune", "no"});
  compare({});
}

TEST_F(TableFormulaCommand, KnowsMissingValuesAndClasses) {
  compare({"--features", "linear + step(knots=20) + hinge(knots=20)"}, true);
  compare({"--features", "linear + hinge(knots=20)"}, true, "high");
  expect_message(run_well({"inspect", path("m.json"), "--units", "table"}).out,
                 {"log-odds of y = other", "this is above 0"});
}

TEST_F(TableFormulaCommand, ModelsThatMixTheirInputsAreRefused) {
  compare({"--features", "linear"});
  Model model = load_model(path("m.json"));
  const Index d = std::ssize(model.inputs);
  model.mixing = Matrix(d, d);
  for (Index j = 0; j < d; ++j) model.mixing(j, j) = 1;
  save_model(model, path("mixed.json"));
  expect_message(run_refused({"inspect", path("mixed.json"), "--units", "table"}),
                 {"combinations", "full formula"});
}

}  // namespace
}  // namespace mfga
