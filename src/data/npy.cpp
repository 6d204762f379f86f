// The header is a Python dictionary with three known keys; it is searched for them rather than parsed.
// Numbers are copied row by row, so that only the wanted columns need memory, and columns that stay beside
// each other together.
#include "data/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "core/vectorise.hpp"
#include "data/number_text.hpp"
#include "data/text_rows.hpp"
#include "mfga/communicator.hpp"

namespace mfga {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand in the file");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr Index kNumbersPerTask = Index{1} << 17;

Index product(Index a, Index b, Index limit) { return b != 0 && a > limit / b ? limit : a * b; }

// Columns of the file that go to neighbouring places, or the target.
struct ColumnRun {
  Index first = 0;
  Index count = 0;
  Index slot = 0;  // of the first one
};

std::vector<ColumnRun> find_runs(const ColumnSlots& slots) {
  std::vector<ColumnRun> runs;
  for (Index column = 0; column < std::ssize(slots); ++column) {
    const Index slot = slots[static_cast<std::size_t>(column)];
    if (slot == kSkippedColumn) continue;
    const bool goes_on = !runs.empty() && slot >= 0 && runs.back().slot >= 0 &&
                         runs.back().first + runs.back().count == column &&
                         runs.back().slot + runs.back().count == slot;
    if (goes_on) {
      ++runs.back().count;
    } else {
      runs.push_back({column, 1, slot});
    }
  }
  return runs;
}

// Copies numbers as they stand in a file, not aligned, and tells whether all are finite: the exponent of
// those that are not has every bit set.
MFGA_VECTORISED bool copy_doubles(const char* source, Index count, double* out) {
  constexpr std::uint64_t kExponent = 0x7FF0000000000000U;
  std::uint64_t not_finite = 0;
  for (Index i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, source + i * Index{sizeof(bits)}, sizeof(bits));
    not_finite |= (bits & kExponent) == kExponent ? 1U : 0U;
    out[i] = std::bit_cast<double>(bits);
  }
  return not_finite == 0;
}

MFGA_VECTORISED bool copy_floats(const char* source, Index count, double* out) {
  constexpr std::uint32_t kExponent = 0x7F800000U;
  std::uint32_t not_finite = 0;
  for (Index i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, source + i * Index{sizeof(bits)}, sizeof(bits));
    not_finite |= (bits & kExponent) == kExponent ? 1U : 0U;
    out[i] = std::bit_cast<float>(bits);
  }
  return not_finite == 0;
}

}  // namespace

bool looks_like_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

std::string npy_header(std::string_view shape) {
  constexpr std::size_t kAlignment = 64;  // of the numbers in the file
  constexpr std::size_t kFixedSize = kMagic.size() + 2 + sizeof(std::uint16_t);
  std::string dictionary = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape);
  const std::size_t used = kFixedSize + dictionary.size() + 1;
  dictionary.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  const auto length = static_cast<std::uint16_t>(dictionary.size());
  std::string header(kMagic);
  header += {'\x01', '\0', static_cast<char>(length & 0xFFU), static_cast<char>(length >> 8U)};
  return header + dictionary;
}

void NpyReader::fail(std::string_view found) const {
  throw Error(
      ErrorKind::kBadData,
      fmt::format("{}: {}; expected a 2-D array of little-endian float64 or float32 in C order, as saved by "
                  "numpy.save(path, numpy.ascontiguousarray(x, dtype=numpy.float64))",
                  path_, found));
}

NpyReader::NpyReader(std::string path, std::string_view bytes, const ReadOptions& options)
    : TableReader(MissingMarks(options.missing)), path_(std::move(path)) {
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
  const auto [n_rows, n_columns] = parse_shape(header_value(header, "shape"));

  const auto available = static_cast<Index>(bytes.size() / number_size_);
  const Index needed = product(n_rows, n_columns, available + 1);
  if (needed > available) {
    fail(fmt::format(
        "the .npy file is truncated: an array of {} rows and {} columns needs more than the {} bytes that "
        "follow the header",
        n_rows, n_columns, bytes.size()));
  }
  // Only now: a damaged shape can ask for any number of columns.
  check_columns(path_, n_columns);
  rows_ = n_rows;
  set_columns(numbered_columns(n_columns));
  data_ = bytes.substr(0, static_cast<std::size_t>(needed) * number_size_);
  if (options.only_row == 0) return;
  if (options.only_row > rows_) throw no_such_row_error(path_, options.only_row, rows_);
  first_row_ = options.only_row;
  data_ = {row_bytes(options.only_row - 1), row_bytes(options.only_row)};
  rows_ = 1;
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

std::pair<Index, Index> NpyReader::parse_shape(std::string_view shape) const {
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
  return {sizes[0], sizes[1]};
}

std::optional<ConstMatrixView> NpyReader::stored_numbers() const {
  const bool aligned = reinterpret_cast<std::uintptr_t>(data_.data()) % alignof(double) == 0;
  if (number_size_ != sizeof(double) || !aligned) return std::nullopt;
  const Index n_columns = std::ssize(columns());
  return ConstMatrixView{reinterpret_cast<const double*>(data_.data()), rows_, n_columns, n_columns, 1};
}

void NpyReader::divide(Communicator& ranks, ThreadPool& /*pool*/) {
  const Index first = rows_ * ranks.rank() / ranks.size();
  const Index end = rows_ * (ranks.rank() + 1) / ranks.size();
  data_ = {row_bytes(first), row_bytes(end)};
  first_row_ += first;
  rows_ = end - first;
}

TextFields NpyReader::read(const ColumnPlan& plan, ThreadPool& pool, Table& table) const {
  RowsRead read = parse(0, rows_, plan, pool);
  table.lines = std::move(read.lines);
  table.values = std::move(read.numbers);
  table.target = std::move(read.target);
  return {};
}

void NpyReader::read_in_parts(const ColumnPlan& plan, ThreadPool& pool, Index bytes,
                              const TakeRows& take) const {
  const Index row_size = std::ssize(columns()) * static_cast<Index>(number_size_);
  const Index at_once = std::max<Index>(1, bytes / row_size);
  bool go_on = true;
  for (Index first = 0; first < rows_ && go_on; first += at_once) {
    RowsRead read = parse(first, std::min(at_once, rows_ - first), plan, pool);
    read.bytes = read.rows() * row_size;
    go_on = take(read);
  }
}

RowsRead NpyReader::parse(Index first, Index count, const ColumnPlan& plan, ThreadPool& pool) const {
  RowsRead read;
  read.lines.first_line = first_row_ + first;
  read.numbers = allocate_matrix(path_, count, plan.numbers);
  read.target.resize(static_cast<std::size_t>(plan.has_target() ? count : 0));
  const std::vector<ColumnRun> runs = find_runs(plan.slots);
  const Index rows_per_task = std::max<Index>(1, kNumbersPerTask / std::ssize(columns()));
  pool.run((count + rows_per_task - 1) / rows_per_task, [&](Index task) {
    const Index last = std::min(count, (task + 1) * rows_per_task);
    for (Index row = task * rows_per_task; row < last; ++row) {
      const char* const source = row_bytes(first + row);
      bool is_finite = true;
      for (const ColumnRun& run : runs) {
        double* const out =
            run.slot == kTargetColumn ? read.target.data() + row : read.numbers.row(row) + run.slot;
        const char* const begin = source + static_cast<std::size_t>(run.first) * number_size_;
        is_finite &= number_size_ == sizeof(double) ? copy_doubles(begin, run.count, out)
                                                    : copy_floats(begin, run.count, out);
      }
      if (missing_marks().has_numbers()) {
        for (double& number : std::span(read.numbers.row(row), static_cast<std::size_t>(plan.numbers)))
          number = missing_marks().has_number(number) ? std::numeric_limits<double>::quiet_NaN() : number;
      }
      if (!is_finite) check_not_finite(first + row, plan);
    }
    done_with({row_bytes(first + task * rows_per_task), row_bytes(first + last)});
  });
  return read;
}

const char* NpyReader::row_bytes(Index row) const {
  return data_.data() + static_cast<std::size_t>(row) * columns().size() * number_size_;
}

void NpyReader::check_not_finite(Index row, const ColumnPlan& plan) const {
  for (std::size_t column = 0; column < columns().size(); ++column) {
    const char* const source = row_bytes(row) + column * number_size_;
    double number = 0;
    const bool is_finite =
        number_size_ == sizeof(double) ? copy_doubles(source, 1, &number) : copy_floats(source, 1, &number);
    if (is_finite || plan.slots[column] == kSkippedColumn) continue;
    if (plan.slots[column] != kTargetColumn && missing_marks().has_number(number)) continue;
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{}: found {} in row {}, column {} (\"{}\"), counted from 1; expected a finite number "
                    "(leave the row out or fill in a value)",
                    path_, number, first_row_ + row, column + 1, columns()[column]));
  }
}

}  // namespace mfga
