// Whether columns with heavy tails are seen by their quantiles or, like all others, in deviations: for rare
// values far out in a column of mostly equal ones, quantiles can be much the worse.
#include <algorithm>
#include <span>
#include <string>

#include "model/choosing_folds.hpp"
#include "model/fit_archive.hpp"
#include "model/tuning_work.hpp"

namespace mfga {
namespace {

// As in the first heat of a race; what held-out rows lose by each.
HeldOutLosses losses_of_a_round(Work& work, std::span<const TuningFold> folds, const PreparedData& data,
                                const std::string& features, int steps) {
  std::vector<double> ridges = work.plan.ridges();
  std::ranges::sort(ridges);
  std::vector<double> select_ridges;
  for (std::size_t i = 0; i < ridges.size(); i += 2) select_ridges.push_back(ridges[i]);
  const Dictionary dictionary(features);
  TunedSearchOptions options = search_options(work, data, dictionary, {work.plan.penalty.ridge, 0}, steps);
  options.is_race = true;
  // A quarter of a few terms would say little.
  constexpr Index kFewest = 12;
  options.round_ends = {std::max(options.round_ends.front(), std::min(kFewest, options.greedy.terms))};
  const std::vector<TunedModel> models =
      first_tuned_round(folds, select_ridges, ridges, options, progress_of(work));
  return held_out_losses(folds, models);
}

// What held-out rows lose by models that see columns with heavy tails by their quantiles, or as all others.
struct InEitherScale {
  HeldOutLosses automatic;
  HeldOutLosses standard;

  [[nodiscard]] PairedLosses paired() const { return paired_losses(automatic, standard); }
  [[nodiscard]] bool is_standard_better_by(double standard_errors) const {
    const PairedLosses losses = paired();
    return losses.first - losses.second > standard_errors * losses.standard_error;
  }
  // In each of the scales by itself.
  void take_better_of(const InEitherScale& other) {
    const auto take = [](HeldOutLosses& own, const HeldOutLosses& others) {
      const PairedLosses losses = paired_losses(own, others);
      if (losses.second < losses.first) own = others;
    };
    take(automatic, other.automatic);
    take(standard, other.standard);
  }
};

// The first dictionary with landmarks, which depend on scales most; it has functions of single columns beside
// them where there are any, and so tells scales apart most clearly.
const std::string& with_landmarks(const AutomaticDictionaries& dictionaries) {
  const auto first = std::ranges::find_if(dictionaries.list, [](const std::string& features) {
    return features.find("landmark") != std::string::npos;
  });
  return first == dictionaries.list.end() ? dictionaries.list.back() : *first;
}

}  // namespace

bool have_quantiles(const PreparedData& data) {
  return std::ranges::any_of(data.inputs, [](const InputColumn& input) { return !input.warp.knots.empty(); });
}

std::optional<TriedScales> compare_scales(Work& work, const PreparedData& automatic,
                                          const PreparedData& standard, const JudgedRows& rows,
                                          const AutomaticDictionaries& dictionaries) {
  const Extent extent = extent_of(work.plan.options.effort, automatic.problem(work.workers).outputs());
  const ChoosingFolds few(work, automatic, rows.choosing, extent.first_rows, rows.choosing.count());
  if (few.has_one_target()) return std::nullopt;
  const ChoosingFolds same_few(work, standard, rows.choosing, extent.first_rows, rows.choosing.count());
  const auto with = [&](const std::string& features, std::size_t folds) {
    return InEitherScale{
        losses_of_a_round(work, few.folds().first(folds), automatic, features, extent.first_steps),
        losses_of_a_round(work, same_few.folds().first(folds), standard, features, extent.first_steps)};
  };
  work.phase = "choosing scales";
  TriedScales tried;
  const auto compare = [&] {
    // If these do not ask for other scales, nothing does.
    const std::string& landmarks = with_landmarks(dictionaries);
    InEitherScale losses = with(landmarks, 1);
    bool is_standard = losses.is_standard_better_by(2);
    if (is_standard) {
      // One fold may say so by chance: all must, by more than chance as well; and where functions of single
      // columns do better anyway, it is for them to say.
      const std::size_t all = few.folds().size();
      if (all > 1) losses = with(landmarks, all);
      if (dictionaries.list.size() > 1) losses.take_better_of(with(dictionaries.list.front(), all));
      is_standard = losses.is_standard_better_by(1);
    }
    const PairedLosses means = losses.paired();
    const double unit = automatic.target.loss_unit();
    tried = {unit * means.first, unit * means.second, is_standard};
  };
  journaled(work.journal, "scales", compare, tried);
  work.phase = "";
  return tried;
}

}  // namespace mfga
