#include "model/option_table.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <initializer_list>
#include <utility>

#include "features/family.hpp"
#include "losses/loss.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr double kHuge = 1e300;
constexpr double kMany = 1e9;
constexpr int kMostTuningSteps = 100000;

template <class Value>
struct IsOptional : std::false_type {};
template <class Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

template <class Class, class Value>
Class class_of(Value Class::*);
template <class Class, class Value>
Value value_of(Value Class::*);

// The values of an enumeration are listed in its order. Of what may be empty, that is listed first. Of two
// truth values that may be empty, "yes" comes before "no".
template <auto kMember>
constexpr auto choice() {
  using Options = decltype(class_of(kMember));
  using Value = decltype(value_of(kMember));
  return ChoiceMember<Options>{
      [](const Options& options) -> std::size_t {
        const Value& value = options.*kMember;
        if constexpr (std::is_same_v<Value, std::optional<bool>>) {
          return !value ? 0 : *value ? 1 : 2;
        } else if constexpr (IsOptional<Value>::value) {
          return value ? static_cast<std::size_t>(*value) + 1 : 0;
        } else {
          return static_cast<std::size_t>(value);
        }
      },
      [](Options& options, std::size_t position) {
        Value& value = options.*kMember;
        if constexpr (std::is_same_v<Value, std::optional<bool>>) {
          value = position == 0 ? Value() : Value(position == 1);
        } else if constexpr (IsOptional<Value>::value) {
          value = position == 0 ? Value() : Value(static_cast<typename Value::value_type>(position - 1));
        } else {
          value = static_cast<Value>(position);
        }
      }};
}

std::string loss_text(const FitOptions& options) { return options.loss.empty() ? "auto" : options.loss; }
void set_loss(FitOptions& options, std::string_view text) { options.loss = text == "auto" ? "" : text; }

std::string ridge_text(const FitOptions& options) {
  if (const double* const value = options.ridge.value()) return fmt::format("{}", *value);
  return options.ridge.is_automatic() ? "auto" : "cv";
}
void set_ridge(FitOptions& options, std::string_view text) {
  if (text == "auto" || text == "cv") {
    options.ridge = text == "cv" ? Ridge::cross_validated() : Ridge::automatic();
    return;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || fast_float::from_chars(text.data(), end, value).ptr != end) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`ridge` is \"{}\"; expected a number, cv or auto", text));
  }
  options.ridge = value;
}

std::string tune_text(const FitOptions& options) {
  if (options.tune.is_automatic()) return "auto";
  return options.tune.steps() == 0 ? "no" : fmt::format("{}", options.tune.steps());
}
void set_tune(FitOptions& options, std::string_view text) {
  options.tune = text == "auto" ? Tuning::automatic()
                 : text == "no" ? Tuning::none()
                                : Tuning::by_steps(parse_small_integer("`tune`", text, 1, kMostTuningSteps));
}

using WrittenFitMember = WrittenMember<FitOptions>;

constexpr std::array<OptionRow<FitOptions>, 24> kFitTable = {{
    {"task", choice<&FitOptions::task>(), "auto|regression|classification", 0, 0,
     "what the target is; auto: classification if it is text or has two values"},
    {"loss", WrittenFitMember{loss_text, set_loss}, "LOSS", 0, 0,
     "what is minimised; auto: squared for numbers, logistic for two classes, softmax for more; huber: "
     "outliers count by their size and not by its square, from 1.345 robust deviations of the target on, or "
     "from DELTA on with "
     "huber(DELTA); poisson: for counts, with predictions above 0; gamma: for amounts above 0 whose spread "
     "grows with their mean; quantile(PART): that part of the targets is to be below the prediction, as in "
     "quantile(0.9); squared_hinge: for two classes, rows that are well on their side cost nothing; "
     "one_vs_rest: for classes, a score of each against all others"},
    {"features", &FitOptions::features, "EXPRESSION", 0, 0,
     "dictionary of candidate features, e.g. \"linear + gaussian(order=2)\"; default: by the number of rows "
     "and columns and "
     "their kinds (docs/defaults.md)"},
    {"nu", choice<&FitOptions::nu>(), "uniform|norm|alignment|cv", 0, 0,
     "weights of the dictionary's kernels; uniform: as written in `features`; norm: all kernels of one size; "
     "alignment: by how well each explains the target alone; cv: the best of these by cross-validation. They "
     "matter "
     "for `select=gradient` only"},
    {"select", choice<&FitOptions::select>(), "auto|gradient|normalised|gain", 0, 0,
     "what ranks the candidates; gradient: the gradient of the risk, as in the paper; normalised: the same "
     "for "
     "candidates at unit norm; gain: the decrease of the risk when a candidate is added and all terms are "
     "fitted "
     "again; auto: gain, or what the preset says"},
    {"shortlist", &FitOptions::shortlist, "S", 0, kMany,
     "candidates of each step that are ranked again given those already picked in it; 0: twice `per_step` if "
     "that is "
     "more than 1, for one output and another loss than the squared one with gain 32 at least; 1: none"},
    {"search", choice<&FitOptions::search>(), "greedy|htp", 0, 0,
     "greedy: terms are added step by step; htp: hard thresholding pursuit, all terms at once"},
    {"refine", &FitOptions::refine, "no|yes", 0, 0,
     "afterwards, drop the least useful terms and add better ones until nothing improves"},
    {"tune", WrittenFitMember{tune_text, set_tune}, "no, auto or STEPS", 0, 0,
     "move what was chosen - widths, centres, knots, and one stretch per input - to where it fits best; "
     "auto: as far as held-out rows gain by it, if they do"},
    {"tune_every", &FitOptions::tune_every, "K", 0, kMany,
     "terms selected between tunings; 0: a quarter of all, 40 at most"},
    {"metric", choice<&FitOptions::metric>(), "none|diagonal|full", 0, 0,
     "learn from a first model how much each input counts (diagonal), or which combinations of inputs do "
     "(full), and select in that metric; kept while held-out rows gain by it"},
    {"effort", choice<&FitOptions::effort>(), "quick|normal|thorough", 0, 0,
     "how much is tried where held-out rows choose dictionary, ridge and tuning; quick: a race on few rows; "
     "normal: a race on more; thorough: all combinations in three folds, which takes several times as long"},
    {"time_limit", &FitOptions::time_limit, "SECONDS", 0, 1e9,
     "seconds for the whole command, reading included: what does not fit in is left out or cut short - the "
     "choice of the ridge, tuning, terms, checks - and named; there is a model in any case, which then "
     "depends "
     "on the machine. 0: none"},
    {"terms", &FitOptions::terms, "M", 1, kMany, "number of terms of the model"},
    {"per_step", &FitOptions::per_step, "K", 1, kMany,
     "terms added per greedy step; 1 is the most careful, more are faster"},
    {"ridge", WrittenFitMember{ridge_text, set_ridge}, "L, cv or auto", 0, kHuge,
     "L |theta|^2 is added to the sum (not the mean) of the losses; cv: the best of `ridges` by "
     "cross-validation; auto: the best of 1e-4 ... 100 on a fifth "
     "of the "
     "rows"},
    {"intercept", choice<&FitOptions::intercept>(), "auto|yes|no", 0, 0,
     "unpenalised constant term; auto: yes, or what the preset says"},
    {"scale", choice<&FitOptions::scale>(), "auto|standard|robust|quantile", 0, 0,
     "of the inputs, by the training rows; standard: mean and deviation; robust: median and interquartile "
     "range, cut to [-5, 5]; quantile: to a normal distribution; auto: quantile for columns with heavy "
     "tails, else standard"},
    {"tolerance", &FitOptions::tolerance, "R", 0, kHuge,
     "stop early when the mean training loss is at most R"},
    {"engine", choice<&FitOptions::engine>(), "auto|lazy|gram", 0, 0,
     "lazy: one pass over the rows per step; gram: all products of candidates once (squared loss only)"},
    {"precision", choice<&FitOptions::precision>(), "mixed|double", 0, 0,
     "of the search for atoms; mixed: single precision where its error bound allows, for the same atoms in "
     "half the time"},
    {"seed", &FitOptions::seed, "S", 0, 1.9e19,
     "seed of everything random (rows sampled for sigma=auto, splits)"},
    {"threads", &FitOptions::threads, "T", 0, 1024,
     "threads; 0: all cores. The result does not depend on it"},
    {"memory_limit", &FitOptions::memory_limit, "MIB", 0, kHuge,
     "refuse a search whose own numbers (sums and products of candidates, a kernel's matrix) need more MiB "
     "than this; the table and the program come on top. 0: four fifths of the machine's memory"},
}};

// What is there for comparisons with the paper.
constexpr std::array<OptionRow<paper::Options>, 7> kPaperTable = {{
    {"method", choice<&paper::Options::method>(), "mfga|rks|lkrf|eerf|gk|glk", 0, 0,
     "mfga, or what it is compared with: random features as drawn (rks), weighted by kernel alignment (lkrf) "
     "or by their "
     "score (eerf); the exact Gaussian (gk) or Gaussian + linear (glk) kernel"},
    {"preset", choice<&paper::Options::preset>(), "none|paper", 0, 0,
     "paper: the paper's dictionary, target scaled to [-1, 1], intercept for classification only"},
    {"norm_bound", &paper::Options::norm_bound, "C", 0, kHuge,
     "the paper's constraint |theta|_2 <= C instead of a ridge; 0: none"},
    {"scale_target", choice<&paper::Options::scale_target>(), "auto|none|range", 0, 0,
     "range: a regression target is mapped to [-1, 1] by its range on the training rows; auto: none, or what "
     "the preset says"},
    {"sigma", &paper::Options::sigma, "WIDTH", 0, 0,
     "kernel width of rks, lkrf, eerf, gk and glk: auto (the paper's rule), a number, or auto*NUMBER (mfga: "
     "in "
     "`features`)"},
    {"candidates", &paper::Options::candidates, "M0", 0, kMany,
     "random features that lkrf and eerf choose from; 0: ten per term"},
    {"subsample", &paper::Options::subsample, "F", 0, 1,
     "part of the training rows that gk and glk use, drawn at random"},
}};

constexpr std::array<OptionRow<CrossValidationOptions>, 2> kCrossValidationTable = {{
    {"folds", &CrossValidationOptions::folds, "F", 2, kMany,
     "`ridge=cv`: parts of the rows, each of which is held out once"},
    {"ridges", &CrossValidationOptions::ridges, "L1,L2,...", 0, kHuge, "`ridge=cv`: ridges to choose from"},
}};

constexpr std::array<OptionRow<ReadOptions>, 7> kReadTable = {{
    {"format", &ReadOptions::format, "auto|csv|tsv|libsvm|npy", 0, 0,
     "format of the data files; auto: recognised from the content. All may be gzip-compressed"},
    {"header", &ReadOptions::header, "auto|yes|no", 0, 0,
     "whether the first line holds column names; auto: by comparison with the lines below"},
    {"delimiter", &ReadOptions::delimiter, "D", 0, 0,
     "between the fields of a line: tab, space (one or more) or one character; auto: found out"},
    {"decimal", &ReadOptions::decimal, "auto|.|,", 0, 0,
     "decimal sign; the other one may separate thousands. auto: by what all values of a column fit"},
    {"missing", &ReadOptions::missing, "auto, error or TEXT,...", 0, 0,
     "what stands for a missing value, which counts as the centre of its column; auto: an empty field, NA, "
     "NaN "
     "and ?; TEXT,...: these texts as well; error: a missing value is an error, and ? a text"},
    {"comment", &ReadOptions::comment, "PREFIX", 0, 0,
     "lines that begin with PREFIX are skipped; \"\": none"},
    {"n_features", &ReadOptions::n_features, "D", 0, kMany,
     "number of features of a LIBSVM file; 0: the largest index in it"},
}};

constexpr std::array<OptionRow<GenerateOptions>, 7> kGenerateTable = {{
    {"task", choice<&GenerateOptions::task>(), "regression|classification", 0, 0, "kind of target"},
    {"rows", &GenerateOptions::rows, "N", 1, 1e15, "number of rows"},
    {"inputs", &GenerateOptions::inputs, "D", 1, 1e6, "number of inputs, named x1 ... xD"},
    {"terms", &GenerateOptions::terms, "M", 1, 1e6, "number of terms in the truth"},
    {"features", &GenerateOptions::features, "EXPRESSION", 0, 0,
     "dictionary that the truth is drawn from; default: linear + gaussian(order=2, sigma=sqrt(D))"},
    {"noise", &GenerateOptions::noise, "S", 0, kHuge,
     "standard deviation of the noise relative to the signal's"},
    {"seed", &GenerateOptions::seed, "S", 0, 1.9e19, "seed"},
}};

}  // namespace

std::span<const OptionRow<FitOptions>> fit_option_table() { return kFitTable; }
std::span<const OptionRow<paper::Options>> paper_option_table() { return kPaperTable; }
std::span<const OptionRow<CrossValidationOptions>> cross_validation_option_table() {
  return kCrossValidationTable;
}
std::span<const OptionRow<ReadOptions>> read_option_table() { return kReadTable; }
std::span<const OptionRow<GenerateOptions>> generate_option_table() { return kGenerateTable; }

namespace {

// `value` is the number as it is shown.
template <class Options, class Value>
void check_bounds(const OptionRow<Options>& row, const Value& value, double number) {
  if (number >= row.lowest && number <= row.highest) return;
  throw Error(ErrorKind::kInvalidArgument, fmt::format("`{}` is {}; expected a number from {} to {}",
                                                       row.name, value, row.lowest, row.highest));
}

template <class Options>
[[noreturn]] void refuse_choice(const OptionRow<Options>& row, std::string_view text) {
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("`{}` is \"{}\"; expected one of {}", row.name, text, row.value));
}

}  // namespace

template <class Options>
std::string option_text(const Options& options, const OptionRow<Options>& row) {
  return std::visit(
      [&](const auto& member) -> std::string {
        using Member = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<Member, ChoiceMember<Options>>) {
          return row.choices()[member.get(options)];
        } else if constexpr (std::is_same_v<Member, WrittenMember<Options>>) {
          return member.print(options);
        } else if constexpr (std::is_same_v<Member, bool Options::*>) {
          return options.*member ? "yes" : "no";
        } else if constexpr (std::is_same_v<Member, std::vector<double> Options::*>) {
          return fmt::format("{}", fmt::join(options.*member, ","));
        } else {
          return fmt::format("{}", options.*member);
        }
      },
      row.member);
}

template <class Options>
void set_option(Options& options, const OptionRow<Options>& row, std::string_view text) {
  if (const auto* const written = std::get_if<WrittenMember<Options>>(&row.member)) {
    written->parse(options, text);
    return;
  }
  if (const auto* const truth = std::get_if<bool Options::*>(&row.member)) {
    if (text != "yes" && text != "no") refuse_choice(row, text);
    options.*(*truth) = text == "yes";
    return;
  }
  const std::vector<std::string> choices = row.choices();
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] != text) continue;
    std::get<ChoiceMember<Options>>(row.member).set(options, i);
    return;
  }
  refuse_choice(row, text);
}

template <class Options>
void validate_options(const Options& options, std::span<const OptionRow<Options>> table) {
  for (const OptionRow<Options>& row : table) {
    std::visit(
        [&](const auto& member) {
          using Member = std::decay_t<decltype(member)>;
          if constexpr (std::is_same_v<Member, std::string Options::*>) {
            if (!row.is_choice()) return;
            for (const std::string& possible : row.choices()) {
              if (possible == options.*member) return;
            }
            refuse_choice(row, options.*member);
          } else if constexpr (std::is_same_v<Member, std::vector<double> Options::*>) {
            if ((options.*member).empty())
              throw Error(ErrorKind::kInvalidArgument, fmt::format("`{}` is an empty list", row.name));
            for (const double number : options.*member) check_bounds(row, number, number);
          } else if constexpr (std::is_same_v<Member, ChoiceMember<Options>>) {
            if (member.get(options) < row.choices().size()) return;
            throw Error(ErrorKind::kInvalidArgument, fmt::format("`{}` is none of {}", row.name, row.value));
          } else if constexpr (!std::is_same_v<Member, WrittenMember<Options>> &&
                               !std::is_same_v<Member, bool Options::*>) {
            check_bounds(row, options.*member, static_cast<double>(options.*member));
          }
        },
        row.member);
  }
}

#define MFGA_INSTANTIATE(Options)                                                  \
  template std::string option_text(const Options&, const OptionRow<Options>&);     \
  template void set_option(Options&, const OptionRow<Options>&, std::string_view); \
  template void validate_options(const Options&, std::span<const OptionRow<Options>>);
MFGA_INSTANTIATE(FitOptions)
MFGA_INSTANTIATE(paper::Options)
MFGA_INSTANTIATE(CrossValidationOptions)
MFGA_INSTANTIATE(ReadOptions)
MFGA_INSTANTIATE(GenerateOptions)
#undef MFGA_INSTANTIATE

namespace {

using GivenOptions = std::initializer_list<std::pair<std::string_view, bool>>;

// Throws if any of the others is given, too.
void refuse_together(std::string_view what, const GivenOptions& others) {
  for (const auto& [name, is_given] : others) {
    if (!is_given) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("{} is not possible with {}; leave one of them out", what, name));
  }
}

void check_tuning(const FitOptions& options) {
  if (options.tune.steps() < 0 || options.tune.steps() > kMostTuningSteps) {
    throw Error(ErrorKind::kInvalidArgument, fmt::format("`tune` is {} steps; expected a number from 1 to {}",
                                                         options.tune.steps(), kMostTuningSteps));
  }
  const bool tunes = options.tune.steps() > 0;
  if (!tunes && options.metric == Metric::kNone) return;
  refuse_together(tunes ? "`tune`" : "`metric`", {{"`search=htp`", options.search != Search::kGreedy},
                                                  {"`refine`", options.refine},
                                                  {"`nu`", options.nu != KernelWeights::kUniform},
                                                  {"`engine=gram`", options.engine == EngineKind::kGram}});
}

void check_start(const FitOptions& options) {
  if (options.start == nullptr) return;
  refuse_together("a model to `start` from", {{"`tune`", options.tune.steps() > 0},
                                              {"`metric`", options.metric != Metric::kNone},
                                              {"`search=htp`", options.search != Search::kGreedy},
                                              {"`refine`", options.refine},
                                              {"`nu`", options.nu != KernelWeights::kUniform},
                                              {"`ridge=cv`", options.ridge.validation() != nullptr},
                                              {"`scale`", options.scale.has_value()},
                                              {"`engine=gram`", options.engine == EngineKind::kGram}});
}

void check_ridge(const FitOptions& options) {
  const CrossValidationOptions* const validation = options.ridge.validation();
  if (validation != nullptr) validation->validate();
  const std::vector<double> ridges = validation != nullptr              ? validation->ridges
                                     : options.ridge.value() != nullptr ? std::vector{*options.ridge.value()}
                                                                        : std::vector<double>{};
  for (const double ridge : ridges) {
    if (!(ridge >= 0) || ridge > kHuge) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`ridge` is {}; expected a number from 0 to {}", ridge, kHuge));
    }
    if (ridge > 0 || options.tune.steps() == 0) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`tune` needs {} above 0: terms that come to lie on one another have no other "
                            "bound; leave the 0 out, or use `tune=no`",
                            validation != nullptr ? "all of `ridges`" : "a `ridge`"));
  }
}

}  // namespace

void FitOptions::validate() const {
  validate_options(*this, fit_option_table());
  check_start(*this);
  check_ridge(*this);
  if (!loss.empty()) static_cast<void>(find_loss(loss));
  if (!features.empty()) static_cast<void>(Dictionary(features));
  check_tuning(*this);
  if (search == Search::kHardThresholding && select == Selection::kGradient) {
    throw Error(
        ErrorKind::kInvalidArgument,
        "`search=htp` compares coefficients, which needs atoms at unit norm; use `select=normalised`");
  }
  if (engine == EngineKind::kGram && task == Task::kClassification) {
    throw Error(ErrorKind::kInvalidArgument,
                "`engine=gram` works for the squared loss only; use `engine=lazy` for classification");
  }
}

void paper::Options::validate(const FitOptions& fit) const {
  fit.validate();
  validate_options(*this, paper_option_table());
  static_cast<void>(parse_sigma(sigma));
  const std::string name = option_text(*this, paper_option_table(), "method");
  const bool searches = method == Method::kMfga;
  if (searches && sigma != "auto") {
    throw Error(ErrorKind::kInvalidArgument,
                "`sigma` is for the other methods; for mfga write it into `features`, e.g. gaussian(order=2, "
                "sigma=3)");
  }
  if (!searches && fit.start != nullptr) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`start` is for the method mfga; {} chooses all its terms at once", name));
  }
  if (!searches && !fit.features.empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`features` is for the method mfga; {} has its own features", name));
  }
  const std::pair<std::string_view, bool> of_searches[] = {{"nu", fit.nu != KernelWeights::kUniform},
                                                           {"select", fit.select.has_value()},
                                                           {"shortlist", fit.shortlist != 0},
                                                           {"search", fit.search != Search::kGreedy},
                                                           {"refine", fit.refine},
                                                           {"tune", fit.tune.steps() > 0},
                                                           {"tune_every", fit.tune_every != 0},
                                                           {"metric", fit.metric != Metric::kNone}};
  for (const auto& [option, is_given] : of_searches) {
    if (searches || !is_given) continue;
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`{}` is for the method mfga; {} does not search", option, name));
  }
  if (norm_bound > 0) {
    refuse_together("`norm_bound`",
                    {{"`tune`", fit.tune.steps() > 0}, {"`metric`", fit.metric != Metric::kNone}});
  }
  if (norm_bound > 0 && fit.ridge.validation() != nullptr) {
    throw Error(ErrorKind::kInvalidArgument,
                "`norm_bound` takes the place of a ridge, so there is none to cross-validate; leave one of "
                "them out");
  }
  if (fit.nu != KernelWeights::kUniform && fit.select != Selection::kGradient && !preset) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("`nu={}` weighs kernels against one another, which matters with "
                            "`select=gradient` only; add that, or leave `nu` out",
                            option_text(fit, fit_option_table(), "nu")));
  }
  if ((method == Method::kLkrf || method == Method::kEerf) && candidates > 0 && candidates < fit.terms) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("`candidates` is {}; expected at least the number of terms, {}", candidates, fit.terms));
  }
}

void CrossValidationOptions::validate() const {
  validate_options(*this, cross_validation_option_table());
  if (used_folds < 0 || used_folds > folds) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{} folds are to be held out; expected at most the {} that there are, or 0 for all",
                    used_folds, folds));
  }
  if (most_rows < 0 || (most_rows > 0 && most_rows < folds)) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("{} rows are to be divided into {} folds; expected at least one row for each, or 0 for "
                    "all rows",
                    most_rows, folds));
  }
}

void GenerateOptions::validate() const { validate_options(*this, generate_option_table()); }

}  // namespace mfga
