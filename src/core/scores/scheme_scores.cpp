#include "scores/scheme_scores.h"

#include "scores/anova.h"
#include "scores/softmax.h"

namespace superpose {
namespace {

// The same input with the mean token at every place, from which scheme_anova_terms() takes means.
SchemeInput with_mean_token(SchemeInput input) {
  if (input.content.rows() == 0) return input;
  const Matrix<double> mean = input.content.colwise().mean();
  input.content.rowwise() = mean.row(0);
  return input;
}

}  // namespace

SchemeScores scheme_scores(const SchemeInfo& info, const SchemeInput& input, const std::vector<int>& heads,
                           bool anova) {
  Scheme scheme = info.build(input);
  scheme.causal = input.causal;
  const Scheme average = anova ? info.build(with_mean_token(input)) : Scheme();
  SchemeScores result;
  if (anova) {
    const auto all = names(AnovaTerm());
    result.term_names = {all.begin(), all.end()};
  } else {
    for (const ScoreTerm& term : scheme.terms) result.term_names.emplace_back(term.name);
  }
  const Eigen::Index n = scheme.n, chosen = heads.size(), count = result.term_names.size();
  result.terms.resize(chosen * count, n * n);
  result.logits.resize(chosen, n * n);
  result.weights.resize(chosen, n * n);
  result.residuals.resize(chosen);
  result.covariances.resize(chosen, count);
  result.variances.resize(chosen);
  result.shares.resize(chosen, count);
  Matrix<double> scheme_terms(scheme.terms.size(), n * n), weights(n, n);
  for (Eigen::Index k = 0; k < chosen; ++k) {
    auto terms = result.terms.middleRows(k * count, count);
    double* const logits = result.logits.data() + k * n * n;
    result.residuals[k] = scheme_head_terms(scheme, heads[k], scheme_terms.data(), logits);
    if (anova) {
      scheme_anova_terms(scheme, average, heads[k], terms.data());
      if (n) result.residuals[k] = (terms.colwise().sum() - result.logits.row(k)).cwiseAbs().maxCoeff();
    } else {
      terms = scheme_terms;
    }
    weights = ConstMatrixMap<double>(logits, n, n);
    softmax_rows(weights, scheme.causal);
    result.weights.row(k) = ConstMatrixMap<double>(weights.data(), 1, n * n);
    const Covariances covariances =
        row_centred_covariances(terms.data(), static_cast<int>(count), logits, n, {{}, scheme.causal});
    result.covariances.row(k) = covariances.terms;
    result.shares.row(k) = covariances.shares;
    result.variances[k] = covariances.logits;
  }
  return result;
}

double scheme_scores_bytes(const SchemeInfo& info, const SchemeShape& shape, int chosen, bool anova,
                           double part_values) {
  const double n = shape.positions, own_terms = static_cast<double>(info.terms.size());
  const double terms = anova ? static_cast<double>(names(AnovaTerm()).size()) : own_terms;
  const double results = chosen * (terms + 2) * n * n;
  const double of_one_head = (2 * terms + (anova ? own_terms : 0) + 6) * n * n + own_terms * n * n;
  const double values = n * shape.d_model + part_values + info.work(shape);
  // The analysis of variance builds a second scheme of the same size, from the mean token.
  const double schemes = (anova ? 2 : 1) * (4 * values + 2 * n * shape.heads * shape.d_head);
  return bytes_of_doubles(results + of_one_head + schemes);
}

}  // namespace superpose
