// How to learn. The defaults are those of `mfga train`: what is not given is chosen from the rows
// (docs/defaults.md). Bounds and help of each option stand in the option table (docs/options.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "mfga/cross_validation.hpp"
#include "mfga/devices.hpp"
#include "mfga/model.hpp"
#include "mfga/views.hpp"
#include "mfga/warp.hpp"

namespace mfga {

enum class KernelWeights { kUniform, kNorm, kAlignment, kCrossValidated };
enum class Selection { kGradient, kNormalised, kGain };
enum class Search { kGreedy, kHardThresholding };
enum class Metric { kNone, kDiagonal, kFull };
enum class EngineKind { kLazy, kGram };
enum class Precision { kMixed, kDouble };
// Which of the numbers of terms, by held-out rows.
enum class SizeChoice { kOneStandardError, kBest };
// What keeps coefficients small: their squares, or their log-cosh, which beyond a tenth of the target's
// deviation grows as absolute values do.
enum class PenaltyKind { kRidge, kLogCosh };
// How much is tried where held-out rows decide.
enum class Effort { kQuick, kNormal, kThorough };

// ridge |theta|^2 is added to the sum of the losses. A number is that ridge: {.ridge = 0.1}.
class Ridge {
 public:
  Ridge(double value) : choice_(value) {}  // NOLINT(google-explicit-constructor)
  // The best of a few on some held-out rows, where there are enough rows; else 1.
  [[nodiscard]] static Ridge automatic() { return Ridge(); }
  [[nodiscard]] static Ridge cross_validated(CrossValidationOptions options = {}) {
    Ridge ridge;
    ridge.choice_ = std::move(options);
    return ridge;
  }

  [[nodiscard]] bool is_automatic() const { return std::holds_alternative<Automatic>(choice_); }
  // Null if it is not of that kind.
  [[nodiscard]] const double* value() const { return std::get_if<double>(&choice_); }
  [[nodiscard]] const CrossValidationOptions* validation() const {
    return std::get_if<CrossValidationOptions>(&choice_);
  }

 private:
  struct Automatic {};
  Ridge() = default;
  std::variant<Automatic, double, CrossValidationOptions> choice_;
};

// Whether what was chosen - widths, centres, knots, one stretch per input - is moved to where it fits best.
class Tuning {
 public:
  // As far as held-out rows gain by it, where there are enough rows and no other option speaks against it.
  [[nodiscard]] static Tuning automatic() { return Tuning(std::nullopt); }
  [[nodiscard]] static Tuning none() { return Tuning(0); }
  // So many steps in each round, without asking held-out rows.
  [[nodiscard]] static Tuning by_steps(int steps) { return Tuning(steps); }

  [[nodiscard]] bool is_automatic() const { return !steps_; }
  [[nodiscard]] int steps() const { return steps_.value_or(0); }
  friend bool operator==(const Tuning&, const Tuning&) = default;

 private:
  explicit Tuning(std::optional<int> steps) : steps_(steps) {}
  std::optional<int> steps_;  // empty: automatic
};

// Where an option may be empty, that means: automatic.
struct FitOptions {
  std::optional<Task> task = {};
  std::string loss = {};      // squared | logistic | huber | poisson | gamma | quantile(PART) | softmax
  std::string features = {};  // the dictionary, e.g. "linear + gaussian(order=2)"
  KernelWeights nu = KernelWeights::kUniform;
  std::optional<Selection> select = {};
  Index shortlist = 0;  // candidates looked at closely per step; 0: automatic
  Search search = Search::kGreedy;
  bool refine = false;  // swaps after the search
  Tuning tune = Tuning::automatic();
  Index tune_every = 0;  // terms selected between tunings; 0: automatic
  Metric metric = Metric::kNone;
  Effort effort = Effort::kNormal;
  double time_limit = 0;  // seconds that the fit may take; 0: any
  // M. Empty: as many as held-out rows gain by, 200 at most.
  std::optional<Index> terms = {};
  SizeChoice choose = SizeChoice::kOneStandardError;  // where M is chosen
  // Atoms added per greedy step; if none is given, more the more there are.
  std::optional<Index> per_step = {};
  Ridge ridge = Ridge::automatic();
  PenaltyKind penalty = PenaltyKind::kRidge;
  std::optional<bool> intercept = {};
  std::optional<ScaleKind> scale = {};  // of the inputs
  double tolerance = 0;                 // stop when the mean loss is at most this
  std::optional<EngineKind> engine = {};
  Precision precision = Precision::kMixed;   // of the search; the atoms are the same but for near ties
  DeviceChoice device = DeviceChoice::kCpu;  // where large searches look at the rows
  // Rows stand in the order of time: where rows are held out, they come after those that are learned from.
  bool in_time_order = false;
  std::uint64_t seed = 0;
  int threads = 0;          // 0: all cores
  double memory_limit = 0;  // MiB; 0: four fifths of the machine's memory
  // A model to go on from: its terms are there from the beginning and count as terms; its scales of the
  // inputs are kept, and all coefficients are fitted again. Nothing is tuned. It must live as long as the
  // call.
  const Model* start = nullptr;

  // Throws Error(kInvalidArgument) naming the first option that is out of bounds.
  void validate() const;
};

}  // namespace mfga
