// Fits as tests ask for them: without what the defaults choose from the rows, and with options by their text.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mfga/error.hpp"
#include "mfga/paper.hpp"
#include "model/option_table.hpp"

namespace mfga {

// The options of a fit, and those of comparisons with the paper.
struct AllOptions : FitOptions, paper::Options {};

// A ridge of 1, and no tuning.
inline AllOptions plain_options() {
  AllOptions options;
  options.ridge = 1;
  options.tune = Tuning::none();
  return options;
}

template <class Options>
bool set_if_known(Options& options, std::span<const OptionRow<Options>> table, std::string_view name,
                  std::string_view text) {
  for (const OptionRow<Options>& row : table) {
    if (row.name != name) continue;
    set_option(options, row, text);
    return true;
  }
  return false;
}

inline void set(AllOptions& options, std::string_view name, std::string_view text) {
  if (!set_if_known<FitOptions>(options, fit_option_table(), name, text) &&
      !set_if_known<paper::Options>(options, paper_option_table(), name, text))
    throw std::invalid_argument(std::string(name));
}

inline FitResult fit(const TrainingData& data, const AllOptions& options,
                     const ProgressCallback& progress = {}, ThreadPool* pool = nullptr) {
  return paper::fit(data, options, options, progress, pool);
}

// The message of a fit that must be refused.
inline std::string error_of(const TrainingData& data, const AllOptions& options) {
  try {
    static_cast<void>(fit(data, options));
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

struct ValidatedFit {
  FitResult fit;
  CrossValidation cross_validation;
};

inline ValidatedFit cross_validate(const TrainingData& data, AllOptions options,
                                   const CrossValidationOptions& validation = {},
                                   const ProgressCallback& progress = {}) {
  options.ridge = Ridge::cross_validated(validation);
  ValidatedFit result{fit(data, options, progress), {}};
  if (result.fit.cross_validation) result.cross_validation = *result.fit.cross_validation;
  return result;
}

}  // namespace mfga
