#include "geometry/subspaces.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "numeric/centred.h"
#include "numeric/orthogonal.h"
#include "random_shapes.h"

namespace superpose {
namespace {

// span(e_0, ...) and span(cos a_k e_k + sin a_k e_{m+k}) are at the angles a_k.
void expect_found(const std::vector<double>& wanted) {
  const int m = wanted.size(), d = 20;
  Matrix<double> u = Matrix<double>::Zero(d, m), v = Matrix<double>::Zero(d, m);
  for (int k = 0; k < m; ++k) {
    u(k, k) = 1;
    v(k, k) = std::cos(wanted[k]);
    v(m + k, k) = std::sin(wanted[k]);
  }
  // Other bases of the same subspaces, in a rotated space.
  const Matrix<double> turn = random_subspace(d, d, 1, 0);
  const Matrix<double> a = turn * u * random_subspace(m, m, 2, 0);
  const Matrix<double> b = turn * v * random_subspace(m, m, 3, 0);
  const auto angles = principal_angles(a, b);
  for (int k = 0; k < m; ++k) EXPECT_NEAR(angles[k], wanted[k], 4e-15) << k;
  const auto swapped = principal_angles(b, a);
  EXPECT_LT(max_abs(swapped - angles), 4e-15);
}

TEST(PrincipalAngles, OfAnyGivenSizes) {
  expect_found({0, 1e-12, 1e-8, 1e-3, 0.7, 0.9, M_PI / 2 - 1e-9, M_PI / 2});
  expect_found({0.79, 0.9, 1.5, M_PI / 2});
  expect_found({1e-9, 0.78});
}

TEST(PrincipalAngles, CosinesAreSingularValuesAndZeroAnglesAreForced) {
  Shapes shapes(1);
  for (int trial = 0; trial < 30; ++trial) {
    const int d = shapes.between(1, 20), k1 = shapes.between(0, d), k2 = shapes.between(0, d);
    const auto u = random_subspace(d, k1, trial, 0), v = random_subspace(d, k2, trial, 1);
    const auto angles = principal_angles(u, v);
    ASSERT_EQ(angles.size(), std::min(k1, k2));
    const int zeros = chance_angles(d, k1, k2).zero_angles;
    EXPECT_EQ(zeros, std::max(0, k1 + k2 - d));
    double squares = 0;
    for (int k = 0; k < angles.size(); ++k) {
      if (k) {
        EXPECT_GE(angles[k], angles[k - 1] - 1e-14);
      }
      if (k < zeros) {
        EXPECT_LT(angles[k], 1e-13);
      }
      squares += std::cos(angles[k]) * std::cos(angles[k]);
    }
    EXPECT_NEAR(squares, (u.transpose() * v).squaredNorm(), 1e-12);
  }
}

TEST(RandomSubspace, IsOrthonormal) {
  const auto u = random_subspace(30, 30, 5, 0);
  EXPECT_LT(max_abs(u.transpose() * u - Matrix<double>::Identity(30, 30)), 1e-14);
  EXPECT_EQ(random_subspace(4, 0, 5, 0).cols(), 0);
  EXPECT_NE(random_subspace(30, 2, 5, 0), random_subspace(30, 2, 5, 1));
}

// E sum cos^2 = k1 k2 / d. Its variance is 2 k1 k2 (d-k1)(d-k2) / (d^2 (d-1)(d+2)).
TEST(ChanceAngles, MeanOfTheSquaredCosines) {
  const int d = 24, k1 = 5, k2 = 9, trials = 400;
  double sum = 0;
  for (int seed = 0; seed < trials; ++seed) {
    const auto angles = principal_angles(random_subspace(d, k1, seed, 0), random_subspace(d, k2, seed, 1));
    sum += angles.array().cos().square().sum();
  }
  const double deviation =
      std::sqrt(2.0 * k1 * k2 * (d - k1) * (d - k2) / (double(d) * d * (d - 1) * (d + 2)) / trials);
  EXPECT_EQ(chance_angles(d, k1, k2).cosine_squares, 1.875);
  EXPECT_NEAR(sum / trials, 1.875, 4 * deviation);
}

struct Published {
  int d, k1, k2, seeds;
  double cosine;  // of one draw, science.md, section 7
};

class PublishedCosines : public testing::TestWithParam<Published> {};

// A single draw misses the edge by more than 0.03 in a fifth of cases; a mean over seeds does not.
TEST_P(PublishedCosines, MeanIsNearTheEdge) {
  const auto [d, k1, k2, seeds, cosine] = GetParam();
  const ChanceAngles chance = chance_angles(d, k1, k2);
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    sum += std::cos(principal_angles(random_subspace(d, k1, seed, 0), random_subspace(d, k2, seed, 1))[0]);
  }
  EXPECT_NEAR(sum / seeds, chance.highest_cosine, 0.03);
  EXPECT_NEAR(sum / seeds, cosine, 0.03);
}

INSTANTIATE_TEST_SUITE_P(ChanceAngles, PublishedCosines,
                         testing::Values(Published{768, 30, 30, 12, 0.366}, Published{768, 30, 300, 6, 0.757},
                                         Published{768, 30, 500, 4, 0.904}, Published{512, 64, 64, 8, 0.645},
                                         Published{512, 128, 128, 4, 0.860}),
                         [](const auto& info) {
                           return std::to_string(info.param.k1) + "_and_" + std::to_string(info.param.k2) +
                                  "_of_" + std::to_string(info.param.d);
                         });

TEST(ChanceAngles, Edges) {
  EXPECT_NEAR(chance_angles(768, 30, 30).highest_cosine, 0.388, 1e-3);
  EXPECT_NEAR(chance_angles(768, 30, 30).lowest_cosine, 0, 1e-15);
  const auto half = chance_angles(100, 50, 50);
  EXPECT_NEAR(half.highest_cosine, 1, 1e-15);
  EXPECT_EQ(half.zero_angles, 0);
  // By hand: a = 1/10, b = 4/10: sqrt(0.06) and sqrt(0.36); the lower one must be positive.
  const auto narrow = chance_angles(10, 1, 4), swapped = chance_angles(10, 4, 1);
  EXPECT_NEAR(narrow.highest_cosine, 0.6 + std::sqrt(0.06), 1e-15);
  EXPECT_NEAR(narrow.lowest_cosine, 0.6 - std::sqrt(0.06), 1e-15);
  EXPECT_NEAR(swapped.lowest_cosine, narrow.lowest_cosine, 1e-15);
}

TEST(EnergyOverlap, ByLoops) {
  Shapes shapes(2);
  const Matrix<double> tokens = shapes.matrix(7, 4), positions = shapes.matrix(3, 4);
  double both = 0, tokens_trace = 0, positions_trace = 0;
  for (int i = 0; i < 7; ++i) {
    tokens_trace += tokens.row(i).squaredNorm() / 7;
    for (int j = 0; j < 3; ++j) both += std::pow(tokens.row(i).dot(positions.row(j)), 2) / 21;
  }
  for (int j = 0; j < 3; ++j) positions_trace += positions.row(j).squaredNorm() / 3;
  EXPECT_NEAR(energy_overlap(tokens, positions), 4 * both / (tokens_trace * positions_trace), 1e-14);
  // For two single rows, d cos^2.
  const Vector<double> token = tokens.row(0).normalized(), position = positions.row(0).normalized();
  EXPECT_NEAR(energy_overlap(tokens.topRows(1), positions.topRows(1)), 4 * std::pow(token.dot(position), 2),
              1e-14);
}

TEST(EnergyOverlap, OrthogonalIdenticalAndNone) {
  Matrix<double> left = Matrix<double>::Zero(3, 6), right = left;
  left.leftCols(2).setOnes();
  right.rightCols(3).setOnes();
  EXPECT_EQ(energy_overlap(left, right), 0);
  EXPECT_NEAR(energy_overlap(left, left), 6, 1e-14);  // one direction of six, shared
  const Matrix<double> identity = Matrix<double>::Identity(5, 5);
  EXPECT_NEAR(energy_overlap(identity, identity), 1, 1e-15);
  EXPECT_TRUE(std::isnan(energy_overlap(Matrix<double>(0, 6), right)));
  EXPECT_TRUE(std::isnan(energy_overlap(Matrix<double>::Zero(2, 6), right)));
}

// For random rotations exactly 1 is expected, however uneven the two are. Bounds: four standard errors of
// the sample itself.
TEST(EnergyOverlap, IsOneByChance) {
  Shapes shapes(3);
  const int d = 10, trials = 400;
  Matrix<double> tokens = shapes.matrix(20, d), positions = shapes.matrix(6, d);
  tokens.col(0) *= 9;
  positions.col(3) *= 5;
  for (const bool centred : {false, true}) {
    const Matrix<double> e = centred ? column_centred(tokens) : tokens;
    const Matrix<double> p = centred ? column_centred(positions) : positions;
    double sum = 0, squares = 0;
    for (int seed = 0; seed < trials; ++seed) {
      const double overlap = energy_overlap(e, p * random_subspace(d, d, seed, 0));
      sum += overlap;
      squares += overlap * overlap;
    }
    const double mean = sum / trials;
    EXPECT_NEAR(mean, 1, 4 * std::sqrt((squares / trials - mean * mean) / trials));
  }
}

TEST(OverlapCurve, FindsTheSharedDirection) {
  Matrix<double> tokens = Matrix<double>::Zero(3, 4), positions = Matrix<double>::Zero(2, 4);
  tokens(0, 1) = 5;
  tokens(1, 2) = 3;
  tokens(2, 0) = 1;
  positions(0, 2) = 7;
  positions(1, 3) = 2;
  const auto one = overlap_curve(tokens, positions, 1);
  EXPECT_LT(max_abs(one.shares - (Vector<double>(4) << 0, 1, 0, 0).finished()), 1e-15);
  EXPECT_EQ(one.chance, 0.25);
  const auto two = overlap_curve(tokens, positions, 2);
  EXPECT_LT(max_abs(two.shares - (Vector<double>(4) << 0, 1, 0, 1).finished()), 1e-15);
  EXPECT_EQ(overlap_curve(tokens, positions, 4).dimensions, 2);
  EXPECT_EQ(overlap_curve(tokens, positions, 0).shares, Vector<double>::Zero(4));
}

// By definition with Svd's own vectors; and shares sum to the dimensions.
TEST(OverlapCurve, ByDefinition) {
  Shapes shapes(4);
  for (int trial = 0; trial < 20; ++trial) {
    const int d = shapes.between(1, 12), k = shapes.between(0, d);
    const Matrix<double> tokens = shapes.matrix(d + 5, d), positions = shapes.matrix(d + 2, d);
    const auto curve = overlap_curve(tokens, positions, k);
    const Matrix<double> v = svd(tokens).V, p = svd(positions).V.leftCols(k);
    EXPECT_EQ(curve.dimensions, k);
    EXPECT_NEAR(curve.shares.sum(), k, 1e-12);
    for (int j = 0; j < d; ++j) {
      EXPECT_NEAR(curve.shares[j], (p.transpose() * v.col(j)).squaredNorm(), 1e-9);
    }
  }
}

TEST(Subspaces, CosinesAndWhatIsReached) {
  Vector<double> angles(3);
  angles << 0, std::numbers::pi / 3, std::numbers::pi / 2;
  const auto found = angle_cosines(angles);
  EXPECT_NEAR(found.cosines[1], 0.5, 1e-15);
  EXPECT_NEAR(found.squares, 1.25, 1e-15);
  EXPECT_EQ(chance_angles(4, 3, 2).largest_cosine, 1);
  EXPECT_EQ(chance_angles(8, 3, 2).largest_cosine, chance_angles(8, 3, 2).highest_cosine);
  Matrix<double> tokens = Matrix<double>::Zero(4, 4), positions = Matrix<double>::Zero(2, 4);
  tokens.diagonal() << 1, 5, 3, 2;
  positions(0, 2) = positions(1, 0) = 1;
  // Of the principal directions, axes 1, 2, 3, 0 in this order, the positions have the second and the last.
  const auto curve = overlap_curve(tokens, positions, 2);
  EXPECT_NEAR(curve.reached[0], 0, 1e-15);
  EXPECT_NEAR(curve.reached[1], 0.5, 1e-15);
  EXPECT_NEAR(curve.reached[2], 0.5, 1e-15);
  EXPECT_NEAR(curve.reached[3], 1, 1e-15);
}

}  // namespace
}  // namespace superpose
