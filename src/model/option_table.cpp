#include "model/option_table.hpp"

#include <array>
#include <utility>

#include "features/family.hpp"
#include "losses/loss.hpp"

namespace mfga {
namespace {

constexpr double kHuge = 1e300;
constexpr double kMany = 1e9;
constexpr int kMostTuningSteps = 100000;

constexpr std::array<OptionRow<FitOptions>, 30> kFitTable = {{
    {"task", &FitOptions::task, "auto|regression|classification", 0, 0,
     "what the target is; auto: classification if it is text or has two values"},
    {"loss", &FitOptions::loss, "LOSS", 0, 0,
     "what is minimised; auto: squared for numbers, logistic for classes; huber: outliers count by their "
     "size "
     "and not by its square, from 1.345 robust deviations of the target on, or from DELTA on with "
     "huber(DELTA); poisson: for counts, with predictions above 0"},
    {"method", &FitOptions::method, "mfga|rks|lkrf|eerf|gk|glk", 0, 0,
     "mfga, or what it is compared with: random features as drawn (rks), weighted by kernel alignment (lkrf) "
     "or by their "
     "score (eerf); the exact Gaussian (gk) or Gaussian + linear (glk) kernel"},
    {"preset", &FitOptions::preset, "none|paper", 0, 0,
     "paper: the paper's dictionary, target scaled to [-1, 1], intercept for classification only"},
    {"features", &FitOptions::features, "EXPRESSION", 0, 0,
     "dictionary of candidate features, e.g. \"linear + gaussian(order=2)\"; default: by the number of rows "
     "and columns and "
     "their kinds (docs/defaults.md)"},
    {"nu", &FitOptions::nu, "uniform|norm|alignment|cv", 0, 0,
     "weights of the dictionary's kernels; uniform: as written in --features; norm: all kernels of one size; "
     "alignment: by how well each explains the target alone; cv: the best of these by cross-validation. They "
     "matter "
     "for --select gradient only"},
    {"select", &FitOptions::select, "auto|gradient|normalised|gain", 0, 0,
     "what ranks the candidates; gradient: the gradient of the risk, as in the paper; normalised: the same "
     "for "
     "candidates at unit norm; gain: the decrease of the risk when a candidate is added and all terms are "
     "fitted "
     "again; auto: gain, or what the preset says"},
    {"shortlist", &FitOptions::shortlist, "S", 0, kMany,
     "candidates of each step that are ranked again given those already picked in it; 0: twice --per-step if "
     "that is "
     "more than 1, for classes with gain 32 at least; 1: none"},
    {"search", &FitOptions::search, "greedy|htp", 0, 0,
     "greedy: terms are added step by step; htp: hard thresholding pursuit, all terms at once"},
    {"refine", &FitOptions::refine, "no|yes", 0, 0,
     "afterwards, drop the least useful terms and add better ones until nothing improves"},
    {"tune", &FitOptions::tune, "no, auto or STEPS", 0, 0,
     "move what was chosen - widths, centres, knots, and one stretch per input - to where it fits best; "
     "auto, "
     "the default of `mfga train`: as far as held-out rows gain by it, if they do"},
    {"tune-every", &FitOptions::tune_every, "K", 0, kMany,
     "terms selected between tunings; 0: a quarter of all, 40 at most"},
    {"metric", &FitOptions::metric, "none|diagonal|full", 0, 0,
     "learn from a first model how much each input counts (diagonal), or which combinations of inputs do "
     "(full), and select in that metric; kept while held-out rows gain by it"},
    {"time-limit", &FitOptions::time_limit, "SECONDS", 0, 1e9,
     "seconds for the whole command, reading included: what does not fit in is left out or cut short - the "
     "choice of the ridge, tuning, terms, checks - and named; there is a model in any case, which then "
     "depends "
     "on the machine. 0: none"},
    {"terms", &FitOptions::terms, "M", 1, kMany, "number of terms of the model"},
    {"per-step", &FitOptions::per_step, "K", 1, kMany,
     "terms added per greedy step; 1 is the most careful, more are faster"},
    {"ridge", &FitOptions::ridge, "L, cv or auto", 0, kHuge,
     "L |theta|^2 is added to the sum (not the mean) of the losses; cv: the best of --ridges by "
     "cross-validation; auto, the default of `mfga train --method mfga`: the best of 1e-4 ... 100 on a fifth "
     "of the "
     "rows"},
    {"norm-bound", &FitOptions::norm_bound, "C", 0, kHuge,
     "the paper's constraint |theta|_2 <= C instead of a ridge; 0: none"},
    {"intercept", &FitOptions::intercept, "auto|yes|no", 0, 0,
     "unpenalised constant term; auto: yes, or what the preset says"},
    {"scale", &FitOptions::scale, "auto|standard|robust|quantile", 0, 0,
     "of the inputs, by the training rows; standard: mean and deviation; robust: median and interquartile "
     "range, cut to [-5, 5]; quantile: to a normal distribution; auto: quantile for columns with heavy "
     "tails, else standard"},
    {"scale-target", &FitOptions::scale_target, "auto|none|range", 0, 0,
     "range: a regression target is mapped to [-1, 1] by its range on the training rows; auto: none, or what "
     "the preset says"},
    {"sigma", &FitOptions::sigma, "WIDTH", 0, 0,
     "kernel width of rks, lkrf, eerf, gk and glk: auto (the paper's rule), a number, or auto*NUMBER (mfga: "
     "in "
     "--features)"},
    {"candidates", &FitOptions::candidates, "M0", 0, kMany,
     "random features that lkrf and eerf choose from; 0: ten per term"},
    {"subsample", &FitOptions::subsample, "F", 0, 1,
     "part of the training rows that gk and glk use, drawn at random"},
    {"tolerance", &FitOptions::tolerance, "R", 0, kHuge,
     "stop early when the mean training loss is at most R"},
    {"engine", &FitOptions::engine, "auto|lazy|gram", 0, 0,
     "lazy: one pass over the rows per step; gram: all products of candidates once (squared loss only)"},
    {"precision", &FitOptions::precision, "mixed|double", 0, 0,
     "of the search for atoms; mixed: single precision where its error bound allows, for the same atoms in "
     "half the time"},
    {"seed", &FitOptions::seed, "S", 0, 1.9e19,
     "seed of everything random (rows sampled for sigma=auto, splits)"},
    {"threads", &FitOptions::threads, "T", 0, 1024,
     "threads; 0: all cores. The result does not depend on it"},
    {"memory-limit", &FitOptions::memory_limit, "MIB", 0, kHuge,
     "refuse a search whose own numbers (sums and products of candidates, a kernel's matrix) need more MiB "
     "than this; the table and the program come on top. 0: four fifths of the machine's memory"},
}};

constexpr std::array<OptionRow<CrossValidationOptions>, 2> kCrossValidationTable = {{
    {"folds", &CrossValidationOptions::folds, "F", 2, kMany,
     "--ridge cv: parts of the rows, each of which is held out once"},
    {"ridges", &CrossValidationOptions::ridges, "L1,L2,...", 0, kHuge, "--ridge cv: ridges to choose from"},
}};

constexpr std::array<OptionRow<ReadOptions>, 6> kReadTable = {{
    {"format", &ReadOptions::format, "auto|csv|tsv|libsvm|npy", 0, 0,
     "format of the data files; auto: recognised from the content. All may be gzip-compressed"},
    {"header", &ReadOptions::header, "auto|yes|no", 0, 0,
     "whether the first line holds column names; auto: by comparison with the lines below"},
    {"delimiter", &ReadOptions::delimiter, "D", 0, 0,
     "between the fields of a line: tab, space (one or more) or one character; auto: found out"},
    {"decimal", &ReadOptions::decimal, "auto|.|,", 0, 0,
     "decimal sign; the other one may separate thousands. auto: by what all values of a column fit"},
    {"comment", &ReadOptions::comment, "PREFIX", 0, 0,
     "lines that begin with PREFIX are skipped; \"\": none"},
    {"n-features", &ReadOptions::n_features, "D", 0, kMany,
     "number of features of a LIBSVM file; 0: the largest index in it"},
}};

constexpr std::array<OptionRow<GenerateOptions>, 7> kGenerateTable = {{
    {"task", &GenerateOptions::task, "regression|classification", 0, 0, "kind of target"},
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
std::span<const OptionRow<CrossValidationOptions>> cross_validation_option_table() {
  return kCrossValidationTable;
}
std::span<const OptionRow<ReadOptions>> read_option_table() { return kReadTable; }
std::span<const OptionRow<GenerateOptions>> generate_option_table() { return kGenerateTable; }

namespace {

void validate_tuning(const FitOptions& options) {
  if (options.tune == "no" && options.metric == "none") return;
  if (options.tune != "auto" && options.tune != "no")
    static_cast<void>(parse_small_integer("--tune", options.tune, 1, kMostTuningSteps));
  const std::pair<std::string_view, bool> others[] = {{"--norm-bound", options.norm_bound > 0},
                                                      {"--search htp", options.search != "greedy"},
                                                      {"--refine", options.refine != "no"},
                                                      {"--nu", options.nu != "uniform"},
                                                      {"--engine gram", options.engine == "gram"}};
  for (const auto& [name, is_given] : others) {
    if (!is_given) continue;
    throw Error(ErrorKind::kInvalidArgument, fmt::format("{} is not possible with {}; leave one of them out",
                                                         options.tune == "no" ? "--metric" : "--tune", name));
  }
}

}  // namespace

void FitOptions::validate() const {
  validate_options(*this, fit_option_table());
  if (loss != "auto") static_cast<void>(find_loss(loss));
  if (!features.empty()) static_cast<void>(Dictionary(features));
  if (method != "mfga" && !features.empty()) {
    throw Error(ErrorKind::kInvalidArgument,
                fmt::format("--features is for the method mfga; {} has its own features", method));
  }
  static_cast<void>(parse_sigma(sigma));
  if (method == "mfga" && sigma != "auto") {
    throw Error(ErrorKind::kInvalidArgument,
                "--sigma is for the other methods; for mfga write it into --features, e.g. gaussian(order=2, "
                "sigma=3)");
  }
  const std::pair<std::string_view, bool> searches[] = {
      {"nu", nu != "uniform"},         {"select", select != "auto"}, {"shortlist", shortlist != 0},
      {"search", search != "greedy"},  {"refine", refine != "no"},   {"tune", tune != "no"},
      {"tune-every", tune_every != 0}, {"metric", metric != "none"}};
  for (const auto& [name, is_given] : searches) {
    if (method != "mfga" && is_given) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("--{} is for the method mfga; {} does not search", name, method));
    }
  }
  validate_tuning(*this);
  if (search == "htp" && select == "gradient") {
    throw Error(
        ErrorKind::kInvalidArgument,
        "--search htp compares coefficients, which needs atoms at unit norm; use --select normalised");
  }
  if (nu != "uniform" && select != "gradient" && preset != "paper") {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("--nu {} weighs kernels against one another, which matters with --select gradient only; "
                    "add that, or leave --nu out",
                    nu));
  }
  if ((method == "lkrf" || method == "eerf") && candidates > 0 && candidates < terms) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("--candidates is {}; expected at least the number of terms, {}", candidates, terms));
  }
  if (engine == "gram" && task == "classification") {
    throw Error(ErrorKind::kInvalidArgument,
                "--engine gram works for the squared loss only; use --engine lazy for classification");
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
