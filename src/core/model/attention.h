// How a layer's heads attend: the steps between the projection of queries and keys and their product, and
// the keys that a query sees.
//
//   groups    query head h has key head floor(h G / H) of G, and its values
//             (Ainslie et al., arXiv 2305.13245)
//   QK-norm   each head of queries and keys goes through a norm: one number for each head and token
//   rotation  RoPE of the first channels of each head, in halves (encodings/rotary.h), after that norm
//
// Norm and rotation act on every part of a query or key alike, if the norm's sigma is that of the whole
// query or key.
#pragma once

#include "numeric/matrix.h"
#include "numeric/product.h"
#include "scores/layer_norm.h"
#include "scores/shares.h"

namespace superpose {

// A head's norm of rows [(1 + parts) * n, heads * d_h], in place: n whole rows, and then their parts, which
// are divided by the sigma of the whole rows. The last part gets beta.
void normalize_heads(const Normalization<float>& norm, int heads, Eigen::Index n, Matrix<float>& stack);

// Queries and keys of all heads.
struct Projections {
  Matrix<float> queries, keys;  // [n, H d_h], [n, G d_h]
};

inline int key_head(int head, int key_heads, int heads) { return head * key_heads / heads; }

// From [n, G d_h] to [n, H d_h]: the key head of each query head.
Matrix<float> of_query_heads(const Matrix<float>& of_key_heads, int key_heads, int heads);

// The logits [n, n] of a query head, of queries and keys that are rotated and scaled.
void head_logits(const Projections& rows, int head, int heads, int key_heads, Matrix<float>& logits);

// Replaces logits [n, n] by their softmax over all keys, or if causal over those up to the query's own.
void softmax_over_keys(bool causal, Matrix<float>& logits);

}  // namespace superpose
