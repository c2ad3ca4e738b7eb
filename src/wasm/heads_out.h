// The result of every decomposition of a score, which both modules return in the same form.
#pragma once

#include "bound.h"
#include "scores/gauge.h"
#include "scores/shares.h"

namespace superpose {

SUPERPOSE_MEMBERS(Gauge, kind, excluded_rows);

// The chosen heads. Terms and logits are JavaScript arrays, because they may be larger than everything else
// in the module. They stay floats: doubles take twice the memory, which cost a fifth of a decomposition's
// time.
struct Heads {
  Value terms, logits;
  Vector<double> residuals, variances;
  Matrix<double> covariances, shares;
};
SUPERPOSE_MEMBERS(Heads, terms, logits, residuals, variances, covariances, shares);

// Decomposes the chosen heads of a score of n tokens into `count` terms. terms_of(head, terms, logits)
// writes one head's terms and logits and returns the residual. Results are written head by head, so the
// module never has more than one head's terms. Shares are over the counted pairs.
template <typename TermsOf>
Heads heads_out(std::size_t n, std::size_t count, const std::vector<int>& heads, const CountedPairs& counted,
                const TermsOf& terms_of) {
  const std::size_t chosen = heads.size(), size = n * n;
  Heads out{Value::singles(chosen * count * size),
            Value::singles(chosen * size),
            Vector<double>(chosen),
            Vector<double>(chosen),
            Matrix<double>(chosen, count),
            Matrix<double>(chosen, count)};
  Matrix<float> terms(count, size), logits(n, n);
  for (std::size_t k = 0; k < chosen; ++k) {
    out.residuals[k] = terms_of(heads[k], terms.data(), logits.data());
    const Covariances of_head = row_centred_covariances(terms.data(), count, logits.data(), n, counted);
    out.terms.copy_from(terms.data(), terms.size(), k * count * size);
    out.logits.copy_from(logits.data(), logits.size(), k * size);
    out.covariances.row(k) = of_head.terms;
    out.shares.row(k) = of_head.shares;
    out.variances[k] = of_head.logits;
  }
  return out;
}

}  // namespace superpose
