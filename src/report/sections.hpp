// The parts of the page, one function each; a part that there is nothing for is empty.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mfga/explain.hpp"
#include "report/columns.hpp"
#include "report/importance.hpp"
#include "report/sample.hpp"

namespace mfga::report {

// What the parts of a page are made from.
struct Content {
  const Model& model;
  const Predictor& predictor;
  const Explainer& explainer;
  std::vector<Column> columns;
  std::optional<Sample> sample = {};          // nothing: there are no data
  std::vector<double> term_shares = {};       // with data
  std::optional<Importance> importance = {};  // with data
  int threads = 0;

  [[nodiscard]] bool has_targets() const { return sample && !sample->targets.empty(); }
  [[nodiscard]] const Column& column(Index c) const { return columns[static_cast<std::size_t>(c)]; }
};

[[nodiscard]] std::string formula_section(const Content& content);
[[nodiscard]] std::string size_section(const Content& content);
[[nodiscard]] std::string importance_section(const Content& content);
[[nodiscard]] std::string effects_section(const Content& content);
[[nodiscard]] std::string pairs_section(const Content& content);
[[nodiscard]] std::string explain_section(const Content& content);
[[nodiscard]] std::string quality_section(const Content& content);
[[nodiscard]] std::string fit_section(const Content& content);

// ---- what they share

// `body` is HTML.
[[nodiscard]] std::string section_html(std::string_view id, std::string_view title, std::string_view body);
// A name from a file, short enough to be shown, and escaped.
[[nodiscard]] std::string shown_text(std::string_view text);
// The same as plain text.
[[nodiscard]] std::string short_text(std::string_view text);
// 1 column, 2 columns
[[nodiscard]] std::string counted(std::size_t count, std::string_view one);
// A bar of a table, the part of a whole.
[[nodiscard]] std::string bar_html(double part);
// A bar from one part of a whole to another, with a class of the style sheet.
[[nodiscard]] std::string floating_bar_html(double left, double right, std::string_view style);
// How the losses of a fit are shown: mean squared errors of one target as their roots, in its units.
struct ShownLosses {
  std::string name;
  bool are_roots = false;
  [[nodiscard]] double value(double loss) const;
  [[nodiscard]] double standard_error(double loss, double error) const;
  [[nodiscard]] std::string text(double loss) const;
};
[[nodiscard]] ShownLosses shown_losses(const Model& model);

// Predictions as text: probabilities with four decimals, numbers with as many as tell those of a chart apart.
class ValueText {
 public:
  // Of one number; `range` is that of the numbers that stand together.
  explicit ValueText(const Model& model, double range = 0)
      : is_probability_(model.task == Task::kClassification), range_(range) {}
  [[nodiscard]] std::string operator()(double value) const;

 private:
  bool is_probability_;
  double range_;
};

// Colours of curves that are shown together, by position.
inline constexpr std::string_view kCurveStyles[] = {"blue", "orange", "green", "purple", "gold"};
inline constexpr std::size_t kMostCurves = 5;

}  // namespace mfga::report
