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

#define SUPERPOSE_INSTANTIATE(Scalar)                                                         \
  template Matrix<Scalar> fairseq_sinusoidal(int, int, int);                                  \
  template BertSummands<Scalar> bert_embeddings(const Matrix<Scalar>&, const Matrix<Scalar>&, \
                                                const Matrix<Scalar>&, const std::vector<int>&, Scalar);
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
