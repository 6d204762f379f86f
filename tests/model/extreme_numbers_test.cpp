// Tables that are hard on arithmetic: a fit gives a finite model or says why not, and predictions of finite
// rows are finite. Small ones are compared with long double.
#include <gtest/gtest.h>

#include <cmath>

#include "mfga/error.hpp"
#include "mfga/fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

constexpr Index kRows = 200;

struct Hard {
  std::string name;
  Matrix x = reference::random_matrix(kRows, 4, 3);
  std::vector<double> y;
};

std::vector<Hard> hard_tables() {
  std::vector<Hard> all;
  const auto add = [&](const std::string& name, const auto& change) {
    Hard hard;
    hard.name = name;
    const std::vector<double> noise = reference::random_vector(kRows, 5);
    for (Index i = 0; i < kRows; ++i)
      hard.y.push_back(hard.x(i, 0) * hard.x(i, 1) + hard.x(i, 2) + 0.1 * noise[static_cast<std::size_t>(i)]);
    change(hard);
    all.push_back(std::move(hard));
  };
  const auto scale_column = [&](Index column, double factor) {
    return [=](Hard& hard) {
      for (Index i = 0; i < kRows; ++i) hard.x(i, column) *= factor;
    };
  };
  for (const double size : {1e-4, 1e-8, 1e-12, 1e-15}) {
    add("columns that differ by " + std::to_string(std::log10(size)), [=](Hard& hard) {
      for (Index i = 0; i < kRows; ++i) hard.x(i, 1) = hard.x(i, 0) * (1 + size * hard.x(i, 3));
    });
  }
  for (const double factor : {1e300, 1e-300, 1e-308, 1e154, 1e-160}) add("scaled", scale_column(0, factor));
  for (const double factor : {1e300, 1e-300, 1e150}) {
    add("target scaled", [=](Hard& hard) {
      for (double& number : hard.y) number *= factor;
    });
  }
  add("far from zero", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) hard.x(i, 0) += 1e15;
  });
  add("constant up to one row", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) hard.x(i, 0) = i == 17 ? 3.0 : 1.0;
  });
  add("one row very far out", [](Hard& hard) { hard.x(17, 0) = 1e300; });
  add("equal columns", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) hard.x(i, 1) = hard.x(i, 2) = hard.x(i, 0);
  });
  add("equal rows", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < 4; ++j) hard.x(i, j) = hard.x(i % 3, j);
    }
  });
  add("equal targets", [](Hard& hard) { std::ranges::fill(hard.y, 2.5); });
  add("equal targets but one", [](Hard& hard) {
    std::ranges::fill(hard.y, 2.5);
    hard.y[3] = 2.6;
  });
  add("the largest numbers", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) hard.x(i, 0) = (i % 2 == 0 ? 1 : -1) * 1.7e308;
  });
  add("the smallest numbers", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) hard.x(i, 0) = static_cast<double>(i % 5) * 5e-324;
  });
  add("two classes that a line separates", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) hard.y[static_cast<std::size_t>(i)] = hard.x(i, 0) > 0 ? 1 : 0;
  });
  return all;
}

// The fit, or nothing where it is refused with a message.
std::optional<Model> fitted(const Hard& hard, const FitOptions& options) {
  try {
    return fit({.x = hard.x.view(), .y = hard.y}, options).model;
  } catch (const Error& error) {
    EXPECT_GT(std::string(error.what()).size(), 20U);
    return std::nullopt;
  }
}

void expect_finite(const Model& model, const Hard& hard) {
  for (const Term& term : model.terms) EXPECT_TRUE(std::isfinite(term.coefficients.front()));
  EXPECT_TRUE(std::isfinite(model.outputs.front().intercept));
  EXPECT_EQ(model_to_json(model_from_json(model_to_json(model), "m")), model_to_json(model));
  for (const double number : model.predict(hard.x.view())) EXPECT_TRUE(std::isfinite(number));
}

FitOptions few_terms(const std::string& features) {
  FitOptions options;
  options.features = features;
  options.terms = 5;
  options.ridge = 1e-6;
  options.tune = Tuning::none();
  options.threads = 2;
  return options;
}

TEST(ExtremeNumbers, GiveFiniteModelsOrMessages) {
  for (const std::string features :
       {"linear", "linear + gaussian(order=2)", "hinge", "spline", "fourier(count=40)"}) {
    for (const Hard& hard : hard_tables()) {
      SCOPED_TRACE(hard.name + ", " + features);
      if (const std::optional<Model> model = fitted(hard, few_terms(features))) expect_finite(*model, hard);
    }
  }
}

TEST(ExtremeNumbers, GiveFiniteModelsWithOtherLosses) {
  for (const std::string loss : {"huber", "quantile(0.9)", "logistic"}) {
    for (const Hard& hard : hard_tables()) {
      SCOPED_TRACE(hard.name + ", " + loss);
      FitOptions options = few_terms("linear + hinge");
      options.loss = loss;
      if (const std::optional<Model> model = fitted(hard, options)) expect_finite(*model, hard);
    }
  }
}

// sum of (y - c - Z theta)^2 + ridge |theta|^2 at its least, for standardised columns Z.
long double least_objective(const Model& model, const Hard& hard, double ridge) {
  const std::size_t n = model.inputs.size() + 1;
  std::vector<long double> gram(n * n);
  std::vector<long double> right(n);
  long double square = 0;
  const auto value = [&](Index row, std::size_t j) -> long double {
    if (j == 0) return 1;
    const ModelInput& input = model.inputs[j - 1];
    return (static_cast<long double>(hard.x(row, input.column)) - input.mean) / input.deviation;
  };
  const Output& output = model.outputs.front();
  for (Index row = 0; row < kRows; ++row) {
    const long double y =
        (static_cast<long double>(hard.y[static_cast<std::size_t>(row)]) - output.shift) / output.scale;
    square += y * y;
    for (std::size_t i = 0; i < n; ++i) {
      right[i] += value(row, i) * y;
      for (std::size_t j = 0; j < n; ++j) gram[i * n + j] += value(row, i) * value(row, j);
    }
  }
  for (std::size_t i = 1; i < n; ++i) gram[i * n + i] += ridge;
  // Gauss: the matrix is positive definite, so no pivots are sought.
  std::vector<long double> b = right;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      const long double factor = gram[i * n + k] / gram[k * n + k];
      for (std::size_t j = k; j < n; ++j) gram[i * n + j] -= factor * gram[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= gram[k * n + j] * b[j];
    b[k] /= gram[k * n + k];
  }
  long double least = square;
  for (std::size_t i = 0; i < n; ++i) least -= b[i] * right[i];
  return least;
}

long double objective_of(const Model& model, const Hard& hard, double ridge) {
  long double sum = 0;
  const Output& output = model.outputs.front();
  for (Index row = 0; row < kRows; ++row) {
    long double score = output.intercept;
    for (const Term& term : model.terms) {
      const ModelInput& input = model.inputs[static_cast<std::size_t>(term.atom.inputs.front())];
      score += static_cast<long double>(term.coefficients.front()) *
               ((static_cast<long double>(hard.x(row, input.column)) - input.mean) / input.deviation);
    }
    const long double y =
        (static_cast<long double>(hard.y[static_cast<std::size_t>(row)]) - output.shift) / output.scale;
    sum += (y - score) * (y - score);
  }
  for (const Term& term : model.terms)
    sum += ridge * static_cast<long double>(term.coefficients.front()) * term.coefficients.front();
  return sum;
}

TEST(ExtremeNumbers, LeastSquaresAreThoseOfLongDouble) {
  constexpr double kRidge = 1e-3;
  int compared = 0;
  for (const Hard& hard : hard_tables()) {
    SCOPED_TRACE(hard.name);
    FitOptions options = few_terms("linear");
    options.ridge = kRidge;
    options.per_step = 1;
    options.scale = ScaleKind::kStandard;
    const std::optional<Model> model = fitted(hard, options);
    if (!model || model->task != Task::kRegression || model->terms.empty()) continue;
    const long double least = least_objective(*model, hard, kRidge);
    const long double reached = objective_of(*model, hard, kRidge);
    // An atom that depends on others is left out; it would lower a ridge's part alone.
    EXPECT_LE(static_cast<double>(reached), static_cast<double>(least) * (1 + 1e-6) + 2 * kRidge);
    EXPECT_GE(static_cast<double>(reached), static_cast<double>(least) * (1 - 1e-6) - 1e-9);
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST(ExtremeNumbers, RowsThatWereNotSeenGetFiniteScoresOrAMessage) {
  const Hard hard = hard_tables().front();
  for (const std::string features :
       {"linear + gaussian(order=2)", "polynomial(degree=3)", "fourier(count=40)"}) {
    const std::optional<Model> model = fitted(hard, few_terms(features));
    ASSERT_TRUE(model);
    for (const double far : {1e10, 1e100, 1e300, -1.7e308, 5e-324}) {
      Matrix row(1, 4);
      row(0, 0) = far;
      row(0, 1) = -far;
      try {
        EXPECT_TRUE(std::isfinite(model->predict(row.view()).front()));
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("not a finite number"), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace mfga
