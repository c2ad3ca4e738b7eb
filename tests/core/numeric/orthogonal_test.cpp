// Factorizations rebuild matrices of any shape and rank, and their directions are orthonormal at any scale.
#include "numeric/orthogonal.h"

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
      if (k) {
        EXPECT_LE(of.singular_values[k], of.singular_values[k - 1]);
      }
      if (k >= rank) {
        EXPECT_LT(of.singular_values[k], bound_for(a));
      }
    }
  }
}

TEST(Svd, ZerosAndEmptyMatrices) {
  EXPECT_EQ(svd(Matrix<double>::Zero(4, 3)).singular_values.size(), 0);
  EXPECT_EQ(singular_values(Matrix<double>::Zero(4, 3)), Vector<double>::Zero(3));
  for (auto [rows, columns] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    const Svd of = svd(Matrix<double>(rows, columns));
    EXPECT_EQ(of.U.rows(), rows);
    EXPECT_EQ(of.V.rows(), columns);
    EXPECT_EQ(of.U.cols() + of.V.cols() + of.singular_values.size(), 0);
  }
}

// The small values are so small that the eigenvectors of a a' have no correct digits for them.
TEST(Svd, DirectionsOfSmallValuesAreOrthogonalToo) {
  Shapes shapes(2);
  Vector<double> values(5);
  values << 1, 1e-3, 1e-6, 1e-9, 1e-12;
  const auto basis = [&](int rows) { return orthonormal_basis(shapes.matrix(rows, 5), 1e-10); };
  const Svd of = svd(basis(12) * values.asDiagonal() * basis(9).transpose());
  ASSERT_EQ(of.singular_values.size(), 5);
  EXPECT_LT(off_identity(of.U), 1e-14);
  EXPECT_LT(off_identity(of.V), 1e-14);
}

// A value counts above eps * max(rows, columns) of the largest, as in numpy's matrix_rank.
TEST(Svd, RankBeginsAboveRounding) {
  for (const bool tall : {false, true}) {
    Matrix<double> a = Matrix<double>::Zero(300, 2);
    // The largest value is not a power of two times the largest entry: 16 entries of one column.
    a.col(0).head(16).setConstant(1);
    a(299, 1) = 4 * 200 * 0x1p-52;
    EXPECT_EQ(svd(tall ? a : a.transpose()).singular_values.size(), 1);
    a(299, 1) = 4 * 400 * 0x1p-52;
    EXPECT_EQ(svd(tall ? a : a.transpose()).singular_values.size(), 2);
  }
}

TEST(Svd, ValuesAloneAreTheSame) {
  Shapes shapes(3);
  const Matrix<double> a = shapes.matrix(90, 140);
  EXPECT_LT(max_abs(singular_values(a) - svd(a).singular_values), bound_for(a));
}

// Scaling by a power of two is exact. It must change neither a direction nor what counts as zero.
TEST(Orthogonal, DoesNotDependOnScale) {
  Shapes shapes(4);
  const Matrix<double> a = of_rank(shapes, 12, 9, 4), square = a.transpose() * a;
  const Svd of = svd(a);
  const SymmetricEigen eigen = symmetric_eigen(square);
  for (int exponent : {-1000, -537, -200, 1, 200, 537, 1000}) {
    const double scale = std::ldexp(1, exponent);
    const Svd scaled = svd(scale * a);
    EXPECT_EQ(scaled.singular_values, scale * of.singular_values) << exponent;
    EXPECT_EQ(scaled.U, of.U) << exponent;
    EXPECT_EQ(scaled.V, of.V) << exponent;
    EXPECT_EQ(singular_values(scale * a).head(4), scale * singular_values(a).head(4)) << exponent;
    EXPECT_EQ(orthonormal_basis(scale * a, 1e-10), orthonormal_basis(a, 1e-10)) << exponent;
    const SymmetricEigen scaled_eigen = symmetric_eigen(scale * square);
    EXPECT_EQ(scaled_eigen.vectors, eigen.vectors) << exponent;
    EXPECT_EQ(scaled_eigen.values.tail(4), scale * eigen.values.tail(4)) << exponent;
  }
}

// A single Gram-Schmidt pass would lose ten digits here.
TEST(OrthonormalBasis, StaysOrthonormalWhenColumnsNearlyDepend) {
  Matrix<double> hilbert(8, 8);
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 8; ++k) hilbert(i, k) = 1.0 / (i + k + 1);
  }
  EXPECT_LT(off_identity(orthonormal_basis(hilbert, 1e-14)), 1e-14);
}

// Q' a, with columns in pivoting order, is upper triangular with a positive, falling diagonal.
TEST(OrthonormalBasis, IsTheQOfAPivotedQr) {
  Shapes shapes(5);
  for (int trial = 0; trial < 60; ++trial) {
    const int rows = shapes.between(1, 40), columns = shapes.between(1, 40);
    const int rank = shapes.between(1, std::min(rows, columns));
    const Matrix<double> a = of_rank(shapes, rows, columns, rank);
    const Matrix<double> q = orthonormal_basis(a, 1e-12);
    ASSERT_EQ(q.cols(), rank);
    EXPECT_LT(off_identity(q), 1e-14);
    Matrix<double> rest = a;
    for (int k = 0; k < rank; ++k) {
      Eigen::Index pivot;
      const double length = rest.colwise().norm().maxCoeff(&pivot);
      EXPECT_LT((rest.col(pivot) - length * q.col(k)).norm(), 1e-11 * a.norm()) << k;
      rest -= q.col(k) * (q.col(k).transpose() * rest);
    }
    EXPECT_LT(max_abs(rest), 1e-11 * a.norm());
  }
}

TEST(OrthonormalBasis, OfNoColumnsHasNone) {
  for (const int rows : {0, 4}) EXPECT_EQ(orthonormal_basis(Matrix<double>(rows, 0), 1e-10).cols(), 0);
  EXPECT_EQ(orthonormal_basis(Matrix<double>(0, 3), 1e-10).cols(), 0);
}

TEST(OrthonormalBasis, SpansTheColumnsAndRevealsTheRank) {
  Shapes shapes(6);
  const Matrix<double> a = of_rank(shapes, 30, 20, 7);
  const Matrix<double> basis = orthonormal_basis(a, 1e-10);
  ASSERT_EQ(basis.cols(), 7);
  EXPECT_LT(max_abs(basis * (basis.transpose() * a) - a), bound_for(a));
  EXPECT_EQ(orthonormal_basis(Matrix<double>::Zero(4, 3), 1e-10).cols(), 0);
  EXPECT_EQ(orthonormal_basis(Matrix<double>(4, 0), 1e-10).rows(), 4);
  // Columns that differ by 1e-6: one or two dimensions, depending on the tolerance.
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

TEST(SymmetricEigen, DiagonalRepeatedAndEmpty) {
  const SymmetricEigen identity = symmetric_eigen(Matrix<double>::Identity(6, 6));
  EXPECT_LT(max_abs(identity.values.array() - 1), 1e-15);
  EXPECT_LT(off_identity(identity.vectors), 1e-15);
  EXPECT_EQ(symmetric_eigen(Matrix<double>::Zero(3, 3)).values, Vector<double>::Zero(3));
  EXPECT_EQ(symmetric_eigen(Matrix<double>(0, 0)).values.size(), 0);
  Matrix<double> number(1, 1);
  number << -3;
  EXPECT_EQ(symmetric_eigen(number).values[0], -3);
}

// The Gram matrix of a has the squared singular values of a.
TEST(SymmetricEigen, AgreesWithSvd) {
  Shapes shapes(8);
  const Matrix<double> a = shapes.matrix(31, 17);
  const SymmetricEigen of = symmetric_eigen(a.transpose() * a);
  const Vector<double> values = singular_values(a);
  for (int k = 0; k < 17; ++k) EXPECT_NEAR(of.values[16 - k], values[k] * values[k], 1e-12);
}

}  // namespace
}  // namespace superpose
