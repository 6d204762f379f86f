// What is computed for one row, the same on every device: the values of functions, of products of inputs, and
// of losses.
#pragma once

#include <cmath>

#include "device/device.hpp"

#ifdef __CUDACC__
#define MFGA_ON_DEVICES __host__ __device__ inline
#else
#define MFGA_ON_DEVICES inline
#endif

namespace mfga {

// RowFunctions, wherever they lie.
struct ShownFunctions {
  const RowStep* steps;
  const std::int32_t* ends;
  const double* tables;
};

// RowMonomials, wherever they lie.
struct ShownMonomials {
  const double* factors;
  const double* rates;
  const std::int32_t* ends;
  const std::int32_t* inputs;
};

struct LossOfRow {
  double loss;
  double first;
  double second;
};

// The knots that an x between the first and the last one lies between: this one and the next.
MFGA_ON_DEVICES int knot_before(const double* knots, int count, double x) {
  int low = 0;
  int high = count - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (knots[middle] <= x ? low : high) = middle;
  }
  return low;
}

// Straight lines between points, level outside of them.
MFGA_ON_DEVICES double on_line(const double* knots, const double* values, int count, double x) {
  if (!(x > knots[0])) return values[0];
  if (x >= knots[count - 1]) return values[count - 1];
  const int low = knot_before(knots, count, x);
  const double part = (x - knots[low]) / (knots[low + 1] - knots[low]);
  return values[low] + part * (values[low + 1] - values[low]);
}

MFGA_ON_DEVICES double slope_on_line(const double* knots, const double* values, int count, double x) {
  if (!(x > knots[0]) || x >= knots[count - 1]) return 0;
  const int low = knot_before(knots, count, x);
  return (values[low + 1] - values[low]) / (knots[low + 1] - knots[low]);
}

// One step for a row: `x` is its first input, and the next is `stride` further. Of the numbers on the stack
// one is on top and `depth` are below; -1: there is none at all. They are apart so that all but those below
// stay in registers.
MFGA_ON_DEVICES void take(const RowStep& step, const double* tables, const double* x, Index stride,
                          double& top, int& depth, double* under) {
  using Kind = RowStep::Kind;
  const auto pop = [&] { return under[--depth]; };
  switch (step.kind) {
    case Kind::kConstant:
    case Kind::kInput:
      if (depth >= 0) under[depth] = top;
      ++depth;
      top = step.kind == Kind::kInput ? x[step.position * stride] : step.number;
      break;
    case Kind::kAddInput:
      top += step.number * x[step.position * stride];
      break;
    case Kind::kAddTop:
      top = pop() + step.number * top;
      break;
    case Kind::kTimesInput:
      top *= x[step.position * stride];
      break;
    case Kind::kTimesTop:
      top *= pop();
      break;
    case Kind::kDivideByTop:
      top = pop() / top;
      break;
    case Kind::kPower: {
      const double base = top;
      for (int k = 1; k < step.position; ++k) top *= base;
      break;
    }
    case Kind::kAddSquare: {
      const double difference = x[step.position * stride] - step.number;
      top += difference * difference;
      break;
    }
    case Kind::kAddSquareOfTop: {
      const double difference = top - step.number;
      top = pop() + difference * difference;
      break;
    }
    case Kind::kAddDistance:
      top += fabs(x[step.position * stride] - step.number);
      break;
    case Kind::kAddDistanceOfTop:
      top = fabs(top - step.number);
      top += pop();
      break;
    case Kind::kExp:
      top = exp(top);
      break;
    case Kind::kLog:
      top = log(top);
      break;
    case Kind::kSqrt:
      top = sqrt(top);
      break;
    case Kind::kCos:
      top = cos(top);
      break;
    case Kind::kSin:
      top = sin(top);
      break;
    case Kind::kAbs:
      top = fabs(top);
      break;
    case Kind::kMax:
      top = fmax(pop(), top);
      break;
    case Kind::kMin:
      top = fmin(pop(), top);
      break;
    case Kind::kLine: {
      const double* table = tables + step.position;
      top = on_line(table, table + step.count, step.count, top);
      break;
    }
    case Kind::kSelect:
      depth -= 3;
      if (under[depth] >= under[depth + 1]) top = under[depth + 2];
      break;
  }
}

// Function f of a row.
MFGA_ON_DEVICES double value_of(const ShownFunctions& functions, int f, const double* x, Index stride) {
  double under[kDeepestRowStack];
  double top = 0;
  int depth = -1;
  for (int i = f == 0 ? 0 : functions.ends[f - 1]; i < functions.ends[f]; ++i)
    take(functions.steps[i], functions.tables, x, stride, top, depth, under);
  return top;
}

// Whether derivatives by what a step holds need to know what was on top before it, or what came of it.
MFGA_ON_DEVICES bool is_recorded(RowStep::Kind kind) {
  using Kind = RowStep::Kind;
  switch (kind) {
    case Kind::kConstant:
    case Kind::kInput:
    case Kind::kAddInput:
    case Kind::kAddSquare:
    case Kind::kAddDistance:
      return false;
    default:
      return true;
  }
}

// Calls add(step, by_number, by_input) for every step of function f, last step first: the derivatives of
// slope * f for one row, that by an input times the input.
template <class Add>
MFGA_ON_DEVICES void pull_back(const ShownFunctions& functions, int f, const double* x, Index stride,
                               double slope, Add add) {
  using Kind = RowStep::Kind;
  const int first = f == 0 ? 0 : functions.ends[f - 1];
  // Once along the steps, to record what stands on the stack where that matters ...
  double under[kDeepestRowStack];
  double top = 0;
  int depth = -1;
  double tops[kMostRecordedSteps];    // before the step
  double others[kMostRecordedSteps];  // the one below it; before kSelect whether it selects the first one
  int recorded = 0;
  for (int i = first; i < functions.ends[f]; ++i) {
    const RowStep step = functions.steps[i];
    if (is_recorded(step.kind)) {
      tops[recorded] = top;
      others[recorded] = depth > 0 ? under[depth - 1] : 0;
      if (step.kind == Kind::kSelect) others[recorded] = under[depth - 3] >= under[depth - 2] ? 1 : 0;
    }
    take(step, functions.tables, x, stride, top, depth, under);
    if (is_recorded(step.kind)) {
      // Of these the result says more than what they were computed from.
      if (step.kind == Kind::kExp || step.kind == Kind::kSqrt) tops[recorded] = top;
      ++recorded;
    }
  }
  // ... and back, with the derivative by each number on the stack in the place of the number.
  top = slope;
  depth = 0;
  for (int i = functions.ends[f] - 1; i >= first; --i) {
    const RowStep step = functions.steps[i];
    double value = 0;
    double other = 0;
    if (is_recorded(step.kind)) {
      --recorded;
      value = tops[recorded];
      other = others[recorded];
    }
    double by_number = 0;
    double by_input = 0;
    switch (step.kind) {
      case Kind::kConstant:
      case Kind::kInput:
        by_number = step.kind == Kind::kConstant ? top : 0;
        by_input = step.kind == Kind::kInput ? top * x[step.position * stride] : 0;
        --depth;
        if (depth >= 0) top = under[depth];
        break;
      case Kind::kAddInput:
        by_number = top * x[step.position * stride];
        by_input = by_number * step.number;
        break;
      case Kind::kAddTop:
        by_number = top * value;
        under[depth++] = top;
        top *= step.number;
        break;
      case Kind::kTimesInput:
        by_input = top * value * x[step.position * stride];
        top *= x[step.position * stride];
        break;
      case Kind::kTimesTop:
        under[depth++] = top * value;
        top *= other;
        break;
      case Kind::kDivideByTop:
        under[depth++] = top / value;
        top *= -other / (value * value);
        break;
      case Kind::kPower: {
        double power = step.position;
        for (int k = 1; k < step.position; ++k) power *= value;
        top *= power;
        break;
      }
      case Kind::kAddSquare: {
        const double twice = 2 * top * (x[step.position * stride] - step.number);
        by_number = -twice;
        by_input = twice * x[step.position * stride];
        break;
      }
      case Kind::kAddSquareOfTop: {
        const double twice = 2 * top * (value - step.number);
        by_number = -twice;
        under[depth++] = top;
        top = twice;
        break;
      }
      case Kind::kAddDistance: {
        const double difference = x[step.position * stride] - step.number;
        const double signed_top = difference > 0 ? top : difference < 0 ? -top : 0;
        by_number = -signed_top;
        by_input = signed_top * x[step.position * stride];
        break;
      }
      case Kind::kAddDistanceOfTop: {
        const double difference = value - step.number;
        const double signed_top = difference > 0 ? top : difference < 0 ? -top : 0;
        by_number = -signed_top;
        under[depth++] = top;
        top = signed_top;
        break;
      }
      case Kind::kExp:
        top *= value;
        break;
      case Kind::kLog:
        top /= value;
        break;
      case Kind::kSqrt:
        top = value > 0 ? 0.5 * top / value : 0;
        break;
      case Kind::kCos:
        top *= -sin(value);
        break;
      case Kind::kSin:
        top *= cos(value);
        break;
      case Kind::kAbs:
        top = value > 0 ? top : value < 0 ? -top : 0;
        break;
      case Kind::kMax:
      case Kind::kMin: {
        // Where both are equal, neither moves what comes of them to one side only.
        const bool is_other = step.kind == Kind::kMax ? other > value : other < value;
        const bool is_top = step.kind == Kind::kMax ? value > other : value < other;
        under[depth++] = is_other ? top : 0;
        top = is_top ? top : 0;
        break;
      }
      case Kind::kLine: {
        const double* table = functions.tables + step.position;
        top *= slope_on_line(table, table + step.count, step.count, value);
        break;
      }
      case Kind::kSelect:
        under[depth] = 0;
        under[depth + 1] = 0;
        under[depth + 2] = other != 0 ? top : 0;
        depth += 3;
        top = other != 0 ? 0 : top;
        break;
    }
    add(i, by_number, by_input);
  }
}

// The m-th product of inputs, for a row with such a |x|^2.
MFGA_ON_DEVICES double value_of(const ShownMonomials& monomials, int m, const double* x, Index stride,
                                double square_norm) {
  double value = monomials.factors[m];
  const double rate = monomials.rates[m];
  if (rate != 0) value *= exp(-rate * square_norm);
  for (int i = m == 0 ? 0 : monomials.ends[m - 1]; i < monomials.ends[m]; ++i)
    value *= x[monomials.inputs[i] * stride];
  return value;
}

MFGA_ON_DEVICES LossOfRow loss_of(DeviceLoss loss, double score, double target) {
  if (loss == DeviceLoss::kSquared) {
    const double difference = score - target;
    return {difference * difference, 2 * difference, 2};
  }
  const double margin = score * target;
  const double small = exp(-fabs(margin));  // so that nothing overflows
  return {fmax(-margin, 0.0) + log1p(small), -target * (margin >= 0 ? small : 1.0) / (1.0 + small),
          small / ((1.0 + small) * (1.0 + small))};
}

}  // namespace mfga
