// Softmax over keys, of the whole score or of a sum of its terms. In a causal model a query sees the keys up
// to its own: the others have no weight. The kernel is that of numeric/in_place.h, which models run in
// float.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// Replaces each row of logits [n, n], or [rows, n] where every key is seen, by its softmax. The row's
// maximum is subtracted first, so large logits do not overflow. Anything that is constant along a row
// changes nothing.
void softmax_rows(Matrix<double>& logits, bool causal = false);

// The part of logits [n, n] that softmax sees: each row minus its mean over the keys that the query sees, and
// NaN at the other keys. The first entry is subtracted first, so that equal logits become exactly 0.
Matrix<double> seen_by_softmax(Matrix<double> logits, bool causal = false);

}  // namespace superpose
