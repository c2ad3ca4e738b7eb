// How a layer's heads attend: what is done to queries and keys between their projection and their product, and which
// keys a query sees.
//
//   groups    query head h meets key head floor(h G / H) of G, and its values (Ainslie et al., arXiv 2305.13245)
//   QK-norm   each head of queries and keys goes through a norm: one number for each head and token
//   rotation  RoPE of the first channels of each head, in halves (encodings/rotary.h), after that norm
//
// Norm and rotation act on every part of a query or key alike, once the norm's numbers are those of the whole.
#pragma once

#include "numeric/matrix.h"
#include "numeric/product.h"
#include "scores/layer_norm.h"
#include "scores/shares.h"

namespace superpose {

// A head's norm of rows [(1 + parts) * n, heads * d_h], in place: the whole, and then parts of it, which get the whole's
// numbers. The last part gets beta.
void normalize_heads(const Normalization<float>& norm, int heads, Eigen::Index n, Matrix<float>& stack);

inline int key_head(int head, int key_heads, int heads) { return head * key_heads / heads; }

// [n, G d_h] as [n, H d_h]: the key head of each query head.
Matrix<float> of_query_heads(const Matrix<float>& of_key_heads, int key_heads, int heads);

// Scores [n, n] become kMasked where the key comes after the query.
void mask_later(Matrix<float>& scores);

}  // namespace superpose
