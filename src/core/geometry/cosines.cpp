#include "geometry/cosines.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numeric/random.h"

namespace superpose {
namespace {

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

// The continued fraction of DLMF 8.17.22, by Lentz's method as Thompson and Barnett (1986) modified it.
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return fraction;
}

// The regularized incomplete beta function I_x(a, b), a, b > 0 and 0 <= x <= 1, by its continued fraction
// (DLMF 8.17.22). It takes 1 - x as well as x, so that neither end loses digits.
double incomplete_beta(double x, double one_minus_x, double a, double b) {
  if (x <= 0) return 0;
  if (one_minus_x <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(one_minus_x, x, b, a);
  return std::exp(a * std::log(x) + b * std::log(one_minus_x) - log_beta(a, b)) * beta_fraction(x, a, b) / a;
}

}  // namespace

Vector<double> sample_cosines(int d, int count, std::uint32_t seed) {
  const Matrix<double> left = random_normal<double>(count, d, 1, seed, 0);
  const Matrix<double> right = random_normal<double>(count, d, 1, seed, 1);
  Vector<double> cosines(count);
  for (int i = 0; i < count; ++i) {
    const double cosine = left.row(i).dot(right.row(i)) / (left.row(i).norm() * right.row(i).norm());
    cosines[i] = std::clamp(cosine, -1.0, 1.0);
  }
  return cosines;
}

double cosine_density(double t, int d) {
  const double power = (d - 3) / 2.0;
  const double body = power == 0 ? 0 : power * std::log((1 - t) * (1 + t));
  return std::exp(body - log_beta(0.5, (d - 1) / 2.0));
}

double cosine_mean_size(int d) {
  return std::exp(std::lgamma(d / 2.0) - std::lgamma((d + 1) / 2.0)) / std::sqrt(std::numbers::pi);
}

double cosine_deviation(int d) { return 1 / std::sqrt(d); }

double cosine_tail(double epsilon, int d) {
  if (d == 1) return epsilon < 1 ? 1 : 0;
  return incomplete_beta((1 - epsilon) * (1 + epsilon), epsilon * epsilon, (d - 1) / 2.0, 0.5);
}

double largest_cosine_median(double m, int d) {
  double low = 0, high = 1;
  while (true) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    (m * cosine_tail(middle, d) > std::numbers::ln2 ? low : high) = middle;
  }
}

}  // namespace superpose
