// Orthogonal factorizations, in double: singular values, bases, eigenvectors.
//
// A matrix is scaled by a power of two before it is factorized, so that entries of 1e160 or 1e-160 lose
// nothing and a factorization does not depend on the unit.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// a = U diag(singular_values) V'. Singular values of at most max(m, n) 2^-52 of the largest are rounding:
// they count as zero and are left out together with their vectors. r is at most min(m, n).
struct Svd {
  Matrix<double> U;                // [m, r], orthonormal columns
  Vector<double> singular_values;  // [r], descending, above 0
  Matrix<double> V;                // [n, r], orthonormal columns
};

// The singular value decomposition of a, [m, n]. Errors of singular values are about 2^-52 of the
// largest. An empty or all-zero matrix has r = 0.
Svd svd(const Matrix<double>& a);

// All min(m, n) singular values, descending; those that should be 0 hold rounding.
Vector<double> singular_values(const Matrix<double>& a);

// Orthonormal columns, [m, rank], that span the columns of a, [m, n]: the first columns of Q in a QR with
// column pivoting (Businger and Golub 1965). R's diagonal is positive, so normal entries in `a` give a
// uniformly random Q. The factorization ends when what remains of every column is at most `tolerance`, from 0
// to 1, times the length of a's longest column.
Matrix<double> orthonormal_basis(const Matrix<double>& a, double tolerance);

// A direction of a table counts as rounding if it is at most this part of the largest: 1e-6 if every number
// is a float, as in a table that was stored or computed in float, and 1e-10 otherwise. A table of integers is
// taken as exact: 1e-10.
double rank_tolerance(const Matrix<double>& table);

struct SymmetricEigen {
  Vector<double> values;   // [n], ascending
  Matrix<double> vectors;  // [n, n], column k belongs to value k; orthonormal
};

// a = vectors diag(values) vectors', where a is [n, n]; only its lower triangle is read. Errors are about
// 2^-52 of the largest |value|, so the small values of a Gram matrix have only half the digits that
// svd() of its factor gives.
SymmetricEigen symmetric_eigen(const Matrix<double>& a);

}  // namespace superpose
