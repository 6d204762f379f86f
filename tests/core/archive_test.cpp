// Bytes that no archive would write are refused, whatever a checksum says of them.
#include "core/archive.hpp"

#include <gtest/gtest.h>

#include "mfga/error.hpp"
#include "solve/growing_cholesky.hpp"

namespace mfga {
namespace {

template <class Value>
void expect_refused(const std::string& bytes) {
  Archive archive(bytes);
  Value value{};
  EXPECT_THROW(archive(value), Error);
}

template <class... Values>
std::string written(Values... values) {
  Archive archive;
  archive(values...);
  return archive.bytes();
}

TEST(Archive, TruthValuesAreOneOfTwo) {
  expect_refused<bool>("\x02");
  expect_refused<std::vector<bool>>(written(std::uint64_t{1}) + "\xFF");
  expect_refused<std::optional<double>>("\x03");
  EXPECT_EQ(written(true, false), std::string("\x01\x00", 2));
}

TEST(Archive, SizesAreThoseOfWhatFollows) {
  expect_refused<std::vector<double>>(written(~std::uint64_t{0}));
  expect_refused<Matrix>(written(Index{3}, Index{2}, std::vector<double>(5)));
  expect_refused<GrowingCholesky>(written(Index{1} << 40U, Index{1}, std::vector<double>(1)));
  expect_refused<GrowingCholesky>(written(Index{32}, Index{9}, std::vector<double>(3)));
  expect_refused<GrowingCholesky>(written(Index{32}, Index{-2}, std::vector<double>(1)));
  expect_refused<GrowingCholesky>(written(Index{0}, Index{2}, std::vector<double>(3)));
}

TEST(Archive, AFactorThatHasGrownComesBack) {
  GrowingCholesky factor;
  for (Index i = 0; i < 40; ++i) {
    std::vector<double> row(static_cast<std::size_t>(i + 1), 0.1);
    row.back() = 2;
    ASSERT_TRUE(factor.append(row, 1e-9));
    Archive bytes;
    bytes(factor);
    Archive from(bytes.bytes());
    GrowingCholesky again;
    from(again);
    EXPECT_EQ(again.lower(), factor.lower());
  }
}

}  // namespace
}  // namespace mfga
