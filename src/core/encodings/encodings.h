// The sum that a model puts its tables into.
#pragma once

#include <vector>

#include "numeric/matrix.h"

namespace superpose {

// What BERT adds up before its LayerNorm: row i of each is token i's (google-research/bert,
// modeling.py, embedding_postprocessor). position is [L, d], L >= n, of which the first n rows are used;
// token_type is [S, d], looked up by ids below S.
struct BertSummands {
  Matrix<double> position;    // [n, d], position_scale * position
  Matrix<double> token_type;  // [n, d]
  Matrix<double> sum;         // [n, d], (token + token_type) + position, in the reference's order
};
BertSummands bert_embeddings(const Matrix<double>& token, const Matrix<double>& position,
                             const Matrix<double>& token_type, const std::vector<int>& ids,
                             double position_scale = 1);

}  // namespace superpose
