// The rows of a problem in the memory of a device, for searches and refits that look at them many times:
// their inputs, targets and weights, and the values of the atoms that are active.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "solve/problem.hpp"

namespace mfga {

class DeviceProblem {
 public:
  // Puts the rows there.
  DeviceProblem(Device& device, const Problem& problem);
  // Whether the workers have a device, and there is something to gain by it: one output, and enough rows and
  // candidates.
  [[nodiscard]] static bool is_worthwhile(const Problem& problem, Index candidates);
  // Whether there is room for so many of the rows and so many columns.
  [[nodiscard]] static bool has_room(const Problem& problem, Index rows, Index columns);
  // Nothing where it is not worthwhile.
  [[nodiscard]] static std::unique_ptr<DeviceProblem> if_worthwhile(const Problem& problem, Index candidates);

  [[nodiscard]] DeviceRows& rows() const { return *rows_; }
  // No columns: all are 1.
  [[nodiscard]] ColumnRange weights() const {
    return weighted_ ? ColumnRange{per_row_.get(), kWeight, 1} : ColumnRange{};
  }

  // From now on the inputs are those of the problem times these.
  void stretch(std::span<const double> factors);

  // The values of some atoms, in columns from `first` on.
  void evaluate(std::span<const Atom> atoms, DeviceColumns& out, Index first) const;
  // 1, the active atoms, and more atoms after them; before them stand the target and, before that, the first
  // derivative. Values are kept of atoms that were the first before.
  [[nodiscard]] ColumnRange values(std::span<const Atom> active, std::span<const Atom> more = {});

  [[nodiscard]] static ColumnRange with_target(ColumnRange values) {
    return {values.columns, values.first - 1, values.count + 1};
  }
  [[nodiscard]] static ColumnRange with_target_and_first_derivative(ColumnRange values) {
    return {values.columns, values.first - 2, values.count + 2};
  }

  // What atom_products() says of all of them, for one target.
  [[nodiscard]] Matrix products(std::span<const Atom> atoms);

  // The sum of the losses where the scores are combinations of 1 and the active atoms; their derivatives, by
  // the rows' weights, stay until the next call.
  double derivatives(const Problem& problem, double intercept, std::span<const double> theta,
                     ColumnRange values, bool with_second);
  [[nodiscard]] ColumnRange first_derivatives() const { return {columns_.get(), kFirst, 1}; }
  [[nodiscard]] ColumnRange second_derivatives() const { return {columns_.get(), kSecond, 1}; }
  // For F = the sum over atoms m and rows of theta_m times the first derivative times atom m: adds its
  // derivatives by the atoms' coordinates, atom by atom, to `coordinates`, and by the logarithm of each
  // input's stretch to `stretches`. Returns false, and does nothing, if one of the atoms is not for devices.
  [[nodiscard]] bool pull_back(std::span<const Atom> atoms, std::span<const double> theta,
                               std::span<double> coordinates, std::span<double> stretches) const;

  // How many more columns there is room for, with some to spare for what is needed on the way.
  [[nodiscard]] Index room_for_columns() const;

 private:
  enum : Index { kWeight, kScore, kPerRow };
  // Atoms follow.
  enum : Index { kSecond, kFirst, kTarget, kOne, kFirstAtom };

  // Columns for so many atoms, and what was in those before but for their atoms.
  void make_columns(Index atoms);

  void evaluate_here(std::span<const Atom> atoms, DeviceColumns& out, Index first) const;
  double derivatives_here(const Problem& problem, bool with_second);

  Device& device_;
  BlockedRows blocked_;
  Workers& workers_;
  bool weighted_;
  std::unique_ptr<DeviceRows> rows_;
  std::unique_ptr<DeviceColumns> per_row_;
  std::unique_ptr<DeviceColumns> columns_;  // of which products are asked together
  std::vector<double> stretch_;             // of the inputs; empty: none
  std::vector<Atom> evaluated_;             // those whose values are there
};

}  // namespace mfga
