#include "numeric/orthogonal.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "numeric/power_of_two.h"

namespace superpose {
namespace {

// A column-major, scaled copy: Eigen factorizes by columns.
struct Scaled {
  explicit Scaled(const Matrix<double>& a)
      : exponent(exponent_of(a)), matrix(times_power_of_two<Eigen::MatrixXd>(a, -exponent)) {}

  int exponent;
  Eigen::MatrixXd matrix;
};

// Eigen would rather have the options in the type. But then each set of them is a decomposition of its own,
// 27 KB more of WebAssembly.
using DivideAndConquer = Eigen::BDCSVD<Eigen::MatrixXd>;
DivideAndConquer decomposed(const Scaled& a, unsigned options) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return DivideAndConquer(a.matrix, options);
#pragma GCC diagnostic pop
}

}  // namespace

Svd svd(const Matrix<double>& a) {
  if (a.size() == 0) return {Matrix<double>(a.rows(), 0), {}, Matrix<double>(a.cols(), 0)};
  const Scaled scaled(a);
  const DivideAndConquer found = decomposed(scaled, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Vector<double>& values = found.singularValues();
  const double smallest = static_cast<double>(std::max(a.rows(), a.cols())) * 0x1p-52 * values[0];
  const Eigen::Index rank = (values.array() > smallest).count();
  return {found.matrixU().leftCols(rank),
          times_power_of_two<Vector<double>>(values.head(rank), scaled.exponent),
          found.matrixV().leftCols(rank)};
}

Vector<double> singular_values(const Matrix<double>& a) {
  if (a.size() == 0) return {};
  const Scaled scaled(a);
  return times_power_of_two<Vector<double>>(decomposed(scaled, 0).singularValues(), scaled.exponent);
}

Matrix<double> orthonormal_basis(const Matrix<double>& a, double tolerance) {
  if (a.size() == 0) return Matrix<double>(a.rows(), 0);
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(Scaled(a).matrix);
  qr.setThreshold(tolerance);
  const Eigen::Index rank = qr.rank();
  Matrix<double> basis = qr.householderQ() * Eigen::MatrixXd::Identity(a.rows(), rank);
  for (Eigen::Index k = 0; k < rank; ++k) {
    if (qr.matrixQR()(k, k) < 0) basis.col(k) *= -1;
  }
  return basis;
}

SymmetricEigen symmetric_eigen(const Matrix<double>& a) {
  if (a.size() == 0) return {};
  const Scaled scaled(a.triangularView<Eigen::Lower>());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> found(scaled.matrix);
  return {times_power_of_two<Vector<double>>(found.eigenvalues(), scaled.exponent), found.eigenvectors()};
}

}  // namespace superpose
