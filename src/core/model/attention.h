// How a layer's heads attend: what is done to queries and keys between their projection and their product, what is
// added to a score for its offset, and which keys a query sees.
//
//   groups    query head h meets key head floor(h G / H) of G, and its values (Ainslie et al., arXiv 2305.13245)
//   QK-norm   each head of queries and keys goes through a norm: one number for each head and token
//   rotation  RoPE of the first channels of each head, in halves (encodings/rotary.h), after that norm
//   bias      slope (j - i) (ALiBi, arXiv 2108.12409), or b[bucket(j - i)] in T5's buckets, on top of the scaled score
//   rows      q . K_t + Q_t . k, t a row for the distance, K and Q maps of the layer (DeBERTa, arXiv 2006.03654)
//   window    the largest |i - j| at which a query sees a key
//
// Norm and rotation act on every part of a query or key alike, once the norm's numbers are those of the whole.
#pragma once

#include <vector>

#include "numeric/matrix.h"
#include "numeric/product.h"
#include "scores/layer_norm.h"
#include "scores/shares.h"

namespace superpose {

struct Rotary {
  std::vector<double> frequencies;  // theta_m, [pairs], channels m and m + pairs; empty: nothing is turned
  double gain = 1;                  // multiplies what is turned, in queries and in keys
};

// A head's norm of rows [(1 + parts) * n, heads * d_h], in place: the whole, and then parts of it, which get the whole's
// numbers. The last part gets beta.
template <typename Scalar>
void normalize_heads(const Normalization<Scalar>& norm, int heads, Eigen::Index n, Matrix<Scalar>& stack);

inline int key_head(int head, int key_heads, int heads) { return head * key_heads / heads; }

// [n, G d_h] as [n, H d_h]: the key head of each query head.
template <typename Scalar>
Matrix<Scalar> of_query_heads(const Matrix<Scalar>& of_key_heads, int key_heads, int heads);

// What is added to the scores of n tokens by the offset of the key, [H, 2n - 1], column j - i + n - 1; without rows
// if it is nothing. `table` is [buckets, H] or empty, `slopes` [H] or empty.
template <typename Scalar>
Matrix<Scalar> offset_bias(const Matrix<Scalar>& table, const Vector<Scalar>& slopes, Eigen::Index n);

// Adds a head's bias to scores [n, n], and writes it alone to `alone` unless that is null.
template <typename Scalar>
void add_offset_bias(const Matrix<Scalar>& bias, int head, Scalar* scores, Scalar* alone);

// Adds a head's products with the offset of the key to scores [n, n]: scale q_i . r_(j-i), or with `of_keys`
// scale k_j . r_(j-i). rows [n, w], table [2n - 1, w], that of j - i in row j - i + n - 1.
template <typename Scalar>
void add_offset_products(const Rows<Scalar>& rows, const Rows<Scalar>& table, bool of_keys, Scalar scale,
                         Scalar* scores);

// Scores [n, n] become kMasked where a query sees no key: later ones if `causal`, any beyond the window, and padding,
// for which attended [n] is 0, unless it is empty.
template <typename Scalar>
void mask(bool causal, int window, const std::vector<char>& attended, Matrix<Scalar>& scores);

}  // namespace superpose
