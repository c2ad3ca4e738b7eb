#include "encodings/channels.h"

namespace superpose {

Vector<double> channel_ranges(const Matrix<double>& table) {
  if (table.rows() == 0) return Vector<double>::Zero(table.cols());
  return table.colwise().maxCoeff() - table.colwise().minCoeff();
}

int count_above(const Vector<double>& ranges, double threshold) {
  int count = 0;
  for (double range : ranges) count += range > threshold;
  return count;
}

int numerical_rank(const Vector<double>& singular_values, double tolerance) {
  return singular_values.size() ? count_above(singular_values, tolerance * singular_values[0]) : 0;
}

namespace {

// s_k^2 / s_1^2, so that no square overflows; empty when s_1 is 0.
Vector<double> relative_squares(const Vector<double>& singular_values) {
  if (singular_values.size() == 0 || singular_values[0] == 0) return {};
  return (singular_values / singular_values[0]).cwiseAbs2();
}

}  // namespace

double stable_rank(const Vector<double>& singular_values) { return relative_squares(singular_values).sum(); }

int energy_rank(const Vector<double>& singular_values, double share) {
  const Vector<double> squares = relative_squares(singular_values);
  const double wanted = share * squares.sum();
  double held = 0;
  for (int k = 0; k < squares.size(); ++k) {
    held += squares[k];
    if (held >= wanted) return k + 1;
  }
  return static_cast<int>(squares.size());
}

double participation_ratio(const Vector<double>& singular_values) {
  const Vector<double> squares = relative_squares(singular_values);
  return squares.size() ? squares.sum() * squares.sum() / squares.squaredNorm() : 0;
}

}  // namespace superpose
