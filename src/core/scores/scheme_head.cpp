#include "scores/scheme_head.h"

#include "scores/asked.h"
#include "scores/softmax.h"

namespace superpose {

SchemeHead scheme_head(const Scheme& scheme, int head, const Scheme* average) {
  const Eigen::Index n = scheme.n;
  SchemeHead result{Matrix<double>(scheme.terms.size(), n * n), Matrix<double>(n, n), {}, {}, 0};
  result.residual = scheme_head_terms(scheme, head, result.terms.data(), result.logits.data());
  if (average) {
    result.terms.resize(kAsked, n * n);
    scheme_asked(scheme, *average, head, result.terms.data());
    const Matrix<double> sum = result.terms.colwise().sum();
    result.residual =
        n ? (sum - ConstMatrixMap<double>(result.logits.data(), 1, n * n)).cwiseAbs().maxCoeff() : 0;
  }
  result.weights = result.logits;
  softmax_rows(result.weights, scheme.causal);
  result.covariances = row_centred_covariances(result.terms.data(), static_cast<int>(result.terms.rows()),
                                               result.logits.data(), n, {{}, scheme.causal});
  return result;
}

}  // namespace superpose
