// What a head writes, as a sum: how much of it comes from tokens, positions, attention or MLPs.
//
// With A_h frozen, a head's output is linear in what the layer reads, x_j = sum_s x_j^s (encoder_parts.h):
//
//   o_h^s(i) = W_O,h W_V,h sum_j A_ij x_j^s,   and the constant adds W_O,h b_V,h.
//
// Over heads and parts they add up to what attention writes, less b_O. In the canonical gauge a part sums to
// zero over the used rows, so attention that is the same for all keys writes nothing of it.
//
// Rows that stand apart are then all constant, and the constant is divided:
//
//   apart(i) = sum_a A_ia W_O,h W_V,h (x_a - x~),   a the rows that stand apart, x~ the used rows' plain mean,
//
// is what attending to them changes; the constant keeps the rest. A_ia W_O,h W_V,h x_a alone would move with
// b_V, which a shift of x~ can make up for.
//
// A share is taken of what differs between queries, because what all queries get alike is a bias:
//
//   share_s = sum_i <o~^s(i), o~(i)> / sum_i |o~(i)|^2,
//
// o~ centred over the used queries and, where a LayerNorm reads the sum, over channels. The shares from
// uniform leave the queries uncentred and subtract what attending to all used rows alike would write,
// W_O,h (W_V,h x~ + b_V,h): they keep what every query gets, which mean pooling passes on.
#pragma once

#include <vector>

#include "model/encoder.h"
#include "scores/shares.h"

namespace superpose {

// What a layer's heads write: the sums over keys, before W_O. Head h owns d_h columns, as in the scores, and values are
// those that each query head reads.
template <typename Scalar>
struct OutputParts {
  std::vector<Matrix<Scalar>> contexts;  // [n, H d_h]: of the whole input, then of each part
  Matrix<Scalar> values;                 // [n, H d_h], W_V x + b_V of the whole input
  Matrix<Scalar> written;                // [n, d], what all heads write, without b_O
  Matrix<Scalar> output;                 // W_O transposed, [H d_h, d]
  std::vector<char> apart;               // [n], or empty
  int heads = 1;
  bool centre_channels = true;

  int parts() const { return static_cast<int>(contexts.size()) - 1; }
};

// `parts` [n, d] each, the constant last, add up to what the layer of a traced run reads. With `contrast` and
// rows that stand apart, the result has one part more, before the constant. Raw parts have none: there the rows
// that stand apart are only left out of shares.
template <typename Scalar>
OutputParts<Scalar> output_parts(const Encoder<Scalar>& encoder, int layer, const Forward<Scalar>& run,
                                 const std::vector<Matrix<Scalar>>& parts, const std::vector<int>& apart,
                                 bool contrast = true);

struct OutputShares {
  Covariances over_queries, from_uniform;
  double residual = 0;  // max |sum of the parts - output|
};

// One for each head, and last that of all heads together. NaN where the output varies by no more than
// rounding: 64 units in the last place of the longest part's row, or of the sum of the heads' longest.
//
// No output is formed for it: a covariance is a product of contexts with the whole's that went through W_O
// and back, by W_O,h' W_O,h for each head.
template <typename Scalar>
std::vector<OutputShares> output_shares(const OutputParts<Scalar>& parts);

// o_h^s [n, d] of one head (or, with -1, of all), and its constant with b_V.
template <typename Scalar>
Matrix<Scalar> head_output(const OutputParts<Scalar>& parts, int head, int part);

// A_ij |C W_O,h W_V,h (x_j - x~)|, [n, n], from attention [n, n] of the head: attention weighed by what it
// moves. Kobayashi et al. (EMNLP 2020) take W_V x_j + b_V, which moves with b_V.
template <typename Scalar>
Matrix<double> norm_weighted(const OutputParts<Scalar>& parts, int head, Matrix<double> attention);

}  // namespace superpose
