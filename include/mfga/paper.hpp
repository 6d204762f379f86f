// For comparisons with the paper (Shahrampour and Tarokh, NeurIPS 2018): its settings, and the methods that
// it compares with.
//
//   mfga::FitResult result = mfga::paper::fit({x, y}, {.terms = 100, .ridge = 1e-3},
//                                             {.method = mfga::paper::Method::kRks});
#pragma once

#include <optional>
#include <string>

#include "mfga/fit.hpp"

namespace mfga::paper {

// Random features as drawn, weighted by kernel alignment, or by their score; the exact Gaussian, or Gaussian
// and linear, kernel.
enum class Method { kMfga, kRks, kLkrf, kEerf, kGk, kGlk };
enum class TargetScale { kNone, kRange };

struct Options {
  Method method = Method::kMfga;
  // The paper's dictionary, selection, kernel width and target scale; intercept for classification only.
  bool preset = false;
  double norm_bound = 0;                         // > 0: |theta|_2 <= norm_bound instead of a ridge
  std::optional<TargetScale> scale_target = {};  // range: to [-1, 1] by the training rows' range
  std::string sigma = "auto";  // kernel width of the other methods; mfga's is in its features
  Index candidates = 0;        // lkrf, eerf: random features to choose from; 0: ten per term
  double subsample = 1;        // gk, glk: part of the training rows that is used

  // Whether this is mfga with its own settings.
  [[nodiscard]] bool is_own() const { return method == Method::kMfga && !preset; }
  // Throws Error(kInvalidArgument) naming the first option that is out of bounds, or does not go with the
  // fit's.
  void validate(const FitOptions& fit) const;
};

// With the preset, another method or a norm bound, an automatic ridge is 1 and automatic tuning is none.
[[nodiscard]] FitResult fit(const TrainingData& data, const FitOptions& options, const Options& paper,
                            const ProgressCallback& progress = {}, ThreadPool* pool = nullptr,
                            const Checkpoint& checkpoint = {}, Communicator* communicator = nullptr);

}  // namespace mfga::paper
