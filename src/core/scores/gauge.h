// The gauge: how much of each summand counts as constant.
//
// t -> t + a, p -> p - a changes no logit, yet it changes every term of the two and so every share. Only what
// does not depend on a can be called "the token's part". A gauge subtracts a mean x~_s from each summand, and
// what it subtracts joins the constant:
//
//   part s of row i:  q_s(i) - m_s / sigma_i,   constant of row i:  c + sum_s m_s / sigma_i,
//
// where m_s = W (gamma * C x~_s) is that mean projected, and sigma_i what the norms divided row i by. It is
// one subtraction per part after projection, so logits, sigma and earlier projections stay as they are.
//
// - raw: nothing is subtracted; terms belong to the summands as they are.
// - canonical: x~_s = sum_i w_i x_s(i) over the used rows, w_i proportional to 1 / sigma_i, so that each
//   part sums to zero over them after LayerNorm. A term of two parts then has zero row and column sums over
//   the used rows: it is what the two do together and neither does alone. It needs no corpus, and follows
//   any shift of the summands.
//
// Excluded rows are those whose token the model fixes, such as BERT's [CLS] at position 0: there t + v, p - v
// cannot be told from t, p. In every gauge shares leave them out (shares.h). Except in the raw gauge their whole
// sum is constant and their other parts are zero, and no mean includes them.
#pragma once

#include <array>
#include <vector>

#include "numeric/product.h"
#include "scores/decomposition.h"

namespace superpose {

enum class GaugeKind { raw, canonical };
constexpr std::array<const char*, 2> names(GaugeKind) { return {"raw", "canonical"}; }

struct Gauge {
  GaugeKind kind = GaugeKind::raw;
  std::vector<int> excluded_rows;

  bool moves_terms() const { return kind != GaugeKind::raw; }
};

// Flags [n] that mark these rows, from 0 to n - 1; empty when there are none.
std::vector<char> row_flags(const std::vector<int>& rows, Eigen::Index n);

// Puts the parts of project_sum() into a gauge. Call it before merging any.
void apply_gauge(const Gauge& gauge, ProjectedParts& parts);

}  // namespace superpose
