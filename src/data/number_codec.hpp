// Numbers in few bytes, without loss: the shortest of several ways that gives every one of them back to the
// last bit (all NaN are the same one).
//
//   constant   all are one
//   listed     one byte each: a place in a list of at most 256 numbers
//   decimal    a whole number of 2 or 4 bytes, divided by a power of ten; as numbers in texts mostly are
//   single     single precision
//   double     as they are
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mfga/views.hpp"

namespace mfga {

// Appends the numbers to `out`.
void encode_numbers(std::span<const double> numbers, std::string& out);
// Takes as many numbers as there is room for off the front of what was encoded; false if it is not so much.
[[nodiscard]] bool decode_numbers(std::string_view& bytes, std::span<double> numbers);

}  // namespace mfga
