#include "encodings/extend.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

TEST(Extend, ByHand) {
  const Matrix<double> table = (Matrix<double>(3, 2) << 0, 1, 2, 5, 6, -3).finished();
  const auto rows = [&](Extension how, int count) { return extend_table(table, count, how); };
  EXPECT_EQ(rows(Extension::copied, 5), (Matrix<double>(5, 2) << 0, 1, 2, 5, 6, -3, 6, -3, 6, -3).finished());
  EXPECT_EQ(rows(Extension::tiled, 5), (Matrix<double>(5, 2) << 0, 1, 2, 5, 6, -3, 0, 1, 2, 5).finished());
  EXPECT_EQ(rows(Extension::interpolated, 5),
            (Matrix<double>(5, 2) << 0, 1, 1, 3, 2, 5, 4, 1, 6, -3).finished());
}

TEST(Extend, KeepsItsEndsAndStraightLines) {
  Shapes shapes(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const int n = shapes.between(1, 6), more = shapes.between(1, 20);
    const Matrix<double> table = shapes.matrix(n, 3);
    for (const Extension how : {Extension::copied, Extension::tiled, Extension::interpolated}) {
      const Matrix<double> longer = extend_table(table, n + more, how);
      EXPECT_EQ(longer.rows(), n + more);
      EXPECT_EQ(longer.row(0), table.row(0));
      if (how != Extension::tiled) {
        EXPECT_EQ(longer.row(n + more - 1), table.row(n - 1));
      }
      if (how != Extension::interpolated) {
        EXPECT_EQ(longer.topRows(n), table);
      }
      EXPECT_EQ(extend_table(table, n, how), table);
      EXPECT_EQ(extend_table(table, 1, how), table.topRows(1));
    }
    Matrix<double> line(n, 1);
    for (int p = 0; p < n; ++p) line(p, 0) = p;
    const Matrix<double> longer = extend_table(line, n + more, Extension::interpolated);
    for (int p = 0; p < n + more; ++p) {
      EXPECT_NEAR(longer(p, 0), p * (n - 1.0) / (n + more - 1), 1e-14);
    }
  }
}

}  // namespace
}  // namespace superpose
