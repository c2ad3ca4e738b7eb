#include "encodings/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "encodings/layouts.h"
#include "random_shapes.h"

namespace superpose {
namespace {

// The closed form of a rotary logit, from the vectors before they are turned (RoFormer, section 3.2.2
// expanded): a cosine times the symmetric part of each pair, plus a sine times the antisymmetric part.
double closed_form(const Matrix<double>& q, const Matrix<double>& k, int m, int n) {
  const int width = static_cast<int>(q.cols());
  double logit = 0;
  for (int i = 0; i < width / 2; ++i) {
    const double angle = (m - n) * std::pow(10000.0, -2.0 * i / width);
    const double q0 = q(m, 2 * i), q1 = q(m, 2 * i + 1), k0 = k(n, 2 * i), k1 = k(n, 2 * i + 1);
    logit += (q0 * k0 + q1 * k1) * std::cos(angle) + (q0 * k1 - q1 * k0) * std::sin(angle);
  }
  return logit;
}

TEST(Rotary, DotProductsAreTheClosedForm) {
  Shapes shapes(1);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = shapes.between(1, 40), width = 2 * shapes.between(1, 32);
    const Matrix<double> q = shapes.matrix(n, width), k = shapes.matrix(n, width);
    const Matrix<double> rq = rotate(q, {}), rk = rotate(k, {});
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        EXPECT_NEAR(rq.row(i).dot(rk.row(j)), closed_form(q, k, i, j), 1e-12);
      }
    }
  }
}

TEST(Rotary, FirstTokensByHand) {
  Matrix<double> rows(2, 4);
  rows << 1, 2, 3, 4, 1, 0, 0, 1;
  const Matrix<double> turned = rotate(rows, {});
  EXPECT_EQ(turned.row(0), rows.row(0));
  EXPECT_NEAR(turned(1, 0), std::cos(1.0), 1e-15);
  EXPECT_NEAR(turned(1, 1), std::sin(1.0), 1e-15);
  EXPECT_NEAR(turned(1, 2), -std::sin(0.01), 1e-15);
  EXPECT_NEAR(turned(1, 3), std::cos(0.01), 1e-15);
  const Matrix<double> halves = rotate(rows, {1, Layout::concatenated, 10000, 0});
  // Channels 0 and 2 are the first pair, 1 and 3 the second.
  EXPECT_NEAR(halves(1, 0), std::cos(1.0), 1e-15);
  EXPECT_NEAR(halves(1, 2), std::sin(1.0), 1e-15);
  EXPECT_NEAR(halves(1, 1), -std::sin(0.01), 1e-15);
  EXPECT_NEAR(halves(1, 3), std::cos(0.01), 1e-15);
}

TEST(Rotary, DependsOnTheOffsetAlone) {
  Shapes shapes(2);
  for (Layout layout : kLayouts) {
    const Matrix<double> q = shapes.matrix(12, 16), k = shapes.matrix(12, 16);
    const auto gram = [&](double first) -> Matrix<double> {
      const RotaryOptions options{2, layout, 10000, first};
      return rotate(q, options).leftCols(8) * rotate(k, options).leftCols(8).transpose();
    };
    EXPECT_LT(max_abs(gram(0) - gram(1000)), 1e-11);
    EXPECT_GT(max_abs(gram(0) - q.leftCols(8) * k.leftCols(8).transpose()), 0.1);
  }
}

TEST(Rotary, LengthsStay) {
  Shapes shapes(3);
  for (Layout layout : kLayouts) {
    const Matrix<double> rows = shapes.matrix(30, 24);
    const Matrix<double> turned = rotate(rows, {3, layout, 500, 7});
    EXPECT_LT(max_abs(turned.rowwise().squaredNorm() - rows.rowwise().squaredNorm()), 1e-13);
  }
}

// One fixed permutation of each head's channels turns one convention into the other.
TEST(Rotary, InterleavedIsHalfSplitPermuted) {
  Shapes shapes(4);
  for (int trial = 0; trial < 20; ++trial) {
    const int heads = shapes.between(1, 3), width = 2 * shapes.between(1, 8), n = 9;
    const std::vector<int> order = rotary_permutation(width);
    const auto permuted = [&](const Matrix<double>& rows) {
      Matrix<double> result(rows.rows(), rows.cols());
      for (int h = 0; h < heads; ++h) {
        for (int c = 0; c < width; ++c) result.col(h * width + c) = rows.col(h * width + order[c]);
      }
      return result;
    };
    const Matrix<double> rows = shapes.matrix(n, heads * width);
    const Matrix<double> interleaved = rotate(rows, {heads, Layout::interleaved, 10000, 2});
    const Matrix<double> halves = rotate(permuted(rows), {heads, Layout::concatenated, 10000, 2});
    EXPECT_EQ(halves, permuted(interleaved));
  }
  EXPECT_EQ(rotary_permutation(6), (std::vector<int>{0, 2, 4, 1, 3, 5}));
}

TEST(Rotary, NothingToTurn) {
  EXPECT_EQ(rotate(Matrix<double>(0, 8), {2, Layout::interleaved, 10000, 0}).size(), 0);
  EXPECT_EQ(rotate(Matrix<double>(3, 0), {}).size(), 0);
  EXPECT_TRUE(rotary_permutation(0).empty());
}

}  // namespace
}  // namespace superpose
