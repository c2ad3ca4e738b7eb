// Centring leaves exactly nothing of equal rows, and no trace of a mean far from zero.
#include "numeric/centred.h"

#include <gtest/gtest.h>

#include "numeric/orthogonal.h"
#include "random_shapes.h"

namespace superpose {
namespace {

// In floating point, (0.1 + 0.1 + 0.1) / 3 is not 0.1. The difference is rounding, and must not be a
// direction.
TEST(Centred, EqualRowsLeaveExactlyNothing) {
  for (const double value : {0.1, -1.0 / 3, 1e200, 1e-200}) {
    for (const int rows : {1, 3, 7, 1000}) {
      for (const int columns : {1, 2}) {
        const Matrix<double> table = Matrix<double>::Constant(rows, columns, value);
        EXPECT_EQ(max_abs(column_centred(table)), 0);
        EXPECT_EQ(max_abs(row_centred(Matrix<double>(table.transpose()))), 0);
      }
    }
  }
}

// Rows minus their mean have one dimension less than there are rows, however far from zero the mean is.
TEST(Centred, AMeanFarFromZeroAddsNoDimension) {
  Shapes shapes(3);
  const Matrix<double> spread = shapes.matrix(4, 6, 1);
  const Matrix<double> far = spread.array() + 1e8;
  EXPECT_EQ(svd(column_centred(far)).singular_values.size(), 3);
  EXPECT_LT(max_abs(column_centred(far).colwise().mean()), 1e-15);
}

}  // namespace
}  // namespace superpose
