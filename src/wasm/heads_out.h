// Hands out a score taken apart: the result of every way of taking one apart, in both modules.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "convert.h"
#include "scores/decomposition.h"
#include "scores/gauge.h"
#include "scores/shares.h"

namespace superpose {

// The chosen heads of a score taken apart. Shares leave out the rows that stand apart. Results are written
// head by head, so the module never holds more than one head's terms. `causal` affects only the shares. An
// encoder's relative bias is added to the logits and becomes a part of its own, the last.
template <typename Scalar, typename Bias = std::nullptr_t>
Value heads_out(const ProjectedParts<Scalar>& parts, const Value& heads, const std::vector<int>& apart,
                bool causal = false, const Bias& bias = nullptr) {
  const std::size_t n = parts.tokens;
  std::size_t count = parts.terms();
  if constexpr (!std::is_same_v<Bias, std::nullptr_t>) {
    if (bias.has_relative_bias()) count = (parts.parts + 1) * (parts.parts + 1);
  }
  [[maybe_unused]] const auto buckets = [&] {
    if constexpr (std::is_same_v<Bias, std::nullptr_t>)
      return nullptr;
    else
      return bias.relative_buckets(n);
  }();
  const int chosen = heads.length();
  const CountedPairs counted{row_flags(apart, parts.tokens), causal};
  Value terms = new_array<Scalar>(chosen * count * n * n);
  Value logits = new_array<Scalar>(chosen * n * n);
  Value residuals = new_array<double>(chosen);
  Value covariances = new_array<double>(chosen * count);
  Value variances = new_array<double>(chosen);
  Value shares = new_array<double>(chosen * count);

  Matrix<Scalar> head_parts(count, n * n);
  Matrix<Scalar> head_logits(n, n);
  for (int k = 0; k < chosen; ++k) {
    const int head = heads[k].as<int>();
    const Scalar residual = head_terms(parts, head, head_parts.data(), head_logits.data());
    if constexpr (!std::is_same_v<Bias, std::nullptr_t>) {
      if (count > static_cast<std::size_t>(parts.terms())) {
        make_room_for_a_part(head_parts.data(), parts.parts, n);
        bias.add_relative_bias(head, buckets, head_logits.data(), head_parts.data() + (count - 1) * n * n);
      }
    }
    const Covariances of_head =
        row_centred_covariances(head_parts.data(), count, head_logits.data(), n, counted);
    terms.copy_from(head_parts.data(), head_parts.size(), k * count * n * n);
    logits.copy_from(head_logits.data(), head_logits.size(), k * n * n);
    covariances.copy_from(of_head.terms.data(), count, k * count);
    shares.copy_from(of_head.shares.data(), count, k * count);
    residuals.set(k, static_cast<double>(residual));
    variances.set(k, of_head.logits);
  }

  Value result = Value::object();
  result.set("terms", terms);
  result.set("logits", logits);
  result.set("residuals", residuals);
  result.set("covariances", covariances);
  result.set("variances", variances);
  result.set("shares", shares);
  return result;
}

template <typename Scalar>
Value heads_out(const ProjectedParts<Scalar>& parts, const Value& heads) {
  return heads_out(parts, heads, {});
}

template <typename Scalar>
Gauge<Scalar> gauge_in(const Value& gauge) {
  Gauge<Scalar> result{static_cast<GaugeKind>(gauge["kind"].as<int>()), {}, integers_in(gauge["apart"])};
  if (result.kind == GaugeKind::means) result.means = matrix_in<Scalar>(gauge["means"]);
  return result;
}

}  // namespace superpose
