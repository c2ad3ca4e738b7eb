// The cosine t of two independent random directions in d dimensions.
//
// Density (1 - t^2)^((d-3)/2) / B(1/2, (d-1)/2) on [-1, 1], that is t^2 ~ Beta(1/2, (d-1)/2) (Muirhead
// 1982, theorem 1.5.7); mean 0, variance 1/d. For d = 1, t is -1 or 1 and has no density.
#pragma once

#include <cstdint>

#include "numeric/bytes.h"
#include "numeric/matrix.h"

namespace superpose {

// Cosines of `count` independent pairs of N(0, I) vectors in d >= 1 dimensions, [count].
Vector<double> sample_cosines(int d, int count, std::uint32_t seed);
constexpr double sample_cosines_bytes(double d, double count) {
  return bytes_of_doubles(count * (2 * d + 2));
}

// The density at t in [-1, 1], for d >= 2; infinite at -1 and 1 when d = 2.
double cosine_density(double t, int d);

// E|t| = Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)), about sqrt(2 / (pi d)); d >= 1.
double cosine_mean_size(int d);

// The standard deviation of t, 1 / sqrt(d); d >= 1.
double cosine_deviation(int d);

// P(|t| > epsilon) = I_{1 - epsilon^2}((d-1)/2, 1/2), for epsilon in [0, 1] and d >= 1; relative accuracy
// about 1e-13 for d up to some thousands. At most 2 exp(-d epsilon^2 / 2).
double cosine_tail(double epsilon, int d);

// The median of the largest |t| among m pairs, treated as independent: the tau for which
// m P(|t| > tau) = ln 2 (rare events are Poisson). m >= 1; to leading order sqrt(2 ln m / d).
double largest_cosine_median(double m, int d);

}  // namespace superpose
