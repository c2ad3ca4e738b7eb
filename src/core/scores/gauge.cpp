#include "scores/gauge.h"

namespace superpose {

using Eigen::Index;

namespace {

bool is_apart(const std::vector<char>& apart, Index row) { return !apart.empty() && apart[row]; }

}  // namespace

std::vector<char> row_flags(const std::vector<int>& rows, Index n) {
  std::vector<char> flags(rows.empty() ? 0 : n);
  for (int row : rows) flags[row] = 1;
  return flags;
}

template <typename Scalar>
Matrix<Scalar> project_means(const Matrix<Scalar>& means, const Normalization<Scalar>& normalization,
                             const Linear<Scalar>& linear) {
  Matrix<Scalar> rows = means;
  for (Index s = 0; s < rows.rows(); ++s) {
    if (normalization.kind == Norm::layer_norm) rows.row(s).array() -= means.row(s).mean();
    for (Index c = 0; c < normalization.gamma.size(); ++c) rows(s, c) *= normalization.gamma[c];
  }
  return rows_times_rows<Scalar>(rows, linear.weight);
}

template <typename Scalar>
Matrix<Scalar> canonical_means(const Rows<Scalar>& parts, const Vector<Scalar>& sigma,
                               const std::vector<char>& apart) {
  const Index n = sigma.size(), summands = n ? parts.rows() / n - 1 : 0;
  Matrix<Scalar> means = Matrix<Scalar>::Zero(summands, parts.cols());
  // A part is projected and divided by sigma already, so that w_i times what it was is the part itself.
  Scalar weights = 0;
  for (Index i = 0; i < n; ++i) {
    if (is_apart(apart, i)) continue;
    weights += 1 / sigma[i];
    for (Index s = 0; s < summands; ++s) means.row(s) += parts.row(s * n + i);
  }
  if (weights != 0) means /= weights;
  return means;
}

template <typename Scalar>
void move_into_constant(const Matrix<Scalar>& means, const Vector<Scalar>& sigma,
                        const std::vector<char>& apart, Eigen::Ref<Matrix<Scalar>> parts) {
  const Index n = sigma.size(), summands = means.rows();
  for (Index i = 0; i < n; ++i) {
    auto constant = parts.row(summands * n + i);
    for (Index s = 0; s < summands; ++s) {
      auto part = parts.row(s * n + i);
      if (is_apart(apart, i)) {
        constant += part;
        part.setZero();
      } else {
        constant += means.row(s) / sigma[i];
        part -= means.row(s) / sigma[i];
      }
    }
  }
}

template <typename Scalar>
ProjectedParts<Scalar> in_gauge(ProjectedParts<Scalar> parts, const Gauge<Scalar>& gauge,
                                const Normalization<Scalar>& normalization, const Linear<Scalar>& query,
                                const Linear<Scalar>& key) {
  if (!gauge.moves_terms()) return parts;
  const std::vector<char> apart = row_flags(gauge.apart, parts.tokens);
  const auto turn = [&](const Linear<Scalar>& linear, Matrix<Scalar>& stack) {
    const Index varying = parts.parts * parts.tokens;
    const Matrix<Scalar> means = gauge.kind == GaugeKind::means
                                     ? project_means(gauge.means, normalization, linear)
                                     : canonical_means<Scalar>(stack.bottomRows(varying), parts.sigma, apart);
    move_into_constant<Scalar>(means, parts.sigma, apart, stack.bottomRows(varying));
  };
  turn(query, parts.queries);
  turn(key, parts.keys);
  // It is divided by each row's own sigma now.
  parts.constant = false;
  return parts;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                      \
  template Matrix<Scalar> project_means(const Matrix<Scalar>&, const Normalization<Scalar>&,               \
                                        const Linear<Scalar>&);                                            \
  template Matrix<Scalar> canonical_means(const Rows<Scalar>&, const Vector<Scalar>&,                      \
                                          const std::vector<char>&);                                       \
  template void move_into_constant(const Matrix<Scalar>&, const Vector<Scalar>&, const std::vector<char>&, \
                                   Eigen::Ref<Matrix<Scalar>>);                                            \
  template ProjectedParts<Scalar> in_gauge(ProjectedParts<Scalar>, const Gauge<Scalar>&,                   \
                                           const Normalization<Scalar>&, const Linear<Scalar>&,            \
                                           const Linear<Scalar>&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
