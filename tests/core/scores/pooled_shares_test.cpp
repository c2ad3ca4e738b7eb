#include "scores/pooled_shares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace superpose {
namespace {

// Two sentences of two heads; the third term is grouped with the first.
TEST(PooledShares, ByHand) {
  Matrix<double> covariances(4, 3);
  covariances << 1, 2, 3, 4, 5, 1, 2, 2, 0, 6, 3, 1;
  Vector<double> variances(4);
  variances << 6, 10, 4, 10;
  const auto found = pooled_shares(covariances, variances, 2, {0, 1, 0}, 2);
  EXPECT_NEAR(found.heads(0, 0), 6.0 / 10, 1e-15);
  EXPECT_NEAR(found.heads(0, 1), 4.0 / 10, 1e-15);
  EXPECT_NEAR(found.heads(1, 0), 12.0 / 20, 1e-15);
  EXPECT_NEAR(found.heads(1, 1), 8.0 / 20, 1e-15);
  EXPECT_NEAR(found.mean[0], 0.6, 1e-15);
  EXPECT_NEAR(found.pooled[1], 12.0 / 30, 1e-15);
}

// The mean counts all heads the same; the pooled share counts them by how much they vary.
TEST(PooledShares, MeanAndPooledDiffer) {
  Matrix<double> covariances(2, 2);
  covariances << 1, 0, 0, 9;
  Vector<double> variances(2);
  variances << 1, 9;
  const auto found = pooled_shares(covariances, variances, 2, {0, 1}, 2);
  EXPECT_NEAR(found.mean[0], 0.5, 1e-15);
  EXPECT_NEAR(found.pooled[0], 0.1, 1e-15);
  variances[0] = covariances(0, 0) = 0;
  EXPECT_TRUE(std::isnan(pooled_shares(covariances, variances, 2, {0, 1}, 2).heads(0, 0)));
}

}  // namespace
}  // namespace superpose
