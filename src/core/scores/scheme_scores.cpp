#include "scores/scheme_scores.h"

#include "scores/asked.h"
#include "scores/softmax.h"

namespace superpose {
namespace {

// The same with the mean token at every place: what scheme_asked() takes means from.
SchemeInput with_mean_token(SchemeInput input) {
  if (input.content.rows() == 0) return input;
  const Matrix<double> mean = input.content.colwise().mean();
  input.content.rowwise() = mean.row(0);
  return input;
}

}  // namespace

SchemeScores scheme_scores(const SchemeInfo& info, const SchemeInput& input, const std::vector<int>& heads,
                           bool asked) {
  Scheme scheme = info.build(input);
  scheme.causal = input.causal;
  const Scheme average = asked ? info.build(with_mean_token(input)) : Scheme();
  SchemeScores found;
  if (asked) {
    const auto all = names(Asked());
    found.term_names = {all.begin(), all.end()};
  } else {
    for (const ScoreTerm& term : scheme.terms) found.term_names.push_back(term.name);
  }
  const Eigen::Index n = scheme.n, chosen = heads.size(), count = found.term_names.size();
  found.terms.resize(chosen * count, n * n);
  found.logits.resize(chosen, n * n);
  found.weights.resize(chosen, n * n);
  found.residuals.resize(chosen);
  found.covariances.resize(chosen, count);
  found.variances.resize(chosen);
  found.shares.resize(chosen, count);
  Matrix<double> own(scheme.terms.size(), n * n), weights(n, n);
  for (Eigen::Index k = 0; k < chosen; ++k) {
    auto terms = found.terms.middleRows(k * count, count);
    double* const logits = found.logits.data() + k * n * n;
    found.residuals[k] = scheme_head_terms(scheme, heads[k], own.data(), logits);
    if (asked) {
      scheme_asked(scheme, average, heads[k], terms.data());
      if (n) found.residuals[k] = (terms.colwise().sum() - found.logits.row(k)).cwiseAbs().maxCoeff();
    } else {
      terms = own;
    }
    weights = ConstMatrixMap<double>(logits, n, n);
    softmax_rows(weights, scheme.causal);
    found.weights.row(k) = ConstMatrixMap<double>(weights.data(), 1, n * n);
    const Covariances covariances =
        row_centred_covariances(terms.data(), static_cast<int>(count), logits, n, {{}, scheme.causal});
    found.covariances.row(k) = covariances.terms;
    found.shares.row(k) = covariances.shares;
    found.variances[k] = covariances.logits;
  }
  return found;
}

}  // namespace superpose
