// The page about a model: as text, for every kind of model; and as a browser lays it out.
#include "mfga/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "browser.hpp"
#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "reference.hpp"
#include "report/curves.hpp"
#include "report/effects.hpp"
#include "report/importance.hpp"
#include "report/sections.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 400;

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size()))
    ++found;
  return found;
}

enum class Kind { kNumber, kTwoClasses, kThreeClasses, kTwoTargets, kCounts };

// A number, another with missing values, a text of three levels with names that must be escaped; a product of
// the first two matters.
struct Fitted {
  Matrix x = reference::random_matrix(kRows, 5, 3);
  std::vector<double> y;
  TrainingData data;
  Model model;

  explicit Fitted(Kind kind) {
    const std::vector<double> noise = reference::random_vector(kRows, 4);
    std::vector<double> second;
    for (Index n = 0; n < kRows; ++n) {
      for (Index level = 0; level < 3; ++level) x(n, 2 + level) = n % 3 == level ? 1 : 0;
      const double value =
          x(n, 0) * x(n, 1) + x(n, 0) + (n % 3 == 1 ? 1.0 : 0.0) + 0.3 * noise[static_cast<std::size_t>(n)];
      y.push_back(kind == Kind::kTwoClasses     ? (value > 0.3 ? 1 : 0)
                  : kind == Kind::kThreeClasses ? (value > 1   ? 2
                                                   : value > 0 ? 1
                                                               : 0)
                  : kind == Kind::kCounts       ? std::floor(std::exp(std::min(value, 3.0)))
                                                : value);
      second.push_back(100 * x(n, 1));
      if (n % 10 == 0) x(n, 1) = std::numeric_limits<double>::quiet_NaN();
    }
    data = {.x = x.view(), .y = y, .columns = {"<b>first", "second", "t=a", "t=b&", "t=c"}};
    data.target_name = "the \"target\"";
    data.text_columns = {{"t", 2, {"a", "b&", "c"}}};
    if (kind == Kind::kTwoTargets) {
      y.insert(y.end(), second.begin(), second.end());
      data.y = y;
      data.target_names = {"one", "two"};
      data.target_name = "one,two";
    }
    FitOptions options{.features = "linear + hinge(knots=5) + polynomial(degree=2)", .terms = 8};
    options.tune = Tuning::none();
    options.threads = 2;
    if (kind == Kind::kTwoClasses || kind == Kind::kThreeClasses) options.task = Task::kClassification;
    if (kind == Kind::kCounts) options.loss = "poisson";
    model = fit(data, options).model;
  }
  [[nodiscard]] ReportData rows() const { return {.x = x.view(), .targets = y, .name = "rows <of> a test"}; }
  [[nodiscard]] std::string page(const ReportOptions& options = {}) const {
    return report_page(model, rows(), options);
  }
};

void expect_well_formed(const std::string& html) {
  for (const std::string_view word : {"<script", "<link", "<img", "http:", "https:", "@import", "url(",
                                      "<b>first", "<of>", "b&<", ">nan<", ">inf<", ">-nan<"})
    EXPECT_EQ(count(html, word), 0U) << word;
  for (const std::string_view element : {"section", "figure", "details", "table", "svg", "div", "dl"}) {
    EXPECT_EQ(count(html, fmt::format("<{}>", element)) + count(html, fmt::format("<{} ", element)),
              count(html, fmt::format("</{}>", element)))
        << element;
  }
  // Every chart has words, and an id of its own.
  EXPECT_EQ(count(html, "<svg"), count(html, "<title id="));
  EXPECT_EQ(count(html, "<svg"), count(html, "<desc id="));
  EXPECT_EQ(count(html, "<desc id="), count(html, "aria-labelledby=\"") - count(html, "<section"));
  // And its numbers as a table.
  EXPECT_EQ(count(html, "<svg"), count(html, "<summary>Numbers</summary>"));
  EXPECT_LT(html.size(), 500000U);
}

std::vector<std::string> headings(const std::string& html) {
  std::vector<std::string> all;
  for (std::size_t at = html.find("<section id=\""); at != std::string::npos;
       at = html.find("<section id=\"", at + 1)) {
    const std::size_t begin = at + std::string_view("<section id=\"").size();
    all.push_back(html.substr(begin, html.find('"', begin) - begin));
  }
  return all;
}

const std::vector<std::string> kAllParts = {"formula", "quality", "importance", "effects",
                                            "pairs",   "explain", "size",       "fit"};

TEST(Report, HasAllPartsForEveryKindOfModel) {
  for (const Kind kind :
       {Kind::kNumber, Kind::kTwoClasses, Kind::kThreeClasses, Kind::kTwoTargets, Kind::kCounts}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const std::string html = Fitted(kind).page();
    expect_well_formed(html);
    EXPECT_EQ(headings(html), kAllParts);
    const bool is_of_classes = kind == Kind::kTwoClasses || kind == Kind::kThreeClasses;
    EXPECT_EQ(count(html, "<h3>Confusion matrix</h3>"), is_of_classes ? 1U : 0U);
    EXPECT_EQ(count(html, "<h3>ROC curve</h3>"), is_of_classes ? 1U : 0U);
    EXPECT_EQ(count(html, "<h3>Distribution of the residuals</h3>"), is_of_classes               ? 0U
                                                                     : kind == Kind::kTwoTargets ? 2U
                                                                                                 : 1U);
  }
}

TEST(Report, TargetsHaveCoefficientsOfTheirOwn) {
  const Fitted fitted(Kind::kTwoTargets);
  const std::string html = fitted.page();
  EXPECT_EQ(count(html, "<h1>A model of one and two</h1>"), 1U);
  EXPECT_EQ(count(html, "predicts one and two."), 1U);
  EXPECT_GE(
      count(html,
            "<th scope=\"col\">one</th><th scope=\"col\">two</th><th scope=\"col\" class=\"text\">term</th>"),
      1U);
  EXPECT_EQ(count(html, "<dt>mean R\u00b2</dt>"), 1U);
}

std::vector<double> numbers_after(std::string_view text, std::string_view word) {
  std::vector<double> numbers;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    numbers.push_back(std::atof(text.data() + at + word.size()));
  return numbers;
}

TEST(Report, TheBarsOfAnExplanationGoOnFromEachOther) {
  const std::string html = Fitted(Kind::kNumber).page();
  EXPECT_EQ(count(html, "<table class=\"waterfall\">"), 2U);
  const std::size_t begin = html.find("<table class=\"waterfall\">");
  const std::string_view table = std::string_view(html).substr(begin, html.find("</table>", begin) - begin);
  const std::vector<double> left = numbers_after(table, "style=\"left:");
  const std::vector<double> width = numbers_after(table, "%;width:");
  ASSERT_GE(left.size(), 4U);
  ASSERT_EQ(left.size(), width.size());
  EXPECT_EQ(count(table, "floating mark"), 2U) << "the average and the score";
  EXPECT_EQ(width.front(), 0);
  double sum = left.front();
  double moved = 0;
  std::size_t at = 0;
  for (std::size_t i = 1; i + 1 < left.size(); ++i) {
    at = table.find("floating ", at) + 1;
    const bool is_down = table.substr(table.find("floating ", at), 15) == "floating orange";
    EXPECT_NEAR(is_down ? left[i] + width[i] : left[i], sum, 0.15) << i;
    sum += is_down ? -width[i] : width[i];
    moved += width[i];
  }
  EXPECT_NEAR(sum, left.back(), 0.15);
  EXPECT_GE(moved, 100) << "they take the whole width";
}

TEST(Report, PredictionsAreToldApart) {
  Model model;
  const report::ValueText year(model, 1.2);
  EXPECT_EQ(year(1998.4321), "1998.43");
  EXPECT_EQ(report::ValueText(model)(1998.4321), "1998");
  EXPECT_EQ(report::ValueText(model, 30000)(123456.7), "123,457");
  model.task = Task::kClassification;
  const report::ValueText probability(model, 0.5);
  EXPECT_EQ(probability(0.25), "0.2500");
  EXPECT_EQ(probability(6e-15), "<0.0001");
  EXPECT_EQ(probability(1 - 1e-9), ">0.9999");
  EXPECT_EQ(probability(0), "0.0000");
}

TEST(Report, SaysThatRowsMayBeThoseOfTheTraining) {
  const Fitted fitted(Kind::kNumber);
  constexpr std::string_view kWords = "on its training rows it looks better";
  EXPECT_EQ(count(fitted.page(), kWords), 1U);
  const ReportData some{.x = fitted.x.view().middle_rows(0, 300), .targets = std::span(fitted.y).first(300)};
  EXPECT_EQ(count(report_page(fitted.model, some), kWords), 0U);
}

TEST(Report, NamesFromFilesAreEscaped) {
  const std::string html = Fitted(Kind::kNumber).page({.title = "<i>title</i>"});
  for (const std::string_view text :
       {"&lt;b&gt;first", "b&amp;", "rows &lt;of&gt; a test", "&lt;i&gt;title&lt;/i&gt;"})
    EXPECT_GT(count(html, text), 0U) << text;
}

TEST(Report, WithoutDataThereIsWhatNeedsNone) {
  const Fitted fitted(Kind::kNumber);
  const std::string html = report_page(fitted.model);
  expect_well_formed(html);
  EXPECT_EQ(headings(html), (std::vector<std::string>{"formula", "importance", "size", "fit"}));
  EXPECT_EQ(count(html, "made without data"), 1U);
}

TEST(Report, WithoutTargetsNothingIsSaidAboutErrors) {
  const Fitted number(Kind::kNumber);
  expect_well_formed(report_page(number.model, ReportData{.x = number.x.view()}));
  const Fitted fitted(Kind::kTwoClasses);
  const std::string html = report_page(fitted.model, ReportData{.x = fitted.x.view()});
  expect_well_formed(html);
  EXPECT_EQ(count(html, "id=\"quality\""), 0U);
  EXPECT_EQ(count(html, "growth of"), 0U);
  EXPECT_GT(count(html, "id=\"effects\""), 0U);
}

TEST(Report, SaysSoWhenRowsAreDrawn) {
  const Fitted fitted(Kind::kNumber);
  const std::string html = fitted.page({.most_rows = 100});
  EXPECT_EQ(count(html, "Measured on 100 of 400 rows, drawn at random"), 1U);
  EXPECT_EQ(html, fitted.page({.most_rows = 100, .threads = 1})) << "the page is the same every time";
}

TEST(Report, ModelsWithoutTermsHaveAPage) {
  Model model;
  model.n_columns = 1;
  const std::string html = report_page(model);
  expect_well_formed(html);
  const Matrix x(3, 1);
  const std::vector<double> y = {1, 2, 3};
  expect_well_formed(report_page(model, ReportData{.x = x.view(), .targets = y}));
}

TEST(Report, RowsOfOneClassAndOneRowHaveAPage) {
  const Fitted fitted(Kind::kTwoClasses);
  const std::vector<double> ones(kRows, 1.0);
  expect_well_formed(report_page(fitted.model, ReportData{.x = fitted.x.view(), .targets = ones}));
  expect_well_formed(report_page(
      fitted.model, ReportData{.x = fitted.x.view().middle_rows(0, 1), .targets = std::span(ones).first(1)}));
}

TEST(Report, WideTablesAndLongNamesStaySmall) {
  constexpr Index kColumns = 300;
  const Matrix x = reference::random_matrix(200, kColumns, 8);
  std::vector<double> y;
  for (Index n = 0; n < x.rows; ++n) {
    double sum = 0;
    for (Index j = 0; j < kColumns; ++j) sum += x(n, j) / static_cast<double>(1 + j);
    y.push_back(sum);
  }
  TrainingData data{.x = x.view(), .y = y};
  for (Index j = 0; j < kColumns; ++j) data.columns.push_back(std::string(2000, 'n') + std::to_string(j));
  FitOptions options{.features = "linear + fourier(count=50)", .terms = 100};
  options.tune = Tuning::none();
  const Model model = fit(data, options).model;
  const std::string html = report_page(model, ReportData{.x = x.view(), .targets = y});
  expect_well_formed(html);
}

TEST(Report, DataThatDoNotGoWithTheModelAreRefused) {
  const Fitted fitted(Kind::kNumber);
  const Matrix narrow(3, 2);
  const Matrix empty(0, 5);
  EXPECT_THROW((void)report_page(fitted.model, ReportData{.x = narrow.view()}), Error);
  EXPECT_THROW((void)report_page(fitted.model, ReportData{.x = empty.view()}), Error);
  EXPECT_THROW((void)report_page(fitted.model,
                                 ReportData{.x = fitted.x.view(), .targets = std::span(fitted.y).first(3)}),
               Error);
  std::vector<double> targets(fitted.y.begin(), fitted.y.end());
  targets[1] = std::nan("");
  EXPECT_THROW((void)report_page(fitted.model, ReportData{.x = fitted.x.view(), .targets = targets}), Error);
}

TEST(ReportParts, SharesOfTermsAddUpToOne) {
  for (const Kind kind : {Kind::kNumber, Kind::kThreeClasses}) {
    const Fitted fitted(kind);
    const Predictor predictor(fitted.model, 1);
    const report::Sample sample = report::draw_sample(predictor, fitted.rows(), 1000);
    double sum = 0;
    for (const double share : report::term_shares(fitted.model, sample, 1)) sum += share;
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

TEST(ReportParts, SharesOfColumnsAddUpToOneWhereColumnsGoTogether) {
  // Two columns that are nearly the same, with coefficients that nearly cancel; and a product.
  Matrix x = reference::random_matrix(kRows, 3, 6);
  for (Index n = 0; n < kRows; ++n) x(n, 1) = x(n, 0) + 1e-3 * x(n, 1);
  Model model;
  model.n_columns = 3;
  model.inputs = {{"a", 0, 0, 1}, {"b", 1, 0, 1}, {"c", 2, 0, 1}};
  model.terms = {{{"linear", 1, {0}, {1}, {}}, {50}},
                 {{"linear", 1, {1}, {1}, {}}, {-49}},
                 {{"polynomial", 1, {0, 2}, {1, 1}, {2, 0}}, {1}}};
  const Predictor predictor(model, 1);
  const Explainer explainer(model, 1);
  const std::vector<report::Column> columns = report::columns_of(model);
  for (const bool is_known : {false, true}) {
    const std::vector<double> y(kRows, 0.0);
    const report::Sample sample = report::draw_sample(
        predictor, {.x = x.view(), .targets = is_known ? std::span(y) : std::span<const double>()}, 1000);
    const report::Importance importance = report::column_importance(predictor, explainer, columns, sample);
    ASSERT_EQ(importance.columns.size(), 3U);
    double sum = 0;
    for (const report::ColumnImportance& one : importance.columns) sum += one.share;
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_EQ(importance.measure, is_known ? "RMSE" : "");
  }
}

TEST(ReportParts, StepsAreUpright) {
  const Matrix x = reference::random_matrix(kRows, 1, 5);
  Model model;
  model.n_columns = 1;
  model.inputs = {{"a", 0, 0, 1}};
  model.terms = {{{"step", 1, {0}, {1}, {0.1234}}, {2}},
                 {{"step", 1, {0}, {1}, {0.15}}, {-1}},
                 {{"linear", 1, {0}, {1}, {}}, {0.1}}};
  const Predictor predictor(model, 1);
  const std::vector<report::Column> columns = report::columns_of(model);
  const report::Sample sample = report::draw_sample(predictor, {.x = x.view()}, 1000);
  const report::Effect effect = report::Effects(predictor, columns, sample).of(0);
  const std::vector<double>& values = effect.places.values;
  ASSERT_EQ(static_cast<Index>(values.size()), effect.means.rows);
  EXPECT_TRUE(std::ranges::is_sorted(values));
  EXPECT_EQ(std::ssize(values), std::ssize(effect.listed) + 4) << "both sides of two jumps";
  for (const double step : {0.1234, 0.15}) {
    const auto after = std::ranges::lower_bound(values, step);
    ASSERT_NE(after, values.end());
    EXPECT_LT(*after - *(after - 1), 2e-3 * (values.back() - values.front()));
  }
}

TEST(ReportParts, RowsCountAsOftenAsTheirWeightsSay) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  const std::vector<double> weights = {0, 1, 1, 6, 0};
  EXPECT_EQ(report::quantile_of(values, {}, 0.5), 3);
  EXPECT_EQ(report::quantile_of(values, weights, 0.5), 2);
  EXPECT_EQ(report::quantile_of(values, weights, 0), 1);
  EXPECT_EQ(report::quantile_of(values, weights, 1), 4);
  double height = 0;
  for (const charts::Bin& bin : report::binned(values, weights, 4, 0)) height += bin.height;
  EXPECT_EQ(height, 8);
  const std::vector<double> targets = {9, 2, 4, 3, 9};
  const std::vector<report::ResidualBin> bins = report::residual_bins(values, targets, weights);
  ASSERT_EQ(bins.size(), 1U);
  EXPECT_EQ(bins[0].predicted, (1.0 + 4 + 12) / 8);
  EXPECT_EQ(bins[0].observed, (2.0 + 4 + 18) / 8);
  EXPECT_EQ(bins[0].median, 1);

  // Rows of weight 0 are as good as not there.
  const Fitted fitted(Kind::kNumber);
  std::vector<double> half(kRows, 1.0);
  for (Index n = kRows / 2; n < kRows; ++n) half[static_cast<std::size_t>(n)] = 0;
  const Predictor predictor(fitted.model, 1);
  const std::vector<report::Column> columns = report::columns_of(fitted.model);
  const report::Sample all =
      report::draw_sample(predictor, {.x = fitted.x.view(), .targets = fitted.y, .weights = half}, 1000);
  const report::Sample some = report::draw_sample(
      predictor,
      {.x = fitted.x.view().middle_rows(0, kRows / 2), .targets = std::span(fitted.y).first(kRows / 2)},
      1000);
  const report::Effect of_text = report::Effects(predictor, columns, all).of(2);
  EXPECT_EQ(of_text.places.levels, report::Effects(predictor, columns, some).of(2).places.levels);
  double parts = of_text.missing_rows;
  for (const double part : of_text.rows) parts += part;
  EXPECT_NEAR(parts, 1, 1e-12);
  const std::vector<double> none(kRows, 0.0);
  EXPECT_THROW(
      (void)report_page(fitted.model, ReportData{.x = fitted.x.view(), .targets = fitted.y, .weights = none}),
      Error);
}

TEST(ReportParts, AColumnThatMattersMoreComesFirst) {
  const Matrix x = reference::random_matrix(kRows, 3, 5);
  std::vector<double> y;
  for (Index n = 0; n < kRows; ++n) y.push_back(3 * x(n, 1) + x(n, 0));
  FitOptions options{.features = "linear", .terms = 2};
  options.tune = Tuning::none();
  const Model model = fit({.x = x.view(), .y = y}, options).model;
  const Predictor predictor(model, 1);
  const Explainer explainer(model, 1);
  const std::vector<report::Column> columns = report::columns_of(model);
  const report::Sample sample = report::draw_sample(predictor, {.x = x.view(), .targets = y}, 1000);
  const report::Importance importance = report::column_importance(predictor, explainer, columns, sample);
  ASSERT_EQ(importance.columns.size(), 2U);
  EXPECT_EQ(importance.measure, "RMSE");
  EXPECT_EQ(columns[static_cast<std::size_t>(importance.columns[0].column)].name, "x1");
  // Of independent columns the parts of the variance are 9 and 1 of 10; shuffled, RMSE is sqrt(2) times
  // theirs.
  EXPECT_NEAR(importance.columns[0].share, 0.9, 0.15);
  EXPECT_NEAR(importance.columns[1].share, 0.1, 0.05);
  EXPECT_NEAR(importance.columns[1].loss, std::sqrt(2.0), 0.2);
}

TEST(ReportParts, CurvesOfRanks) {
  const std::vector<double> likely = {0.9, 0.8, 0.8, 0.1};
  const std::vector<bool> is_of_class = {true, true, false, false};
  const report::RankCurves curves = report::rank_curves({likely, is_of_class, {}});
  ASSERT_EQ(curves.roc.size(), 4U);
  EXPECT_EQ(curves.roc[1].y, 0.5);
  EXPECT_EQ(curves.roc[2].x, 0.5);
  EXPECT_EQ(curves.roc[2].y, 1);
  EXPECT_NEAR(curves.precision[1].y, 2.0 / 3, 1e-12);
  EXPECT_TRUE(report::rank_curves({likely, std::vector<bool>(4, true), {}}).roc.empty());
}

// Finds each panel, what overlaps and what is cut off.
constexpr std::string_view kProbe = R"(
function measure(frame) {
  const page = frame.contentDocument;
  for (const details of page.querySelectorAll('details')) details.open = true;
  const count = selector => page.querySelectorAll(selector).length;
  let overlaps = 0, cut = 0;
  for (const svg of page.querySelectorAll('svg')) {
    const outer = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect());
    const slack = 3;
    overlaps += boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left + slack < b.right && b.left + slack < a.right &&
        a.top + slack < b.bottom - slack && b.top + slack < a.bottom - slack)).length;
    cut += boxes.filter(box => box.right > outer.right + 2 || box.left < outer.left - 2 || box.bottom > outer.bottom + 2).length;
  }
  const reachable = [...page.querySelectorAll('.scroll')].every(box => box.tabIndex === 0);
  return {parts: [...page.querySelectorAll('main > section')].map(section => section.id), figures: count('figure'),
          svgs: count('svg'), shown: [...page.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width > 200).length,
          h1: count('h1'), dead: [...page.querySelectorAll('nav a')].filter(a => !page.querySelector(a.getAttribute('href'))).length,
          overlaps, cut, reachable, overflow: page.documentElement.scrollWidth - frame.clientWidth};
}
)";

TEST(ReportInBrowser, ShowsEachPanelAtThreeWidths) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the browser sees the same page in every build; the release build looks at it";
#endif
  const std::string browser = find_browser();
  if (browser.empty()) GTEST_SKIP() << "no chromium, chromium-browser or google-chrome in PATH";
  for (const Kind kind : {Kind::kNumber, Kind::kTwoClasses, Kind::kThreeClasses, Kind::kTwoTargets}) {
    const BrowserResult result = measure_page(browser, Fitted(kind).page(), {360, 800, 1280}, kProbe);
    EXPECT_EQ(result.messages, std::vector<std::string>());
    ASSERT_EQ(result.measured.size(), 3U);
    for (const nlohmann::json& page : result.measured) {
      SCOPED_TRACE(page.dump());
      EXPECT_EQ(page["parts"].get<std::vector<std::string>>(), kAllParts);
      EXPECT_EQ(page["h1"], 1);
      EXPECT_GE(page["svgs"], 8);
      EXPECT_EQ(page["shown"], page["svgs"]);
      EXPECT_EQ(page["dead"], 0);
      EXPECT_EQ(page["overlaps"], 0);
      EXPECT_EQ(page["cut"], 0);
      EXPECT_EQ(page["reachable"], true);
      EXPECT_LE(page["overflow"], 0) << "the page is wider than the screen";
    }
  }
}

}  // namespace
}  // namespace mfga
