// An accelerator as the library sees it: columns of numbers, one for each row of a table, that stay in its
// memory, and a few operations on them. Everything is in double precision, and sums over rows add up in an
// order that depends on the numbers of rows and columns only: the same question has the same answer in every
// run, and on every device of the same kind.
//
// An implementation is a shared library of its own, loaded at run time (device/open_device.hpp). This header
// is all that the two have in common. Operations throw DeviceError where the device fails or its memory does
// not suffice.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mfga/error.hpp"
#include "mfga/views.hpp"

namespace mfga {

// What a device could not do. Whoever was free to choose the processor instead may still do so.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(ErrorKind::kSystem, message) {}
};

// A step of a function of the inputs of a row, on a stack of numbers. `top` is the number on top of it, and
// `under` the one below; a step that uses both leaves one number in their places.
struct RowStep {
  enum class Kind : std::int32_t {
    kConstant,        // push number
    kInput,           // push input `position`
    kAddInput,        // top += number * input
    kAddTop,          // under += number * top
    kTimesInput,      // top *= input
    kTimesTop,        // under *= top
    kDivideByTop,     // under /= top
    kPower,           // top to the power `position`, a whole number above 1
    kAddSquare,       // top += (input - number)^2
    kAddSquareOfTop,  // under += (top - number)^2
    kAddDistance,     // top += |input - number|
    kAddDistanceOfTop,
    kExp,
    kLog,
    kSqrt,
    kCos,
    kSin,
    kAbs,
    kMax,  // under = max(under, top)
    kMin,
    kLine,    // straight lines between the points (tables[position + i], tables[position + count + i])
    kSelect,  // of four numbers a, b, c, d: c where a >= b, else d
  };
  Kind kind = Kind::kConstant;
  std::int32_t position = 0;
  std::int32_t count = 0;
  double number = 0;
};

// Some functions of the inputs of a row, one after the other.
struct RowFunctions {
  std::vector<RowStep> steps;
  std::vector<std::int32_t> ends;  // of the steps of each function
  std::vector<double> tables;      // see kLine

  [[nodiscard]] Index size() const { return std::ssize(ends); }
};
// The stack never has more numbers than this.
inline constexpr int kDeepestRowStack = 16;
// And derivatives (DeviceRows::pull_back) are for functions of at most so many steps that are not linear, and
// so many in all.
inline constexpr int kMostRecordedSteps = 64;
inline constexpr int kMostDerivedSteps = 512;

// factor * exp(-rate |x|^2) * product of inputs: by far the most frequent functions.
struct RowMonomials {
  std::vector<double> factors;
  std::vector<double> rates;
  std::vector<std::int32_t> ends;  // of the inputs of each
  std::vector<std::int32_t> inputs;

  [[nodiscard]] Index size() const { return std::ssize(factors); }
};

// Columns of numbers, one for each row, in the memory of a device.
class DeviceColumns {
 public:
  virtual ~DeviceColumns() = default;
  [[nodiscard]] virtual Index size() const = 0;
};

// Some columns that stand next to one another.
struct ColumnRange {
  const DeviceColumns* columns = nullptr;
  Index first = 0;
  Index count = 0;
};

// The losses that a device knows; derivatives by others are computed here.
enum class DeviceLoss : std::int32_t { kSquared, kLogistic };

// The rows of a table on a device.
class DeviceRows {
 public:
  virtual ~DeviceRows() = default;

  // The inputs of some rows, [inputs x stride], and the squares of the rows' lengths. Several threads may set
  // rows of their own at a time.
  virtual void set_inputs(Index first_row, Index count, const double* inputs, Index stride,
                          const double* square_norms) = 0;
  // From now on inputs are those that were set times these.
  virtual void stretch(std::span<const double> factors) = 0;
  // The inputs, and last of all a column of 1.
  [[nodiscard]] virtual const DeviceColumns& inputs() const = 0;

  // With any numbers.
  [[nodiscard]] virtual std::unique_ptr<DeviceColumns> make_columns(Index count) = 0;
  virtual void set(DeviceColumns& columns, Index column, std::span<const double> values) = 0;
  virtual void get(const DeviceColumns& columns, Index column, std::span<double> values) const = 0;

  // Columns from `first` on = the values of the functions.
  virtual void evaluate(const RowFunctions& functions, DeviceColumns& out, Index first) = 0;
  virtual void evaluate(const RowMonomials& monomials, DeviceColumns& out, Index first) = 0;
  // Column i from `first` on = constants[i] + sum over j of coefficients[i * in.count + j] * column j of
  // `in`.
  virtual void combine(std::span<const double> constants, std::span<const double> coefficients,
                       ColumnRange in, DeviceColumns& out, Index first) = 0;
  // A column = the product of two.
  virtual void multiply(ColumnRange a, ColumnRange b, DeviceColumns& out, Index column) = 0;

  // Returns the sum of the losses. Of the loss of each row with such a score: column `first` of `out` = its
  // derivative by the score, and column `second` the second one (negative: it is not wanted); all by the
  // rows' weights (none: 1).
  virtual double derivatives(DeviceLoss loss, ColumnRange score, ColumnRange target, ColumnRange weights,
                             DeviceColumns& out, Index first, Index second) = 0;

  // For F = the sum over functions f and rows of weights[f] * slope * f: by_number[s] is its derivative by
  // the number of step s; by_input[s], for a step that takes an input x, the sum over rows of x times the
  // derivative of F by x there. 0 for steps without one.
  virtual void pull_back(const RowFunctions& functions, std::span<const double> weights, ColumnRange slope,
                         std::span<double> by_number, std::span<double> by_input) = 0;

  // out[i * b.count + j] = sum over rows of weight * column i of a * column j of b (no weights: 1).
  virtual void products(ColumnRange a, ColumnRange b, ColumnRange weights, std::span<double> out) = 0;
  // The same of a with itself; what stands below the diagonal is not set.
  virtual void products_with_itself(ColumnRange a, ColumnRange weights, std::span<double> out) = 0;
  // out[i] = sum over rows of weight * (column i of a)^2.
  virtual void square_norms(ColumnRange a, ColumnRange weights, std::span<double> out) = 0;
};

struct DeviceInfo {
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // "sm_90"
  std::string driver;        // its version
  double bytes = 0;          // of memory
  double free_bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual DeviceInfo info() const = 0;
  // Below so many values of candidates or atoms on rows a processor is done before a device has been told
  // what to do.
  [[nodiscard]] virtual double fewest_values() const = 0;
  // What may still be asked for.
  [[nodiscard]] virtual double free_bytes() const = 0;
  [[nodiscard]] virtual std::unique_ptr<DeviceRows> make_rows(Index rows, Index inputs) = 0;
  // Gives memory back that is kept for later.
  virtual void trim() {}
};

// What the shared library of a kind of devices offers.
struct DevicePlugin {
  int interface;        // kDeviceInterface
  const char* version;  // of the library that it was built with
  // Those that can be used; if there are none, `why_none` says why.
  std::vector<DeviceInfo> (*list)(std::string& why_none);
  // The first of all; null, with the reason, if it cannot be used.
  std::unique_ptr<Device> (*open)(std::string& why_none);
};
inline constexpr int kDeviceInterface = 1;
// The function that it exports, and its type.
inline constexpr const char* kDevicePluginFunction = "mfga_device_plugin";
using DevicePluginFunction = const DevicePlugin* (*)();

}  // namespace mfga
