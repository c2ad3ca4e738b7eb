#include "encodings/channels.h"

#include <gtest/gtest.h>

#include <string>

#include "encodings/sinusoidal.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"
#include "random_shapes.h"

namespace superpose {
namespace {

Matrix<double> t2t(int positions, int d) {
  return sinusoidal<double>({positions, d, Layout::concatenated, Spacing::timescales});
}

// science.md, section 1: "about 256 of 512 channels are constant" is a choice of threshold and length.
TEST(Channels, HowManyMoveDependsOnThresholdAndLength) {
  const struct {
    int positions, half, tenth, hundredth;
  } published[] = {{128, 286, 355, 445}, {512, 363, 432, 483}, {5000, 489, 512, 512}};
  for (const auto& row : published) {
    const auto ranges = channel_ranges(t2t(row.positions, 512));
    EXPECT_EQ(count_above(ranges, 0.5), row.half);
    EXPECT_EQ(count_above(ranges, 0.1), row.tenth);
    EXPECT_EQ(count_above(ranges, 0.01), row.hundredth);
  }
}

TEST(Channels, RangesByHand) {
  Matrix<double> table(3, 2);
  table << 1, -5, 4, -5, -2, -5;
  EXPECT_EQ(channel_ranges(table), (Vector<double>(2) << 6, 0).finished());
  EXPECT_EQ(channel_ranges(Matrix<double>(0, 2)), Vector<double>::Zero(2));
  EXPECT_EQ(channel_ranges(Matrix<double>::Ones(1, 2)), Vector<double>::Zero(2));
  EXPECT_EQ(count_above(channel_ranges(table), 6), 0);  // above, not at
  EXPECT_EQ(count_above({}, 0), 0);
}

struct Published {
  int positions, d, energy, numerical;
  double stable, centred_stable;
};

class PublishedRanks : public testing::TestWithParam<Published> {};

// science.md, section 1 (the paper's table). Two values were not given.
TEST_P(PublishedRanks, ComeOut) {
  const auto [positions, d, energy, numerical, stable, centred_stable] = GetParam();
  const auto table = sinusoidal<double>({positions, d});
  const auto values = singular_values(table);
  EXPECT_EQ(energy_rank(values, 0.99), energy);
  EXPECT_EQ(numerical_rank(values, 1e-10), numerical);
  if (stable == 0) return;
  EXPECT_NEAR(stable_rank(values), stable, 0.005);
  EXPECT_NEAR(stable_rank(singular_values(column_centred(table))), centred_stable, 0.005);
}

INSTANTIATE_TEST_SUITE_P(
    Channels, PublishedRanks,
    testing::Values(Published{128, 512, 39, 57, 1.75, 5.04}, Published{512, 512, 109, 128, 2.37, 6.81},
                    Published{512, 768, 129, 153, 0, 0}, Published{1024, 768, 187, 211, 2.88, 7.69}),
    [](const auto& info) {
      return std::to_string(info.param.positions) + "_by_" + std::to_string(info.param.d);
    });

TEST(Channels, RanksByHand) {
  const Vector<double> values = (Vector<double>(4) << 4, 2, 2, 0).finished();
  EXPECT_EQ(numerical_rank(values, 1e-10), 3);
  EXPECT_EQ(numerical_rank(values, 0.5), 1);  // above, not at
  EXPECT_EQ(stable_rank(values), 1.5);
  EXPECT_EQ(energy_rank(values, 16.0 / 24), 1);
  EXPECT_EQ(energy_rank(values, 0.67), 2);
  EXPECT_EQ(energy_rank(values, 0.9), 3);
  EXPECT_EQ(energy_rank(values, 1), 3);
  EXPECT_EQ(participation_ratio(values), 24.0 * 24 / (256 + 16 + 16));
}

TEST(Channels, NothingHasRankZero) {
  for (const Vector<double>& values : {Vector<double>(), Vector<double>(Vector<double>::Zero(3))}) {
    EXPECT_EQ(numerical_rank(values, 1e-10), 0);
    EXPECT_EQ(stable_rank(values), 0);
    EXPECT_EQ(energy_rank(values, 0.99), 0);
    EXPECT_EQ(participation_ratio(values), 0);
  }
}

// The participation ratio from the covariance itself: (tr C)^2 / tr C^2.
TEST(Channels, ParticipationRatioIsThatOfTheCovariance) {
  Shapes shapes(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix<double> table = shapes.matrix(shapes.between(2, 20), shapes.between(1, 20));
    const Matrix<double> centred = column_centred(table);
    EXPECT_LT(max_abs(centred.colwise().sum()), 1e-13);
    const Matrix<double> covariance = centred.transpose() * centred / table.rows();
    const double wanted = covariance.trace() * covariance.trace() / covariance.squaredNorm();
    const double ratio = participation_ratio(singular_values(centred));
    EXPECT_NEAR(ratio, wanted, 1e-12 * wanted);
    EXPECT_GE(ratio, 1 - 1e-12);
    EXPECT_LE(ratio, std::min(table.rows(), table.cols()) + 1e-12);
  }
}

}  // namespace
}  // namespace superpose
