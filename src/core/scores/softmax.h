// Softmax over keys, of the whole score or of a sum of its terms. In a causal model a query sees the keys up to its
// own, and with a window those no further away: the others have no weight. These weights are shown, by std::exp over
// ranges of keys; numeric/in_place.h has the softmax that models run, in vectors, in float by a polynomial to 2 ulp.
#pragma once

#include "numeric/matrix.h"
#include "scores/shares.h"

namespace superpose {

// Replaces each row of logits [n, n], or [rows, n] where every key is seen, by its softmax. The row's maximum is
// subtracted first, so large logits do not overflow. Anything that is constant along a row changes nothing.
template <typename Scalar>
void softmax_rows(Matrix<Scalar>& logits, bool causal = false, int window = kEverywhere);

// Replaces each logit by cap tanh(logit / cap), in double, as Gemma 2 does before softmax (arXiv 2408.00118, section 2).
// It is exact to two units in the last place of the cap, and a cap of 0 is none.
template <typename Scalar>
void soft_cap(double cap, Matrix<Scalar>& logits);

// What softmax sees of logits [n, n]: each row less its mean over the keys that the query sees, and NaN at the
// others. The first entry is taken away first, so that equal logits leave exactly nothing.
template <typename Scalar>
Matrix<Scalar> seen_by_softmax(Matrix<Scalar> logits, bool causal = false, int window = kEverywhere);

}  // namespace superpose
