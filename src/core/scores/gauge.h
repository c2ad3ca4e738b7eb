// The gauge: how much of each summand counts as constant.
//
// t -> t + a, p -> p - a changes no logit, yet it changes every term of the two and so every share. Only
// what does not depend on a can be called "the token's part". A gauge subtracts a mean x~_s from each
// summand, and what it subtracts joins the constant:
//
//   part s of row i:  q_s(i) - m_s / sigma_i,   constant of row i:  c + sum_s m_s / sigma_i,
//
// where m_s = W (gamma * C x~_s) is that mean projected, and sigma_i what the norms divided row i by. It is
// one subtraction per part after projection, so logits, sigma and earlier projections stay as they are.
//
//   raw        Nothing is subtracted; terms belong to the summands as they are.
//   canonical  x~_s = sum_i w_i x_s(i) over the rows that are not excluded, with w_i proportional to
//              1 / sigma_i, so that each part sums to zero over them after LayerNorm. A term of two parts
//              then has zero row and column sums over those rows: it is the effect of the two together that
//              neither has alone. This gauge needs no corpus, and follows any shift of the summands.
//
// Excluded rows are those whose token the model fixes, such as BERT's [CLS] at position 0: there t + v, p -
// v cannot be told from t, p. In every gauge shares leave them out (shares.h). In every gauge but raw, the
// whole of an excluded row is constant, its other parts are zero, and no mean includes it.
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

// The rows that a mean is taken over, and their norm.
struct GaugeRows {
  Vector<double> sigma;        // [n], what the norm divides row i by
  std::vector<char> excluded;  // [n] flags, or empty
  bool normalized = false;     // whether the rows have been divided by sigma
};

// The canonical gauge of one part [n, width], in place: each row loses m, or m / sigma_i if rows are
// normalized, where m is the mean over the rows that are not excluded, weighted by 1 / sigma_i. Excluded
// rows become zero. What a row loses is added to the row of `constant` [n, width], which may be null. If
// every row is excluded, m is zero. Means are in double; those of rows that are not normalized are taken
// about the first of them, so that equal rows leave exactly nothing.
//
// This is the only implementation: apply_gauge(), the parts of a layer's input (model/input_parts.h) and the
// terms of trained models (training/model.h) call it.
void move_mean_into_constant(const GaugeRows& rows, Eigen::Index width, float* part, float* constant);

// Puts the parts of project_sum() into a gauge. Call it before merging any.
void apply_gauge(const Gauge& gauge, ProjectedParts& parts);

}  // namespace superpose
