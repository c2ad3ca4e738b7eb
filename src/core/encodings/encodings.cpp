#include "encodings/encodings.h"

namespace superpose {

BertSummands bert_embeddings(const Matrix<double>& token, const Matrix<double>& position,
                             const Matrix<double>& token_type, const std::vector<int>& ids,
                             double position_scale) {
  BertSummands result{
      position_scale * position.topRows(token.rows()), Matrix<double>(token.rows(), token.cols()), {}};
  for (Eigen::Index i = 0; i < token.rows(); ++i) {
    result.token_type.row(i) = token_type.row(ids[i]);
  }
  result.sum = (token + result.token_type) + result.position;
  return result;
}

}  // namespace superpose
