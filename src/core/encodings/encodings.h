// Position tables beyond the plain sinusoid, and the two sums that models put them into.
#pragma once

#include <vector>

#include "encodings/sinusoidal.h"
#include "numeric/matrix.h"

namespace superpose {

// fairseq's table for up to `positions` tokens, [padding_idx + 1 + positions, d_model]: tensor2tensor's
// layout and spacing, row padding_idx zero; token t has row padding_idx + 1 + t, which holds the
// encoding of that number (facebookresearch/fairseq, sinusoidal_positional_embedding.py). d_model >= 4:
// below, fairseq divides by zero. padding_idx >= 0.
Matrix<double> fairseq_sinusoidal(int positions, int d_model, int padding_idx);

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
