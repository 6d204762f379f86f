#include "data/npy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using NpyTest = TableTest;
using Numbers = std::vector<double>;

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  const auto length = static_cast<std::uint32_t>(header.size());
  std::string text = std::string("\x93NUMPY") + version + '\0';
  for (unsigned byte = 0; byte < (version == 1 ? 2U : 4U); ++byte)
    text += static_cast<char>(length >> (8U * byte));
  return text + header + data;
}

std::string header_of(const std::string& type, const std::string& order, const std::string& shape) {
  return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}   \n", type, order, shape);
}

TEST_F(NpyTest, ReadsFloat64OfEachVersion) {
  for (const char version : {char{1}, char{2}, char{3}}) {
    const std::string file =
        write(npy(header_of("'<f8'", "False", "(2, 3)"), bytes_of<double>({1, 2, 3, 4, 5, 6.5}), version));
    EXPECT_EQ(TableFile(file, {}).format(), "npy");
    const Table table = read(file);
    EXPECT_EQ(table.columns, (std::vector<std::string>{"x0", "x1"}));
    EXPECT_EQ(table.values.values, (Numbers{1, 2, 4, 5}));
    EXPECT_EQ(table.target, (Numbers{3, 6.5}));
    EXPECT_EQ(lines_of(table), (std::vector<Index>{1, 2}));
  }
}

TEST_F(NpyTest, ReadsFloat32AndChosenColumns) {
  const Table table =
      read(write(npy(header_of("'<f4'", "False", "(2, 3)"), bytes_of<float>({1, NAN, 3, 4, 5, 6}))), {}, "0",
           {"x1"});
  EXPECT_EQ(table.values.values, (Numbers{3, 6}));
  EXPECT_EQ(table.target, (Numbers{1, 4}));
}

TEST_F(NpyTest, OtherArraysAreRefusedWithWhatToDo) {
  const std::string data = bytes_of<double>({1, 2, 3, 4, 5, 6});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {npy(header_of("'<i8'", "False", "(2, 3)"), data), "dtype \"'<i8'\""},
      {npy(header_of("'>f8'", "False", "(2, 3)"), data), "dtype \"'>f8'\""},
      {npy(header_of("[('a', '<f8'), ('b', '<f8')]", "False", "(3,)"), data), "dtype \"[('a'"},
      {npy(header_of("'<f8'", "True", "(2, 3)"), data), "Fortran order"},
      {npy(header_of("'<f8'", "Perhaps", "(2, 3)"), data), "fortran_order is \"Perhaps\""},
      {npy(header_of("'<f8'", "False", "(6,)"), data), "1-D with shape (6,)"},
      {npy(header_of("'<f8'", "False", "()"), data), "0-D"},
      {npy(header_of("'<f8'", "False", "(1, 2, 3)"), data), "3-D"},
      {npy(header_of("'<f8'", "False", "(0, 3)"), data), "empty"},
      {npy(header_of("'<f8'", "False", "(2, x)"), data), "the shape is \"(2, x)\""},
      {npy(header_of("'<f8'", "False", "7"), data), "the shape is \"7\""},
      {npy(header_of("'<f8'", "False", "(2, 4)"), data), "truncated"},
      {npy("{'descr': '<f8', 'shape': (2, 3), }", data), "no 'fortran_order'"},
      {npy(header_of("'<f8'", "False", "(2, 3)"), data, 9), "version 9"},
      {npy(header_of("'<f8'", "False", "(2, 3)"), data).substr(0, 30), "truncated inside its header"},
      {std::string("\x93NUMPY"), "truncated inside its header"},
  };
  for (const auto& [bytes, part] : cases) {
    expect_message(read_error(write(bytes, "a.npy"), ErrorKind::kBadData),
                   {"a.npy: ", part, "numpy.ascontiguousarray(x, dtype=numpy.float64)"});
  }
  ReadOptions options;
  options.format = "npy";
  expect_message(read_error(write("1,2\n"), ErrorKind::kBadData, options), {"is not a .npy file"});
  expect_message(read_error(write(npy(header_of("'<f8'", "False", "(3000000000, 3000000000)"), data)),
                            ErrorKind::kBadData),
                 {"truncated"});
}

TEST_F(NpyTest, NumbersMustBeFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string header = header_of("'<f8'", "False", "(3, 2)");
  // The target.
  expect_message(
      read_error(write(npy(header, bytes_of<double>({1, 2, 3, NAN, NAN, 6}))), ErrorKind::kBadData),
      {"found nan in row 2, column 2 (\"x1\")"});
  ReadOptions options;
  options.missing = "error";
  expect_message(
      read_error(write(npy(header, bytes_of<double>({1, 2, NAN, 4, 5, 6}))), ErrorKind::kBadData, options),
      {"found nan in row 2, column 1 (\"x0\")"});
  expect_message(
      read_error(write(npy(header, bytes_of<double>({1, 2, -kInfinity, 4, NAN, 6}))), ErrorKind::kBadData),
      {"found -inf in row 2, column 1 (\"x0\")"});
}

TEST_F(NpyTest, TheFirstErrorOfALargeArrayIsReported) {
  constexpr std::size_t kRows = 300'000;
  std::vector<double> numbers(kRows * 2, 1.0);
  for (std::size_t row = 200'000; row < kRows; row += 10'000) numbers[2 * row] = HUGE_VAL;
  const std::string file = write(npy(header_of("'<f8'", "False", "(300000, 2)"), bytes_of(numbers)));
  expect_message(read_error(file, ErrorKind::kBadData), {"row 200001, column 1"});
}

}  // namespace
}  // namespace mfga
