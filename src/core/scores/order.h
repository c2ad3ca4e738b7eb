// Order without positions: a small attention layer, and how permuting its input changes its output.
//
// Self-attention over all tokens commutes with every permutation of them, at any depth. A causal mask
// breaks that. Still, one causal layer's last output is a function of what the prefix contains,
// not of its order. A second layer sees outputs that already depend on the prefixes, and so order enters
// (Haviv et al. 2022, arXiv 2203.16634, and Kazemnejad et al. 2023, on models without positions).
#pragma once

#include <vector>

#include "numeric/matrix.h"
#include "scores/decomposition.h"

namespace superpose {

// y = x + W_O concat_h softmax(q_h k_h' / sqrt(d_h)) v_h. No LayerNorm and no feed-forward: both act on
// each token alone and change nothing about order.
struct AttentionLayer {
  Linear<double> query;   // [heads * d_h, d], d_h >= 1
  Linear<double> key;     // [heads * d_h, d]
  Linear<double> value;   // [heads * d_v, d], d_v >= 1
  Linear<double> output;  // [d, heads * d_v]
  int heads = 1;
};

// One layer; input and output are [n, d]. Causal: token i attends to tokens 0 .. i alone.
Matrix<double> attention_layer(const Matrix<double>& input, const AttentionLayer& layer, bool causal);

struct PermutationEffect {
  Matrix<double> output;    // [n, d], after all layers, for the input as it is
  Matrix<double> permuted;  // [n, d], for the input whose row i is row permutation[i] of the given one
  double equivariance = 0;  // max |permuted - output in the same permutation|: 0 when order only relabels
  double last = 0;          // max |permuted - output| in the last row: with a permutation that keeps the
                            // last token in place, how much its output knows of the order before it
};

// layers: any number, none for the identity, all of width d; permutation: each of 0 .. n - 1 once. Maxima
// over nothing are 0.
PermutationEffect permutation_effect(const Matrix<double>& input, const std::vector<AttentionLayer>& layers,
                                     bool causal, const std::vector<int>& permutation);

}  // namespace superpose
