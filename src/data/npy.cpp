// The header is a Python dictionary with three known keys; it is searched for them rather than parsed.
// Numbers are copied row by row, so that only the wanted columns need memory.
#include "data/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "data/number_text.hpp"

namespace mfga {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand in the file");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr Index kNumbersPerTask = Index{1} << 17;

Index product(Index a, Index b, Index limit) { return b != 0 && a > limit / b ? limit : a * b; }

}  // namespace

bool looks_like_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

void NpyReader::fail(std::string_view found) const {
  throw Error(
      ErrorKind::kBadData,
      fmt::format("{}: {}; expected a 2-D array of little-endian float64 or float32 in C order, as saved by "
                  "numpy.save(path, numpy.ascontiguousarray(x, dtype=numpy.float64))",
                  path_, found));
}

NpyReader::NpyReader(std::string path, std::string_view bytes) : path_(std::move(path)) {
  if (!looks_like_npy(bytes)) fail("is not a .npy file");
  const std::string_view header = take_header(bytes);
  const std::string_view type = header_value(header, "descr");
  if (type == "'<f4'") {
    number_size_ = sizeof(float);
  } else if (type != "'<f8'") {
    fail(fmt::format("the .npy array has dtype {}", quoted_for_message(type)));
  }
  const std::string_view order = header_value(header, "fortran_order");
  if (order == "True") fail("the .npy array is in Fortran order");
  if (order != "False")
    fail(fmt::format("the .npy header is damaged: fortran_order is {}", quoted_for_message(order)));
  parse_shape(header_value(header, "shape"));

  const auto available = static_cast<Index>(bytes.size() / number_size_);
  const Index needed = product(rows_, std::ssize(columns()), available + 1);
  if (needed > available) {
    fail(fmt::format(
        "the .npy file is truncated: an array of {} rows and {} columns needs more than the {} bytes that "
        "follow the header",
        rows_, columns().size(), bytes.size()));
  }
  data_ = bytes.substr(0, static_cast<std::size_t>(needed) * number_size_);
}

// Cuts the header off: magic, version (two bytes), length (two bytes, since version 2 four), a Python
// dictionary.
std::string_view NpyReader::take_header(std::string_view& bytes) const {
  constexpr std::size_t kVersionEnd = kMagic.size() + 2;
  if (bytes.size() < kVersionEnd) fail("the .npy file is truncated inside its header");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3)
    fail(fmt::format("the .npy format has version {}, known are 1 to 3", version));
  const std::size_t length_size = version == 1 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  std::uint32_t length = 0;
  bytes.remove_prefix(kVersionEnd);
  if (bytes.size() < length_size) fail("the .npy file is truncated inside its header");
  std::memcpy(&length, bytes.data(), length_size);
  bytes.remove_prefix(length_size);
  if (bytes.size() < length) fail("the .npy file is truncated inside its header");
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return header;
}

// The text of one value in "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }".
std::string_view NpyReader::header_value(std::string_view header, std::string_view key) const {
  const std::string quoted_key = fmt::format("'{}':", key);
  const std::size_t found = header.find(quoted_key);
  if (found == std::string_view::npos) fail(fmt::format("the .npy header is damaged: it has no '{}'", key));
  header = trim(header.substr(found + quoted_key.size()));
  // Parentheses and brackets (a shape, a structured type) may hold commas.
  int depth = 0;
  std::size_t end = 0;
  for (; end < header.size(); ++end) {
    const char c = header[end];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && (c == ',' || c == '}')) break;
  }
  return trim(header.substr(0, end));
}

void NpyReader::parse_shape(std::string_view shape) {
  std::vector<Index> sizes;
  const auto damaged = [&] {
    fail(fmt::format("the .npy header is damaged: the shape is {}", quoted_for_message(shape)));
  };
  if (!shape.starts_with('(') || !shape.ends_with(')') || shape.size() < 2) damaged();
  std::string_view rest = shape.substr(1, shape.size() - 2);
  while (!trim(rest).empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = trim(rest.substr(0, comma));
    Index size = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, code] = std::from_chars(word.data(), end, size);
    if (word.empty() || stop != end || code != std::errc() || size < 0) damaged();
    sizes.push_back(size);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (sizes.size() != 2) fail(fmt::format("the .npy array is {}-D with shape {}", sizes.size(), shape));
  if (sizes[0] == 0 || sizes[1] == 0) fail(fmt::format("the .npy array is empty, with shape {}", shape));
  // Before the columns are named: a damaged shape can ask for any number of them.
  rows_ = sizes[0];
  check_memory(path_, rows_, sizes[1]);
  set_columns(numbered_columns(sizes[1]));
}

void NpyReader::read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const {
  table.lines = {};
  table.values = allocate_matrix(path_, rows_, plan.predictors);
  table.target.assign(static_cast<std::size_t>(plan.has_target() ? rows_ : 0), 0.0);
  const Index rows_per_task = std::max<Index>(1, kNumbersPerTask / std::ssize(columns()));
  pool.run((rows_ + rows_per_task - 1) / rows_per_task, [&](Index task) {
    const Index first = task * rows_per_task;
    const Index last = std::min(rows_, first + rows_per_task);
    if (number_size_ == sizeof(double)) {
      read_rows<double>(first, last, plan, table);
    } else {
      read_rows<float>(first, last, plan, table);
    }
  });
}

template <typename Number>
void NpyReader::read_rows(Index first, Index last, const ColumnPlan& plan, Table& table) const {
  const std::size_t count = columns().size();
  const char* source = data_.data() + static_cast<std::size_t>(first) * count * sizeof(Number);
  for (Index row = first; row < last; ++row) {
    double* const values = table.values.row(row);
    for (std::size_t column = 0; column < count; ++column, source += sizeof(Number)) {
      const Index slot = plan.slots[column];
      if (slot == kSkippedColumn) continue;
      Number number = 0;
      std::memcpy(&number, source, sizeof(Number));  // the data need not be aligned
      if (!std::isfinite(number)) {
        throw Error(
            ErrorKind::kBadData,
            fmt::format(
                "{}: found {} in row {}, column {} (\"{}\"), counted from 1; expected a finite number "
                "(leave the row out or fill in a value)",
                path_, number, row + 1, column + 1, columns()[column]));
      }
      (slot == kTargetColumn ? table.target[static_cast<std::size_t>(row)] : values[slot]) = number;
    }
  }
}

}  // namespace mfga
