// Tables that are hard on arithmetic: a fit gives a finite model or says why not, and predictions of finite
// rows are finite. Small ones are compared with long double, and those of large condition numbers with 50
// digits.
#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <numeric>

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
  add("constant up to the last bit of one row", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) hard.x(i, 0) = i == 17 ? std::nextafter(1.0, 2.0) : 1.0;
  });
  add("huge and tiny columns", [](Hard& hard) {
    for (Index i = 0; i < kRows; ++i) {
      hard.x(i, 0) *= 1e300;
      hard.x(i, 1) *= 1e-300;
    }
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

TEST(ExtremeNumbers, GiveFiniteModelsOfThreeClasses) {
  for (const bool is_separated : {false, true}) {
    for (Hard& hard : hard_tables()) {
      SCOPED_TRACE(hard.name);
      for (Index i = 0; i < kRows; ++i) {
        const double place = hard.x(i, 3) + (is_separated ? 0 : 0.5 * std::sin(static_cast<double>(i)));
        hard.y[static_cast<std::size_t>(i)] = place < -0.4 ? 0 : place < 0.4 ? 1 : 2;
      }
      try {
        const Model model =
            fit({.x = hard.x.view(), .y = hard.y, .labels = {"a", "b", "c"}}, few_terms("linear + hinge"))
                .model;
        for (const Term& term : model.terms) {
          for (const double number : term.coefficients) EXPECT_TRUE(std::isfinite(number));
        }
        for (const double number : model.probabilities(hard.x.view()))
          EXPECT_TRUE(number >= 0 && number <= 1);
      } catch (const Error& error) {
        EXPECT_GT(std::string(error.what()).size(), 20U);
      }
    }
  }
}

TEST(ExtremeNumbers, OneClassIsRefused) {
  Hard hard = hard_tables().front();
  std::ranges::fill(hard.y, 1);
  FitOptions options = few_terms("linear");
  options.loss = "logistic";
  EXPECT_FALSE(fitted(hard, options));
}

// Sets b to the solution of A x = b, by Gauss: the matrix is positive definite, so no pivots are sought.
template <class Number>
void solve(std::vector<Number>& a, std::vector<Number>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      const Number factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

// A standardised input of a row, and its standardised target.
template <class Number>
Number input_of(const Model& model, const Hard& hard, Index row, Index place) {
  const ModelInput& input = model.inputs[static_cast<std::size_t>(place)];
  return (Number(hard.x(row, input.column)) - input.mean) / input.deviation;
}
template <class Number>
Number target_of(const Model& model, const Hard& hard, Index row) {
  const Output& output = model.outputs.front();
  return (Number(hard.y[static_cast<std::size_t>(row)]) - output.shift) / output.scale;
}

// sum of (y - c - Z theta)^2 + ridge |theta|^2 at its least, for these of the standardised columns Z.
template <class Number>
Number least_objective(const Model& model, const std::vector<Index>& inputs, const Hard& hard, double ridge) {
  const std::size_t n = inputs.size() + 1;
  std::vector<Number> gram(n * n);
  std::vector<Number> right(n);
  Number square = 0;
  std::vector<Number> values(n, Number(1));
  for (Index row = 0; row < kRows; ++row) {
    for (std::size_t j = 1; j < n; ++j) values[j] = input_of<Number>(model, hard, row, inputs[j - 1]);
    const Number y = target_of<Number>(model, hard, row);
    square += y * y;
    for (std::size_t i = 0; i < n; ++i) {
      right[i] += values[i] * y;
      for (std::size_t j = 0; j < n; ++j) gram[i * n + j] += values[i] * values[j];
    }
  }
  for (std::size_t i = 1; i < n; ++i) gram[i * n + i] += ridge;
  std::vector<Number> b = right;
  solve(gram, b);
  Number least = square;
  for (std::size_t i = 0; i < n; ++i) least -= b[i] * right[i];
  return least;
}

template <class Number>
Number objective_of(const Model& model, const Hard& hard, double ridge) {
  Number sum = 0;
  for (Index row = 0; row < kRows; ++row) {
    Number error = target_of<Number>(model, hard, row) - model.outputs.front().intercept;
    for (const Term& term : model.terms)
      error -= term.coefficients.front() * input_of<Number>(model, hard, row, term.atom.inputs.front());
    sum += error * error;
  }
  for (const Term& term : model.terms)
    sum += Number(ridge) * term.coefficients.front() * term.coefficients.front();
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
    std::vector<Index> all(model->inputs.size());
    std::iota(all.begin(), all.end(), Index{0});
    const auto least = least_objective<long double>(*model, all, hard, kRidge);
    const auto reached = objective_of<long double>(*model, hard, kRidge);
    // An atom that depends on others is left out; it would lower a ridge's part alone.
    EXPECT_LE(static_cast<double>(reached), static_cast<double>(least) * (1 + 1e-6) + 2 * kRidge);
    EXPECT_GE(static_cast<double>(reached), static_cast<double>(least) * (1 - 1e-6) - 1e-9);
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

// Columns of this condition number, and a target in which all their directions have the same part.
Hard conditioned(double condition) {
  Hard hard;
  const std::vector<double> noise = reference::random_vector(kRows, 5);
  const Matrix directions = hard.x;
  for (Index i = 0; i < kRows; ++i) {
    // A reflection of columns that get smaller: I - 2 v v' of a vector of halves.
    double half_sum = 0;
    for (Index j = 0; j < 4; ++j) {
      hard.x(i, j) = directions(i, j) * std::pow(condition, -static_cast<double>(j) / 3);
      half_sum += hard.x(i, j) / 2;
    }
    double y = 0.1 * noise[static_cast<std::size_t>(i)];
    for (Index j = 0; j < 4; ++j) {
      hard.x(i, j) -= half_sum;
      y += directions(i, j);
    }
    hard.y.push_back(y);
  }
  return hard;
}

// The terms of a model have the best coefficients. A column that the others give to a part of 1e-10 is no
// term.
TEST(ExtremeNumbers, LeastSquaresOfLargeConditionNumbersAreThoseOf50Digits) {
  using Digits = boost::multiprecision::cpp_bin_float_50;
  constexpr int kAllAreTerms = 5;
  for (const double ridge : {1e-3, 1e-6, 1e-9}) {
    for (int power = 0; power <= 16; ++power) {
      SCOPED_TRACE("condition number 1e" + std::to_string(power) + ", ridge " + std::to_string(ridge));
      const Hard hard = conditioned(std::pow(10, power));
      FitOptions options = few_terms("linear");
      options.ridge = ridge;
      options.per_step = 1;
      options.scale = ScaleKind::kStandard;
      const std::optional<Model> model = fitted(hard, options);
      ASSERT_TRUE(model);
      if (power <= kAllAreTerms) {
        EXPECT_EQ(model->terms.size(), 4U);
      }
      std::vector<Index> terms;
      for (const Term& term : model->terms) terms.push_back(term.atom.inputs.front());
      const auto least = least_objective<Digits>(*model, terms, hard, ridge).convert_to<double>();
      const auto reached = objective_of<Digits>(*model, hard, ridge).convert_to<double>();
      EXPECT_LE(reached, least * (1 + 1e-9));
      EXPECT_GE(reached, least * (1 - 1e-12));
    }
  }
}

// sum of log(1 + exp(s)) - y s, and ridge |theta|^2, of scores s of standardised columns, with its
// derivatives.
class LogisticObjective {
 public:
  LogisticObjective(const Model& model, const Hard& hard, double ridge)
      : model_(model), hard_(hard), ridge_(ridge), size_(model.terms.size() + 1) {}

  [[nodiscard]] std::vector<long double> reached() const {
    std::vector<long double> point = {model_.outputs.front().intercept};
    for (const Term& term : model_.terms) point.push_back(term.coefficients.front());
    return point;
  }
  [[nodiscard]] long double at(const std::vector<long double>& point) const {
    long double sum = 0;
    for (Index row = 0; row < kRows; ++row) {
      const long double score = score_of(row, point);
      sum += std::max(score, 0.0L) + std::log1p(std::exp(-std::abs(score))) - target(row) * score;
    }
    for (std::size_t i = 1; i < size_; ++i) sum += ridge_ * point[i] * point[i];
    return sum;
  }
  // By Newton's method from there, halving steps that lead up.
  [[nodiscard]] long double least(std::vector<long double> point) const {
    for (int step = 0; step < 100; ++step) {
      std::vector<long double> next = point;
      const std::vector<long double> direction = newton_step(point);
      for (long double part = 1; part > 1e-6L; part /= 2) {
        for (std::size_t i = 0; i < size_; ++i) next[i] = point[i] - part * direction[i];
        if (at(next) <= at(point)) break;
      }
      if (!(at(next) < at(point))) break;
      point = next;
    }
    return at(point);
  }

 private:
  [[nodiscard]] long double target(Index row) const { return hard_.y[static_cast<std::size_t>(row)]; }
  [[nodiscard]] long double value(Index row, std::size_t i) const {
    if (i == 0) return 1;
    const ModelInput& input =
        model_.inputs[static_cast<std::size_t>(model_.terms[i - 1].atom.inputs.front())];
    return (static_cast<long double>(hard_.x(row, input.column)) - input.mean) / input.deviation;
  }
  [[nodiscard]] long double score_of(Index row, const std::vector<long double>& point) const {
    long double score = 0;
    for (std::size_t i = 0; i < size_; ++i) score += point[i] * value(row, i);
    return score;
  }
  [[nodiscard]] std::vector<long double> newton_step(const std::vector<long double>& point) const {
    std::vector<long double> matrix(size_ * size_);
    std::vector<long double> step(size_);
    for (Index row = 0; row < kRows; ++row) {
      const long double p = 1 / (1 + std::exp(-score_of(row, point)));
      for (std::size_t i = 0; i < size_; ++i) {
        step[i] += (p - target(row)) * value(row, i);
        for (std::size_t j = 0; j < size_; ++j)
          matrix[i * size_ + j] += p * (1 - p) * value(row, i) * value(row, j);
      }
    }
    for (std::size_t i = 1; i < size_; ++i) {
      step[i] += 2 * ridge_ * point[i];
      matrix[i * size_ + i] += 2 * ridge_;
    }
    solve(matrix, step);
    return step;
  }

  const Model& model_;
  const Hard& hard_;
  long double ridge_;
  std::size_t size_;
};

TEST(ExtremeNumbers, LogisticLossesAreThoseOfLongDouble) {
  constexpr double kRidge = 1e-3;
  int compared = 0;
  for (Hard& hard : hard_tables()) {
    SCOPED_TRACE(hard.name);
    for (Index i = 0; i < kRows; ++i)
      hard.y[static_cast<std::size_t>(i)] = hard.x(i, 3) + 0.5 * std::sin(i) > 0 ? 1 : 0;
    for (const bool is_separated : {false, true}) {
      for (Index i = 0; is_separated && i < kRows; ++i)
        hard.y[static_cast<std::size_t>(i)] = hard.x(i, 3) > 0.2 ? 1 : 0;
      FitOptions options = few_terms("linear");
      options.loss = "logistic";
      options.ridge = kRidge;
      options.scale = ScaleKind::kStandard;
      const std::optional<Model> model = fitted(hard, options);
      if (!model || model->terms.empty()) continue;
      const LogisticObjective objective(*model, hard, kRidge);
      const long double reached = objective.at(objective.reached());
      EXPECT_LE(static_cast<double>(reached),
                static_cast<double>(objective.least(objective.reached())) * (1 + 1e-6) + 1e-9);
      ++compared;
    }
  }
  EXPECT_GE(compared, 30);
}

TEST(ExtremeNumbers, RowsThatWereNotSeenGetFiniteScoresOrAMessage) {
  for (const Hard& hard : hard_tables()) {
    for (const std::string features :
         {"linear + gaussian(order=2)", "polynomial(degree=3)", "fourier(count=40)", "hinge", "spline",
          "step", "landmark(count=20)"}) {
      SCOPED_TRACE(hard.name + ", " + features);
      const std::optional<Model> model = fitted(hard, few_terms(features));
      if (!model) continue;
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
}

}  // namespace
}  // namespace mfga
