#include "scores/concatenation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"
#include "scores/dot_products.h"
#include "scores/head.h"

namespace superpose {
namespace {

TEST(Concatenation, RawIsTheDotProductWithoutCrossTerms) {
  Shapes shapes(1);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = shapes.between(0, 6);
    const Matrix<double> x = shapes.integers(n, shapes.between(1, 6));
    const Matrix<double> p = shapes.integers(n, shapes.between(1, 6));
    const auto products = dot_products<double>(x, p, 2);
    const auto raw = head_of(concatenate_raw<double>(x, p, 2));
    EXPECT_EQ(raw.logits, products.concatenated);
    EXPECT_EQ(raw.term(0), products.token_token);
    EXPECT_EQ(raw.term(3), products.position_position);
    EXPECT_EQ(max_abs(raw.term(1)) + max_abs(raw.term(2)), 0);
    EXPECT_EQ(raw.residual, 0);
  }
}

// [W1 W2][x; p] = W1 x + W2 p: adding is concatenation with two equal blocks.
TEST(Concatenation, AddingIsFullConcatenationWithEqualBlocks) {
  Shapes shapes(2);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = shapes.between(1, 6), d = shapes.between(1, 6), heads = shapes.between(1, 3);
    const int d_h = shapes.between(1, 4);
    const Matrix<double> x = shapes.integers(n, d), p = shapes.integers(n, d);
    const Linear<double> wq{shapes.integers(heads * d_h, d), {}};
    const Linear<double> wk{shapes.integers(heads * d_h, d), {}};
    const auto twice = [](const Linear<double>& w) {
      return Linear<double>{join_columns(w.weight, w.weight), {}};
    };
    const auto added = project_sum<double>({x, p}, {}, wq, wk, heads, 1);
    const auto joined = concatenate_full<double>(x, p, twice(wq), twice(wk), heads, 1);
    for (int h = 0; h < heads; ++h) {
      const auto a = head_of(added, h), c = head_of(joined, h);
      EXPECT_EQ(a.logits, c.logits);
      EXPECT_EQ(a.term(0), c.term(0));
      EXPECT_EQ(a.term(1), c.term(1));
      EXPECT_EQ(a.term(3), c.term(2));
      EXPECT_EQ(a.term(4), c.term(3));
    }
  }
}

// With any W_Q, W_K all four terms exist, each from its own block.
TEST(Concatenation, FullHasFourTermsFromFourBlocks) {
  Shapes shapes(3);
  const int n = 4, dt = 5, dp = 3, d_h = 2;
  const Matrix<double> x = shapes.integers(n, dt), p = shapes.integers(n, dp);
  const Linear<double> wq{shapes.integers(d_h, dt + dp), {}}, wk{shapes.integers(d_h, dt + dp), {}};
  const auto head = head_of(concatenate_full<double>(x, p, wq, wk, 1, 1));
  const Matrix<double> a = wq.weight.transpose() * wk.weight;
  EXPECT_EQ(head.term(0), x * a.topLeftCorner(dt, dt) * x.transpose());
  EXPECT_EQ(head.term(1), x * a.topRightCorner(dt, dp) * p.transpose());
  EXPECT_EQ(head.term(2), p * a.bottomLeftCorner(dp, dt) * x.transpose());
  EXPECT_EQ(head.term(3), p * a.bottomRightCorner(dp, dp) * p.transpose());
  EXPECT_GT(max_abs(head.term(1)), 0);
  EXPECT_EQ(head.logits, join_columns(x, p) * a * join_columns(x, p).transpose());
}

TEST(Concatenation, FullWithBiasesHasAConstantPart) {
  Shapes shapes(4);
  const int n = 5, dt = 4, dp = 3, heads = 2, d_h = 3;
  const Matrix<double> x = shapes.matrix(n, dt), p = shapes.matrix(n, dp);
  const auto wq = shapes.linear(heads * d_h, dt + dp, true);
  const auto wk = shapes.linear(heads * d_h, dt + dp, false);
  const auto parts = concatenate_full<double>(x, p, wq, wk, heads, 0.5);
  EXPECT_EQ(parts.terms(), 9);
  EXPECT_TRUE(parts.constant);
  EXPECT_FALSE(concatenate_full<double>(x, p, {wq.weight, {}}, wk, heads, 0.5).constant);
  for (int h = 0; h < heads; ++h) EXPECT_LT(head_of(parts, h).residual, 1e-13);
}

// Block-diagonal weights: a sum of two scores, and no cross terms.
TEST(Concatenation, BlockDiagonalIsASumOfTwoScores) {
  Shapes shapes(5);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = shapes.between(1, 5), dt = shapes.between(1, 5), dp = shapes.between(1, 5);
    const int heads = shapes.between(1, 3), a = shapes.between(1, 3), b = shapes.between(1, 3);
    const Matrix<double> x = shapes.integers(n, dt), p = shapes.integers(n, dp);
    const Linear<double> q1{shapes.integers(heads * a, dt), {}}, k1{shapes.integers(heads * a, dt), {}};
    const Linear<double> q2{shapes.integers(heads * b, dp), {}}, k2{shapes.integers(heads * b, dp), {}};
    const auto both =
        concatenate_block_diagonal<double>(x, p, q1.weight, k1.weight, q2.weight, k2.weight, heads, 1);
    const auto content = project_sum<double>({x}, {}, q1, k1, heads, 1);
    const auto position = project_sum<double>({p}, {}, q2, k2, heads, 1);
    for (int h = 0; h < heads; ++h) {
      const auto head = head_of(both, h);
      EXPECT_EQ(head.term(0), head_of(content, h).logits);
      EXPECT_EQ(head.term(3), head_of(position, h).logits);
      EXPECT_EQ(max_abs(head.term(1)) + max_abs(head.term(2)), 0);
      EXPECT_EQ(head.logits, head.term(0) + head.term(3));
    }
  }
}

// After concatenation W can absorb a rescaled position table; after adding it cannot.
TEST(Concatenation, FullAbsorbsARescaledTableAndAddingDoesNot) {
  Shapes shapes(6);
  const int n = 4, d = 3;
  const Matrix<double> x = shapes.integers(n, d), p = shapes.integers(n, d);
  const Linear<double> wq{shapes.integers(2, 2 * d), {}}, wk{shapes.integers(2, 2 * d), {}};
  const auto halved = [&](Linear<double> w) {
    w.weight.rightCols(d) /= 2;
    return w;
  };
  EXPECT_EQ(head_of(concatenate_full<double>(x, p, wq, wk, 1, 1)).logits,
            head_of(concatenate_full<double>(x, 2 * p, halved(wq), halved(wk), 1, 1)).logits);
  const Linear<double> q{shapes.integers(2, d), {}}, k{shapes.integers(2, d), {}};
  EXPECT_NE(head_of(project_sum<double>({x, p}, {}, q, k, 1, 1)).logits,
            head_of(project_sum<double>({x, 2 * p}, {}, q, k, 1, 1)).logits);
}

}  // namespace
}  // namespace superpose
