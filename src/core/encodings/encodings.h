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
template <typename Scalar>
Matrix<Scalar> fairseq_sinusoidal(int positions, int d_model, int padding_idx);

// MAE's table for a square grid, [grid * grid, d_model], rows row-major (h * grid + w); with a class
// token, a first row of zeros. The first half of the channels encodes the column w and the second the
// row h, although the reference names them the other way round; each half is [sin | cos] with
// frequencies 10000^(-i/(d/4)) (facebookresearch/mae, util/pos_embed.py). d_model a multiple of 4.
template <typename Scalar>
Matrix<Scalar> mae_sinusoidal(int grid, int d_model, bool class_token);

// tensor2tensor's table for any number of dimensions, [product of extents, d_model], rows row-major.
// Each dimension in turn has [sin | cos] of n = floor(d_model / (2 * dimensions)) timescales:
// 2n channels; the channels left over are zeros, last. As in the reference, the frequencies are
// min_timescale * (max_timescale / min_timescale)^(-i/(n - 1)): multiplied, not divided, by the
// smallest timescale (common_attention.py, add_timing_signal_nd). The denominator is max(n - 1, 1), as in
// get_timing_signal_1d, which is the case of one dimension.
template <typename Scalar>
Matrix<Scalar> tensor2tensor_sinusoidal(const std::vector<int>& extents, int d_model, double min_timescale,
                                        double max_timescale);

// What BERT adds up before its LayerNorm: row i of each is token i's (google-research/bert,
// modeling.py, embedding_postprocessor). position is [L, d], L >= n, of which the first n rows are used;
// token_type is [S, d], looked up by ids below S.
template <typename Scalar>
struct BertSummands {
  Matrix<Scalar> position;    // [n, d], position_scale * position
  Matrix<Scalar> token_type;  // [n, d]
  Matrix<Scalar> sum;         // [n, d], (token + token_type) + position, in the reference's order
};
template <typename Scalar>
BertSummands<Scalar> bert_embeddings(const Matrix<Scalar>& token, const Matrix<Scalar>& position,
                                     const Matrix<Scalar>& token_type, const std::vector<int>& ids,
                                     Scalar position_scale = 1);

}  // namespace superpose
