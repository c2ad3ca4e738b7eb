// Matrix factorisations: the one place of the module that has any, in double only.
//
// They are written out here rather than taken from Eigen, whose SVD, QR, eigenvalues and Cholesky come
// to some 60 KB of WebAssembly after compression; these come to a few. All of them work along rows,
// which are contiguous.
#pragma once

#include <vector>

#include "numeric/matrix.h"

namespace superpose {

// a = U diag(singular_values) V'. r is at most min(m, n): singular values that rounding drowns, those
// below about 2^-49 of the largest, count as zero and are left out together with their vectors.
struct Svd {
  Matrix<double> U;                // [m, r], orthonormal columns
  Vector<double> singular_values;  // [r], descending, above 0
  Matrix<double> V;                // [n, r], orthonormal columns
};

// The singular value decomposition of a, [m, n], by QR with pivoting and then one-sided Jacobi rotations
// of the rows of R (Drmac and Veselic 2008, "New fast and accurate Jacobi SVD algorithm I"). Small
// singular values have the accuracy of a itself, not of its square: about 2^-52 of the largest. A matrix
// of 512 by 768 takes three or four seconds when its rank is full, less when it is not. An empty
// or all-zero matrix has r = 0.
Svd svd(const Matrix<double>& a);

// All min(m, n) singular values, descending, zeros included; half the time of svd().
Vector<double> singular_values(const Matrix<double>& a);

// a with its columns in another order = q * r; column order[k] of a is column k of q * r.
struct PivotedQr {
  Matrix<double> q;        // [m, rank], orthonormal columns
  Matrix<double> r;        // [rank, n], upper triangular (trapezoidal)
  std::vector<int> order;  // [n]
};

// QR with column pivoting (Businger and Golub 1965), by Gram-Schmidt with a second orthogonalisation
// (Giraud, Langou and Rozloznik 2005: twice is enough). It ends when what remains of every column is at
// most `tolerance` times the largest column of a, so that the number of columns of q is the numerical
// rank at that tolerance, up to the small factors by which pivoting can miss it.
PivotedQr pivoted_qr(const Matrix<double>& a, double tolerance);

// Orthonormal columns, [m, rank], that span the columns of a, [m, n]: the q of pivoted_qr(). tolerance
// is relative, from 0 to 1; 1e-10 for tables that were computed in double.
Matrix<double> orthonormal_basis(const Matrix<double>& a, double tolerance);

struct SymmetricEigen {
  Vector<double> values;   // [n], ascending
  Matrix<double> vectors;  // [n, n], column k belongs to value k; orthonormal
};

// a = vectors diag(values) vectors', where a is [n, n]; only its lower triangle is read. Householder
// tridiagonalisation and implicit QL (Bowdler, Martin, Reinsch and Wilkinson 1968). Errors are about
// 2^-52 of the largest |value|, so that small values of a Gram matrix know only half of the digits that
// svd() of its factor knows.
SymmetricEigen symmetric_eigen(const Matrix<double>& a);

// The x, [n, k], of a x = b, where a is [n, n], symmetric positive definite (its lower triangle is
// read), and b is [n, k]; by Cholesky's a = L L'. Empty (0 rows) when a is not positive definite: a
// pivot is at most n 2^-52 times its diagonal entry.
Matrix<double> solve_spd(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace superpose
