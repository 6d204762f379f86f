// What the tests of statistics share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "mfga/error.hpp"
#include "mfga/statistics.hpp"
#include "model/noisy_sample.hpp"
#include "model/plain_fit.hpp"

namespace mfga {

inline const std::string kFeatures = "linear + polynomial(degree=2, offset=0) + hinge(knots=5)";

inline FitOptions with_features(const std::string& features = kFeatures) {
  FitOptions options;
  options.features = features;
  return options;
}

inline FitOptions some_terms(Index terms = 8) {
  FitOptions options;
  options.terms = terms;
  options.ridge = 1;
  return options;
}

inline Statistics statistics_of(const TrainingData& data, const FitOptions& options = with_features()) {
  Statistics statistics(data, options);
  statistics.update(data.x, data.y, data.weights);
  return statistics;
}

inline FitResult fit_by_gram(const TrainingData& data, FitOptions options,
                             const std::string& features = kFeatures) {
  options.features = features;
  options.engine = EngineKind::kGram;
  options.tune = Tuning::none();
  return fit(data, options);
}

inline void expect_same_model(const Model& a, const Model& b, double relative) {
  ASSERT_EQ(a.terms.size(), b.terms.size());
  double largest = std::abs(a.outputs.front().intercept);
  for (const Term& term : a.terms) largest = std::max(largest, std::abs(term.coefficients.front()));
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    EXPECT_EQ(a.terms[i].atom, b.terms[i].atom) << i;
    EXPECT_NEAR(a.terms[i].coefficients.front(), b.terms[i].coefficients.front(), relative * largest) << i;
  }
  EXPECT_NEAR(a.outputs.front().intercept, b.outputs.front().intercept, relative * largest);
}

template <class Call>
std::string error_of_call(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline ConstMatrixView rows_of(const Matrix& x, Index first, Index count) {
  return x.view().middle_rows(first, count);
}

}  // namespace mfga
