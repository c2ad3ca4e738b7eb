#include "geometry/directions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

TEST(Directions, ByHand) {
  Matrix<double> a(2, 2), b(3, 2);
  a << 3, 4, 0, 0;
  b << 4, 3, -3, -4, 1, 0;
  const auto lengths = row_lengths(a);
  EXPECT_EQ(lengths[0], 5);
  EXPECT_EQ(lengths[1], 0);
  const auto cosines = row_cosines(a, b);
  ASSERT_EQ(cosines.rows(), 2);
  ASSERT_EQ(cosines.cols(), 3);
  EXPECT_NEAR(cosines(0, 0), 0.96, 1e-15);
  EXPECT_NEAR(cosines(0, 1), -1, 1e-15);
  EXPECT_NEAR(cosines(0, 2), 0.6, 1e-15);
  EXPECT_TRUE(std::isnan(cosines(1, 0)));
  EXPECT_EQ(row_cosines(Matrix<double>(0, 2), b).size(), 0);
}

// Lengths do not matter.
TEST(Directions, AnyLength) {
  Shapes shapes(3);
  const Matrix<double> a = shapes.matrix(4, 7), b = shapes.matrix(3, 7);
  EXPECT_LT(max_abs(row_cosines(5 * a, b) - row_cosines(a, 0.01 * b)), 1e-14);
  // Nor does the length of a single row whose square would be out of range, whichever row it is.
  for (int row = 0; row < a.rows(); ++row) {
    for (const double length : {0x1p-700, 0x1p700}) {
      Matrix<double> one = a;
      one.row(row) *= length;
      EXPECT_LT(max_abs(row_cosines(one, b) - row_cosines(a, b)), 1e-14) << row;
    }
  }
}

}  // namespace
}  // namespace superpose
