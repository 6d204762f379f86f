// What a checkpoint keeps of a fit besides its searches.
#include "model/fit_archive.hpp"

namespace mfga {

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

}  // namespace mfga
