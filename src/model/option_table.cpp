#include "model/option_table.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <utility>

#include "features/family.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr double kHuge = kHugeOption;
constexpr double kMany = kManyOption;

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

Index whole_number(std::string_view option, std::string_view text, std::string_view other) {
  Index number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("`{}` is \"{}\"; expected a whole number or {}", option, text, other));
}

std::string terms_text(const FitOptions& options) {
  return options.terms ? fmt::format("{}", *options.terms) : "auto";
}
void set_terms(FitOptions& options, std::string_view text) {
  if (text == "auto") {
    options.terms.reset();
  } else {
    options.terms = whole_number("terms", text, "auto");
  }
}

std::string per_step_text(const FitOptions& options) {
  return options.per_step ? fmt::format("{}", *options.per_step) : "auto";
}
void set_per_step(FitOptions& options, std::string_view text) {
  if (text == "auto") {
    options.per_step.reset();
  } else {
    options.per_step = whole_number("per_step", text, "auto");
  }
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

std::string folds_text(const CrossValidationOptions& options) {
  return options.in_time_order ? "time" : fmt::format("{}", options.folds);
}
void set_folds(CrossValidationOptions& options, std::string_view text) {
  options.in_time_order = text == "time";
  if (!options.in_time_order) options.folds = whole_number("folds", text, "time");
}

using WrittenFitMember = WrittenMember<FitOptions>;

constexpr std::array<OptionRow<FitOptions>, 27> kFitTable = {{
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
     "candidates of each step that are ranked again given those already picked in it; 1: none; 0: twice the "
     "terms that it adds, none for one; with gain, one output and a loss other than the squared one eight "
     "times, of many terms fewer, and at least 32"},
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
    {"terms", WrittenFitMember{terms_text, set_terms}, "M or auto", 0, 0,
     "number of terms of the model; auto: as many as held-out rows gain by, 200 at most, or 40 where there "
     "are "
     "too few rows to hold some out"},
    {"choose", choice<&FitOptions::choose>(), "1se|best", 0, 0,
     "`terms=auto`: which of the sizes tried; 1se: the smallest whose loss on held-out rows is within a "
     "standard "
     "error of the smallest loss; best: the one with the smallest loss"},
    {"per_step", WrittenFitMember{per_step_text, set_per_step}, "K or auto", 0, 0,
     "terms added per greedy step; 1 is the most careful, more are faster; auto: 1, and 1 more for every 10 "
     "terms that there are"},
    {"ridge", WrittenFitMember{ridge_text, set_ridge}, "L, cv or auto", 0, kHuge,
     "L |theta|^2 is added to the sum (not the mean) of the losses; cv: the best of `ridges` by "
     "cross-validation; auto: the best of 1e-4 ... 100 on a fifth "
     "of the "
     "rows"},
    {"penalty", choice<&FitOptions::penalty>(), "ridge|logcosh", 0, 0,
     "what is added to the losses, L times; ridge: |theta|^2; logcosh: the sum of 2 B^2 log cosh(theta / B), "
     "B a tenth of the target's deviation (of classes: 0.1): the same for small coefficients, and a smooth "
     "stand-in for absolute values beyond B"},
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
     "of the search for atoms; mixed: single precision where its error bound allows, in half the time; the "
     "atoms are the same, but where neighbours in the dictionary are as good as each other to single "
     "precision"},
    {"device", choice<&FitOptions::device>(), "cpu|cuda|auto", 0, 0,
     "where large searches, fits of their coefficients and tuning look at the rows; cuda: on a GPU of "
     "NVIDIA, in "
     "double precision; auto: there if there is one that can be used"},
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
    {"folds", WrittenMember<CrossValidationOptions>{folds_text, set_folds}, "F or time", 0, 0,
     "`ridge=cv`: parts of the rows, each of which is held out once; time: rows stand in the order of time, "
     "and "
     "wherever some are held out they come after those that are learned from"},
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

}  // namespace mfga
