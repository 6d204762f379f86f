// What held-out rows decide of dictionaries, ridges and tuning, and who judges it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "model/choosing_folds.hpp"
#include "model/tuning_work.hpp"

namespace mfga {
namespace {

constexpr int kMostJudgedSteps = 128;  // of one tuning, where held-out rows say when to stop

using Models = std::vector<TunedModel>;

// The models of two searches, by the loss of each held-out row.
PairedLosses compared(std::span<const TuningFold> folds, const Models& first, const Models& second) {
  return paired_losses(held_out_losses(folds, first), held_out_losses(folds, second));
}

// Of models with dictionaries from the simplest on, the first whose held-out loss is within two standard
// errors of the smallest one: held-out rows hardly tell the two.
std::size_t simplest_of_the_best(std::span<const TuningFold> folds, const std::vector<Models>& models) {
  constexpr double kClear = 2;
  const auto loss = [](const Models& tried) { return tried.front().held_out(); };
  const auto best = std::ranges::min_element(models, {}, loss);
  // What ended early, for more terms would have made it worse, has no more to come.
  const auto is_as_good = [&](const Models& tried) {
    if (tried.front().rounds.size() < best->front().rounds.size()) return false;
    const PairedLosses losses = compared(folds, tried, *best);
    return losses.first - losses.second <= kClear * losses.standard_error;
  };
  return static_cast<std::size_t>(std::find_if(models.begin(), best, is_as_good) - models.begin());
}

// A dictionary and the models that the folds learned with it.
struct Choice {
  std::size_t dictionary = 0;
  Models models;
};

// What a choice is made from.
class Choosing {
 public:
  Choosing(Work& work, const PreparedData& data, const JudgedRows& rows,
           const AutomaticDictionaries& dictionaries)
      : work_(work),
        data_(data),
        rows_(rows),
        dictionaries_(dictionaries),
        ridges_(work.plan.ridges()),
        on_step_(progress_of(work)),
        all_(work, data, rows.choosing) {
    std::ranges::sort(ridges_);
  }

  [[nodiscard]] std::span<const TuningFold> folds() const { return all_.folds(); }
  [[nodiscard]] const std::string& features(std::size_t dictionary) const {
    return dictionaries_.list[dictionary];
  }

  // Smaller ones if held-out rows want fewer terms.
  [[nodiscard]] Models at_chosen_size(const Choice& choice, bool is_tuned) {
    const bool is_given = !work_.plan.chooses_terms;
    std::vector<Models> tried = is_tuned && !is_given ? small_sizes(choice) : std::vector<Models>();
    for (std::size_t i = 1; i <= choice.models.front().rounds.size(); ++i) {
      Models models;
      for (const TunedModel& model : choice.models) models.push_back(model.after(i));
      tried.push_back(std::move(models));
    }
    std::vector<TriedSize>& sizes = is_given ? work_.report.smaller_sizes : work_.report.sizes;
    sizes.clear();
    const double unit = data_.target.loss_unit();
    for (const Models& models : tried) {
      const HeldOutLosses losses = held_out_losses(folds(), models);
      const HeldOutLosses none{std::vector<double>(losses.losses.size()), losses.weights};
      const PairedLosses mean = paired_losses(losses, none);
      const TunedModel& model = models.front();
      sizes.push_back(
          {model.rounds.back().terms, unit * mean.first, unit * mean.standard_error, model.ridge});
    }
    if (is_given) {
      sizes.back().is_chosen = true;
      return choice.models;
    }
    const auto best = std::ranges::min_element(sizes, {}, &TriedSize::held_out);
    const double enough =
        best->held_out + (work_.plan.options.choose == SizeChoice::kBest ? 0 : best->standard_error);
    const auto chosen =
        std::ranges::find_if(sizes, [&](const TriedSize& size) { return size.held_out <= enough; });
    chosen->is_chosen = true;
    return tried[static_cast<std::size_t>(chosen - sizes.begin())];
  }

  // Every dictionary with every other ridge, in all folds, and stretches at last.
  [[nodiscard]] Choice tuned_by_grid(double ridge) {
    std::vector<Models> begun;
    for (std::size_t d = 0; d < dictionaries_.list.size(); ++d) {
      show_part(fmt::format("tuning with dictionary {} of {}", d + 1, dictionaries_.list.size()),
                part_before(kGridOfDictionaries, d, dictionaries_.list.size()));
      with_options(d, ridge, kMostJudgedSteps, [&](const TunedSearchOptions& options) {
        begun.push_back(begin_tuned(folds(), ridges_, options, on_step_));
      });
      offer_to_keep(work_, begun.back().front(), features(d));
      note(d, begun.back());
      if (is_late()) break;
    }
    show_part("tuning with the best dictionary", kGridOfDictionaries);
    Choice choice{simplest_of_the_best(folds(), begun), {}};
    with_options(choice.dictionary, ridge, kMostJudgedSteps, [&](const TunedSearchOptions& options) {
      choice.models =
          complete_tuned(folds(), std::move(begun[choice.dictionary]), ridges_, options, on_step_);
    });
    offer_to_keep(work_, choice.models.front(), features(choice.dictionary));
    return choice;
  }

  // The same decisions by a race: the first round of each dictionary on few rows and one fold, two rounds of
  // the best ones on all, and the others for the winner only.
  [[nodiscard]] Choice tuned_by_race(const Extent& extent) {
    const std::vector<Choice> left = first_heat(extent);
    std::vector<Choice> tried;
    std::vector<Models> models;
    for (const Choice& one : left) {
      show_part(fmt::format("second heat, dictionary {} of {}", tried.size() + 1, left.size()),
                kFirstHeat + part_before(kSecondHeat, tried.size(), left.size()));
      tried.push_back({one.dictionary, two_rounds(one)});
      models.push_back(tried.back().models);
      offer_to_keep(work_, models.back().front(), features(one.dictionary));
      note(one.dictionary, models.back());
      if (is_late()) break;
    }
    Choice winner = std::move(tried[simplest_of_the_best(folds(), models)]);
    show_part("the best dictionary", kFirstHeat + kSecondHeat);
    if (!is_late()) winner.models = better_without_stretches(std::move(winner));
    const double begin = work_.plan.times.seconds();
    with_race_options(winner.dictionary, kMostJudgedSteps, [&](const TunedSearchOptions& options) {
      constexpr std::size_t kAll = 1000000;
      winner.models = with_rounds(folds(), std::move(winner.models), kAll, ridges_, options, on_step_);
    });
    // The fit of all rows repeats these rounds; it takes more steps than were best here, but here more were
    // tried.
    work_.seconds_of_a_fit = (work_.plan.times.seconds() - begin) * static_cast<double>(data_.rows.rows()) /
                             static_cast<double>(rows_learned_from());
    offer_to_keep(work_, winner.models.front(), features(winner.dictionary));
    return winner;
  }

  // With the terms that were selected for its first round, and more, none of them tuned.
  [[nodiscard]] Choice untuned(const Choice& tuned) {
    const double ridge = tuned.models.front().rounds.front().select_ridge;
    if (work_.plan.chooses_terms)  // from less than that
      return untuned(folds(), {tuned.dictionary}, ridge);
    show_part("choosing without tuning", kWithoutTuning);
    Choice result{tuned.dictionary, {}};
    with_options(tuned.dictionary, ridge, 0, [&](const TunedSearchOptions& options) {
      result.models = select_untuned(folds(), begun_again(tuned.models, false), ridges_, options, on_step_);
    });
    return result;
  }

  // The best of these dictionaries without tuning, with a ridge to select with.
  [[nodiscard]] Choice untuned(std::span<const TuningFold> folds, const std::vector<std::size_t>& tried,
                               double ridge) {
    show_part("choosing without tuning", kWithoutTuning);
    std::vector<Models> all;
    for (const std::size_t dictionary : tried) {
      with_options(dictionary, ridge, 0, [&](const TunedSearchOptions& options) {
        all.push_back(select_untuned(folds, {&ridge, 1}, ridges_, options, on_step_));
      });
    }
    const std::size_t chosen = simplest_of_the_best(folds, all);
    return {tried[chosen], std::move(all[chosen])};
  }

  [[nodiscard]] std::vector<std::size_t> all_dictionaries() const {
    std::vector<std::size_t> all(dictionaries_.list.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

 private:
  [[nodiscard]] std::vector<Models> small_sizes(const Choice& choice) {
    const TunedModel& large = choice.models.front();
    std::vector<Models> tried;
    for (const Index terms : kSmallSizes) {
      if (terms >= large.rounds.front().wanted || is_late()) break;
      show_part(fmt::format("{} terms", terms), kWithoutTuning);
      with_race_options(choice.dictionary, kMostJudgedSteps, [&](TunedSearchOptions options) {
        options.greedy.terms = terms;
        options.round_ends = {terms};
        tried.push_back(with_rounds(
            folds(), nothing_tuned(folds(), large.rounds.front().select_ridge, large.stretches_inputs), 1,
            ridges_, options, on_step_));
      });
    }
    return tried;
  }

  // Parts of the time of a fit, roughly, that are over when the next ones begin.
  static constexpr double kFirstHeat = 0.25;
  static constexpr double kSecondHeat = 0.25;
  static constexpr double kWithoutTuning = 0.7;
  static constexpr double kGridOfDictionaries = 0.4;
  [[nodiscard]] static double part_before(double part, std::size_t i, std::size_t n) {
    return part * static_cast<double>(i) / static_cast<double>(n);
  }
  void show_part(std::string phase, double done) {
    work_.phase = std::move(phase);
    work_.done = done;
  }

  // After which dictionaries are compared. Of few terms all: each says much, and costs little.
  [[nodiscard]] std::size_t rounds_compared() const {
    constexpr Index kFewTerms = 12;
    return work_.plan.terms <= kFewTerms ? kFewTerms : 2;
  }
  [[nodiscard]] bool is_late() const { return is_over(work_.plan.times.deadline(Timetable::kPartOfTuning)); }
  template <class Search>
  void with_options(std::size_t dictionary, double ridge, int steps, Search search) {
    const Dictionary candidates(features(dictionary));
    search(search_options(work_, data_, candidates, {ridge, 0}, steps));
  }
  template <class Search>
  void with_race_options(std::size_t dictionary, int steps, Search search) {
    with_options(dictionary, work_.plan.penalty.ridge, steps, [&](TunedSearchOptions options) {
      options.is_race = true;
      search(options);
    });
  }

  // Tells the report how a dictionary did, now or once more.
  void note(std::size_t dictionary, const Models& models) {
    std::vector<TriedDictionary>& all = work_.report.dictionaries;
    auto own = std::ranges::find(all, features(dictionary), &TriedDictionary::features);
    if (own == all.end()) own = all.insert(all.end(), {features(dictionary), 0, 0});
    own->held_out = data_.target.loss_unit() * models.front().held_out();
    ++own->heats;
  }

  // The best dictionaries by their first round, with the ridge that suits each.
  [[nodiscard]] std::vector<Choice> first_heat(const Extent& extent) {
    std::vector<double> select_ridges;
    for (std::size_t i = 0; i < ridges_.size(); i += 2) select_ridges.push_back(ridges_[i]);
    const ChoosingFolds some(work_, data_, rows_.choosing, extent.first_rows, 1);
    const std::span<const TuningFold> few = some.has_one_target() ? folds().first(1) : some.folds();
    std::vector<Choice> tried;
    for (std::size_t d = 0; d < dictionaries_.list.size(); ++d) {
      show_part(fmt::format("first heat, dictionary {} of {}", d + 1, dictionaries_.list.size()),
                part_before(kFirstHeat, d, dictionaries_.list.size()));
      with_race_options(d, extent.first_steps, [&](const TunedSearchOptions& options) {
        tried.push_back({d, first_tuned_round(few, select_ridges, ridges_, options, on_step_)});
      });
      offer_to_keep(work_, tried.back().models.front(), features(d));
      if (is_late()) break;
    }
    const auto loss = [](const Choice& one) { return one.models.front().held_out(); };
    const Models best = std::ranges::min_element(tried, {}, loss)->models;
    // Few terms may explain next to nothing of several targets, and then say little of what more would do.
    const bool all_go_on = few.front().problem.target_columns() > 1;
    for (Choice& one : tried) {
      if (!is_late() && (all_go_on || !are_clearly_worse(few, one.models, best))) {
        with_race_options(one.dictionary, extent.first_steps, [&](const TunedSearchOptions& options) {
          one.models = with_rounds(few, std::move(one.models), rounds_compared(), ridges_, options, on_step_);
        });
        offer_to_keep(work_, one.models.front(), features(one.dictionary));
      }
      note(one.dictionary, one.models);
    }
    return those_left(few, std::move(tried), extent.in_final);
  }

  [[nodiscard]] Index rows_learned_from() const {
    Index rows = 0;
    for (const TuningFold& fold : folds()) rows += fold.problem.rows.rows();
    return rows;
  }

  // None that is worse than the best by more than two standard errors, and so many at most: the simplest, and
  // the best. The simplest of all stays in any case: many rows tell more of single columns than few do. If
  // there is to be one, it is the simplest within one standard error.
  [[nodiscard]] static std::vector<Choice> those_left(std::span<const TuningFold> folds,
                                                      std::vector<Choice> tried, std::size_t most) {
    const double clear = most > 1 ? 2 : 1;
    const auto loss = [](const Choice& one) { return one.models.front().held_out(); };
    const Models best = std::ranges::min_element(tried, {}, loss)->models;
    std::erase_if(tried, [&](const Choice& one) {
      if (most > 1 && one.dictionary == 0) return false;
      const PairedLosses losses = compared(folds, one.models, best);
      return losses.first - losses.second > clear * losses.standard_error;
    });
    std::ranges::stable_sort(tried.begin() + 1, tried.end(), {}, loss);
    if (tried.size() > most) tried.erase(tried.begin() + static_cast<std::ptrdiff_t>(most), tried.end());
    std::ranges::sort(tried, {}, &Choice::dictionary);
    return tried;
  }

  // With the ridge that its first round was best with.
  [[nodiscard]] Models two_rounds(const Choice& one) {
    return with_compared_rounds(one.dictionary,
                                nothing_tuned(folds(), one.models.front().rounds.front().select_ridge, true),
                                rounds_compared());
  }

  [[nodiscard]] Models with_compared_rounds(std::size_t dictionary, Models models, std::size_t rounds) {
    with_race_options(dictionary, kMostJudgedSteps, [&](const TunedSearchOptions& options) {
      models = with_rounds(folds(), std::move(models), rounds, ridges_, options, on_step_);
    });
    return models;
  }

  // Its rounds once more with inputs as they are, unless the first one is clearly worse.
  [[nodiscard]] Models better_without_stretches(Choice choice) {
    const std::vector<TuningRound>& rounds = choice.models.front().rounds;
    int steps = 0;
    for (const TuningRound& round : rounds) steps += round.steps;
    if (steps <= 1) return std::move(choice.models);  // it would be the same
    Models unstretched = with_compared_rounds(choice.dictionary, begun_again(choice.models, false), 1);
    Models first;
    for (const TunedModel& model : choice.models) first.push_back(model.after(1));
    if (are_clearly_worse(folds(), unstretched, first)) return std::move(choice.models);
    unstretched = with_compared_rounds(choice.dictionary, std::move(unstretched), rounds_compared());
    return unstretched.front().held_out() < choice.models.front().held_out() ? std::move(unstretched)
                                                                             : std::move(choice.models);
  }

  Work& work_;
  const PreparedData& data_;
  const JudgedRows& rows_;
  const AutomaticDictionaries& dictionaries_;
  std::vector<double> ridges_;
  TunedSearchCallback on_step_;
  ChoosingFolds all_;
};

// Tuned, or not: by rows that nothing was chosen with.
class Judge {
 public:
  Judge(Work& work, const PreparedData& data, const std::vector<Index>& rows)
      : work_(work), data_(data.subset(rows, &work.workers)) {}

  // The models of all folds, for each row their mean.
  [[nodiscard]] PairedLosses compare(const Models& untuned, const Models& tuned) const {
    return paired_losses(losses_of(untuned), losses_of(tuned), data_.rows.weights());
  }

 private:
  [[nodiscard]] std::vector<double> losses_of(const Models& models) const {
    std::vector<double> means(static_cast<std::size_t>(data_.rows.rows()));
    for (const TunedModel& model : models) {
      const BlockedRows seen = model.seen(data_.rows);
      const std::vector<double> losses =
          row_losses(data_.problem(work_.workers).with_rows(seen), model.active.score());
      for (std::size_t n = 0; n < means.size(); ++n)
        means[n] += losses[n] / static_cast<double>(models.size());
    }
    return means;
  }

  Work& work_;
  PreparedData data_;
};

}  // namespace

std::optional<JudgedRows> judged_rows(Work& work, const PreparedData& data, const Candidates& candidates,
                                      EngineKind engine) {
  constexpr Index kMostFolds = 3;  // that are held out, of the four to choose with
  if (!work.plan.judges_tuning) return std::nullopt;
  CrossValidationOptions validation = affordable(work, quick_validation(), &candidates, engine);
  Index used = kMostFolds;
  if (!work.plan.tries_all()) {
    const Extent extent = extent_of(work.plan.options.effort, data.problem(work.workers).outputs());
    validation.most_rows = std::min(validation.most_rows, extent.most_rows);
    const Index rows_of_a_fold = std::min(validation.most_rows, data.rows.rows()) / validation.folds;
    used = std::clamp<Index>((extent.held_out_rows + rows_of_a_fold - 1) / rows_of_a_fold, 1, kMostFolds);
  }
  const Folds folds = data.folds(work.plan, validation);
  JudgedRows rows{folds.without_judge(used), folds.judge()};
  if (fold_of_one_class(data, rows.choosing)) return std::nullopt;
  return rows;
}

TuningChoice choose_tuning(Work& work, const PreparedData& data, const JudgedRows& rows,
                           const AutomaticDictionaries& dictionaries, double ridge) {
  Choosing choosing(work, data, rows, dictionaries);
  const bool is_grid = work.plan.tries_all();
  Choice with =
      is_grid
          ? choosing.tuned_by_grid(ridge)
          : choosing.tuned_by_race(extent_of(work.plan.options.effort, data.problem(work.workers).outputs()));
  with.models = choosing.at_chosen_size(with, true);
  const std::vector<TriedSize> tuned_sizes = work.report.sizes;
  const std::vector<TriedSize> tuned_smaller_sizes = work.report.smaller_sizes;
  const bool is_cut = is_over(work.plan.times.deadline(Timetable::kPartOfTuning));
  Choice without = is_grid ? choosing.untuned(choosing.folds(), choosing.all_dictionaries(), ridge)
                           : choosing.untuned(with);
  without.models = choosing.at_chosen_size(without, false);
  work.phase = "comparing with no tuning";
  const Judge judge(work, data, rows.judge);
  PairedLosses losses = judge.compare(without.models, with.models);
  // Tuning is the better bet: it is left out where it is worse beyond chance.
  const auto gains = [&] { return losses.second - losses.first <= losses.standard_error; };
  if (!gains() && !is_grid && !is_cut) {
    // An untuned model has one ridge, to select with and to fit with: the judge sees what it would come to.
    without = choosing.untuned(choosing.folds(), choosing.all_dictionaries(), without.models.front().ridge);
    without.models = choosing.at_chosen_size(without, false);
    losses = judge.compare(without.models, with.models);
  }
  const double unit = data.target.loss_unit();
  work.report.tuning.held_out_without = unit * losses.first;
  work.report.tuning.held_out_with = unit * losses.second;
  if (is_cut) work.report.cut_short.emplace_back("tuning");
  TuningChoice choice;
  if (gains()) {
    choice.tuned = with.models.front();
    work.report.sizes = tuned_sizes;
    work.report.smaller_sizes = tuned_smaller_sizes;
    choice.features = choosing.features(with.dictionary);
  } else {
    work.report.tuning.reason = is_cut ? "held-out rows do not gain by what the time limit left of it"
                                       : "held-out rows do not gain by it";
    choice.features = choosing.features(without.dictionary);
  }
  choice.ridge = without.models.front().ridge;
  choice.terms = without.models.front().rounds.back().wanted;
  for (TriedDictionary& one : work.report.dictionaries) one.is_chosen = one.features == choice.features;
  return choice;
}

}  // namespace mfga
