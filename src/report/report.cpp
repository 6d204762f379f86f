// The page about a model.
#include "mfga/report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "charts/page.hpp"
#include "charts/text.hpp"
#include "mfga/evaluate.hpp"
#include "mfga/version.hpp"
#include "report/sections.hpp"
#include "report/style.hpp"

namespace mfga {
namespace {

using report::Content;
using report::counted;

struct Part {
  std::string_view id, title;
  std::string html;
};

// Of several targets: the first ones.
std::string target_text(const Model& model) {
  if (model.task == Task::kClassification || model.has_one_output())
    return report::short_text(model.target_name);
  constexpr std::size_t kMost = 4;
  std::vector<std::string> names;
  for (const Output& output : model.outputs) {
    if (names.size() == kMost) {
      names.push_back(fmt::format("{} more", model.outputs.size() - kMost));
      break;
    }
    names.push_back(report::short_text(output.name));
  }
  return charts::join_words(names);
}

std::string title_of(const Model& model, const ReportOptions& options) {
  return options.title.empty() ? "A model of " + target_text(model) : options.title;
}

std::string lede(const Content& content, std::size_t used_columns) {
  const Model& model = content.model;
  const std::string target = charts::escape_html(target_text(model));
  std::string what;
  if (model.task == Task::kRegression) {
    what = "predicts " + target;
  } else if (model.has_one_output()) {
    what = fmt::format("gives the probability that {} is {} rather than {}", target,
                       report::shown_text(model.labels[1]), report::shown_text(model.labels[0]));
  } else {
    what = fmt::format("gives the probabilities of the {} classes of {}", model.labels.size(), target);
  }
  return fmt::format("<p class=\"lede\">A formula of {} over {} {}.</p>\n",
                     counted(model.terms.size(), "term"), counted(used_columns, "column"), what);
}

void add_figure(std::string& figures, std::string_view name, const std::string& value) {
  fmt::format_to(std::back_inserter(figures), "<div><dt>{}</dt><dd>{}</dd></div>\n", name,
                 charts::escape_html(value));
}

template <class Metrics>  // of two classes or of several
void add_class_errors(const Metrics& metrics, std::string_view guess, const std::optional<double>& auc,
                      std::string_view auc_name, std::string& figures) {
  add_figure(figures, "accuracy", charts::percent_text(1 - metrics.error_percent / 100));
  add_figure(figures, guess, charts::percent_text(1 - metrics.base_error_percent / 100));
  if (auc) add_figure(figures, auc_name, fmt::format("{:.3f}", *auc));
  add_figure(figures, "log-loss", charts::number_text(metrics.log_loss));
}

void add_errors(const Content& content, std::string& figures) {
  const Evaluation evaluation = evaluate_scores(content.model, content.sample->scores,
                                                content.sample->targets, content.sample->weights);
  if (evaluation.regression) {
    if (evaluation.own_loss)
      add_figure(figures, evaluation.own_measure, charts::number_text(*evaluation.own_loss));
    add_figure(figures, "RMSE", charts::number_text(evaluation.regression->rmse));
    add_figure(figures, "MAE", charts::number_text(evaluation.regression->mae));
    if (evaluation.regression->r2)
      add_figure(figures, "R\u00b2", fmt::format("{:.3f}", *evaluation.regression->r2));
  }
  if (!evaluation.targets.empty()) {
    double sum = 0;
    bool is_known = true;
    for (const TargetMetrics& one : evaluation.targets) {
      is_known = is_known && one.metrics.r2;
      sum += one.metrics.r2.value_or(0);
    }
    if (is_known)
      add_figure(figures, "mean R\u00b2",
                 fmt::format("{:.3f}", sum / static_cast<double>(evaluation.targets.size())));
  }
  if (const auto& own = evaluation.classification)
    add_class_errors(*own, "guessing the larger class", own->auc, "AUC", figures);
  if (const auto& own = evaluation.classes)
    add_class_errors(*own, "guessing the largest class", own->macro_auc, "mean AUC", figures);
}

std::string data_note(const Content& content, const std::optional<ReportData>& data) {
  if (!data) {
    return "<p class=\"note\" role=\"note\">This page was made without data. Made with a table, it also "
           "shows how much each "
           "term and column matters, the effect of each column and of pairs, and, where the target is known, "
           "how good the "
           "predictions are.</p>\n";
  }
  std::string text = content.sample->is_drawn()
                         ? fmt::format("Measured on {} of {} rows, drawn at random",
                                       charts::with_thousands(content.sample->size()),
                                       charts::with_thousands(content.sample->all_rows))
                         : fmt::format("Measured on {} rows", charts::with_thousands(content.sample->size()));
  if (!data->name.empty()) text += ": " + report::shown_text(data->name);
  const bool may_be_training_rows = data->x.rows == content.model.training.rows;
  if (content.has_targets() && may_be_training_rows)
    text += ". The model was trained on as many rows; on its training rows it looks better than on others";
  if (!content.has_targets())
    text += ". The target is not among the columns, so that nothing can be said about errors";
  return fmt::format("<p class=\"note\" role=\"note\">{}.</p>\n", text);
}

}  // namespace

std::string report_page(const Model& model, const std::optional<ReportData>& data,
                        const ReportOptions& options) {
  const Predictor predictor(model, options.threads);
  const Explainer explainer(model, options.threads);
  Content content{.model = predictor.model(),
                  .predictor = predictor,
                  .explainer = explainer,
                  .columns = report::columns_of(model)};
  content.threads = options.threads;
  if (data) {
    content.sample = report::draw_sample(predictor, *data, options.most_rows);
    content.term_shares = report::term_shares(model, *content.sample, options.threads);
    content.importance = report::column_importance(predictor, explainer, content.columns, *content.sample);
  }
  std::set<Index> used;
  for (Index t = 0; t < std::ssize(model.terms); ++t) {
    for (const Index column : explainer.columns_of_term(t)) used.insert(column);
  }

  const std::vector<Part> parts = {{"formula", "Formula", report::formula_section(content)},
                                   {"quality", "Quality", report::quality_section(content)},
                                   {"importance", "What matters", report::importance_section(content)},
                                   {"effects", "Effects", report::effects_section(content)},
                                   {"pairs", "Pairs", report::pairs_section(content)},
                                   {"explain", "Two predictions", report::explain_section(content)},
                                   {"size", "Number of terms", report::size_section(content)},
                                   {"fit", "Tried and chosen", report::fit_section(content)}};
  const std::string title = title_of(model, options);
  std::string html = charts::page_begin(title, report::kModelStyle);
  const auto add = std::back_inserter(html);
  fmt::format_to(add, "<header>\n<h1>{}</h1>\n{}", charts::escape_html(title), lede(content, used.size()));
  std::string figures;
  add_figure(figures, "terms", fmt::format("{}", model.terms.size()));
  add_figure(figures, "columns", fmt::format("{} of {}", used.size(), content.columns.size()));
  if (model.training.rows > 0)
    add_figure(figures, "training rows", charts::with_thousands(model.training.rows));
  if (content.has_targets()) add_errors(content, figures);
  fmt::format_to(add, "<dl class=\"figures\">\n{}</dl>\n{}</header>\n", figures, data_note(content, data));
  html += "<nav aria-label=\"Parts of the page\">\n<ul>\n";
  for (const Part& part : parts) {
    if (!part.html.empty()) fmt::format_to(add, "<li><a href=\"#{}\">{}</a></li>\n", part.id, part.title);
  }
  html += "</ul>\n</nav>\n<main>\n";
  for (const Part& part : parts) html += part.html;
  fmt::format_to(add, "</main>\n<footer>\n<dl>\n<dt>Made by</dt><dd>mfga {}</dd>\n</dl>\n</footer>\n",
                 version());
  return html += charts::kPageEnd;
}

}  // namespace mfga
