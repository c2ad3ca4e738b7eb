#include "geometry/two_way.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

double max_of(const Matrix<double>& m) { return m.cwiseAbs().maxCoeff(); }

// Against sums written out, on random tables and weights.
TEST(TwoWay, IsWhatPlainLoopsGive) {
  Shapes shapes(31);
  for (int choice = 0; choice < 20; ++choice) {
    const int kinds = shapes.between(1, 7), n = shapes.between(1, 6), d = shapes.between(1, 5);
    const Matrix<double> rows = shapes.matrix(kinds * n, d, 1);
    Vector<double> weights(kinds);
    for (double& weight : weights) weight = shapes.between(1, 9);
    const TwoWayParts parts = two_way_parts(rows, weights);
    const TwoWaySizes sizes = two_way_sizes(parts, weights);
    double all = 0, squares[3] = {}, total = 0;
    for (int t = 0; t < kinds; ++t) all += weights[t];
    const auto at = [&](int t, int i, int c) { return rows(t * n + i, c); };
    for (int c = 0; c < d; ++c) {
      double mean = 0;
      for (int t = 0; t < kinds; ++t) {
        for (int i = 0; i < n; ++i) mean += weights[t] / all * at(t, i, c) / n;
      }
      EXPECT_NEAR(parts.mean(0, c), mean, 1e-14);
      for (int t = 0; t < kinds; ++t) {
        double first = -mean;
        for (int j = 0; j < n; ++j) first += at(t, j, c) / n;
        EXPECT_NEAR(parts.first(t, c), first, 1e-14);
        squares[0] += weights[t] / all * first * first;
        for (int i = 0; i < n; ++i) {
          double second = -mean;
          for (int u = 0; u < kinds; ++u) second += weights[u] / all * at(u, i, c);
          EXPECT_NEAR(parts.second(i, c), second, 1e-14);
          if (t == 0) squares[1] += second * second / n;
          const double rest = at(t, i, c) - mean - first - second;
          EXPECT_NEAR(parts.rest(t * n + i, c), rest, 1e-14);
          squares[2] += weights[t] / all * rest * rest / n;
          total += weights[t] / all * (at(t, i, c) - mean) * (at(t, i, c) - mean) / n;
        }
      }
    }
    EXPECT_NEAR(sizes.first, squares[0], 1e-13);
    EXPECT_NEAR(sizes.second, squares[1], 1e-13);
    EXPECT_NEAR(sizes.rest, squares[2], 1e-13);
    // Orthogonal parts: their sizes add up to the whole variation.
    EXPECT_NEAR(sizes.first + sizes.second + sizes.rest, total, 1e-13);
  }
}

TEST(TwoWay, OfASumNothingIsLeftOver) {
  Shapes shapes(32);
  const Matrix<double> tokens = shapes.matrix(5, 4, 1), positions = shapes.matrix(3, 4, 1);
  Matrix<double> sum(15, 4), product(15, 4);
  for (int t = 0; t < 5; ++t) {
    for (int i = 0; i < 3; ++i) {
      sum.row(3 * t + i) = tokens.row(t) + positions.row(i);
      product.row(3 * t + i) = tokens.row(t).cwiseProduct(positions.row(i));
    }
  }
  const Vector<double> weights = Vector<double>::Constant(5, 2);
  EXPECT_LT(max_of(two_way_parts(sum, weights).rest), 1e-15);
  EXPECT_GT(max_of(two_way_parts(product, weights).rest), 0.1);
}

// Rows that are all equal have no part beside their mean, whatever that is rounded to.
TEST(TwoWay, EqualRowsLeaveExactlyNothing) {
  const Matrix<double> rows = Matrix<double>::Constant(3 * 7, 4, 0.1);
  const Vector<double> weights = Vector<double>::LinSpaced(3, 1, 3);
  const TwoWayParts parts = two_way_parts(rows, weights);
  EXPECT_EQ(max_of(parts.mean.array() - 0.1), 0);
  const auto [first, second, rest] = two_way_sizes(parts, weights);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 0);
  EXPECT_EQ(rest, 0);
}

}  // namespace
}  // namespace superpose
