// Tables that lie in memory in other ways: single precision, by columns, in pieces. The model is the same to
// the last bit.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "mfga/mfga.hpp"
#include "model/plain_fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

struct Sample {
  Matrix x = reference::random_matrix(1300, 5, 1);
  std::vector<double> y;
  std::vector<double> weights;

  explicit Sample(bool classes = false) {
    for (double& value : x.values) value = static_cast<float>(value);  // single precision can hold them
    const std::vector<double> noise = reference::random_vector(x.rows, 2);
    for (Index i = 0; i < x.rows; ++i) {
      if (i % 7 == 0) x(i, 3) = 0;
      const double value = x(i, 0) * x(i, 1) + std::abs(x(i, 2)) + 0.3 * noise[static_cast<std::size_t>(i)];
      y.push_back(classes ? (value > 0.7 ? 1 : 0) : value);
      weights.push_back(1 + static_cast<double>(i % 3));
    }
  }
};

// The rows in so many pieces, each in memory of its own.
struct Pieces {
  std::vector<Matrix> matrices;
  TableView table;

  Pieces(const Matrix& x, Index count) {
    std::vector<TableView> views;
    for (Index p = 0; p < count; ++p) {
      const Index first = p * x.rows / count;
      const Index rows = (p + 1) * x.rows / count - first;
      Matrix& piece = matrices.emplace_back(rows, x.cols);
      std::copy_n(x.row(first), rows * x.cols, piece.row(0));
    }
    for (const Matrix& piece : matrices) views.emplace_back(piece.view());
    table = TableView::of_pieces(views);
  }
};

std::string model_of(const TableView& x, const Sample& sample, const AllOptions& options) {
  return model_to_json(fit({.x = x, .y = sample.y, .weights = sample.weights}, options).model);
}

std::vector<AllOptions> settings() {
  std::vector<AllOptions> all(5);
  for (AllOptions& options : all) options.terms = 4;
  all[0].features = "linear + hinge(knots=8) + landmark(count=40)";
  all[1].features = "linear + gaussian(order=2) + spline + fourier(count=20) + nystrom(count=20)";
  all[1].tune = Tuning::none();
  all[2].scale = ScaleKind::kQuantile;
  all[2].features = "linear + gaussian(order=2)";
  all[2].tune = Tuning::none();
  all[3].preset = true;
  all[4].method = paper::Method::kLkrf;
  return all;
}

TEST(Pieces, GiveTheSameModelInAnyNumber) {
  for (const bool classes : {false, true}) {
    const Sample sample(classes);
    for (const AllOptions& options : settings()) {
      if (classes && options.is_own()) continue;  // as for numbers
      const std::string whole = model_of(sample.x.view(), sample, options);
      for (const Index count : {1, 3, 7}) {
        const Pieces pieces(sample.x, count);
        EXPECT_EQ(model_of(pieces.table, sample, options), whole) << count;
      }
    }
  }
}

TEST(Pieces, MustHaveTheSameColumns) {
  const Matrix a(3, 2);
  const Matrix b(3, 4);
  EXPECT_THROW(static_cast<void>(TableView::of_pieces(std::array<TableView, 2>{a.view(), b.view()})), Error);
}

TEST(Layouts, GiveTheSameModel) {
  const Sample sample;
  std::vector<float> floats(sample.x.values.begin(), sample.x.values.end());
  Matrix by_columns(sample.x.cols, sample.x.rows);
  std::vector<float> floats_by_columns(floats.size());
  for (Index i = 0; i < sample.x.rows; ++i) {
    for (Index j = 0; j < sample.x.cols; ++j) {
      by_columns(j, i) = sample.x(i, j);
      floats_by_columns[static_cast<std::size_t>(j * sample.x.rows + i)] = static_cast<float>(sample.x(i, j));
    }
  }
  const Index rows = sample.x.rows;
  const Index cols = sample.x.cols;
  const AllOptions options = settings().front();
  const std::string expected = model_of(sample.x.view(), sample, options);
  EXPECT_EQ(model_of(ConstFloatMatrixView{floats.data(), rows, cols, cols, 1}, sample, options), expected);
  EXPECT_EQ(model_of(ConstFloatMatrixView{floats_by_columns.data(), rows, cols, 1, rows}, sample, options),
            expected);
  // Doubles by columns are standardised as they lie, and round otherwise.
  AllOptions plain = settings()[2];
  plain.ridge = 1;
  plain.tune = Tuning::none();
  const ConstMatrixView columns{by_columns.values.data(), rows, cols, 1, rows};
  const Model first = fit({.x = sample.x.view(), .y = sample.y}, plain).model;
  const Model second = fit({.x = columns, .y = sample.y}, plain).model;
  const std::vector<double> scores = first.scores(sample.x.view());
  const std::vector<double> others = second.scores(sample.x.view());
  for (std::size_t n = 0; n < scores.size(); ++n) ASSERT_NEAR(scores[n], others[n], 1e-9);
}

}  // namespace
}  // namespace mfga
