#include "scores/rank.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

Matrix<double> logits(const Matrix<double>& x, const Matrix<double>& query, const Matrix<double>& key) {
  return x * query.transpose() * key * x.transpose();
}

// Random tables and weights reach the closed forms: 8 against 16, from 16 tokens on.
TEST(Rank, LogitsReachTheClosedForm) {
  Shapes shapes(1);
  for (const auto& [n, d, d_p, d_h, d_hp] : {std::array{32, 24, 24, 8, 8},
                                             {16, 24, 24, 8, 8},
                                             {12, 24, 24, 8, 8},
                                             {5, 9, 9, 8, 8},
                                             {20, 4, 4, 8, 8},
                                             {30, 24, 3, 8, 6},
                                             {1, 6, 6, 2, 2}}) {
    const Matrix<double> x = shapes.matrix(n, d), p = shapes.matrix(n, d_p);
    const ScoreRanks ranks = score_ranks(n, d, d_p, d_h, d_hp);
    const Matrix<double> query = shapes.matrix(d_h, d), key = shapes.matrix(d_h, d);
    const Matrix<double> untied =
        logits(x, query, key) + logits(p, shapes.matrix(d_hp, d_p), shapes.matrix(d_hp, d_p));
    EXPECT_EQ(numerical_rank(untied, 1e-10), ranks.untied);
    const Matrix<double> full =
        logits(join_columns(x, p), shapes.matrix(d_h, d + d_p), shapes.matrix(d_h, d + d_p));
    EXPECT_EQ(numerical_rank(full, 1e-10), ranks.concatenated);
    if (d == d_p) {
      EXPECT_EQ(numerical_rank(logits(x + p, query, key), 1e-10), ranks.added);
    }
  }
  const ScoreRanks published = score_ranks(32, 24, 24, 8, 8);
  EXPECT_EQ(published.added, 8);
  EXPECT_EQ(published.concatenated, 8);
  EXPECT_EQ(published.untied, 16);
}

TEST(Rank, CountsSingularValuesAboveTheTolerance) {
  Matrix<double> diagonal = Matrix<double>::Zero(4, 3);
  diagonal.diagonal() << 1e-3, 5, 1e-9;
  EXPECT_EQ(numerical_rank(diagonal, 1e-10), 3);
  EXPECT_EQ(numerical_rank(diagonal, 1e-6), 2);
  EXPECT_EQ(numerical_rank(diagonal, 1e-2), 1);
  EXPECT_EQ(numerical_rank(1e6 * diagonal, 1e-6), 2);
}

TEST(Rank, EmptyZeroAndRepeatedRows) {
  EXPECT_EQ(numerical_rank(Matrix<double>(0, 4), 1e-10), 0);
  EXPECT_EQ(numerical_rank(Matrix<double>::Zero(3, 4), 1e-10), 0);
  EXPECT_EQ(numerical_rank(Matrix<double>::Ones(5, 4), 1e-10), 1);
  EXPECT_EQ(score_ranks(0, 4, 4, 2, 2).untied, 0);
}

}  // namespace
}  // namespace superpose
