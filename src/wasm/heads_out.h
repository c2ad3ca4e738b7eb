// Hands out a score taken apart: the result of every way of taking one apart, in both modules.
#pragma once

#include <cstddef>
#include <vector>

#include "convert.h"
#include "scores/decomposition.h"
#include "scores/gauge.h"
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
  Value residuals = new_array<double>(chosen);
  Value covariances = new_array<double>(chosen * count);
  Value variances = new_array<double>(chosen);
  Value shares = new_array<double>(chosen * count);

  Matrix<Scalar> head_parts(count, n * n);
  Matrix<Scalar> head_logits(n, n);
  for (int k = 0; k < chosen; ++k) {
    const Scalar residual = terms_of(heads[k].as<int>(), head_parts.data(), head_logits.data());
    const Covariances of_head =
        row_centred_covariances(head_parts.data(), count, head_logits.data(), n, counted);
    terms.copy_from(head_parts.data(), head_parts.size(), k * count * n * n);
    logits.copy_from(head_logits.data(), head_logits.size(), k * n * n);
    covariances.copy_from(of_head.terms.data(), count, k * count);
    shares.copy_from(of_head.shares.data(), count, k * count);
    residuals.set(k, static_cast<double>(residual));
    variances.set(k, of_head.logits);
  }

  return Value::object()
      .set("terms", terms)
      .set("logits", logits)
      .set("residuals", residuals)
      .set("covariances", covariances)
      .set("variances", variances)
      .set("shares", shares);
}

// Shares leave out the rows that stand apart.
template <typename Scalar>
Value heads_out(const ProjectedParts<Scalar>& parts, const Value& heads, const std::vector<int>& apart = {},
                bool causal = false) {
  return heads_out<Scalar>(
      parts.tokens, parts.terms(), heads, {row_flags(apart, parts.tokens), causal},
      [&](int head, Scalar* terms, Scalar* logits) { return head_terms(parts, head, terms, logits); });
}

template <typename Scalar>
Gauge<Scalar> gauge_in(const Value& gauge) {
  Gauge<Scalar> result{static_cast<GaugeKind>(gauge["kind"].as<int>()), {}, integers_in(gauge["apart"])};
  if (result.kind == GaugeKind::means) result.means = matrix_in<Scalar>(gauge["means"]);
  return result;
}

}  // namespace superpose
