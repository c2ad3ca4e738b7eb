#include "numeric/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "numeric/sorted.h"

namespace superpose {

// Plain loops: every Eigen expression instantiated here would add bytes to the module.
Summary summary(const Vector<double>& values) {
  const int count = static_cast<int>(values.size());
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Summary result{0, 0, kNone, kNone, kNone, kNone, kNone};
  for (int k = 0; k < count; ++k) {
    const double value = values[k];
    result.least = std::fmin(result.least, value);
    result.largest = std::fmax(result.largest, value);
    result.largest_size = std::fmax(result.largest_size, std::abs(value));
  }
  // Sums of huge numbers would overflow, so such numbers are scaled down first.
  const double down = result.largest_size > 0x1p900 ? 0x1p-100 : 1;
  // Relative to the first, so that equal numbers have no deviation.
  const double first = count ? down * values[0] : 0;
  for (int k = 0; k < count; ++k) {
    result.mean += down * values[k] - first;
    result.mean_size += down * std::abs(values[k]);
  }
  result.mean = first + result.mean / count;
  // In units of the largest, so that squares stay in range.
  const double unit = result.largest_size > 0 ? result.largest_size : 1;
  double squares = 0;
  for (int k = 0; k < count; ++k) {
    const double from_mean = (down * values[k] - result.mean) / (down * unit);
    squares += from_mean * from_mean;
  }
  result.mean /= down;
  result.mean_size /= count * down;
  if (count > 1) result.standard_deviation = unit * std::sqrt(squares / (count - 1));
  const std::vector<int> lower =
      sorted_places(count, count / 2 + (count > 0), [&](int i, int j) { return values[i] < values[j]; });
  if (count) result.median = std::midpoint(values[lower[(count - 1) / 2]], values[lower.back()]);
  return result;
}

double largest_difference(const Vector<double>& a, const Vector<double>& b) {
  double largest = 0;
  for (Eigen::Index k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

Vector<double> difference(const Vector<double>& a, const Vector<double>& b) { return a - b; }
Vector<double> list_sum(const Vector<double>& a, const Vector<double>& b) { return a + b; }

}  // namespace superpose
