#include "geometry/subspaces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/centred.h"
#include "numeric/orthogonal.h"
#include "numeric/power_of_two.h"
#include "numeric/product.h"
#include "numeric/random.h"

namespace superpose {
namespace {

// Singular values below this part of the largest may be mere rounding if the table was stored in float.
constexpr double kLeast = 1e-6;

// X' X, [d, d]: the second moment without 1/n and the table's unit, which cancel wherever it is used.
Matrix<double> second_moment(const Matrix<double>& table) {
  const Matrix<double> columns = normalized(table).transpose();
  return rows_times_rows<double>(columns, columns);
}

}  // namespace

Vector<double> principal_angles(const Matrix<double>& u, const Matrix<double>& v) {
  if (u.cols() < v.cols()) return principal_angles(v, u);
  const Matrix<double> u_rows = u.transpose(), v_rows = v.transpose();
  const Matrix<double> products = rows_times_rows<double>(v_rows, u_rows);  // V' U, [k2, k1]
  const Vector<double> cosines = singular_values(products);
  // Below 45 degrees a cosine is too flat. Cosines descend, so the first tells whether sines are needed.
  const auto small = [](double cosine) { return 2 * cosine * cosine >= 1; };
  const Eigen::Index count = v.cols();
  Vector<double> sines;
  if (count && small(cosines[0])) sines = singular_values(v_rows - rows_times_rows<double>(products, u));
  Vector<double> angles(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    angles[k] = small(cosines[k]) ? std::asin(std::min(sines[count - 1 - k], 1.0)) : std::acos(cosines[k]);
  }
  return angles;
}

AngleCosines angle_cosines(const Vector<double>& angles) {
  AngleCosines result{angles.array().cos(), 0};
  for (const double cosine : result.cosines) result.squares += cosine * cosine;
  return result;
}

Matrix<double> random_subspace(int d, int k, std::uint32_t seed, std::uint32_t stream) {
  return orthonormal_basis(random_normal<double>(d, k, 1, seed, stream), 0);
}

Vector<double> random_angles(int d, int k1, int k2, std::uint32_t seed) {
  return principal_angles(random_subspace(d, k1, seed, 0), random_subspace(d, k2, seed, 1));
}

ChanceAngles chance_angles(int d, int k1, int k2) {
  const double a = static_cast<double>(k1) / d, b = static_cast<double>(k2) / d;
  const double left = std::sqrt(a * (1 - b)), right = std::sqrt(b * (1 - a));
  const int zero_angles = std::max(0, k1 + k2 - d);
  const double highest = std::min(left + right, 1.0);
  return {std::abs(left - right), highest, a * k2, zero_angles, zero_angles ? 1 : highest};
}

double energy_overlap(const Matrix<double>& tokens, const Matrix<double>& positions, bool centred) {
  if (tokens.rows() == 0 || positions.rows() == 0) return std::numeric_limits<double>::quiet_NaN();
  if (centred) return energy_overlap(column_centred(tokens), column_centred(positions), false);
  const Matrix<double> of_tokens = second_moment(tokens), of_positions = second_moment(positions);
  return static_cast<double>(tokens.cols()) * of_tokens.cwiseProduct(of_positions).sum() /
         (of_tokens.trace() * of_positions.trace());
}

OverlapCurve overlap_curve(const Matrix<double>& tokens, const Matrix<double>& positions, int k) {
  const Eigen::Index d = tokens.cols();
  const Svd all = svd(positions);
  Eigen::Index dimensions = std::min<Eigen::Index>(k, all.V.cols());
  while (dimensions && all.singular_values[dimensions - 1] <= kLeast * all.singular_values[0]) --dimensions;
  const Matrix<double> projection = all.V.leftCols(dimensions).transpose();
  const Matrix<double> directions =
      tokens.rows() ? symmetric_eigen(second_moment(tokens)).vectors : Matrix<double>::Identity(d, d);
  const Matrix<double> rows = directions.rowwise().reverse().transpose();
  const Matrix<double> along = rows_times_rows<double>(rows, projection);
  OverlapCurve curve{along.rowwise().squaredNorm().cwiseMin(1), static_cast<int>(dimensions),
                     static_cast<double>(dimensions) / static_cast<double>(d), Vector<double>(d)};
  double total = 0;
  for (Eigen::Index j = 0; j < d; ++j) {
    total += curve.shares[j];
    curve.reached[j] = std::min(total / static_cast<double>(dimensions), 1.0);
  }
  return curve;
}

}  // namespace superpose
