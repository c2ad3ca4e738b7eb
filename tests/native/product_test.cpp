#include "product.h"

#include <gtest/gtest.h>

#include "random_shapes.h"

namespace superpose {
namespace {

Matrix<double> by_hand(const Matrix<double>& a, const Matrix<double>& b, double scale) {
  Matrix<double> out(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.rows(); ++j) {
      double sum = 0;
      for (Eigen::Index k = 0; k < a.cols(); ++k) sum += a(i, k) * b(j, k);
      out(i, j) = scale * sum;
    }
  }
  return out;
}

// Shapes on both sides of every block size, on integers, where the product is exact.
TEST(Product, IsTheDefinitionOnIntegers) {
  Shapes shapes(1);
  for (int trial = 0; trial < 200; ++trial) {
    const int m = shapes.between(0, 40), n = shapes.between(0, 40), k = shapes.between(1, 70);
    const Matrix<double> a = shapes.integers(m, k), b = shapes.integers(n, k);
    Matrix<double> out(m, n);
    multiply_rows<double>(a, b, -2, MatrixMap<double>(out.data(), m, n));
    EXPECT_EQ(out, by_hand(a, b, -2));
  }
}

TEST(Product, TakesBlocksOfWiderMatrices) {
  Shapes shapes(2);
  const Matrix<double> a = shapes.integers(9, 30), b = shapes.integers(7, 40);
  EXPECT_EQ((rows_times_rows<double>(a.middleCols(5, 13), b.middleCols(20, 13))),
            by_hand(a.middleCols(5, 13), b.middleCols(20, 13), 1));
}

}  // namespace
}  // namespace superpose
