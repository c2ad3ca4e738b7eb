#include "encodings/encodings.h"

namespace superpose {

template <typename Scalar>
Matrix<Scalar> fairseq_sinusoidal(int positions, int d_model, int padding_idx) {
  Matrix<Scalar> table = sinusoidal<Scalar>(
      {padding_idx + 1 + positions, d_model, Layout::concatenated, Spacing::timescales, 10000, 0});
  table.row(padding_idx).setZero();
  return table;
}

template <typename Scalar>
Matrix<Scalar> mae_sinusoidal(int grid, int d_model, bool class_token) {
  const int half = d_model / 2;
  const Matrix<Scalar> axis =
      sinusoidal<Scalar>({grid, half, Layout::concatenated, Spacing::d_model, 10000, 0});
  Matrix<Scalar> table = Matrix<Scalar>::Zero(grid * grid + class_token, d_model);
  for (int h = 0; h < grid; ++h) {
    for (int w = 0; w < grid; ++w) {
      auto row = table.row(class_token + h * grid + w);
      row.head(half) = axis.row(w);
      row.tail(half) = axis.row(h);
    }
  }
  return table;
}

template <typename Scalar>
Matrix<Scalar> tensor2tensor_sinusoidal(const std::vector<int>& extents, int d_model, double min_timescale,
                                        double max_timescale) {
  const int dimensions = static_cast<int>(extents.size());
  const int width = d_model / (2 * dimensions) * 2;
  Eigen::Index rows = 1;
  for (int extent : extents) rows *= extent;

  Matrix<Scalar> table = Matrix<Scalar>::Zero(rows, d_model);
  if (width == 0) return table;
  Eigen::Index repeat = rows;  // consecutive rows with the same coordinate in this dimension
  for (int dimension = 0; dimension < dimensions && rows; ++dimension) {
    const int extent = extents[dimension];
    repeat /= extent;
    const Matrix<Scalar> axis = sinusoidal<Scalar>({extent, width, Layout::concatenated, Spacing::timescales,
                                                    max_timescale / min_timescale, 0, min_timescale});
    for (Eigen::Index row = 0; row < rows; ++row) {
      table.row(row).segment(dimension * width, width) = axis.row(row / repeat % extent);
    }
  }
  return table;
}

template <typename Scalar>
BertSummands<Scalar> bert_embeddings(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                     const Matrix<Scalar>& token_type, const std::vector<int>& ids,
                                     Scalar position_scale) {
  BertSummands<Scalar> result{
      position_scale * position.topRows(token.rows()), Matrix<Scalar>(token.rows(), token.cols()), {}};
  for (Eigen::Index i = 0; i < token.rows(); ++i) {
    result.token_type.row(i) = token_type.row(ids[i]);
  }
  result.sum = (token + result.token_type) + result.position;
  return result;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                             \
  template Matrix<Scalar> fairseq_sinusoidal(int, int, int);                                      \
  template Matrix<Scalar> mae_sinusoidal(int, int, bool);                                         \
  template Matrix<Scalar> tensor2tensor_sinusoidal(const std::vector<int>&, int, double, double); \
  template BertSummands<Scalar> bert_embeddings(const Matrix<Scalar>&, const Matrix<Scalar>&,     \
                                                const Matrix<Scalar>&, const std::vector<int>&, Scalar);
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
