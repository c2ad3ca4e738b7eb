// How a layer's heads attend: the steps between the projection of queries and keys and their product, and
// the keys that a query sees.
//
//   groups    query head h uses key head floor(h G / H) of G, and that head's values
//             (Ainslie et al., arXiv 2305.13245)
//   QK-norm   each head of queries and keys goes through a norm: one sigma for each head and token
//   rotation  RoPE of the first channels of each head, in halves (encodings/rotary.h), after that norm
//
// Norm and rotation act on each part of a query or key as they act on the whole, provided that the norm
// divides each part by the sigma of the whole.
#pragma once

#include "numeric/matrix.h"
#include "numeric/product.h"
#include "scores/layer_norm.h"
#include "scores/shares.h"

namespace superpose {

// Normalizes each head of rows [(1 + parts) * n, heads * d_h], in place. The first n rows are whole, and are
// followed by their parts, which are divided by the sigma of the whole rows. The last part gets beta.
void normalize_heads(const Normalization<float>& norm, int heads, Eigen::Index n, Matrix<float>& stack);

// Queries and keys of all heads.
struct Projections {
  Matrix<float> queries, keys;  // [n, H d_h], [n, G d_h]
};

inline int key_head(int head, int key_heads, int heads) { return head * key_heads / heads; }

// Repeats key heads so that each query head has its own: [n, G d_h] to [n, H d_h].
Matrix<float> of_query_heads(const Matrix<float>& of_key_heads, int key_heads, int heads);

// The logits [n, n] of a query head, from queries and keys that are already rotated and scaled.
void head_logits(const Projections& rows, int head, int heads, int key_heads, Matrix<float>& logits);

// Replaces logits [n, n] by their softmax over all keys or, if causal, over the keys up to the query's own.
void softmax_over_keys(bool causal, Matrix<float>& logits);

}  // namespace superpose
