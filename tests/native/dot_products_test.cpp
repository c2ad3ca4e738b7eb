#include "dot_products.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

TEST(DotProducts, TermsSumToBothExactlyOnIntegers) {
  Shapes shapes(1);
  for (int trial = 0; trial < 50; ++trial) {
    const int n = shapes.between(0, 7), d = shapes.between(1, 9);
    const double rho = shapes.between(-3, 3);
    const auto r = dot_products<double>(shapes.integers(n, d), shapes.integers(n, d), rho);
    const Matrix<double> cross = r.token_position + r.position_token;
    EXPECT_EQ(r.concatenated, r.token_token + r.position_position);
    EXPECT_EQ(r.added, r.concatenated + cross);
    EXPECT_EQ(r.position_token, r.token_position.transpose());
  }
}

TEST(DotProducts, EntriesAreDotProductsOfRows) {
  Shapes shapes(2);
  const int n = 5, d = 6;
  const Matrix<double> x = shapes.matrix(n, d), p = shapes.matrix(n, d);
  const double rho = 0.7;
  const auto r = dot_products<double>(x, p, rho);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      EXPECT_NEAR(r.token_position(i, j), rho * x.row(i).dot(p.row(j)), 1e-13);
      EXPECT_NEAR(r.position_token(i, j), rho * p.row(i).dot(x.row(j)), 1e-13);
      EXPECT_NEAR(r.added(i, j), (x.row(i) + rho * p.row(i)).dot(x.row(j) + rho * p.row(j)), 1e-13);
    }
  }
}

TEST(DotProducts, DifferentWidthsCanOnlyBeConcatenated) {
  Shapes shapes(3);
  const auto r = dot_products<double>(shapes.integers(4, 6), shapes.integers(4, 2), 2);
  EXPECT_EQ(r.concatenated, r.token_token + r.position_position);
  EXPECT_EQ(r.added.size(), 0);
  EXPECT_EQ(r.token_position.size(), 0);
}

// Disjoint supports: adding is concatenating (science: concat(d_t, d_p) lies within add(d_t + d_p)).
TEST(DotProducts, DisjointSupportsMakeAddingConcatenating) {
  Shapes shapes(4);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = shapes.between(1, 6), dt = shapes.between(1, 5), dp = shapes.between(1, 5);
    const Matrix<double> x = shapes.integers(n, dt), p = shapes.integers(n, dp);
    const auto padded = dot_products<double>(join_columns<double>(x, Matrix<double>::Zero(n, dp)),
                                             join_columns<double>(Matrix<double>::Zero(n, dt), p), 1);
    EXPECT_EQ(padded.added, dot_products<double>(x, p, 1).concatenated);
    EXPECT_EQ(max_abs(padded.token_position), 0);
  }
}

}  // namespace
}  // namespace superpose
