// Tuned searches as units of a journal.
#pragma once

#include <fmt/format.h>

#include <string>

#include "solve/tuned_search.hpp"

namespace mfga {

// What find() finds. Its label says all that the sizes of the models depend on, for under a time limit there
// may be others in another run.
template <class Find>
std::vector<TunedModel> models_of(std::string_view what, std::span<const TuningFold> folds,
                                  std::span<const TunedModel> begun, const TunedSearchOptions& options,
                                  const Find& find) {
  std::string label =
      fmt::format("{} of {} folds of {} rows, {} steps for {} terms with", what, folds.size(),
                  folds.front().problem.rows.rows(), options.most_steps, options.greedy.terms);
  for (const FamilyRequest& request : options.dictionary.requests()) {
    label += " " + request.family;
    for (const FamilyRequest::Option& option : request.options)
      label += " " + option.name + "=" + option.value;
  }
  if (!begun.empty()) {
    const TunedModel& first = begun.front();
    label += fmt::format(", from {} rounds, {} {}", first.rounds.size(), first.ridge, first.stretches_inputs);
  }
  std::vector<TunedModel> models;
  const auto are_these = [&] {
    return are_possible(models, folds, options.greedy.terms) && !models.front().rounds.empty();
  };
  journaled_if(
      options.greedy.journal, label, [&] { models = find(); }, are_these, models);
  return models;
}

}  // namespace mfga
