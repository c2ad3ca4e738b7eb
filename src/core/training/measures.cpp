#include "training/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry/subspaces.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"

namespace superpose {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Rows [rows, columns] of a parameter in `first` and the channels from there, less their mean.
template <typename Scalar>
Matrix<double> centred_rows(const Parameter& parameter, const Scalar* parameters, int rows, int first,
                            int d) {
  Matrix<double> table = Matrix<double>::Zero(rows, d);
  table.middleCols(first, parameter.columns) =
      ConstMatrixMap<Scalar>(parameters + parameter.offset, rows, parameter.columns).template cast<double>();
  return column_centred(table);
}

}  // namespace

template <typename Scalar>
TrainedShares trained_shares(Model<Scalar>& model, const Scalar* parameters, const Batch& batch) {
  TrainedShares result;
  result.mean.fill(kUndefined);
  if (!model.options().has_terms()) return result;
  const int heads = model.options().heads;
  std::vector<TermCovariances> covariances(heads);
  model.term_covariances(parameters, batch, covariances.data());
  result.by_head.resize(heads, kTermCount);
  for (int h = 0; h < heads; ++h) {
    for (int t = 0; t < kTermCount; ++t)
      result.by_head(h, t) = covariances[h].terms[t] / covariances[h].scores;
  }
  for (int t = 0; t < kTermCount; ++t) result.mean[t] = result.by_head.col(t).mean();
  return result;
}

template <typename Scalar>
Separation separation(const ModelOptions& options, const ParameterLayout& layout, const Scalar* parameters,
                      int n) {
  if (!options.in_stream()) return {kUndefined, kUndefined, kUndefined, kUndefined, kUndefined};
  const int d = options.d_model();
  const Parameter& e = *layout.find("E");
  const Parameter& p = *layout.find("P");
  const Matrix<double> tokens = centred_rows(e, parameters, e.rows, 0, d);
  const Matrix<double> positions = centred_rows(p, parameters, n, d - p.columns, d);

  // A table's overlap with itself is D over its participation ratio.
  const double width = d, of_tokens = energy_overlap(tokens, tokens) / width,
               of_positions = energy_overlap(positions, positions) / width;
  Separation result{energy_overlap(tokens, positions), std::sqrt(2 * of_tokens * of_positions), 0, 0, 0};
  result.chance_exact = std::sqrt(2 * width * width * (of_tokens - 1 / width) * (of_positions - 1 / width) /
                                  ((width - 1) * (width + 2)));
  const Svd token_svd = svd(tokens), position_svd = svd(positions);
  const auto smallest = [](const Matrix<double>& u, const Matrix<double>& v) {
    const Vector<double> angles = principal_angles(u, v);
    return angles.size() ? angles[0] : kUndefined;
  };
  const auto leading = [](const Svd& of) {
    return of.V.leftCols(std::min<Eigen::Index>(2, of.V.cols())).eval();
  };
  result.smallest_angle = smallest(token_svd.V, position_svd.V);
  result.smallest_leading_angle = smallest(leading(token_svd), leading(position_svd));
  return result;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                 \
  template TrainedShares trained_shares(Model<Scalar>&, const Scalar*, const Batch&); \
  template Separation separation(const ModelOptions&, const ParameterLayout&, const Scalar*, int);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
