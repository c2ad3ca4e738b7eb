// What is measured does not depend on the scale of the tables.
#include "numeric/power_of_two.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "encodings/channels.h"
#include "encodings/gram.h"
#include "geometry/directions.h"
#include "geometry/oblique.h"
#include "geometry/subspaces.h"
#include "numeric/orthogonal.h"
#include "random_shapes.h"
#include "scores/dot_products.h"
#include "scores/layer_norm.h"
#include "scores/shares.h"

namespace superpose {
namespace {

Vector<double> listed(const Matrix<double>& matrix) {
  return Eigen::Map<const Vector<double>>(matrix.data(), matrix.size());
}

Vector<double> list(std::initializer_list<double> numbers) {
  Vector<double> all(numbers.size());
  std::copy(numbers.begin(), numbers.end(), all.begin());
  return all;
}

TEST(PowerOfTwo, ThereAndBack) {
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  Matrix<double> number(1, 1);
  for (double entry : {largest, least, 1.0, -0.75, 3e-310, 0.0}) {
    number << entry;
    const double size = std::abs(normalized(number)(0, 0));
    EXPECT_TRUE(entry == 0 ? size == 0 : size >= 0.5 && size < 1) << entry;
    EXPECT_EQ(times_power_of_two(normalized(number), exponent_of(number))(0, 0), entry);
  }
  EXPECT_EQ(exponent_of(Matrix<double>(0, 3)), 0);
}

// Everything without a unit must be the same for tables in any power-of-two unit.
void expect_alike(const std::function<Vector<double>(double scale)>& measured,
                  std::initializer_list<int> exponents) {
  const Vector<double> expected = measured(1);
  ASSERT_TRUE(expected.allFinite());
  ASSERT_GT(expected.size(), 0);
  for (int exponent : exponents) {
    const Vector<double> scaled = measured(std::ldexp(1, exponent));
    ASSERT_EQ(scaled.size(), expected.size()) << exponent;
    EXPECT_TRUE(scaled.allFinite()) << exponent;
    EXPECT_LT(max_abs(scaled - expected), 1e-12 * std::max(1.0, max_abs(expected))) << exponent;
  }
}

// Exponents at which the tables' own entries stay in range.
const auto kTables = {-990, -700, -537, -510, -200, -30, 3, 40, 300, 511, 520, 700, 990};

TEST(PowerOfTwo, RanksDoNotDependOnScale) {
  Shapes shapes(1);
  const Matrix<double> a = shapes.matrix(14, 4) * shapes.matrix(4, 9);
  expect_alike(
      [&](double scale) {
        const Ranks result = ranks(scale * a, false, 0.9);
        return list(
            {double(result.numerical), result.stable, double(result.energy), result.participation_ratio});
      },
      kTables);
}

TEST(PowerOfTwo, SubspacesDoNotDependOnScale) {
  Shapes shapes(2);
  const Matrix<double> u = shapes.matrix(12, 3), w = shapes.matrix(12, 5), v = shapes.matrix(7, 12);
  expect_alike(
      [&](double scale) {
        return principal_angles(orthonormal_basis(scale * u, 1e-10), orthonormal_basis(w, 1e-10));
      },
      kTables);
  expect_alike(
      [&](double scale) {
        const ObliqueProjection projection = oblique_projection(scale * u, w);
        Vector<double> all(2 + projection.projector.size());
        all << projection.gain, projection.smallest_angle, listed(projection.projector);
        return all;
      },
      kTables);
  expect_alike([&](double scale) { return list({energy_overlap(scale * w.transpose(), v, false)}); },
               kTables);
  expect_alike([&](double scale) { return list({energy_overlap(w.transpose(), scale * v, false)}); },
               kTables);
  // All twelve directions must be determined.
  const Matrix<double> tokens = shapes.matrix(20, 12);
  expect_alike([&](double scale) { return overlap_curve(scale * tokens, v, 3).shares; }, kTables);
  expect_alike([&](double scale) { return overlap_curve(tokens, scale * v, 3).shares; }, kTables);
}

TEST(PowerOfTwo, DirectionsDoNotDependOnScale) {
  Shapes shapes(3);
  const Matrix<double> a = shapes.matrix(5, 8), b = shapes.matrix(4, 8), projector = shapes.matrix(8, 8);
  expect_alike([&](double scale) { return listed(row_cosines(scale * a, b)); }, kTables);
  expect_alike([&](double scale) { return listed(row_cosines(scale * a, scale * b)); }, kTables);
  expect_alike([&](double scale) { return Vector<double>(row_lengths(scale * a) / scale); }, kTables);
  expect_alike([&](double scale) { return noise_gains(projector, scale * a); }, kTables);
}

TEST(PowerOfTwo, SharesDoNotDependOnScale) {
  Shapes shapes(4);
  const int n = 6, count = 3;
  const Matrix<double> terms = shapes.matrix(count, n * n);
  const Matrix<double> sum = ConstMatrixMap<double>(Matrix<double>(terms.colwise().sum()).data(), n, n);
  expect_alike(
      [&](double scale) {
        const Matrix<double> scaled = scale * terms;
        return row_centred_covariances(scaled.data(), count, Matrix<double>(scale * sum).data(), n).shares;
      },
      kTables);
  const Matrix<double> term = ConstMatrixMap<double>(terms.data(), n, n);
  expect_alike([&](double scale) { return list({offset_means(scale * sum).share}); }, kTables);
  expect_alike([&](double scale) { return list({pair_correlation(scale * sum, term)}); }, kTables);
  expect_alike([&](double scale) { return list({pair_moments(scale * sum).deviation / scale}); }, kTables);
  const Matrix<double> covariances = shapes.matrix(4, 2);
  const Vector<double> variances = shapes.vector(4).cwiseAbs();
  expect_alike(
      [&](double scale) {
        const auto pooled = pooled_shares(scale * covariances, scale * variances, 2, {0, 1}, 2);
        return listed(pooled.heads);
      },
      kTables);
}

TEST(PowerOfTwo, NormalizingDoesNotDependOnScale) {
  Shapes shapes(5);
  const Matrix<double> a = shapes.matrix(4, 7), b = shapes.matrix(4, 7);
  for (Norm kind : {Norm::layer_norm, Norm::rms_norm}) {
    const auto normalized_sum = [&](double scale) {
      return listed(normalize({scale * a, scale * b}, {kind, {}, {}, 0}).sum());
    };
    expect_alike(normalized_sum, kTables);
  }
  // Under the root, epsilon outweighs tiny entries and vanishes beside huge ones.
  const auto sigma = [&](double scale, double epsilon) {
    return normalize({scale * a}, {Norm::rms_norm, {}, {}, epsilon}).sigma[0];
  };
  EXPECT_NEAR(sigma(0x1p-700, 1e-12), 1e-6, 1e-20);
  EXPECT_EQ(sigma(0x1p700, 1e-12), 0x1p700 * sigma(1, 0));
}

}  // namespace
}  // namespace superpose
