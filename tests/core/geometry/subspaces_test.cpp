// Principal angles that are known exactly, from 1e-9 to a right angle.
#include "geometry/subspaces.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "numeric/orthogonal.h"

namespace superpose {
namespace {

struct Spans {
  Matrix<double> u, v;  // [d, k1], [d, k2]
};

// The spans of e_1 .. e_k and of e_i + tan_i e_(k+i), in d = 2 k dimensions: their angles are arctan tan_i.
Spans planes(const std::vector<double>& tangents) {
  const Eigen::Index k = static_cast<Eigen::Index>(tangents.size());
  Spans spans{Matrix<double>::Zero(2 * k, k), Matrix<double>::Zero(2 * k, k)};
  for (Eigen::Index i = 0; i < k; ++i) {
    spans.u(i, i) = spans.v(i, i) = 1;
    spans.v(k + i, i) = tangents[i];
  }
  return spans;
}

void expect_angles(const Spans& spans, const std::vector<double>& expected) {
  const Vector<double> angles =
      principal_angles(orthonormal_basis(spans.u, 1e-12), orthonormal_basis(spans.v, 1e-12));
  ASSERT_EQ(angles.size(), static_cast<Eigen::Index>(expected.size()));
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_NEAR(angles[k], expected[k], std::max(1e-12 * expected[k], 4e-15));
}

TEST(PrincipalAngles, AreThoseOfPlanesWithKnownTangents) {
  const double third = std::numbers::pi / 3, sixth = std::numbers::pi / 6;
  expect_angles(planes({0x1p-30, 1e-9, 0.5}), {std::atan(0x1p-30), std::atan(1e-9), std::atan(0.5)});
  expect_angles(planes({1e-9}), {1e-9});
  expect_angles(planes({1e9}), {std::atan(1e9)});
  expect_angles(planes({std::tan(sixth), std::tan(third)}), {sixth, third});
}

TEST(PrincipalAngles, DoNotDependOnTheBasis) {
  const std::vector<double> tangents = {0x1p-30, 0x1p-20, 0.5};
  const auto [u, v] = planes(tangents);
  // Sums of whole multiples of columns are exact in binary.
  const Matrix<double> mix = (Matrix<double>(3, 3) << 1, 2, -1, 0, 1, 3, 0, 0, 1).finished();
  expect_angles({u * mix, v * mix.transpose()},
                {std::atan(tangents[0]), std::atan(tangents[1]), std::atan(tangents[2])});
}

TEST(PrincipalAngles, AreZeroForASharedLineAndRightForOrthogonalSpans) {
  const Matrix<double> identity = Matrix<double>::Identity(4, 4);
  const Matrix<double> line = (Matrix<double>(4, 1) << 1, 1, 0, 0).finished();
  expect_angles({identity.leftCols(2), line}, {0});
  expect_angles({line, identity.leftCols(2)}, {0});
  expect_angles({identity.leftCols(2), identity.rightCols(2)}, {std::numbers::pi / 2, std::numbers::pi / 2});
  expect_angles({Matrix<double>::Constant(1, 1, 2), Matrix<double>::Constant(1, 1, -3)}, {0});
  // Two subspaces of 4 and 3 of 4 dimensions share three directions.
  expect_angles({identity, identity.leftCols(3)}, {0, 0, 0});
}

}  // namespace
}  // namespace superpose
