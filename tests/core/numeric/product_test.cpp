// Products of large matrices, against their definition, across all edges of tiles, panels and blocks.
#include "numeric/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "random_shapes.h"

namespace superpose {
namespace {

// The definition, term by term.
template <typename Scalar>
Matrix<Scalar> by_hand(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale) {
  Matrix<Scalar> out(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.rows(); ++j) {
      // In an unoptimized build, Eigen's own access to an entry takes many times longer.
      const Scalar *left = a.data() + i * a.outerStride(), *right = b.data() + j * b.outerStride();
      Scalar sum = 0;
      for (Eigen::Index k = 0; k < a.cols(); ++k) sum += left[k] * right[k];
      out(i, j) = scale * sum;
    }
  }
  return out;
}

// Shapes on both sides of every tile and block, on integers, for which the product is exact.
template <typename Scalar>
void is_the_definition(int seed) {
  Shapes shapes(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const int m = shapes.between(0, 40), n = shapes.between(0, 40);
    const int k = trial % 10 ? shapes.between(1, 70) : shapes.between(380, 800);
    const Matrix<Scalar> a = shapes.integers(m, k).cast<Scalar>(), b = shapes.integers(n, k).cast<Scalar>();
    Matrix<Scalar> out(m, n);
    multiply_rows<Scalar>(a, b, -2, MatrixMap<Scalar>(out.data(), m, n));
    EXPECT_EQ(out, by_hand<Scalar>(a, b, -2)) << m << " " << n << " " << k;
  }
}

TEST(Product, IsTheDefinitionOnIntegers) { is_the_definition<double>(1); }
TEST(Product, IsTheDefinitionOnIntegersInFloat) { is_the_definition<float>(3); }

// More rows than one block of a, and more columns than one block of b.
TEST(Product, IsTheDefinitionAcrossBlocks) {
  Shapes shapes(4);
  const Matrix<double> a = shapes.integers(203, 5), b = shapes.integers(1100, 5);
  EXPECT_EQ(rows_times_rows<double>(a, b), by_hand<double>(a, b, 1));
}

TEST(Product, OfStacksIsTheProductsOneAfterAnother) {
  Shapes shapes(5);
  for (int trial = 0; trial < 60; ++trial) {
    const int s = shapes.between(1, 4), r = shapes.between(1, 4), across = r + shapes.between(0, 2);
    const int m = shapes.between(1, 20), n = shapes.between(1, 20), k = shapes.between(1, 9);
    const Matrix<float> a = shapes.integers(s * m, k).cast<float>(),
                        b = shapes.integers(r * n, k).cast<float>();
    constexpr float kUntouched = 0.5f;
    Matrix<float> out = Matrix<float>::Constant(s * across, m * n, kUntouched);
    multiply_stacks<float>(a, b, 3, m, n, out.data(), across);
    for (int i = 0; i < s; ++i) {
      for (int j = 0; j < across; ++j) {
        const Matrix<float> product = ConstMatrixMap<float>(out.row(i * across + j).data(), m, n);
        const Matrix<float> expected = j < r
                                           ? by_hand<float>(a.middleRows(i * m, m), b.middleRows(j * n, n), 3)
                                           : Matrix<float>(Matrix<float>::Constant(m, n, kUntouched));
        EXPECT_EQ(product, expected);
      }
    }
  }
}

// Parts (first row, number of rows) that cut `all` rows anywhere.
std::vector<std::pair<int, int>> cut(Shapes& shapes, int all) {
  std::vector<std::pair<int, int>> parts;
  for (int at = 0; at < all;) {
    const int count = std::min(all - at, shapes.between(1, 40));
    parts.push_back({at, count});
    at += count;
  }
  return parts;
}

TEST(Product, OfAPackedMatrixIsTheSameHoweverItWasPlacedAndCut) {
  Shapes shapes(7);
  for (int trial = 0; trial < 60; ++trial) {
    const int m = trial % 8 ? shapes.between(1, 20) : shapes.between(150, 200);
    const int n = trial % 9 ? shapes.between(1, 40) : 1100, k = trial % 10 ? shapes.between(1, 9) : 800;
    const Matrix<float> a = shapes.integers(m, k).cast<float>(), b = shapes.integers(n, k).cast<float>();
    const Matrix<float> transposed = b.transpose();
    const Matrix<float> expected = by_hand<float>(a, b, 1);
    PackedMatrix<float> by_rows(n, k), by_columns(n, k);
    for (const auto& [at, count] : cut(shapes, n)) by_rows.place_rows(b.middleRows(at, count), at);
    for (const auto& [at, count] : cut(shapes, k))
      by_columns.place_columns(transposed.middleRows(at, count), at);
    for (const PackedMatrix<float>& packed : {std::cref(by_rows), std::cref(by_columns)}) {
      EXPECT_EQ(rows_times_rows<float>(Matrix<float>::Identity(k, k), packed), transposed);
      Matrix<float> out(m, n);
      for (const auto& [from, count] : cut(shapes, static_cast<int>(packed.pieces(m))))
        multiply_packed<float>(a, packed, from, from + count, out.data());
      EXPECT_EQ(out, expected);
    }
  }
}

// Pieces are small, so that a caller who waits for a large product can stop after any of them.
TEST(Product, APieceIsOfFewRowsAndColumns) {
  for (const int n : {1, 8192, 50000}) {
    for (const int m : {1, 64, 4000}) {
      const double of_a_piece = double(m) * n / PackedMatrix<float>(n, 1).pieces(m);
      EXPECT_LE(of_a_piece, 80 * 1024);
    }
  }
}

// The rounding of k products and k sums: at most k times 2^-24 of the sum of absolute values.
TEST(Product, RoundsNoMoreThanASumMay) {
  const int k = 700;
  const Matrix<float> a = random_normal<float>(13, k, 1, 6, 0), b = random_normal<float>(17, k, 1, 6, 1);
  const Matrix<double> wide_a = a.cast<double>(), wide_b = b.cast<double>();
  const Matrix<double> exact = by_hand<double>(wide_a, wide_b, 1);
  const Matrix<double> sizes = by_hand<double>(wide_a.cwiseAbs(), wide_b.cwiseAbs(), 1);
  const Matrix<double> error = (rows_times_rows<float>(a, b).cast<double>() - exact).cwiseAbs();
  EXPECT_GT(error.maxCoeff(), 0);
  EXPECT_LT((error.array() / sizes.array()).maxCoeff(), k * std::ldexp(1.0, -24));
}

TEST(Product, TakesBlocksOfWiderMatrices) {
  Shapes shapes(2);
  const Matrix<double> a = shapes.integers(9, 30), b = shapes.integers(7, 40);
  EXPECT_EQ((rows_times_rows<double>(a.middleCols(5, 13), b.middleCols(20, 13))),
            by_hand<double>(a.middleCols(5, 13), b.middleCols(20, 13), 1));
}

}  // namespace
}  // namespace superpose
