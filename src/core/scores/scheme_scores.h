// The scores of a scheme as figures show them: terms, logits, their softmax and shares.
#pragma once

#include "numeric/bytes.h"
#include "scores/scheme_registry.h"

namespace superpose {

// A row for each chosen head. Terms and logits are of all pairs; under a causal mask, weights and shares are
// over the keys that each query sees.
struct SchemeScores {
  std::vector<std::string> term_names;
  Matrix<double> terms;      // [heads * terms, n * n]
  Matrix<double> logits;     // [heads, n * n]
  Matrix<double> weights;    // [heads, n * n], the softmax of the logits
  Vector<double> residuals;  // max_ij |sum of terms - logits|
  Matrix<double> covariances;
  Vector<double> variances;
  Matrix<double> shares;  // as covariances [heads, terms]: shares.h
};

// The terms are those of the scheme or, if `anova`, those of anova.h.
SchemeScores scheme_scores(const SchemeInfo& info, const SchemeInput& input, const std::vector<int>& heads,
                           bool anova);

// The bytes of scheme_scores() for `chosen` heads. `part_values` counts the numbers in the scheme's parts,
// and in the queries, keys or rows that come from them and the tokens.
double scheme_scores_bytes(const SchemeInfo& info, const SchemeShape& shape, int chosen, bool anova,
                           double part_values);

}  // namespace superpose
