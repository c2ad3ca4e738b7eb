#include "numeric/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace superpose {
namespace {

TEST(Random, SeedAndStreamDecideTheDraws) {
  const auto a = random_normal<double>(5, 7, 1, 42, 3);
  EXPECT_EQ(a, (random_normal<double>(5, 7, 1, 42, 3)));
  EXPECT_NE(a, (random_normal<double>(5, 7, 1, 43, 3)));
  EXPECT_NE(a, (random_normal<double>(5, 7, 1, 42, 4)));
}

TEST(Random, MoreRowsDoNotChangeTheFirst) {
  EXPECT_EQ((random_normal<double>(9, 4, 1, 1, 1).topRows(5)), (random_normal<double>(5, 4, 1, 1, 1)));
}

TEST(Random, FloatIsTheRoundedDouble) {
  const Matrix<float> rounded = random_normal<double>(8, 9, 2, 5, 0).cast<float>();
  EXPECT_EQ((random_normal<float>(8, 9, 2, 5, 0)), rounded);
}

// Moments of N(0, s^2) over N draws: mean +- s/sqrt(N), variance +- s^2 sqrt(2/N), fourth moment
// 3 s^4 +- s^4 sqrt(96/N). Five standard errors each.
TEST(Random, NormalMoments) {
  const double s = 2, draws = 400 * 500;
  const Eigen::ArrayXXd x = random_normal<double>(400, 500, s, 7, 7).array() / s;
  EXPECT_NEAR(x.mean(), 0, 5 / std::sqrt(draws));
  EXPECT_NEAR(x.square().mean(), 1, 5 * std::sqrt(2 / draws));
  EXPECT_NEAR(x.pow(4).mean(), 3, 5 * std::sqrt(96 / draws));
}

TEST(Random, UniformsLieInTheHalfOpenUnitInterval) {
  const Eigen::ArrayXXd u = random_uniform<double>(300, 300, 11, 0).array();
  EXPECT_GE(u.minCoeff(), 0);
  EXPECT_LT(u.maxCoeff(), 1);
  EXPECT_NEAR(u.mean(), 0.5, 5 / std::sqrt(12.0 * u.size()));
  EXPECT_TRUE(((u * 0x1p53).floor() == u * 0x1p53).all());
}

TEST(Random, OddAndEmptySizes) {
  EXPECT_EQ((random_normal<double>(0, 4, 1, 1, 1).size()), 0);
  EXPECT_EQ((random_normal<double>(3, 3, 1, 1, 1).size()), 9);
  EXPECT_EQ((random_normal<double>(2, 3, 0, 1, 1).cwiseAbs().maxCoeff()), 0);
}

}  // namespace
}  // namespace superpose
