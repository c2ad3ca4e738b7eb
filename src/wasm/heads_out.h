// Hands out a score taken apart: the result of every way of taking one apart, in both modules.
#pragma once

#include "convert.h"
#include "scores/shares.h"

namespace superpose {

// The chosen heads of a score of n tokens taken apart into `count` terms, which terms_of(head, terms, logits) writes and
// of which it returns the residual. Results are written head by head, so the module never holds more than one head's
// terms. Shares are over the counted pairs.
template <typename Scalar, typename TermsOf>
Value heads_out(std::size_t n, std::size_t count, const Value& heads, const CountedPairs& counted,
                const TermsOf& terms_of) {
  const int chosen = heads.length();
  Value terms = new_array<Scalar>(chosen * count * n * n);
  Value logits = new_array<Scalar>(chosen * n * n);
  Vector<double> residuals(chosen), variances(chosen);
  Matrix<double> covariances(chosen, count), shares(chosen, count);
  Matrix<Scalar> head_parts(count, n * n);
  Matrix<Scalar> head_logits(n, n);
  for (int k = 0; k < chosen; ++k) {
    residuals[k] = terms_of(heads[k].as<int>(), head_parts.data(), head_logits.data());
    const Covariances of_head =
        row_centred_covariances(head_parts.data(), count, head_logits.data(), n, counted);
    terms.copy_from(head_parts.data(), head_parts.size(), k * count * n * n);
    logits.copy_from(head_logits.data(), head_logits.size(), k * n * n);
    covariances.row(k) = of_head.terms;
    shares.row(k) = of_head.shares;
    variances[k] = of_head.logits;
  }
  return Value::object()
      .set("terms", terms)
      .set("logits", logits)
      .set("residuals", copy_out(residuals))
      .set("covariances", copy_out(covariances))
      .set("variances", copy_out(variances))
      .set("shares", copy_out(shares));
}

}  // namespace superpose
