#include "geometry/mean_decomposition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

struct Labels {
  std::vector<int> position, token;
};

// Every token once at each position.
Labels balanced(int positions, int tokens) {
  Labels labels;
  for (int t = 0; t < positions; ++t) {
    for (int c = 0; c < tokens; ++c) {
      labels.position.push_back(t);
      labels.token.push_back(c);
    }
  }
  return labels;
}

// x = t + p has no residual, and its effects are p and t minus their means.
TEST(MeanDecomposition, RecoversPositionsAndTokensFromTheirSum) {
  Shapes shapes(1);
  for (int trial = 0; trial < 20; ++trial) {
    const int positions = shapes.between(1, 9), tokens = shapes.between(1, 9), d = shapes.between(1, 7);
    const Matrix<double> p = shapes.matrix(positions, d), e = shapes.matrix(tokens, d);
    const Labels labels = balanced(positions, tokens);
    Matrix<double> rows(positions * tokens, d);
    for (int i = 0; i < rows.rows(); ++i) {
      rows.row(i) = p.row(labels.position[i]) + e.row(labels.token[i]);
    }
    const auto found = mean_decomposition(rows, labels.position, positions, labels.token, tokens);
    EXPECT_LT(max_abs(found.position - (p.rowwise() - p.colwise().mean())), 1e-14);
    EXPECT_LT(max_abs(found.token - (e.rowwise() - e.colwise().mean())), 1e-14);
    EXPECT_LT(max_abs(found.global.transpose() - p.colwise().mean() - e.colwise().mean()), 1e-14);
    EXPECT_LT(max_abs(found.residual), 1e-14);
    if (positions * tokens > 1) {
      EXPECT_NEAR(found.position_share + found.token_share, 1, 1e-12);
    }
  }
}

// For any labels: the definition by loops, parts that add up, and shares that sum to 1 with the overlap.
TEST(MeanDecomposition, IsTheDefinition) {
  Shapes shapes(2);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = shapes.between(2, 40), d = shapes.between(1, 5);
    const int positions = shapes.between(1, 6), tokens = shapes.between(1, 8);
    const Matrix<double> rows = shapes.matrix(n, d);
    Labels labels;
    for (int i = 0; i < n; ++i) {
      labels.position.push_back(shapes.between(0, positions - 1));
      labels.token.push_back(shapes.between(0, tokens - 1));
    }
    const auto found = mean_decomposition(rows, labels.position, positions, labels.token, tokens);
    for (int c = 0; c < d; ++c) {
      double global = 0, energy = 0, of_position = 0, of_token = 0, of_residual = 0;
      for (int i = 0; i < n; ++i) global += rows(i, c) / n;
      EXPECT_NEAR(found.global[c], global, 1e-14);
      for (int t = 0; t < positions; ++t) {
        double sum = 0, count = 0;
        for (int i = 0; i < n; ++i) {
          if (labels.position[i] == t) sum += rows(i, c), count += 1;
        }
        EXPECT_EQ(found.position_counts[t], count);
        EXPECT_NEAR(found.position(t, c), count ? sum / count - global : 0, 1e-13);
      }
      for (int t = 0; t < tokens; ++t) {
        double sum = 0, count = 0;
        for (int i = 0; i < n; ++i) {
          if (labels.token[i] == t) sum += rows(i, c), count += 1;
        }
        EXPECT_EQ(found.token_counts[t], count);
        EXPECT_NEAR(found.token(t, c), count ? sum / count - global : 0, 1e-13);
      }
      for (int i = 0; i < n; ++i) {
        const double position = found.position(labels.position[i], c);
        const double token = found.token(labels.token[i], c);
        EXPECT_NEAR(found.residual(i, c), rows(i, c) - global - position - token, 1e-14);
        energy += std::pow(rows(i, c) - global, 2);
        of_position += position * position;
        of_token += token * token;
        of_residual += std::pow(found.residual(i, c), 2);
      }
      if (d == 1) {
        EXPECT_NEAR(found.position_share, of_position / energy, 1e-12);
        EXPECT_NEAR(found.token_share, of_token / energy, 1e-12);
        EXPECT_NEAR(found.residual_share, of_residual / energy, 1e-12);
      }
    }
    EXPECT_NEAR(found.position_share + found.token_share + found.residual_share + found.overlap, 1, 1e-14);
  }
}

TEST(MeanDecomposition, SharesOfABalancedDesignHaveNoOverlap) {
  Shapes shapes(3);
  const Labels labels = balanced(5, 6);
  const auto found = mean_decomposition(shapes.matrix(30, 4), labels.position, 5, labels.token, 6);
  EXPECT_NEAR(found.overlap, 0, 1e-14);
  EXPECT_GT(found.residual_share, 0.3);
}

// The same token distribution at each position: p_t - p^ up to the sampling error of a mean.
TEST(MeanDecomposition, PositionIsABiasUpToSamplingError) {
  Shapes shapes(4);
  const int positions = 32, each = 400, tokens = 200, d = 64;
  const Matrix<double> p = shapes.matrix(positions, d), e = shapes.matrix(tokens, d);
  Labels labels;
  Matrix<double> rows(positions * each, d);
  for (int i = 0; i < rows.rows(); ++i) {
    labels.position.push_back(i % positions);
    labels.token.push_back(shapes.between(0, tokens - 1));
    rows.row(i) = p.row(labels.position[i]) + e.row(labels.token[i]);
  }
  const auto found = mean_decomposition(rows, labels.position, positions, labels.token, tokens);
  const Matrix<double> error = found.position - (p.rowwise() - p.colwise().mean());
  // Each is the mean of `each` draws of e, whose covariance is C, minus the mean of such means: the squares
  // add up to (positions - 1) tr C / each on average. They are a sum of weighted chi-squares, one for each
  // eigenvalue of C and each contrast of positions, so their relative variance is 2 tr C^2 / (tr C)^2 for
  // a contrast. Four standard deviations are allowed.
  const Matrix<double> centred = e.rowwise() - e.colwise().mean();
  const Matrix<double> covariance = centred.transpose() * centred / tokens;
  const double expected = (positions - 1) * covariance.trace() / each;
  const double deviation = std::sqrt(2 * covariance.squaredNorm() / (positions - 1)) / covariance.trace();
  EXPECT_LT(4 * deviation, 0.2);  // or the test would say little
  EXPECT_NEAR(error.squaredNorm() / expected, 1, 4 * deviation);
}

// Their mean is rounded; what remains of them is not variation.
TEST(MeanDecomposition, EqualRowsHaveNoShares) {
  Shapes shapes(20);
  for (int n = 1; n < 60; ++n) {
    const std::vector<int> first(n, 0);
    const auto found = mean_decomposition(shapes.matrix(1, 5).replicate(n, 1), first, 1, first, 1);
    EXPECT_TRUE(std::isnan(found.position_share)) << n;
    EXPECT_TRUE(std::isnan(found.token_share)) << n;
    EXPECT_TRUE(std::isnan(found.residual_share)) << n;
  }
}

TEST(MeanDecomposition, NoRowsOneRowAndMissingGroups) {
  const auto none = mean_decomposition(Matrix<double>(0, 3), {}, 2, {}, 4);
  EXPECT_EQ(none.global, Vector<double>::Zero(3));
  EXPECT_EQ(none.position, (Matrix<double>::Zero(2, 3)));
  EXPECT_TRUE(std::isnan(none.position_share));
  const auto one = mean_decomposition(Matrix<double>::Ones(1, 3), {1}, 2, {3}, 4);
  EXPECT_EQ(one.global, Vector<double>::Ones(3));
  EXPECT_EQ(one.position_counts[0], 0);
  EXPECT_EQ(max_abs(one.residual), 0);
  EXPECT_TRUE(std::isnan(one.residual_share));
}

}  // namespace
}  // namespace superpose
