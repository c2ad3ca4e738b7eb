// Attention scores as an exact sum of terms.
//
// The query of token i is a sum of parts, one per summand of its embedding and one constant,
// q_i = sum_s W_Q h_s(i) + c_Q with c_Q = W_Q beta + b_Q; so is every key. A logit is a dot product
// of two such sums, so for n summands it is a sum of (n+1)^2 terms per head:
//
//   logit_ij = scale * sum_{s,r} q_s(i) . k_r(j),     s, r = 0 .. n, where part n is the constant.
//
// With two summands, no LayerNorm and no biases this is the familiar four-term formula (TUPE, arXiv
// 2006.15595, eq. 6, before the cross terms are removed); BERT, with token, position and token_type, has
// sixteen terms. The sum is exact for the first layer only: later layers read sums of more parts;
// model/input_parts.h computes those parts.
#pragma once

#include <vector>

#include "numeric/bytes.h"
#include "numeric/product.h"
#include "scores/layer_norm.h"

namespace superpose {

// Queries and keys of all heads, stacked: n rows from the whole input, not from the parts, and then n rows
// of each part. Head h has the columns [h * d_h, (h + 1) * d_h) of both.
struct ProjectedParts {
  Matrix<float> rows;       // [(1 + parts) * n, 2 * heads * d_h], a row's queries and then its keys
  Eigen::Index tokens = 0;  // n
  int parts = 0;
  bool constant = false;  // the last part's rows are all the same
  int heads = 1;
  float scale = 1;       // multiplies every logit and every term; usually 1/sqrt(d_h)
  Vector<double> sigma;  // [n], what the norm divided each row by, or ones; only from project_sum()

  Eigen::Index head_width() const { return rows.cols() / (2 * heads); }
  auto queries(int head) const { return rows.middleCols(head * head_width(), head_width()); }
  auto keys(int head) const { return rows.middleCols((heads + head) * head_width(), head_width()); }
  int terms() const { return parts * parts; }
};

// The layer that reads the sum, with its weights packed once for all inputs.
struct ScoreLayer {
  ScoreLayer(Normalization<double> normalization, const Linear<float>& query, const Linear<float>& key,
             int heads, float scale);

  Normalization<double> normalization;
  PackedLinear<float> linear;  // [2 * heads * d_h, d], W_Q above W_K
  int heads;
  float scale;
};

// The bytes of a layer whose W_Q and W_K are [rows, columns] each: those that the layer keeps in memory, and
// those that its construction needs, while there is a second copy.
constexpr double score_layer_bytes(double rows, double columns) {
  return bytes_of_floats(2 * rows * (columns + 1));
}
constexpr double score_layer_bytes_to_make(double rows, double columns) {
  return 2 * score_layer_bytes(rows, columns);
}

// Projects the sum of the summands, [n, d] each, and each summand by itself to queries and keys. The constant
// is the last part.
ProjectedParts project_sum(const std::vector<Matrix<float>>& summands, const ScoreLayer& layer);

// Adds up the parts of each group: part p is in group_of[p], a number below `groups`. Merging before the
// products gives the same sums of terms as merging after them, for less work.
ProjectedParts merge_parts(const ProjectedParts& parts, const std::vector<int>& group_of, int groups);

// One head: terms[s * parts + r] is q_s . k_r, [n, n] with queries in rows; `terms` holds parts^2 * n * n
// values. `logits` [n, n] are those of the whole queries and keys. Returns the residual, which is max_ij |sum
// of terms - logits|. The only memory it allocates is the product's buffers, at the first call.
double head_terms(const ProjectedParts& parts, int head, float* terms, float* logits);

// max |sum of `count` terms - logits|, each of `size` numbers, summed in double. NaN if any number is.
double largest_gap(const float* terms, int count, const float* logits, Eigen::Index size);

// The sum [n, n] of the terms whose `included` flag is set; terms holds included.size() matrices
// [n, n], one after another.
Matrix<double> sum_of_terms(const float* terms, Eigen::Index n, const std::vector<bool>& included);

// The bytes of a decomposition of n tokens into parts^2 terms for each of `heads` heads, of which one is in
// the module at a time. `width` is the channels of a row that is projected plus the channels of all heads'
// queries.
constexpr double decomposition_bytes(double n, double parts, double heads, double width) {
  return bytes_of_floats((heads + 1) * (parts * parts + 3) * n * n) +
         bytes_of_doubles(4 * (parts + 1) * n * width);
}

}  // namespace superpose
