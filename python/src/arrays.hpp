// Arrays of Python as tables, and numbers as arrays of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <utility>
#include <vector>

#include "mfga/error.hpp"
#include "mfga/views.hpp"

namespace mfga::python {
namespace nb = nanobind;

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<nb::numpy, double>;

inline TableView table_of(const Array& x) {
  if (x.ndim() != 2) throw Error(ErrorKind::kInvalidArgument, "expected an array of two dimensions");
  const auto rows = static_cast<Index>(x.shape(0));
  const auto cols = static_cast<Index>(x.shape(1));
  if (x.dtype() == nb::dtype<double>())
    return ConstMatrixView{static_cast<const double*>(x.data()), rows, cols, x.stride(0), x.stride(1)};
  if (x.dtype() == nb::dtype<float>())
    return ConstFloatMatrixView{static_cast<const float*>(x.data()), rows, cols, x.stride(0), x.stride(1)};
  throw Error(ErrorKind::kInvalidArgument, "expected an array of float64 or float32");
}

inline std::span<const double> span_of(const Numbers& numbers) { return {numbers.data(), numbers.shape(0)}; }

inline Result shaped(std::vector<double> values, const std::vector<std::size_t>& shape) {
  auto* const kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept, [](void* pointer) noexcept {
    delete static_cast<std::vector<double>*>(pointer);  // NOLINT(cppcoreguidelines-owning-memory)
  });
  return {kept->data(), shape.size(), shape.data(), owner};
}

// Of so many columns; one column has one dimension.
inline Result array_of(std::vector<double> values, std::size_t columns) {
  const std::size_t rows = columns > 0 ? values.size() / columns : 0;
  if (columns == 1) return shaped(std::move(values), {rows});
  return shaped(std::move(values), {rows, columns});
}

}  // namespace mfga::python
