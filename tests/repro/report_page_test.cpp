// The report page, as text and as a browser lays it out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "browser.hpp"
#include "repro/sample_results.hpp"

namespace mfga::repro {
namespace {

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size()))
    ++found;
  return found;
}

TEST(ReproPage, NeedsNothingFromOutside) {
  const std::string html = results_to_html(sample_results());
  for (const std::string_view word :
       {"<script", "<link", "<img", "src=x onerror=alert(1)>", "http:", "https:", "@import", "url("})
    EXPECT_EQ(count(html, word), 0U) << word;
  EXPECT_NE(html.find("News &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;"),
            std::string::npos);
}

TEST(ReproPage, SaysWhatTheNumbersSay) {
  Results results = sample_results();
  results.datasets[1].title = "News";
  const std::string html = results_to_html(results);
  // In the sample EERF is better on epileptic, and a constant beats all on news and three methods on year.
  EXPECT_NE(html.find("<strong>3 of 4</strong> <span>data sets on which MFGA has a lower error"),
            std::string::npos);
  EXPECT_NE(html.find("Not on Epileptic (EERF has"), std::string::npos);
  EXPECT_NE(html.find("<strong>4 of 4</strong> <span>data sets on which MFGA with this tool&#39;s defaults"),
            std::string::npos);
  EXPECT_NE(html.find("News (all 6 methods here; 6 of 6 as published)"), std::string::npos);
  EXPECT_NE(html.find("Year (RKS, LKRF and EERF here; 3 of 6 as published)"), std::string::npos);
  EXPECT_EQ(count(html, "Quick run."), 0U);
  EXPECT_EQ(count(html, "of the published ones."), 1U);
  results.quick = true;
  const std::string quick = results_to_html(results);
  EXPECT_EQ(count(quick, "Quick run."), 1U);
  EXPECT_EQ(count(quick, "of the published ones."), 0U);
  EXPECT_EQ(count(quick, "as published"), 0U);
}

TEST(ReproPage, StandsWithLittleOrNothingToShow) {
  EXPECT_EQ(count(results_to_html(Results{}), "<table"), 0U);
  Results results;
  results.datasets.resize(2);
  results.datasets[0].rows.resize(1);
  results.datasets[1].figure = {{.method = "MFGA", .points = {{.terms = 5, .error = 0}}},
                                {.method = "RKS", .points = {}}};
  const std::string html = results_to_html(results);
  EXPECT_EQ(count(html, "<table"), 2U);
  EXPECT_EQ(count(html, "<svg"), 1U);
  EXPECT_EQ(count(html, "nan"), 0U);
  EXPECT_EQ(count(html, "inf"), 0U);
}

constexpr std::string_view kProbe = R"(function measure(frame) {
  const page = frame.contentDocument;
  const count = (root, selector) => root.querySelectorAll(selector).length;
  const panels = [...page.querySelectorAll('svg')].map(svg => {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text.label')].map(label => label.getBoundingClientRect());
    // Boxes of text are higher than its letters.
    const slack = 3;
    const overlaps = boxes.filter((a, i) => boxes.some((b, j) => j > i && a.left < b.right && b.left < a.right &&
        a.top + slack < b.bottom - slack && b.top + slack < a.bottom - slack)).length;
    const cut = boxes.filter(box => box.right > frame.right + 1 || box.bottom > frame.bottom + 1).length;
    return {curves: count(svg, '.curve'), levels: count(svg, '.level'), labels: boxes.length, overlaps, cut,
            bars: count(svg, '.bar'), width: frame.width};
  });
  return {
    tables: [...page.querySelectorAll('table')].map(table => ({
      rows: [...table.tBodies].map(body => count(body, 'tr:not(.group)')),
      cells: [...table.querySelectorAll('tbody tr:not(.group)')].map(row => row.cells.length),
      best: count(table, '.best')})),
    panels, scripts: count(page, 'script, img'), headings: [...page.querySelectorAll('h2')].map(h => h.textContent),
    remarks: count(page, '.remarks li'), overflow: page.documentElement.scrollWidth - frame.clientWidth};
}
)";

TEST(ReproPageInBrowser, ShowsAllTablesAndPanels) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the browser sees the same page in every build; the release build looks at it";
#endif
  const std::string browser = find_browser();
  if (browser.empty()) GTEST_SKIP() << "no chromium, chromium-browser or google-chrome in PATH";
  const Results results = sample_results();
  const BrowserResult result = measure_page(browser, results_to_html(results), {390, 1280}, kProbe);
  EXPECT_EQ(result.messages, std::vector<std::string>());
  const nlohmann::json& widths = result.measured;
  ASSERT_EQ(widths.size(), 2U);
  for (const nlohmann::json& page : widths) {
    SCOPED_TRACE(page.dump());
    ASSERT_EQ(page["tables"].size(), 4U);
    for (const auto& table : page["tables"]) {
      EXPECT_EQ(table["rows"], (nlohmann::json{6, 2, 1}));
      for (const auto& cells : table["cells"]) EXPECT_EQ(cells, 11);
      EXPECT_GE(table["best"], 3);
    }
    ASSERT_EQ(page["panels"].size(), 4U);
    for (const auto& panel : page["panels"]) {
      EXPECT_EQ(panel["curves"], 5);  // MFGA twice, three methods with random features
      EXPECT_EQ(panel["levels"], 3);  // two kernels and the constant
      EXPECT_EQ(panel["labels"], 8);
      EXPECT_EQ(panel["bars"], 15);
      EXPECT_EQ(panel["overlaps"], 0);
      EXPECT_EQ(panel["cut"], 0);
    }
    EXPECT_EQ(page["scripts"], 0);
    EXPECT_EQ(page["headings"][3], results.datasets[1].title);
    EXPECT_EQ(page["remarks"], 5);
    EXPECT_LE(page["overflow"], 0) << "the page is wider than the screen";
  }
  // One column on a phone, two on a desk screen.
  EXPECT_GT(widths[0]["panels"][0]["width"], 300);
  EXPECT_LT(widths[1]["panels"][0]["width"], 640);
}

}  // namespace
}  // namespace mfga::repro
