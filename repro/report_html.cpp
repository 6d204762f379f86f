// The page: what was found, the figure, a table per data set, and how it was made.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "charts/page.hpp"
#include "charts/text.hpp"
#include "repro/chart_svg.hpp"
#include "repro/findings.hpp"
#include "repro/report_style.hpp"
#include "repro/report_table.hpp"
#include "repro/results.hpp"

namespace mfga::repro {
namespace {

constexpr std::string_view kIntroduction = R"(<h1>The evidence for MFGA, computed again</h1>
<p class="lede">The tables and the figure of <cite>Learning Bounds for Greedy Approximation with Explicit Feature Maps
from Multiple Kernels</cite> (Shahrampour and Tarokh, NeurIPS 2018), regenerated on one machine by one command, beside
the published figures.</p>
)";

constexpr std::string_view kGuide = R"(<section aria-labelledby="guide">
<h2 id="guide">How to read the tables</h2>
<dl class="guide">
<dt>oracle</dt><dd>The ridge is the one with the lowest error on the test rows, as the paper reports. It is optimistic.</dd>
<dt>honest</dt><dd>The ridge is chosen by cross-validation on the training rows; the test rows are used once.</dd>
<dt>paper</dt><dd>The published figure, from the paper&#8217;s own machine.</dd>
<dt>&#177;</dt><dd>Standard error of the mean over the seeds, for methods that draw random features.</dd>
<dt>M, M<sub>0</sub></dt><dd>Terms in the model, and candidates they were chosen from.</dd>
<dt>our default</dt><dd><code>mfga train</code> as it is, with as many terms as in the paper and with a tenth of them: it chooses dictionary, scales,
ridge and tuning from the training rows, so its error is an honest one. Its seconds are those of all this, not of one fit.</dd>
</dl>
</section>
)";

class Page {
 public:
  explicit Page(const Results& results) : results_(results) {}

  std::string build() {
    add("{}<header>\n{}",
        charts::page_begin("MFGA: the paper's tables and figure, regenerated", kReportStyle), kIntroduction);
    if (results_.quick) {
      add("<p class=\"quick\" role=\"note\"><strong>Quick run.</strong> Fewer rows and fewer seeds than in "
          "the "
          "paper: this page shows that everything works, and its figures must not be compared with the "
          "published "
          "ones.</p>\n");
    }
    add_findings();
    add("</header>\n<main>\n");
    add_figure();
    if (!results_.datasets.empty()) add("{}", kGuide);
    for (std::size_t i = 0; i < results_.datasets.size(); ++i) add_dataset(i);
    add("</main>\n");
    add_footer();
    add("{}", charts::kPageEnd);
    return std::move(html_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(html_), pattern, std::forward<Values>(values)...);
  }

  void add_findings() {
    const std::vector<Finding> findings = find_findings(results_);
    if (findings.empty()) return;
    add("<ul class=\"findings\">\n");
    for (const Finding& finding : findings)
      add("<li><strong>{}</strong> <span>{}</span></li>\n", charts::escape_html(finding.figure),
          charts::escape_html(finding.text));
    add("</ul>\n<p class=\"soft\">Errors in this list are oracle errors, as the paper reports them; the "
        "tables have the "
        "honest ones beside them.</p>\n");
  }

  void add_figure() {
    const auto& datasets = results_.datasets;
    if (std::all_of(datasets.begin(), datasets.end(),
                    [](const DatasetResult& dataset) { return dataset.figure.empty(); }))
      return;
    add("<section aria-labelledby=\"figure\">\n<h2 id=\"figure\">Test error against the number of "
        "terms</h2>\n"
        "<p class=\"soft\">The paper&#8217;s Figure 1. Lower is better; bars are one standard error over "
        "seeds; "
        "dashed and dotted lines do not depend on M.</p>\n<div class=\"panels\">\n");
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      if (datasets[i].figure.empty()) continue;
      add("<figure>\n<figcaption><h3><a href=\"#data-{}\">{}</a></h3><span "
          "class=\"soft\">{}</span></figcaption>\n{}"
          "</figure>\n",
          i + 1, charts::escape_html(datasets[i].title), charts::escape_html(datasets[i].error_unit),
          chart_svg(datasets[i], fmt::format("panel-{}", i + 1)));
    }
    add("</div>\n</section>\n");
  }

  void add_dataset(std::size_t i) {
    const DatasetResult& dataset = results_.datasets[i];
    add("<section id=\"data-{0}\" aria-labelledby=\"title-{0}\">\n<h2 id=\"title-{0}\">{1}</h2>\n", i + 1,
        charts::escape_html(dataset.title));
    add("<p class=\"facts\">{}, {} training rows, {} test rows, {} inputs, \u03c3 = {}.",
        charts::escape_html(dataset.task), charts::with_thousands(dataset.n_train),
        charts::with_thousands(dataset.n_test), charts::with_thousands(dataset.inputs),
        charts::short_number(dataset.sigma));
    if (!dataset.source_note.empty()) add(" {}", charts::escape_html(dataset.source_note));
    add("</p>\n<div class=\"scroll\" role=\"region\" aria-labelledby=\"title-{}\" "
        "tabindex=\"0\">\n{}</div>\n",
        i + 1, dataset_table(dataset));
    if (!dataset.remarks.empty()) {
      add("<ul class=\"remarks\">\n");
      for (const std::string& remark : dataset.remarks) add("<li>{}</li>\n", charts::escape_html(remark));
      add("</ul>\n");
    }
    add("</section>\n");
  }

  void add_footer() {
    add("<footer>\n<dl>\n<dt>Command</dt><dd><code>{}</code></dd>\n<dt>Version</dt><dd>mfga {}</dd>\n",
        charts::escape_html(results_.command), charts::escape_html(results_.mfga_version));
    add("<dt>Machine</dt><dd>{}, {} {}</dd>\n<dt>Date</dt><dd>{}</dd>\n<dt>Total time</dt><dd>{}{}</dd>\n",
        charts::escape_html(results_.cpu), results_.cores, results_.cores == 1 ? "core" : "cores",
        charts::escape_html(results_.date), charts::duration(results_.total_seconds),
        results_.quick ? " (quick run)" : "");
    add("</dl>\n</footer>\n");
  }

  const Results& results_;
  std::string html_;
};

}  // namespace

std::string results_to_html(const Results& results) { return Page(results).build(); }

}  // namespace mfga::repro
