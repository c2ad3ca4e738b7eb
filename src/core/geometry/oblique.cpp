#include "geometry/oblique.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "geometry/directions.h"
#include "numeric/orthogonal.h"
#include "numeric/product.h"

namespace superpose {
namespace {

double recovery_error(const Matrix<double>& projector, const Matrix<double>& u, const Matrix<double>& w) {
  double largest = 0;
  // P should multiply these columns by `factor`.
  const auto compare = [&](const Matrix<double>& columns, double factor) {
    if (columns.size() == 0) return;
    const Matrix<double> rows = columns.transpose();
    const Matrix<double> projected = rows_times_rows<double>(rows, projector);
    for (Eigen::Index k = 0; k < rows.size(); ++k) {
      largest = std::max(largest, std::abs(projected.data()[k] - factor * rows.data()[k]));
    }
  };
  compare(u, 1);
  compare(w, 0);
  return largest;
}

}  // namespace

ObliqueProjection oblique_projection(const Matrix<double>& u, const Matrix<double>& w,
                                     const Matrix<double>& noise) {
  const Eigen::Index d = u.rows();
  const double tolerance_u = rank_tolerance(u), tolerance_w = rank_tolerance(w);
  const Matrix<double> of_u = orthonormal_basis(u, tolerance_u).transpose();  // [k1, d]
  const Matrix<double> of_w = orthonormal_basis(w, tolerance_w).transpose();  // [k2, d]
  ObliqueProjection result;
  const auto with_errors = [&] {
    result.recovery_error = recovery_error(result.projector, u, w);
    if (noise.rows()) result.noise_gains = noise_gains(result.projector, noise);
    return result;
  };
  if (of_u.rows() == 0) {
    result = {Matrix<double>::Zero(d, d), true, 0, std::numbers::pi / 2};
    return with_errors();
  }
  result.gain = std::numeric_limits<double>::infinity();
  // Subspaces with more than d dimensions together share a direction.
  if (of_u.rows() + of_w.rows() > d) return result;

  // The part of U outside W: its singular values are the sines of the principal angles.
  Matrix<double> outside = of_u;
  const Matrix<double> cosines = rows_times_rows<double>(of_u, of_w);  // [k1, k2]
  if (of_w.rows()) {
    outside -= rows_times_rows<double>(cosines, of_w.transpose().eval());
    // Subtracted twice: at a small angle little is left, and rounding has put some of W back into it.
    const Matrix<double> left = rows_times_rows<double>(outside, of_w);
    outside -= rows_times_rows<double>(left, of_w.transpose().eval());
  }
  const Svd sines = svd(outside);
  const Eigen::Index rank = sines.singular_values.size();
  if (rank == of_u.rows()) {
    // From both sine and cosine, because either of them alone gives an inexact angle when it is near 1.
    const double sine = sines.singular_values[rank - 1];
    result.smallest_angle = std::atan2(sine, (sines.U.col(rank - 1).transpose() * cosines).norm());
    result.exact = sine > std::max(tolerance_u, tolerance_w);
    if (result.exact) result.gain = 1 / sine;
  }
  if (!result.exact) return result;

  // outside = A S B', rows [k1, d]; P = U' A S^-1 B', so that P U' = U' and P W' = 0.
  const Matrix<double> onto = rows_times_rows<double>(of_u.transpose().eval(), sines.U.transpose().eval());
  const Matrix<double> scaled = onto * sines.singular_values.cwiseInverse().asDiagonal();
  result.projector = rows_times_rows<double>(scaled, sines.V);
  return with_errors();
}

Vector<double> noise_gains(const Matrix<double>& projector, const Matrix<double>& noise) {
  Vector<double> gains = row_lengths(rows_times_rows<double>(noise, projector));
  const Vector<double> before = row_lengths(noise);
  for (Eigen::Index k = 0; k < gains.size(); ++k) gains[k] /= before[k];
  return gains;
}

}  // namespace superpose
