// Two subspaces of R^d, or two clouds of vectors in it: how far they share directions.
//
// A basis is [d, k] with orthonormal columns, as orthonormal_basis() returns it; a table is [n, d], its rows
// the vectors.
#pragma once

#include <cstdint>

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

// The min(k1, k2) principal angles, in radians, ascending, from 0 to pi/2. Angles below pi/4 come from
// the sines, the singular values of (I - U U') V, the others from the cosines, those of U' V, so that
// both ends are accurate to about 1e-15 (Knyazev and Argentati 2002, algorithm 3.1).
Vector<double> principal_angles(const Matrix<double>& u, const Matrix<double>& v);

// The sum of the squared cosines is, roughly, how many dimensions two subspaces share.
struct AngleCosines {
  Vector<double> cosines;  // of each angle
  double squares = 0;      // the sum of their squares
};
AngleCosines angle_cosines(const Vector<double>& angles);

// A basis [d, k] of a uniformly random subspace, 0 <= k <= d.
Matrix<double> random_subspace(int d, int k, std::uint32_t seed, std::uint32_t stream);

// The principal angles between two random subspaces, of k1 and k2 dimensions.
Vector<double> random_angles(int d, int k1, int k2, std::uint32_t seed);
constexpr double random_angles_bytes(double d, double k1, double k2) {
  return bytes_of_doubles(5 * (k1 + k2) * d + k1 * k1 + k2 * k2 + 3 * k1 * k2);
}

// What to expect of the angles between independent uniform subspaces of k1 and k2 dimensions of R^d,
// 1 <= d, 0 <= k1, k2 <= d.
struct ChanceAngles {
  double lowest_cosine = 0;   // Wachter's edges |sqrt(a(1-b)) -+ sqrt(b(1-a))|, a = k1/d, b = k2/d:
  double highest_cosine = 0;  // for large d the cosines are between them, except those that are 1
  double cosine_squares = 0;  // E sum cos^2 = k1 k2 / d, exactly
  int zero_angles = 0;        // max(0, k1 + k2 - d), always
  double largest_cosine = 0;  // 1 when an angle is always 0, otherwise highest_cosine
};

ChanceAngles chance_angles(int d, int k1, int k2);

// d tr(C_E C_P) / (tr C_E tr C_P), where C = X' X / n is a table's second moment or, if `centred`, its
// covariance. It is 0 if the tables are orthogonal, and 1 is expected if one of them is rotated at random.
// NaN if a table has no rows or is all zero. Both tables have d columns.
double energy_overlap(const Matrix<double>& tokens, const Matrix<double>& positions, bool centred);

struct OverlapCurve {
  Vector<double> shares;   // [d], |P v_j|^2, from 0 to 1; they sum to `dimensions`
  int dimensions = 0;      // rank of P: k, or fewer if fewer singular values are above 1e-6 of the largest
  double chance = 0;       // dimensions / d, the mean of `shares` and the expected share of a random v_j
  Vector<double> reached;  // [d], (sum of shares 0 to j) / dimensions: part of P's space within v_0 to v_j
};

// v_j is the j-th principal direction of `tokens`, largest first: all d eigenvectors of its second
// moment. Those of equal eigenvalues, such as those beyond its rank, are arbitrary within their space.
// P projects onto the first k right singular vectors of `positions`, 0 <= k <= d.
OverlapCurve overlap_curve(const Matrix<double>& tokens, const Matrix<double>& positions, int k);

// The bytes of energy_overlap() or overlap_curve(), for tables [tokens, d] and [positions, d].
constexpr double overlap_bytes(double tokens, double positions, double d) {
  return bytes_of_doubles(d * (3 * tokens + 6 * positions + 5 * d));
}

}  // namespace superpose
