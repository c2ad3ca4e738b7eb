#include "scores/dot_products.h"

#include <gtest/gtest.h>

#include <cmath>

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

// Disjoint supports: adding is concatenating (science: concat(d_t, d_p) is contained in add(d_t + d_p)).
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

TEST(PairMoments, AreThoseOfThePairsAboveTheDiagonal) {
  Matrix<double> a(3, 3), b(3, 3);
  a << 99, 1, 2, 99, 99, 6, 99, 99, 99;
  b << -9, 5, 4, -9, -9, 0, -9, -9, -9;
  EXPECT_DOUBLE_EQ(pair_moments(a).mean, 3);
  EXPECT_DOUBLE_EQ(pair_moments(a).deviation, std::sqrt((4 + 1 + 9) / 3.0));
  EXPECT_NEAR(pair_correlation(a, b), -1, 1e-15);
  EXPECT_NEAR(pair_correlation(a, a), 1, 1e-15);
  // In units in which squares are out of range.
  for (const double unit : {0x1p-700, 0x1p700}) {
    EXPECT_DOUBLE_EQ(pair_moments<double>(unit * a).deviation / unit, std::sqrt((4 + 1 + 9) / 3.0));
    EXPECT_NEAR(pair_correlation<double>(unit * a, b), -1, 1e-15);
  }
}

// Tokens N(0, 1)^d and positions of squared length d/2, the page's seeded default: over pairs, a
// cross term has mean 0 and variance rho^2 d/2. The bound is five standard errors. About 12,000 pairs share
// 160 tokens, so the error is that of the tokens.
TEST(PairMoments, CrossTermsOfRandomTokensSpreadAsPredicted) {
  const int n = 160, d = 512;
  const double rho = 1.5;
  const auto x = random_normal<double>(n, d, 1, 3, 0), p = random_normal<double>(n, d, std::sqrt(0.5), 3, 1);
  const auto moments = pair_moments(dot_products<double>(x, p, rho).token_position);
  const double expected = rho * std::sqrt(d / 2.0);
  EXPECT_NEAR(moments.mean, 0, 5 * expected / n);
  EXPECT_NEAR(moments.deviation / expected, 1, 5 / std::sqrt(2.0 * n));
}

// Rounding is taken as three units in the last place of the pairs' size: anything above is a deviation.
TEST(PairMoments, DeviationBeginsAboveRounding) {
  for (const double size : {0.5, 0x1p-30, 0x1p40}) {
    Matrix<double> products = Matrix<double>::Constant(3, 3, size);
    products(1, 2) = size * (1 + 0x1p-52);
    EXPECT_EQ(pair_moments(products).deviation, 0) << size;
    products(1, 2) = size * (1 + 10 * 0x1p-52);
    EXPECT_NEAR(pair_moments(products).deviation / size, 10 * 0x1p-52 * std::sqrt(2) / 3, 0x1p-52) << size;
  }
}

TEST(PairMoments, TooFewTokens) {
  EXPECT_TRUE(std::isnan(pair_moments<double>(Matrix<double>::Ones(1, 1)).mean));
  EXPECT_TRUE(std::isnan(pair_moments<double>(Matrix<double>(0, 0)).mean));
  EXPECT_TRUE(std::isnan(pair_correlation<double>(Matrix<double>::Ones(2, 2), Matrix<double>::Ones(2, 2))));
  for (int n = 2; n < 40; ++n) {
    // Means of these are rounded.
    const Matrix<double> equal = Matrix<double>::Constant(n, n, 0.1 * n);
    EXPECT_EQ(pair_moments<double>(equal).deviation, 0) << n;
    EXPECT_TRUE(std::isnan(pair_correlation<double>(equal, equal))) << n;
  }
}

}  // namespace
}  // namespace superpose
