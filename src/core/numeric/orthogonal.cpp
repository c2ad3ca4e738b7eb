#include "numeric/orthogonal.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <vector>

#include "numeric/lanes.h"
#include "numeric/power_of_two.h"
#include "numeric/product.h"
#include "numeric/sorted.h"

namespace superpose {
namespace {

// A column-major, scaled copy: Eigen factorizes by columns.
struct Scaled {
  explicit Scaled(const Matrix<double>& a)
      : exponent(exponent_of(a)), matrix(times_power_of_two<Eigen::MatrixXd>(a, -exponent)) {}

  int exponent;
  Eigen::MatrixXd matrix;
};

double product_of(const double* x, const double* y, Eigen::Index count) {
  using S = Simd<double>;
  S::Vector sums[4] = {};
  Eigen::Index k = 0;
  for (; k + 8 <= count; k += 8) {
    for (int part = 0; part < 4; ++part) sums[part] += S::load(x + k + 2 * part) * S::load(y + k + 2 * part);
  }
  double rest = 0;
  for (; k < count; ++k) rest += x[k] * y[k];
  return rest + sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

void rotate(Matrix<double>& rows, Eigen::Index i, Eigen::Index j, double cosine, double sine) {
  using S = Simd<double>;
  double *const x = rows.data() + i * rows.cols(), *const y = rows.data() + j * rows.cols();
  const auto of = [=](auto first, auto second, auto& to_first, auto& to_second) {
    to_first = cosine * first - sine * second;
    to_second = sine * first + cosine * second;
  };
  along<double>(
      rows.cols(),
      [&](Eigen::Index k) {
        S::Vector first, second;
        of(S::load(x + k), S::load(y + k), first, second);
        S::store(x + k, first);
        S::store(y + k, second);
      },
      [&](Eigen::Index k) { of(x[k], y[k], x[k], y[k]); });
}

// R of a QR with column pivoting, written as R = rotations' rows, where `rotations` is orthogonal and the
// rows are orthogonal to each other: their lengths are the singular values. The eigenvectors of R R' are
// right to half the digits, and one-sided Jacobi rotations find the other half (Drmac and Veselic 2008,
// LAPACK working note 169). Eigen's SVD would be a sixth of the module.
struct Jacobi {
  explicit Jacobi(const Eigen::ColPivHouseholderQR<Eigen::MatrixXd>& qr) {
    const Eigen::Index r = std::min(qr.rows(), qr.cols());
    const Matrix<double> upper = qr.matrixQR().topRows(r).triangularView<Eigen::Upper>();
    rotations =
        symmetric_eigen(rows_times_rows<double>(upper, upper)).vectors.transpose().colwise().reverse();
    rows = rows_times_rows<double>(rotations, upper.transpose().eval());
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < 40; ++sweep) rotated = orthogonalize();
    lengths = rows.rowwise().norm();
    order = sorted_places(static_cast<int>(r), static_cast<int>(r),
                          [this](int a, int b) { return lengths[a] > lengths[b]; });
  }

  // Rotates each pair of rows that is not orthogonal yet; false if all were.
  bool orthogonalize() {
    const Eigen::Index r = rows.rows(), n = rows.cols();
    const double rounding = 0x1p-52 * std::sqrt(static_cast<double>(n));
    Vector<double> squares = rows.rowwise().squaredNorm();
    // Rows whose square is at most this are nothing but rounding.
    const double least = rounding * rounding * squares.maxCoeff();
    bool rotated = false;
    for (Eigen::Index i = 0; i < r; ++i) {
      for (Eigen::Index j = i + 1; j < r; ++j) {
        if (squares[i] <= least || squares[j] <= least) continue;
        const double product = product_of(&rows(i, 0), &rows(j, 0), n);
        if (std::abs(product) <= rounding * std::sqrt(squares[i] * squares[j])) continue;
        const double zeta = (squares[j] - squares[i]) / (2 * product);
        const double tangent = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
        const double cosine = 1 / std::hypot(1, tangent);
        rotate(rows, i, j, cosine, cosine * tangent);
        rotate(rotations, i, j, cosine, cosine * tangent);
        squares[i] -= tangent * product;
        squares[j] += tangent * product;
        rotated = true;
      }
    }
    return rotated;
  }

  Matrix<double> rows, rotations;
  Vector<double> lengths;
  std::vector<int> order;  // longest first
};

}  // namespace

Svd svd(const Matrix<double>& a) {
  if (a.size() == 0) return {Matrix<double>(a.rows(), 0), {}, Matrix<double>(a.cols(), 0)};
  const Scaled scaled(a);
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scaled.matrix);
  const Jacobi jacobi(qr);
  const double smallest =
      static_cast<double>(std::max(a.rows(), a.cols())) * 0x1p-52 * jacobi.lengths[jacobi.order[0]];
  const Eigen::Index rank = (jacobi.lengths.array() > smallest).count();
  Eigen::MatrixXd U = Eigen::MatrixXd::Zero(a.rows(), rank), V(a.cols(), rank);
  Vector<double> values(rank);
  for (Eigen::Index k = 0; k < rank; ++k) {
    const int place = jacobi.order[k];
    values[k] = jacobi.lengths[place];
    U.col(k).head(jacobi.rotations.cols()) = jacobi.rotations.row(place);
    V.col(k) = jacobi.rows.row(place) / values[k];
  }
  return {qr.householderQ() * U, times_power_of_two(values, scaled.exponent), qr.colsPermutation() * V};
}

Vector<double> singular_values(const Matrix<double>& a) {
  if (a.size() == 0) return {};
  const Scaled scaled(a);
  const Jacobi jacobi{Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(scaled.matrix)};
  Vector<double> values(jacobi.lengths.size());
  for (Eigen::Index k = 0; k < values.size(); ++k) values[k] = jacobi.lengths[jacobi.order[k]];
  return times_power_of_two(values, scaled.exponent);
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

double rank_tolerance(const Matrix<double>& table) {
  const bool floats = (table.cast<float>().cast<double>().array() == table.array()).all();
  const bool integers = (table.array().round() == table.array()).all();
  return floats && !integers ? 1e-6 : 1e-10;
}

SymmetricEigen symmetric_eigen(const Matrix<double>& a) {
  if (a.size() == 0) return {};
  const Scaled scaled(a.triangularView<Eigen::Lower>());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scaled.matrix);
  return {times_power_of_two<Vector<double>>(solver.eigenvalues(), scaled.exponent), solver.eigenvectors()};
}

}  // namespace superpose
