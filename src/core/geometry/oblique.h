// Recovering both t and p from x = t + p, when t is in a subspace U and p in a subspace W.
//
// The projector onto U along W leaves U as it is and sends W to zero, so that it recovers t exactly if and
// only if U and W meet only in 0; they need not be orthogonal. The cost is noise: it magnifies an error in x
// by up to sigma_max = 1 / sin(theta_min), where theta_min is the smallest principal angle between U and W
// (Ipsen and Meyer 1995, "The angle between complementary subspaces"). Concatenation has gain 1.
#pragma once

#include <limits>

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

struct ObliqueProjection {
  Matrix<double> projector;   // [d, d], P with P u = u and P w = 0; empty when not exact
  bool exact = false;         // whether U and W meet only in 0
  double gain = 0;            // the largest singular value of P: 1 / sine; 0 when U = {0}; infinite when
                              // not exact
  double smallest_angle = 0;  // between U and W, radians, 0 to pi/2; pi/2 when either is {0}
  // The largest entry of |P u - u| and |P w|: the error of recovery without noise, which is rounding. NaN
  // when not exact.
  double recovery_error = std::numeric_limits<double>::quiet_NaN();
  Vector<double> noise_gains = {};  // [m], of each row of the noise; empty when not exact
};

// u [d, k1] and w [d, k2] have the spanning vectors in their columns, which may be dependent; k1, k2 >= 0.
// Columns count as dependent by the rank_tolerance() of their table; the subspaces share a direction if the
// sine of its angle is at most the larger of the two tolerances. Rows of `noise` [m, d] are errors of x.
ObliqueProjection oblique_projection(const Matrix<double>& u, const Matrix<double>& w,
                                     const Matrix<double>& noise = {});

// |P e| / |e| for each row e of noise [m, d], [m]: at most the gain. NaN for a row of zeros.
Vector<double> noise_gains(const Matrix<double>& projector, const Matrix<double>& noise);

// The bytes of oblique_projection(), with noise [m, d].
constexpr double oblique_projection_bytes(double d, double k1, double k2, double m) {
  return bytes_of_doubles(2 * d * d + 8 * d * (k1 + k2) + k1 * k2 + 2 * m * (d + 1));
}

}  // namespace superpose
