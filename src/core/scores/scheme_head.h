// One head of a scheme as it is shown: the terms, what a causal mask leaves of them, softmax and shares.
#pragma once

#include "scores/schemes.h"
#include "scores/shares.h"

namespace superpose {

struct SchemeHead {
  Matrix<double> terms;   // [terms, n * n], of all pairs
  Matrix<double> logits;  // [n, n], of all pairs
  // Of a causal scheme, over the keys that each query sees:
  Matrix<double> weights;  // [n, n], the softmax of the logits
  Covariances covariances;
  double residual = 0;  // max_ij |sum of terms - logits|
};

// With `average`, the same scheme of the mean token at every place, the terms are those of asked.h.
SchemeHead scheme_head(const Scheme& scheme, int head, const Scheme* average = nullptr);

}  // namespace superpose
