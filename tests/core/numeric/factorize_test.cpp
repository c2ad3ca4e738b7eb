#include "numeric/factorize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "random_shapes.h"

namespace superpose {
namespace {

double off_identity(const Matrix<double>& columns) {
  return max_abs(columns.transpose() * columns - Matrix<double>::Identity(columns.cols(), columns.cols()));
}

Matrix<double> rebuilt(const Svd& of) { return of.U * of.singular_values.asDiagonal() * of.V.transpose(); }

// Errors of an orthogonal algorithm are a small multiple of size * 2^-52 * |a|.
double bound_for(const Matrix<double>& a) {
  return 8 * std::max<double>(1, a.rows() + a.cols()) * 0x1p-52 * std::max(a.norm(), 1e-300);
}

Matrix<double> of_rank(Shapes& shapes, int rows, int columns, int rank) {
  return shapes.matrix(rows, rank) * shapes.matrix(rank, columns);
}

TEST(Svd, RebuildsMatricesOfAnyShapeAndRank) {
  Shapes shapes(1);
  for (int trial = 0; trial < 60; ++trial) {
    const int rows = shapes.between(1, 40), columns = shapes.between(1, 40);
    const int rank = shapes.between(1, std::min(rows, columns));
    const Matrix<double> a = of_rank(shapes, rows, columns, rank);
    const Svd of = svd(a);
    const Eigen::Index r = of.singular_values.size();
    ASSERT_LE(r, std::min(rows, columns));
    ASSERT_GE(r, rank);
    EXPECT_LT(max_abs(rebuilt(of) - a), bound_for(a));
    EXPECT_LT(off_identity(of.U), 1e-13);
    EXPECT_LT(off_identity(of.V), 1e-13);
    for (Eigen::Index k = 0; k < r; ++k) {
      EXPECT_GT(of.singular_values[k], 0);
      if (k) EXPECT_LE(of.singular_values[k], of.singular_values[k - 1]);
      if (k >= rank) EXPECT_LT(of.singular_values[k], bound_for(a));
    }
  }
}

// [3 0; 4 5] has singular values sqrt(45) and sqrt(5).
TEST(Svd, ByHand) {
  Matrix<double> a(2, 2);
  a << 3, 0, 4, 5;
  const Vector<double> values = singular_values(a);
  EXPECT_NEAR(values[0], std::sqrt(45.0), 1e-14);
  EXPECT_NEAR(values[1], std::sqrt(5.0), 1e-14);
  const Svd of = svd(a);
  EXPECT_NEAR(std::abs(of.U(0, 0)), 1 / std::sqrt(10.0), 1e-15);
  EXPECT_NEAR(std::abs(of.V(0, 0)), 1 / std::sqrt(2.0), 1e-15);
}

// The Hilbert matrix of order 8: its determinant is 1 / (product of known integers) and its smallest
// singular value 1.1115389e-10, ten digits below the largest, 1.6959390 (published, Todd 1954).
TEST(Svd, KnowsSmallSingularValues) {
  Matrix<double> hilbert(8, 8);
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 8; ++k) hilbert(i, k) = 1.0 / (i + k + 1);
  }
  const Vector<double> values = singular_values(hilbert);
  EXPECT_NEAR(values[0], 1.6959390, 5e-8);
  EXPECT_NEAR(values[7], 1.1115389e-10, 1e-16);
}

TEST(Svd, ZerosAndEmptyMatrices) {
  EXPECT_EQ(svd(Matrix<double>::Zero(4, 3)).singular_values.size(), 0);
  EXPECT_EQ(singular_values(Matrix<double>::Zero(4, 3)), Vector<double>::Zero(3));
  for (auto [rows, columns] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    const Svd of = svd(Matrix<double>(rows, columns));
    EXPECT_EQ(of.U.rows(), rows);
    EXPECT_EQ(of.V.rows(), columns);
    EXPECT_EQ(of.singular_values.size(), 0);
  }
}

TEST(Svd, RepeatedRowsHaveRankOne) {
  Shapes shapes(2);
  const Matrix<double> row = shapes.matrix(1, 7);
  const Vector<double> values = singular_values(row.replicate(5, 1));
  EXPECT_NEAR(values[0], std::sqrt(5.0) * row.norm(), 1e-14);
  for (int k = 1; k < 5; ++k) EXPECT_LT(values[k], 1e-15 * values[0]);
}

TEST(Svd, ValuesAloneAreTheSame) {
  Shapes shapes(3);
  const Matrix<double> a = shapes.matrix(9, 14);
  EXPECT_EQ(singular_values(a), svd(a).singular_values);
}

// Scaling by a power of two is exact, and must not change what counts as zero.
TEST(Svd, DoesNotDependOnScale) {
  Shapes shapes(4);
  const Matrix<double> a = of_rank(shapes, 12, 9, 4);
  for (double scale : {0x1p-200, 0x1p200}) {
    EXPECT_EQ(singular_values(scale * a), scale * singular_values(a)) << scale;
  }
}

TEST(PivotedQr, RebuildsWithOrthonormalColumns) {
  Shapes shapes(5);
  for (int trial = 0; trial < 60; ++trial) {
    const int rows = shapes.between(1, 40), columns = shapes.between(1, 40);
    const int rank = shapes.between(1, std::min(rows, columns));
    const Matrix<double> a = of_rank(shapes, rows, columns, rank);
    const PivotedQr qr = pivoted_qr(a, 1e-12);
    ASSERT_EQ(qr.q.cols(), rank);
    EXPECT_LT(off_identity(qr.q), 1e-14);
    const Matrix<double> product = qr.q * qr.r;
    for (int k = 0; k < columns; ++k) {
      EXPECT_LT(max_abs(product.col(k) - a.col(qr.order[k])), 1e-11 * a.norm());
      for (int i = k + 1; i < rank; ++i) EXPECT_EQ(qr.r(i, k), 0);
    }
    for (int k = 1; k < rank; ++k) EXPECT_LE(qr.r(k, k), qr.r(k - 1, k - 1) * (1 + 1e-12));
  }
}

// Without the second orthogonalisation the columns would lose ten digits here.
TEST(OrthonormalBasis, StaysOrthonormalWhenColumnsNearlyDepend) {
  Matrix<double> hilbert(8, 8);
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 8; ++k) hilbert(i, k) = 1.0 / (i + k + 1);
  }
  EXPECT_LT(off_identity(orthonormal_basis(hilbert, 1e-14)), 1e-14);
}

TEST(OrthonormalBasis, SpansTheColumnsAndRevealsTheRank) {
  Shapes shapes(6);
  const Matrix<double> a = of_rank(shapes, 30, 20, 7);
  const Matrix<double> basis = orthonormal_basis(a, 1e-10);
  ASSERT_EQ(basis.cols(), 7);
  EXPECT_LT(max_abs(basis * (basis.transpose() * a) - a), bound_for(a));
  EXPECT_EQ(orthonormal_basis(Matrix<double>::Zero(4, 3), 1e-10).cols(), 0);
  EXPECT_EQ(orthonormal_basis(Matrix<double>(4, 0), 1e-10).rows(), 4);
  // Columns whose second differs from the first by 1e-6: one or two dimensions, by the tolerance.
  Matrix<double> near(3, 2);
  near << 1, 1, 0, 1e-6, 0, 0;
  EXPECT_EQ(orthonormal_basis(near, 1e-7).cols(), 2);
  EXPECT_EQ(orthonormal_basis(near, 1e-5).cols(), 1);
}

TEST(SymmetricEigen, RebuildsMatricesOfAnySizeAndRank) {
  Shapes shapes(7);
  for (int trial = 0; trial < 60; ++trial) {
    const int n = shapes.between(1, 40);
    Matrix<double> a = shapes.matrix(n, n);
    a = (a + a.transpose()).eval();
    if (shapes.coin()) a = of_rank(shapes, n, std::max(1, n / 2), std::max(1, n / 3));
    if (a.cols() != n) a = Matrix<double>(a * a.transpose());
    const SymmetricEigen of = symmetric_eigen(a);
    EXPECT_LT(off_identity(of.vectors), 1e-13);
    const Matrix<double> product = of.vectors * of.values.asDiagonal() * of.vectors.transpose();
    EXPECT_LT(max_abs(product - a), bound_for(a));
    for (int k = 1; k < n; ++k) EXPECT_LE(of.values[k - 1], of.values[k]);
  }
}

// The second difference matrix has eigenvalues 2 - 2 cos(pi k / (n + 1)).
TEST(SymmetricEigen, KnownEigenvalues) {
  const int n = 50;
  Matrix<double> a = Matrix<double>::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    a(i, i) = 2;
    if (i) a(i, i - 1) = -1;  // the upper triangle is not read
  }
  const Vector<double> values = symmetric_eigen(a).values;
  for (int k = 0; k < n; ++k) EXPECT_NEAR(values[k], 2 - 2 * std::cos(M_PI * (k + 1) / (n + 1)), 1e-14);
}

TEST(SymmetricEigen, DiagonalRepeatedAndEmpty) {
  const SymmetricEigen identity = symmetric_eigen(Matrix<double>::Identity(6, 6));
  EXPECT_LT(max_abs(identity.values.array() - 1), 1e-15);
  EXPECT_LT(off_identity(identity.vectors), 1e-15);
  EXPECT_EQ(symmetric_eigen(Matrix<double>::Zero(3, 3)).values, Vector<double>::Zero(3));
  EXPECT_EQ(symmetric_eigen(Matrix<double>(0, 0)).values.size(), 0);
  Matrix<double> one(1, 1);
  one << -3;
  EXPECT_EQ(symmetric_eigen(one).values[0], -3);
}

// The Gram matrix of a has the squared singular values of a.
TEST(SymmetricEigen, AgreesWithSvd) {
  Shapes shapes(8);
  const Matrix<double> a = shapes.matrix(31, 17);
  const SymmetricEigen of = symmetric_eigen(a.transpose() * a);
  const Vector<double> values = singular_values(a);
  for (int k = 0; k < 17; ++k) EXPECT_NEAR(of.values[16 - k], values[k] * values[k], 1e-12);
}

TEST(SolveSpd, SolvesAndRefuses) {
  Shapes shapes(9);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = shapes.between(1, 30), k = shapes.between(1, 5);
    const Matrix<double> factor = shapes.matrix(n + 3, n);
    Matrix<double> a = factor.transpose() * factor;
    const Matrix<double> wanted = shapes.matrix(n, k);
    const Matrix<double> b = a * wanted;
    const Matrix<double> x = solve_spd(a, b);
    ASSERT_EQ(x.rows(), n);
    EXPECT_LT(max_abs(a * x - b), bound_for(a) * std::max(1.0, x.norm()));
    Matrix<double> lower_only = a;
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) lower_only(i, j) = std::nan("");
    }
    EXPECT_EQ(solve_spd(lower_only, b), x);
    a(n - 1, n - 1) = -1;
    EXPECT_EQ(solve_spd(a, b).rows(), 0);
  }
  EXPECT_EQ(solve_spd(Matrix<double>::Zero(2, 2), Matrix<double>::Ones(2, 1)).rows(), 0);
  EXPECT_EQ(solve_spd(Matrix<double>::Ones(2, 2), Matrix<double>::Ones(2, 1)).rows(), 0);
  EXPECT_EQ(solve_spd(Matrix<double>(0, 0), Matrix<double>(0, 3)).cols(), 3);
}

}  // namespace
}  // namespace superpose
