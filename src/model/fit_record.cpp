#include "model/fit_record.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/learners.hpp"

namespace mfga {
namespace {

// More would be no help to a reader, and make files of small models large.
constexpr std::size_t kMostEntries = 40;

double rounded(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr) : 0;
}

// Of more than kMostEntries, about as many, from the first to the last, and those that must stay.
template <class Entry, class MustStay>
std::vector<Entry> thinned(const std::vector<Entry>& all, MustStay must_stay) {
  const std::size_t apart = (all.size() + kMostEntries - 1) / kMostEntries;
  std::vector<Entry> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % apart == 0 || i + 1 == all.size() || must_stay(all[i])) some.push_back(all[i]);
  }
  return some;
}

std::vector<TriedSize> known_sizes(const FitResult& result) {
  if (!result.report.sizes.empty()) return result.report.sizes;
  // The numbers of terms on the way, that a choice of the ridge has seen.
  if (result.cross_validation && result.cross_validation->terms.size() > 1)
    return tried_sizes(*result.cross_validation);
  return result.report.smaller_sizes;
}

std::vector<TriedRidge> known_ridges(const CrossValidation& validation) {
  const auto terms = std::ranges::find(validation.terms, validation.chosen.terms);
  if (terms == validation.terms.end()) return {};
  const Index column = terms - validation.terms.begin();
  std::vector<TriedRidge> ridges;
  for (std::size_t i = 0; i < validation.ridges.size(); ++i) {
    const auto row = static_cast<Index>(i);
    ridges.push_back({rounded(validation.ridges[i]), rounded(validation.mean(row, column)),
                      rounded(validation.standard_error(row, column))});
  }
  return ridges;
}

}  // namespace

FitRecord record_of(const FitResult& result, double seconds) {
  const FitReport& report = result.report;
  FitRecord record;
  record.sizes = known_sizes(result);
  std::ranges::stable_sort(record.sizes, {}, &TriedSize::terms);
  double best = 0;
  if (!record.sizes.empty()) best = std::ranges::min(record.sizes, {}, &TriedSize::held_out).held_out;
  record.sizes =
      thinned(record.sizes, [&](const TriedSize& size) { return size.is_chosen || size.held_out == best; });
  for (TriedSize& size : record.sizes) {
    size.held_out = rounded(size.held_out);
    size.standard_error = rounded(size.standard_error);
    size.ridge = rounded(size.ridge);
  }
  if (result.cross_validation) record.ridges = known_ridges(*result.cross_validation);
  record.dictionaries = report.dictionaries;
  for (TriedDictionary& one : record.dictionaries) one.held_out = rounded(one.held_out);
  record.path.push_back({0, rounded(report.initial_risk)});
  for (const PathStep& step : report.path) record.path.push_back({step.terms, rounded(step.risk)});
  record.path = thinned(record.path, [](const TrainingLoss&) { return false; });
  record.tuning = report.tuning;
  record.tuning.held_out_with = rounded(record.tuning.held_out_with);
  record.tuning.held_out_without = rounded(record.tuning.held_out_without);
  record.candidates = report.candidates;
  record.stability = report.stability < 0 ? -1 : rounded(report.stability);
  record.seconds = seconds;
  return record;
}

}  // namespace mfga
