// Rows that are kept on disk. By the first byte: numbers, which come back to the last bit in as few bytes as
// is promised, or what a disk may give back as a block, with the right checksum, which is read or refused.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/row_blocks.hpp"
#include "core/sealed_file.hpp"
#include "data/number_codec.hpp"
#include "data/stored_rows.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

std::string folder_in_memory() { return ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : ""; }

// All NaN are one.
bool are_kept(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) ||
           std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

template <class Number>
std::vector<Number> numbers_in(std::string_view bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

// Numbers of each kind that has a way of its own to be kept.
std::vector<double> numbers_of(unsigned kind, std::string_view bytes) {
  constexpr double kPowers[] = {1, 1e2, 1e3, 1e9};
  const double power = kPowers[kind / 8 % 4];
  std::vector<double> numbers;
  const auto add_all = [&](const auto& wholes) {
    for (const auto whole : wholes) numbers.push_back(static_cast<double>(whole) / power);
  };
  switch (kind % 8) {
    case 0:
      return numbers_in<double>(bytes);
    case 1:
      add_all(numbers_in<std::int8_t>(bytes));
      break;
    case 2:
      add_all(numbers_in<std::int16_t>(bytes));
      break;
    case 3:
      add_all(numbers_in<std::int32_t>(bytes));
      break;
    default: {
      const std::vector<float> singles = numbers_in<float>(bytes);
      numbers.assign(singles.begin(), singles.end());
    }
  }
  // Some are missing, and one is like no other.
  if (kind % 2 == 0 && !numbers.empty()) numbers[kind % numbers.size()] = std::nan("");
  if (kind % 5 == 0 && !numbers.empty()) numbers.back() = -0.0;
  return numbers;
}

void check_encoding(std::span<const double> numbers) {
  std::string encoded;
  encode_numbers(numbers, encoded);
  require(encoded.size() <= 1 + std::max<std::size_t>(1, numbers.size()) * sizeof(double),
          "numbers take no more bytes than they have");
  const std::string longer = encoded + "more";
  std::string_view left = longer;
  std::vector<double> decoded(numbers.size());
  require(decode_numbers(left, decoded), "what was encoded is decoded");
  require(left == "more", "nothing else is taken");
  require(are_kept(numbers, decoded), "numbers come back to the last bit");
  std::string_view cut(encoded.data(), encoded.size() - 1);
  require(!decode_numbers(cut, decoded), "what is cut is refused");
}

// In a file, taken in pieces.
void check_file(const std::vector<double>& numbers, Index columns, Index at_once) {
  const Index rows = std::ssize(numbers) / columns;
  if (rows == 0) return;
  static ThreadPool pool(1);
  RowStore store(folder_in_memory(), columns);
  for (Index first = 0; first < rows; first += at_once) {
    Matrix some(std::min(at_once, rows - first), columns);
    std::copy_n(numbers.data() + first * columns, some.rows * columns, some.row(0));
    store.add(some, pool);
  }
  StoredColumns where;
  where.columns = columns;
  for (Index j = 0; j < columns; ++j) where.numbers.emplace_back(j, j);
  const auto stored = store.finish(where, 0);
  std::vector<Index> positions;
  for (Index i = 0; i < rows; ++i) positions.push_back(i * 7 % rows);
  std::vector<double> read(static_cast<std::size_t>(rows * columns));
  stored->read(positions, rows, read.data());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const double expected =
          numbers[static_cast<std::size_t>(positions[static_cast<std::size_t>(i)] * columns + j)];
      require(are_kept({&expected, 1}, {&read[static_cast<std::size_t>(j * rows + i)], 1}), "rows come back");
    }
  }
}

// A number, and a text of three levels, of which one has no column.
void check_block(std::string_view bytes, Index rows) {
  constexpr Index kColumns = 3;
  auto file = std::make_unique<ScratchFile>(folder_in_memory());
  const std::uint64_t place = file->append(bytes);
  const StoredRows stored(
      std::move(file),
      {{place, static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(checksum(bytes))}}, rows,
      {.kept = 2, .columns = kColumns, .numbers = {{0, 0}}, .texts = {{1, {2, -1, 1}}}}, 0);
  static_cast<void>(refusal_of([&] {
    std::vector<Index> positions;
    for (Index i = 0; i < rows; ++i) positions.push_back(i);
    std::vector<double> read(static_cast<std::size_t>(rows * kColumns));
    stored.read(positions, rows, read.data());
    for (Index i = 0; i < rows; ++i) {
      double row[kColumns];
      for (Index j = 0; j < kColumns; ++j) {
        row[j] = read[static_cast<std::size_t>(j * rows + i)];
        const double one = stored.number(i, j);
        require(are_kept({&one, 1}, {&row[j], 1}), "a number alone is that of its row");
      }
      require((row[1] == 0 || row[1] == 1) && (row[2] == 0 || row[2] == 1) && row[1] + row[2] <= 1,
              "a text is one level at most");
    }
  }));
}

void run(std::string_view bytes) {
  const unsigned how = take_byte(bytes);
  const unsigned kind = take_byte(bytes);
  if (how % 4 == 0) {
    check_block(bytes, 1 + static_cast<Index>(kind) % kBlockRows);
    return;
  }
  const std::vector<double> numbers = numbers_of(kind, bytes);
  if (how % 4 == 1) {
    check_file(numbers, 1 + how / 4 % 3, 1 + how);
  } else {
    check_encoding(numbers);
  }
}

}  // namespace

constexpr Target kRows = {"rows", 2048, run};

}  // namespace mfga::fuzz
