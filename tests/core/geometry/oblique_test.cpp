#include "geometry/oblique.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "numeric/orthogonal.h"
#include "random_shapes.h"

namespace superpose {
namespace {

TEST(Oblique, GivesBackBothSummandsAndAmplifiesByOneOverTheSine) {
  Shapes shapes(1);
  for (int trial = 0; trial < 40; ++trial) {
    const int d = shapes.between(2, 30), k1 = shapes.between(1, d - 1), k2 = shapes.between(1, d - k1);
    const Matrix<double> u = shapes.matrix(d, k1), w = shapes.matrix(d, k2);
    const auto found = oblique_projection(u, w, 1e-10);
    ASSERT_TRUE(found.exact);
    const Matrix<double>& projector = found.projector;
    const double bound = 1e-13 * d * found.gain;
    EXPECT_LT(max_abs(projector * u - u), bound * u.norm());
    EXPECT_LT(max_abs(projector * w), bound * w.norm());
    EXPECT_LT(max_abs(projector * projector - projector), bound * found.gain);
    EXPECT_NEAR(projector.trace(), k1, bound * d);
    const Matrix<double> t = u * shapes.matrix(k1, 3), p = w * shapes.matrix(k2, 3);
    EXPECT_LT(max_abs(projector * (t + p) - t), bound * (t.norm() + p.norm()));

    // The gain, and the angle from its cosine, computed in other ways.
    EXPECT_NEAR(singular_values(projector)[0], found.gain, 1e-12 * d * found.gain * found.gain);
    const Matrix<double> cosines = orthonormal_basis(u, 1e-12).transpose() * orthonormal_basis(w, 1e-12);
    const double cosine = singular_values(cosines)[0];
    EXPECT_NEAR(std::cos(found.smallest_angle), cosine, 1e-13 * d);
    EXPECT_NEAR(1 / std::sin(found.smallest_angle), found.gain, 1e-10 * found.gain * found.gain);
  }
}

// Lines at a known angle, even a tiny one.
TEST(Oblique, TwoLines) {
  for (double angle : {1e-6, 0.01, 0.3, 1.0, std::numbers::pi / 2}) {
    Matrix<double> u(2, 1), w(2, 1);
    u << 3, 0;
    w << 2 * std::cos(angle), 2 * std::sin(angle);
    const auto found = oblique_projection(u, w, 1e-10);
    EXPECT_NEAR(found.smallest_angle, angle, 1e-15);
    EXPECT_NEAR(found.gain * std::sin(angle), 1, 1e-9);
    EXPECT_NEAR(found.projector(0, 0), 1, 1e-9);
    EXPECT_NEAR(found.projector(0, 1), -1 / std::tan(angle), 1e-9 / angle);
  }
}

TEST(Oblique, RecoveryIsNotExactWhenTheSubspacesMeet) {
  Shapes shapes(2);
  Matrix<double> u = shapes.matrix(8, 3), w = shapes.matrix(8, 3);
  w.col(1) = u * shapes.matrix(3, 1);
  const auto meeting = oblique_projection(u, w, 1e-10);
  EXPECT_FALSE(meeting.exact);
  EXPECT_EQ(meeting.projector.size(), 0);
  EXPECT_TRUE(std::isinf(meeting.gain));
  EXPECT_NEAR(meeting.smallest_angle, 0, 1e-10);
  // More dimensions than the space has.
  EXPECT_FALSE(oblique_projection(shapes.matrix(5, 3), shapes.matrix(5, 3), 1e-10).exact);
}

TEST(Oblique, DependentColumnsOrthogonalSubspacesAndNone) {
  Shapes shapes(3);
  Matrix<double> u = Matrix<double>::Zero(6, 4), w = Matrix<double>::Zero(6, 2);
  u.topRows(3) = shapes.matrix(3, 4);
  w.bottomRows(3) = shapes.matrix(3, 2);
  const auto disjoint = oblique_projection(u, w, 1e-10);
  EXPECT_NEAR(disjoint.gain, 1, 1e-15);
  EXPECT_NEAR(disjoint.smallest_angle, std::numbers::pi / 2, 1e-15);
  Matrix<double> expected = Matrix<double>::Zero(6, 6);
  expected.topLeftCorner(3, 3).setIdentity();
  EXPECT_LT(max_abs(disjoint.projector - expected), 1e-14);

  const auto nothing_in_u = oblique_projection(Matrix<double>(4, 0), shapes.matrix(4, 2), 1e-10);
  EXPECT_TRUE(nothing_in_u.exact);
  EXPECT_EQ(nothing_in_u.gain, 0);
  EXPECT_EQ(max_abs(nothing_in_u.projector), 0);
  const auto nothing_in_w = oblique_projection(shapes.matrix(4, 2), Matrix<double>(4, 0), 1e-10);
  EXPECT_NEAR(nothing_in_w.gain, 1, 1e-14);
  EXPECT_LT(max_abs(nothing_in_w.projector - nothing_in_w.projector.transpose()), 1e-15);
  EXPECT_NEAR(nothing_in_w.smallest_angle, std::numbers::pi / 2, 1e-15);
}

// Two lines at an angle a: P = [[1, -1 / tan a], [0, 0]].
TEST(Oblique, NoiseAndRecovery) {
  const double a = 0.3;
  Matrix<double> u(2, 1), w(2, 1), noise(3, 2);
  u << 3, 0;
  w << std::cos(a), std::sin(a);
  noise << 2, 0, 0, 5, 0, 0;
  const auto found = oblique_projection(u, w, 1e-10);
  const auto gains = noise_gains(found.projector, noise);
  EXPECT_NEAR(gains[0], 1, 1e-14);
  EXPECT_NEAR(gains[1], 1 / std::tan(a), 1e-13);
  EXPECT_TRUE(std::isnan(gains[2]));
  EXPECT_LT(recovery_error(found.projector, u, w), 1e-14);
  Matrix<double> wrong = found.projector;
  wrong(0, 0) = 2;
  EXPECT_NEAR(recovery_error(wrong, u, w), 3, 1e-13);
  // The identity keeps U, and also W.
  EXPECT_NEAR(recovery_error(Matrix<double>::Identity(2, 2), u, w), std::cos(a), 1e-14);
}

}  // namespace
}  // namespace superpose
