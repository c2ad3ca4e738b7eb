#include "geometry/two_way.h"

namespace superpose {

using Eigen::Index;

TwoWayParts two_way_parts(const Matrix<double>& given, const Vector<double>& weights) {
  // As in column_centred(): equal rows leave exactly nothing.
  const Matrix<double> rows = given.rowwise() - given.row(0);
  const Index kinds = weights.size(), n = rows.rows() / kinds;
  const Vector<double> chance = weights / weights.sum();
  TwoWayParts parts;
  parts.first.resize(kinds, rows.cols());
  parts.second = Matrix<double>::Zero(n, rows.cols());
  for (Index t = 0; t < kinds; ++t) {
    parts.first.row(t) = rows.middleRows(t * n, n).colwise().mean();
    parts.second += chance[t] * rows.middleRows(t * n, n);
  }
  parts.mean = parts.second.colwise().mean();
  parts.first.rowwise() -= parts.mean.row(0);
  parts.second.rowwise() -= parts.mean.row(0);
  parts.rest = rows;
  for (Index t = 0; t < kinds; ++t) {
    parts.rest.middleRows(t * n, n) -= parts.second;
    parts.rest.middleRows(t * n, n).rowwise() -= parts.mean.row(0) + parts.first.row(t);
  }
  parts.mean += given.row(0);
  return parts;
}

TwoWaySizes two_way_sizes(const TwoWayParts& parts, const Vector<double>& weights) {
  const Index kinds = weights.size(), n = parts.second.rows();
  const Vector<double> chance = weights / weights.sum();
  TwoWaySizes sizes{0, parts.second.squaredNorm() / static_cast<double>(n), 0};
  for (Index t = 0; t < kinds; ++t) {
    sizes.first += chance[t] * parts.first.row(t).squaredNorm();
    sizes.rest += chance[t] * parts.rest.middleRows(t * n, n).squaredNorm() / static_cast<double>(n);
  }
  return sizes;
}

}  // namespace superpose
