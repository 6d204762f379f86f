// A device that is the processor: the operations of a device, naively, so that what is built on them is
// tested where there is no other.
#pragma once

#include <memory>
#include <vector>

#include "device/device.hpp"
#include "device/row_values.hpp"

namespace mfga {

class HostDevice final : public Device {
 public:
  // `free_bytes`: what it says that it has left. `fewest_values`: from how many on it is used.
  explicit HostDevice(double free_bytes = 1e12, double fewest_values = 0)
      : free_bytes_(free_bytes), fewest_values_(fewest_values) {}
  [[nodiscard]] double fewest_values() const override { return fewest_values_; }
  [[nodiscard]] DeviceInfo info() const override { return {"host", "", "", free_bytes_, free_bytes_}; }
  [[nodiscard]] double free_bytes() const override { return free_bytes_; }
  [[nodiscard]] std::unique_ptr<DeviceRows> make_rows(Index rows, Index inputs) override {
    return std::make_unique<Rows>(rows, inputs);
  }

 private:
  struct Columns final : DeviceColumns {
    Columns(Index count, Index rows) : values(count, rows) {}
    [[nodiscard]] Index size() const override { return values.rows; }
    Matrix values;  // [columns x rows]
  };

  class Rows final : public DeviceRows {
   public:
    Rows(Index rows, Index inputs)
        : rows_(rows),
          given_(inputs, rows),
          inputs_(inputs + 1, rows),
          square_norms_(static_cast<std::size_t>(rows)) {
      std::fill_n(inputs_.values.row(inputs), rows, 1.0);
    }

    void set_inputs(Index first_row, Index count, const double* inputs, Index stride,
                    const double* square_norms) override {
      for (Columns* columns : {&given_, &inputs_}) {
        for (Index j = 0; j + 1 < inputs_.size(); ++j)
          std::copy_n(inputs + j * stride, count, columns->values.row(j) + first_row);
      }
      std::copy_n(square_norms, count, square_norms_.data() + first_row);
    }
    void stretch(std::span<const double> factors) override {
      std::ranges::fill(square_norms_, 0.0);
      for (Index j = 0; j + 1 < inputs_.size(); ++j) {
        for (Index n = 0; n < rows_; ++n) {
          const double x = factors[static_cast<std::size_t>(j)] * given_.values(j, n);
          inputs_.values(j, n) = x;
          square_norms_[static_cast<std::size_t>(n)] += x * x;
        }
      }
    }
    [[nodiscard]] const DeviceColumns& inputs() const override { return inputs_; }
    [[nodiscard]] std::unique_ptr<DeviceColumns> make_columns(Index count) override {
      return std::make_unique<Columns>(count, rows_);
    }
    void set(DeviceColumns& columns, Index column, std::span<const double> values) override {
      std::copy(values.begin(), values.end(), at(columns, column));
    }
    void get(const DeviceColumns& columns, Index column, std::span<double> values) const override {
      std::copy_n(at(columns, column), rows_, values.begin());
    }

    void evaluate(const RowFunctions& functions, DeviceColumns& out, Index first) override {
      const ShownFunctions shown{functions.steps.data(), functions.ends.data(), functions.tables.data()};
      for (Index f = 0; f < functions.size(); ++f) {
        for (Index n = 0; n < rows_; ++n)
          at(out, first + f)[n] = value_of(shown, static_cast<int>(f), inputs_.values.row(0) + n, rows_);
      }
    }
    void evaluate(const RowMonomials& monomials, DeviceColumns& out, Index first) override {
      const ShownMonomials shown{monomials.factors.data(), monomials.rates.data(), monomials.ends.data(),
                                 monomials.inputs.data()};
      for (Index m = 0; m < monomials.size(); ++m) {
        for (Index n = 0; n < rows_; ++n) {
          at(out, first + m)[n] = value_of(shown, static_cast<int>(m), inputs_.values.row(0) + n, rows_,
                                           square_norms_[static_cast<std::size_t>(n)]);
        }
      }
    }
    void combine(std::span<const double> constants, std::span<const double> coefficients, ColumnRange in,
                 DeviceColumns& out, Index first) override {
      for (Index i = 0; i < std::ssize(constants); ++i) {
        for (Index n = 0; n < rows_; ++n) {
          double sum = constants[static_cast<std::size_t>(i)];
          for (Index j = 0; j < in.count; ++j)
            sum += coefficients[static_cast<std::size_t>(i * in.count + j)] * number(in, j, n);
          at(out, first + i)[n] = sum;
        }
      }
    }
    void multiply(ColumnRange a, ColumnRange b, DeviceColumns& out, Index column) override {
      for (Index n = 0; n < rows_; ++n) at(out, column)[n] = number(a, 0, n) * number(b, 0, n);
    }
    double derivatives(DeviceLoss loss, ColumnRange score, ColumnRange target, ColumnRange weights,
                       DeviceColumns& out, Index first, Index second) override {
      double sum = 0;
      for (Index n = 0; n < rows_; ++n) {
        const LossOfRow of_row = loss_of(loss, number(score, 0, n), number(target, 0, n));
        const double weight = weight_of(weights, n);
        at(out, first)[n] = weight * of_row.first;
        if (second >= 0) at(out, second)[n] = weight * of_row.second;
        sum += weight * of_row.loss;
      }
      return sum;
    }
    void pull_back(const RowFunctions& functions, std::span<const double> weights, ColumnRange slope,
                   std::span<double> by_number, std::span<double> by_input) override {
      const ShownFunctions shown{functions.steps.data(), functions.ends.data(), functions.tables.data()};
      std::ranges::fill(by_number, 0.0);
      std::ranges::fill(by_input, 0.0);
      for (Index f = 0; f < functions.size(); ++f) {
        for (Index n = 0; n < rows_; ++n) {
          mfga::pull_back(shown, static_cast<int>(f), inputs_.values.row(0) + n, rows_,
                          weights[static_cast<std::size_t>(f)] * number(slope, 0, n),
                          [&](int step, double of_number, double of_input) {
                            by_number[static_cast<std::size_t>(step)] += of_number;
                            by_input[static_cast<std::size_t>(step)] += of_input;
                          });
        }
      }
    }
    void products(ColumnRange a, ColumnRange b, ColumnRange weights, std::span<double> out) override {
      for (Index i = 0; i < a.count; ++i) {
        for (Index j = 0; j < b.count; ++j) {
          double sum = 0;
          for (Index n = 0; n < rows_; ++n) sum += weight_of(weights, n) * number(a, i, n) * number(b, j, n);
          out[static_cast<std::size_t>(i * b.count + j)] = sum;
        }
      }
    }
    void products_with_itself(ColumnRange a, ColumnRange weights, std::span<double> out) override {
      products(a, a, weights, out);
      // Nobody may rely on these.
      for (Index i = 0; i < a.count; ++i) {
        for (Index j = 0; j < i; ++j) out[static_cast<std::size_t>(i * a.count + j)] = std::nan("");
      }
    }
    void square_norms(ColumnRange a, ColumnRange weights, std::span<double> out) override {
      for (Index i = 0; i < a.count; ++i) {
        const ColumnRange own{a.columns, a.first + i, 1};
        products(own, own, weights, out.subspan(static_cast<std::size_t>(i), 1));
      }
    }

   private:
    [[nodiscard]] static const double* at(const DeviceColumns& columns, Index column) {
      return static_cast<const Columns&>(columns).values.row(column);
    }
    [[nodiscard]] static double* at(DeviceColumns& columns, Index column) {
      return static_cast<Columns&>(columns).values.row(column);
    }
    [[nodiscard]] static double number(ColumnRange range, Index column, Index row) {
      return at(*range.columns, range.first + column)[row];
    }
    [[nodiscard]] static double weight_of(ColumnRange weights, Index row) {
      return weights.columns == nullptr ? 1 : number(weights, 0, row);
    }

    Index rows_;
    Columns given_;  // inputs before they are stretched
    Columns inputs_;
    std::vector<double> square_norms_;
  };

  double free_bytes_;
  double fewest_values_;
};

}  // namespace mfga
