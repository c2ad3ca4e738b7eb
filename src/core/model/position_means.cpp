#include "model/position_means.h"

#include <cmath>

#include "numeric/centred.h"
#include "numeric/product.h"

namespace superpose {

using Eigen::Index;

PositionMeans::PositionMeans(Index positions, Index d)
    : sums_{Matrix<double>::Zero(positions, d), Matrix<double>::Zero(positions, d)},
      products_(Matrix<double>::Zero(d, d)),
      even_(Vector<double>::Zero(d)),
      odd_(even_) {}

template <typename Scalar>
void PositionMeans::add(const Eigen::Ref<const Matrix<Scalar>, 0, Eigen::OuterStride<>>& rows) {
  const Matrix<double> h = rows.template cast<double>();
  sums_[windows_ % 2] += h;
  ++windows_;
  squares_ += h.squaredNorm();
  const Matrix<double> across = h.transpose();
  products_ += rows_times_rows<double>(across, across);
  Vector<double> means[2] = {Vector<double>::Zero(h.cols()), Vector<double>::Zero(h.cols())};
  for (Index t = 0; t < h.rows(); ++t) means[t % 2] += h.row(t).transpose();
  means[0] /= static_cast<double>((h.rows() + 1) / 2);
  means[1] /= static_cast<double>(h.rows() / 2);
  even_ += means[0];
  odd_ += means[1];
  even_odd_ += means[0].cwiseProduct(means[1]).sum();
}

Vector<double> PositionMeans::mu() const {
  return (sums_[0] + sums_[1]).colwise().mean().transpose() / static_cast<double>(windows_);
}

Matrix<double> PositionMeans::positions() const {
  return column_centred((sums_[0] + sums_[1]) / static_cast<double>(windows_));
}

Matrix<double> PositionMeans::half(int which) const {
  const Index count = (windows_ + 1 - which) / 2;
  return column_centred(sums_[which] / static_cast<double>(count));
}

Matrix<double> PositionMeans::covariance() const {
  const Matrix<double> d = half(0).transpose(), e = half(1).transpose();
  const Matrix<double> product = rows_times_rows<double>(d, e);
  return (product + product.transpose()) / 2;
}

PositionFindings PositionMeans::findings(const PositionMeans& first) const {
  const double count = static_cast<double>(windows_);
  const double length = static_cast<double>(sums_[0].rows()), d = static_cast<double>(sums_[0].cols());
  const Vector<double> mean = mu();
  const double energy = squares_ / (count * length) - mean.squaredNorm();
  PositionFindings found;
  found.position_energy = half(0).cwiseProduct(half(1)).sum() / length / energy;
  found.context_energy = (even_odd_ - even_.cwiseProduct(odd_).sum() / count) / count / energy;
  const Matrix<double> of_position = covariance();
  found.participation_ratio = of_position.trace() * of_position.trace() / of_position.squaredNorm();
  // sum (h - m_t)(h - m_t)' = sum h h' - C sum m_t m_t', m_t = mu + pos_t.
  const Matrix<double> means = ((sums_[0] + sums_[1]) / count).transpose();
  const Matrix<double> content = products_ - count * rows_times_rows<double>(means, means);
  found.overlap = d * of_position.cwiseProduct(content).sum() / (of_position.trace() * content.trace());
  const Matrix<double> of_first = first.covariance();
  found.cosine_with_first = of_position.cwiseProduct(of_first).sum() / (of_position.norm() * of_first.norm());
  return found;
}

template void PositionMeans::add<float>(const Eigen::Ref<const Matrix<float>, 0, Eigen::OuterStride<>>&);
template void PositionMeans::add<double>(const Eigen::Ref<const Matrix<double>, 0, Eigen::OuterStride<>>&);

}  // namespace superpose
