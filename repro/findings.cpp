#include "repro/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "charts/text.hpp"

namespace mfga::repro {
namespace {

using Datasets = std::vector<const DatasetResult*>;

constexpr std::string_view kMfga = "MFGA";
constexpr std::array<std::string_view, 3> kRandomMethods = {"RKS", "LKRF", "EERF"};

// Our default has no oracle: it is compared with an error of its own kind where there is one.
const ErrorEstimate& honest_or_main(const MethodRow& row) {
  return row.honest ? *row.honest : *main_error(row);
}

// MFGA with our defaults and this number of terms.
const ErrorEstimate* our_error(const DatasetResult& dataset, Index terms) {
  for (const MethodRow& row : dataset.rows) {
    if (row.part == kOurPart && row.terms == terms && main_error(row) != nullptr) return &honest_or_main(row);
  }
  return nullptr;
}

std::optional<double> total_seconds(const MethodRow* row) {
  if (row == nullptr || !row->train_seconds) return std::nullopt;
  return *row->train_seconds + row->preprocess_seconds.value_or(0);
}

std::string counted(std::size_t part, std::size_t whole) { return fmt::format("{} of {}", part, whole); }

void compare_with_random_features(const Datasets& datasets, std::vector<Finding>& findings) {
  std::size_t compared = 0;
  std::size_t better = 0;
  std::vector<std::string> exceptions;
  for (const DatasetResult* dataset : datasets) {
    const MethodRow* mfga_row = find_row(*dataset, kPaperPart, kMfga);
    const ErrorEstimate* mfga = mfga_row == nullptr ? nullptr : main_error(*mfga_row);
    if (mfga == nullptr) continue;
    const ErrorEstimate* rival = nullptr;
    std::string_view rival_name;
    for (const std::string_view method : kRandomMethods) {
      const MethodRow* row = find_row(*dataset, kPaperPart, method);
      if (row == nullptr || row->terms != mfga_row->terms) continue;
      const ErrorEstimate* error = main_error(*row);
      if (error == nullptr || (rival != nullptr && rival->error <= error->error)) continue;
      rival = error;
      rival_name = method;
    }
    if (rival == nullptr) continue;
    ++compared;
    if (mfga->error < rival->error) {
      ++better;
    } else {
      exceptions.push_back(fmt::format("{} ({} has {}, MFGA {})", dataset->title, rival_name,
                                       charts::short_number(rival->error),
                                       charts::short_number(mfga->error)));
    }
  }
  if (compared == 0) return;
  std::string text =
      "data sets on which MFGA has a lower error than every random-feature method (RKS, LKRF, EERF) with the "
      "same number of terms.";
  if (!exceptions.empty()) text += fmt::format(" Not on {}.", charts::join_words(exceptions));
  findings.push_back({counted(better, compared), text});
}

void compare_our_default(const Datasets& datasets, bool quick, std::vector<Finding>& findings) {
  std::size_t compared = 0;
  std::size_t compared_small = 0;
  std::size_t better_small = 0;
  std::size_t below_published = 0;
  std::vector<std::string> better;
  for (const DatasetResult* dataset : datasets) {
    const MethodRow* mfga = find_row(*dataset, kPaperPart, kMfga);
    if (mfga == nullptr || main_error(*mfga) == nullptr || !mfga->terms) continue;
    const double paper_setting = honest_or_main(*mfga).error;
    if (const ErrorEstimate* ours = our_error(*dataset, *mfga->terms)) {
      ++compared;
      if (ours->error < paper_setting) {
        better.push_back(fmt::format("{} {} instead of {}", dataset->title, charts::short_number(ours->error),
                                     charts::short_number(paper_setting)));
      }
      if (mfga->paper && mfga->paper->error && ours->error < *mfga->paper->error) ++below_published;
    }
    if (const ErrorEstimate* ours = our_error(*dataset, *mfga->terms / 10)) {
      ++compared_small;
      if (ours->error < paper_setting) ++better_small;
    }
  }
  if (compared == 0) return;
  std::string text =
      "data sets on which MFGA with this tool's defaults is better than MFGA in the paper's setting, with as "
      "many terms and both with a ridge chosen on the training rows";
  text += better.empty() ? "." : fmt::format(": {}.", charts::join_words(better));
  if (!quick)
    text += fmt::format(" It is below the published error on {}.", counted(below_published, compared));
  if (compared_small > 0)
    text += fmt::format(" With a tenth of the terms it is still better on {}.",
                        counted(better_small, compared_small));
  findings.push_back({counted(better.size(), compared), text});
}

void compare_with_constant(const Datasets& datasets, bool quick, std::vector<Finding>& findings) {
  std::size_t compared = 0;
  std::vector<std::string> beaten_on;
  for (const DatasetResult* dataset : datasets) {
    const ErrorEstimate* constant = constant_error(*dataset);
    if (constant == nullptr) continue;
    ++compared;
    std::size_t methods = 0;
    std::size_t published = 0;
    std::size_t published_worse = 0;
    std::vector<std::string> worse;
    for (const MethodRow& row : dataset->rows) {
      if (row.part != kPaperPart) continue;
      if (const ErrorEstimate* error = main_error(row)) {
        ++methods;
        if (error->error > constant->error) worse.push_back(row.method);
      }
      if (!quick && row.paper && row.paper->error) {
        ++published;
        if (*row.paper->error > constant->error) ++published_worse;
      }
    }
    if (worse.empty() && published_worse == 0) continue;
    const std::string here = worse.empty()             ? std::string("none")
                             : worse.size() == methods ? fmt::format("all {} methods", methods)
                                                       : charts::join_words(worse);
    const std::string what = published == 0 ? fmt::format("{} ({})", dataset->title, here)
                                            : fmt::format("{} ({} here; {} as published)", dataset->title,
                                                          here, counted(published_worse, published));
    beaten_on.push_back(what);
  }
  if (compared == 0) return;
  std::string text = "data sets on which always predicting the same value beats methods of the paper";
  text += beaten_on.empty() ? "." : fmt::format(": {}.", charts::join_words(beaten_on));
  findings.push_back({counted(beaten_on.size(), compared), text});
}

void compare_with_published(const Datasets& datasets, std::vector<Finding>& findings) {
  constexpr double kClose = 0.1;
  std::size_t compared = 0;
  std::size_t close = 0;
  double largest = 0;
  std::string where;
  for (const DatasetResult* dataset : datasets) {
    for (const MethodRow& row : dataset->rows) {
      const ErrorEstimate* error = main_error(row);
      if (row.part != kPaperPart || error == nullptr || !row.paper || !row.paper->error) continue;
      if (!(*row.paper->error > 0)) continue;
      ++compared;
      const double published = *row.paper->error;
      const double difference = std::abs(error->error - published) / published;
      if (difference <= kClose) ++close;
      if (difference <= largest) continue;
      largest = difference;
      where = fmt::format("{} on {}, {} here and {} published", row.method, dataset->title,
                          charts::short_number(error->error), charts::short_number(published));
    }
  }
  if (compared == 0) return;
  std::string text = "errors in the paper's protocol are within 10 % of the published ones.";
  if (!where.empty()) text += fmt::format(" The largest difference: {}.", where);
  findings.push_back({counted(close, compared), text});
}

void compare_times(const Datasets& datasets, std::vector<Finding>& findings) {
  double lowest = INFINITY;
  double highest = 0;
  std::size_t compared = 0;
  std::size_t faster = 0;
  for (const DatasetResult* dataset : datasets) {
    const auto mfga = total_seconds(find_row(*dataset, kPaperPart, kMfga));
    if (!mfga || !(*mfga > 0)) continue;
    if (const auto kernel = total_seconds(find_row(*dataset, kPaperPart, "GK"))) {
      lowest = std::min(lowest, *kernel / *mfga);
      highest = std::max(highest, *kernel / *mfga);
    }
    const auto lkrf = total_seconds(find_row(*dataset, kPaperPart, "LKRF"));
    const auto eerf = total_seconds(find_row(*dataset, kPaperPart, "EERF"));
    if (!lkrf || !eerf) continue;
    ++compared;
    if (*mfga < std::min(*lkrf, *eerf)) ++faster;
  }
  if (highest == 0) return;
  const auto ratio = [](double value) {
    return value < 10 ? fmt::format("{:.2g}", value) : charts::with_thousands(std::llround(value));
  };
  const std::string low = ratio(lowest);
  const std::string high = ratio(highest);
  std::string text =
      "the time of the exact Gaussian kernel (GK) divided by that of MFGA, preprocessing and training "
      "together.";
  if (compared > 0)
    text += fmt::format(" MFGA takes less time than both LKRF and EERF on {} data sets.",
                        counted(faster, compared));
  findings.push_back(
      {fmt::format("{}\u00a0\u00d7", low == high ? low : fmt::format("{}\u2013{}", low, high)), text});
}

void compare_choices_of_ridge(const Datasets& datasets, std::vector<Finding>& findings) {
  double largest = 0;
  std::string where;
  std::size_t compared = 0;
  for (const DatasetResult* dataset : datasets) {
    for (const MethodRow& row : dataset->rows) {
      if (row.part != kPaperPart || !row.oracle || !row.honest || !(row.oracle->error > 0)) continue;
      ++compared;
      const double rise = row.honest->error / row.oracle->error - 1;
      if (!where.empty() && rise <= largest) continue;
      largest = rise;
      where = fmt::format("{} on {}", row.method, dataset->title);
    }
  }
  if (compared == 0) return;
  findings.push_back({fmt::format("{:+.1f} %", 100 * largest),
                      fmt::format("the largest rise of an error when the ridge is chosen honestly, by "
                                  "cross-validation on the training rows, instead of on the test rows ({}).",
                                  where)});
}

}  // namespace

const ErrorEstimate* main_error(const MethodRow& row) {
  if (row.oracle) return &*row.oracle;
  return row.honest ? &*row.honest : nullptr;
}

const MethodRow* find_row(const DatasetResult& dataset, std::string_view part, std::string_view method) {
  for (const MethodRow& row : dataset.rows) {
    if (row.part == part && row.method == method) return &row;
  }
  return nullptr;
}

const ErrorEstimate* constant_error(const DatasetResult& dataset) {
  for (const MethodRow& row : dataset.rows) {
    if (row.part == kReferencePart) return main_error(row);
  }
  return nullptr;
}

std::vector<Finding> find_findings(const Results& results) {
  Datasets datasets;
  for (const DatasetResult& dataset : results.datasets) {
    const bool published = std::any_of(dataset.rows.begin(), dataset.rows.end(),
                                       [](const MethodRow& row) { return row.paper && row.paper->error; });
    if (published) datasets.push_back(&dataset);
  }
  std::vector<Finding> findings;
  compare_with_random_features(datasets, findings);
  compare_our_default(datasets, results.quick, findings);
  compare_with_constant(datasets, results.quick, findings);
  // A quick run has other rows than the paper.
  if (!results.quick) compare_with_published(datasets, findings);
  compare_times(datasets, findings);
  compare_choices_of_ridge(datasets, findings);
  return findings;
}

}  // namespace mfga::repro
