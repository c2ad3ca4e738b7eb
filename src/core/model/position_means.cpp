// Means of states by position, in plain loops: Eigen's code for each expression would be most of what this
// file adds to the module.
#include "model/position_means.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/centred.h"
#include "numeric/product.h"

namespace superpose {

using Eigen::Index;

namespace {

Matrix<double> zeros(Index rows, Index columns) {
  Matrix<double> table(rows, columns);
  for (Index at = 0; at < table.size(); ++at) table.data()[at] = 0;
  return table;
}

Matrix<double> transposed(const Matrix<double>& table) {
  Matrix<double> result(table.cols(), table.rows());
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index c = 0; c < table.cols(); ++c) result(c, i) = table(i, c);
  }
  return result;
}

double product_of(const Matrix<double>& a, const Matrix<double>& b) {
  double sum = 0;
  for (Index at = 0; at < a.size(); ++at) sum += a.data()[at] * b.data()[at];
  return sum;
}

double trace(const Matrix<double>& square) {
  double sum = 0;
  for (Index i = 0; i < square.rows(); ++i) sum += square(i, i);
  return sum;
}

// Each entry divided by `count`, minus the mean of its column.
Matrix<double> centred_mean(const Matrix<double>& sums, Index count) {
  Matrix<double> result(sums.rows(), sums.cols());
  for (Index c = 0; c < sums.cols(); ++c) {
    double mean = 0;
    for (Index t = 0; t < sums.rows(); ++t) mean += sums(t, c);
    mean /= static_cast<double>(sums.rows());
    for (Index t = 0; t < sums.rows(); ++t) result(t, c) = (sums(t, c) - mean) / static_cast<double>(count);
  }
  return result;
}

// The mean of all rows, from the sums over `windows` windows.
Vector<double> mean_row(const Matrix<double>& sums, Index windows) {
  Vector<double> mean(sums.cols());
  const double count = static_cast<double>(windows * sums.rows());
  for (Index c = 0; c < sums.cols(); ++c) {
    mean[c] = 0;
    for (Index t = 0; t < sums.rows(); ++t) mean[c] += sums(t, c);
    mean[c] /= count;
  }
  return mean;
}

}  // namespace

PositionMeans::PositionMeans(Index positions, Index d, bool squares)
    : sums_{zeros(positions, d), zeros(positions, d)}, products_(squares ? zeros(d, d) : zeros(0, 0)) {}

void PositionMeans::add(const float* rows) {
  const Index length = sums_[0].rows(), d = sums_[0].cols();
  Matrix<double> across(d, length);
  Matrix<double>& sums = sums_[windows_++ % 2];
  for (Index t = 0; t < length; ++t) {
    for (Index c = 0; c < d; ++c) {
      const double h = rows[t * d + c];
      across(c, t) = h;
      sums(t, c) += h;
      squares_ += h * h;
    }
  }
  if (!products_.size()) return;
  const Matrix<double> products = rows_times_rows<double>(across, across);
  for (Index at = 0; at < products.size(); ++at) products_.data()[at] += products.data()[at];
}

Matrix<double> PositionMeans::sums() const {
  Matrix<double> sums = sums_[0];
  for (Index at = 0; at < sums.size(); ++at) sums.data()[at] += sums_[1].data()[at];
  return sums;
}

Matrix<double> PositionMeans::half(int which) const {
  return centred_mean(sums_[which], (windows_ + 1 - which) / 2);
}

Matrix<double> PositionMeans::covariance() const {
  const Matrix<double> product = rows_times_rows<double>(transposed(half(0)), transposed(half(1)));
  Matrix<double> symmetric(product.rows(), product.cols());
  for (Index i = 0; i < product.rows(); ++i) {
    for (Index j = 0; j < product.cols(); ++j) symmetric(i, j) = (product(i, j) + product(j, i)) / 2;
  }
  return symmetric;
}

PositionStatistics PositionMeans::statistics(const PositionMeans& first) const {
  const double count = static_cast<double>(windows_);
  const double length = static_cast<double>(sums_[0].rows()), d = static_cast<double>(sums_[0].cols());
  PositionStatistics result{mean_row(sums(), windows_), centred_mean(sums(), windows_)};
  if (!products_.size()) return result;
  double energy = squares_ / (count * length);
  for (Index c = 0; c < result.mean.size(); ++c) energy -= result.mean[c] * result.mean[c];
  // States that should be equal differ by rounding, whose energy must not be divided into parts.
  const double noise = rounding_of<float>(1, 1);
  if (energy <= noise * noise * squares_ / (count * length))
    energy = std::numeric_limits<double>::quiet_NaN();
  result.position_energy = product_of(half(0), half(1)) / length / energy;
  const Matrix<double> of_position = covariance(), of_first = first.covariance();
  const double trace_of_position = trace(of_position), squares = product_of(of_position, of_position);
  result.participation_ratio = trace_of_position * trace_of_position / squares;
  // sum (h - m_t)(h - m_t)' = sum h h' - sum m_t m_t' / C, m_t the sum over windows.
  const Matrix<double> across = transposed(sums());
  Matrix<double> content = rows_times_rows<double>(across, across);
  for (Index at = 0; at < content.size(); ++at)
    content.data()[at] = products_.data()[at] - content.data()[at] / count;
  result.overlap = d * product_of(of_position, content) / (trace_of_position * trace(content));
  const double sizes = std::sqrt(squares * product_of(of_first, of_first));
  result.cosine_with_first = std::clamp(product_of(of_position, of_first) / sizes, -1.0, 1.0);
  return result;
}

}  // namespace superpose
