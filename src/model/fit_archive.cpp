// What a checkpoint keeps of a fit besides its searches.
#include "model/fit_archive.hpp"

#include <algorithm>
#include <cmath>

#include "data/number_text.hpp"

namespace mfga {
namespace {

bool is_one_of(std::span<const std::string> list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

bool is_ridge(double ridge) { return std::isfinite(ridge) && ridge >= 0; }

}  // namespace

void archive(Archive& bytes, TriedSize& size) {
  bytes(size.terms, size.held_out, size.standard_error, size.ridge, size.is_chosen);
}

void archive(Archive& bytes, TriedDictionary& tried) {
  bytes(tried.features, tried.held_out, tried.heats, tried.is_chosen);
}

void archive(Archive& bytes, TuningReport& tuning) {
  bytes(tuning.is_tried, tuning.is_used, tuning.reason, tuning.held_out_without, tuning.held_out_with);
}

void archive(Archive& bytes, TriedScales& scales) {
  bytes(scales.held_out_quantile, scales.held_out_standard, scales.is_standard);
}

void archive(Archive& bytes, BestOfSomeRows& best) {
  bool is_there = best.model_.has_value();
  bytes(is_there);
  if (!is_there) return;
  if (bytes.is_loading()) best.model_.emplace();
  Learned& model = *best.model_;
  bytes(best.loss_, model.active, model.stretch, model.ridge, model.features);
}

void archive(Archive& bytes, TuningChoice& choice) {
  bytes(choice.tuned, choice.features, choice.ridge, choice.terms);
}

void archive_choices(Archive& bytes, FitReport& report) {
  bytes(report.dictionaries, report.sizes, report.smaller_sizes, report.tuning, report.cut_short);
}

bool are_possible_choices(const FitReport& report, std::span<const std::string> dictionaries) {
  return std::ranges::all_of(
             report.dictionaries,
             [&](const TriedDictionary& tried) { return is_one_of(dictionaries, tried.features); }) &&
         std::ranges::all_of(report.cut_short, [](const std::string& text) { return is_utf8(text); }) &&
         is_utf8(report.tuning.reason);
}

bool is_possible(const TuningChoice& choice, std::span<const std::string> dictionaries,
                 const Problem& problem, Index terms) {
  return is_one_of(dictionaries, choice.features) && is_ridge(choice.ridge) && choice.terms >= 1 &&
         choice.terms <= terms &&
         (!choice.tuned || (is_possible(*choice.tuned, problem, terms) && !choice.tuned->rounds.empty()));
}

bool is_possible(const BestOfSomeRows& best, std::span<const std::string> dictionaries,
                 const Problem& problem, Index candidates, Index terms) {
  if (!best.model()) return true;
  const Learned& model = *best.model();
  return is_possible(model.active, problem, candidates, terms) && is_ridge(model.ridge) &&
         (model.stretch.empty() || are_stretches(model.stretch, problem)) &&
         is_one_of(dictionaries, model.features);
}

}  // namespace mfga
