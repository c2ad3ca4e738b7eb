// The gauge: how much of each summand counts as constant.
//
// t -> t + a, p -> p - a changes no logit, yet it changes every term of these two summands, and so every
// share. Only what does not depend on a can be called "the token's part". A gauge subtracts a mean x~_s from
// each summand, and adds what it subtracts to the constant:
//
//   part s of row i:  q_s(i) - m_s / sigma_i,   constant of row i:  c + sum_s m_s / sigma_i,
//
// where m_s = W (gamma * C x~_s) is that mean projected, and sigma_i is what the norms divided row i by.
// There is one subtraction per part after projection, so logits, sigma and earlier projections stay as they
// are.
//
//   raw        Nothing is subtracted; terms belong to the summands as they are.
//   canonical  x~_s = sum_i w_i x_s(i) over the rows that are not excluded, with w_i proportional to
//              1 / sigma_i, so that each part sums to zero over them after LayerNorm. A term of two parts
//              then has zero row and column sums over those rows: it is the joint effect of the two, which
//              neither has alone. This gauge needs no corpus, and a shift of the summands changes no part.
//
// Excluded rows are those whose token the model fixes, such as BERT's [CLS] at position 0: there t + v, p - v
// cannot be told from t, p. Shares leave excluded rows out in every gauge (shares.h). In every gauge but raw,
// the whole of an excluded row is constant, its other parts are zero, and no mean includes it.
#pragma once

#include <array>
#include <vector>

#include "numeric/matrix.h"
#include "scores/decomposition.h"

namespace superpose {

enum class GaugeKind { raw, canonical };
constexpr std::array<const char*, 2> names(GaugeKind) { return {"raw", "canonical"}; }

struct Gauge {
  GaugeKind kind = GaugeKind::raw;
  std::vector<int> excluded_rows;
};

// Flags [n] that mark these rows, from 0 to n - 1; empty when there are none.
std::vector<char> row_flags(const std::vector<int>& rows, Eigen::Index n);

// The rows over which a mean is taken, and what their norm divides them by.
struct GaugeRows {
  Vector<double> sigma;        // [n], what the norm divides row i by
  std::vector<char> excluded;  // [n] flags, or empty
  bool normalized = false;     // whether the rows have been divided by sigma
};

// Applies the canonical gauge to one part [n, width], in place: subtracts m from each row, or m / sigma_i if
// rows are normalized, where m is the mean over the rows that are not excluded, weighted by 1 / sigma_i.
// Excluded rows become zero. What a row loses is added to the same row of `constant` [n, width], which may be
// null. If every row is excluded, m is zero. Means are in double. If rows are not normalized, the mean is
// computed from differences with the first row that counts, so that equal rows become exactly 0.
//
// This is the only implementation: apply_gauge(), the parts of a layer's input (model/input_parts.h) and the
// terms of trained models (training/model.h) call it.
void move_mean_into_constant(const GaugeRows& rows, Eigen::Index width, float* part, float* constant);

// Puts the parts of project_sum() into a gauge. Call it before merging any.
void apply_gauge(const Gauge& gauge, ProjectedParts& parts);

}  // namespace superpose
