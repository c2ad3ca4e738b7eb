#include "training/asked_terms.h"

#include <limits>
#include <vector>

#include "scores/shares.h"

namespace superpose {
namespace {

using Eigen::Index;

// The first layer's attention of n tokens, as one of the schemes of scores/schemes.h.
template <typename Scalar>
Scheme<double> scheme_of(const Model<Scalar>& model, const Scalar* parameters, const Matrix<double>& rows) {
  const ModelOptions& options = model.options();
  const Index d = options.d_model();
  // Queries are scaled already.
  Content<double> content{rows.leftCols(d), rows.rightCols(d), options.heads};
  Scheme<double> scheme;
  if (options.scheme == TrainingScheme::rope) {
    scheme = rope(std::move(content), Layout::interleaved, options.base, 1.0);
  } else if (options.scheme == TrainingScheme::alibi) {
    scheme = alibi(std::move(content), 1.0, options.causal);
  } else if (options.scheme == TrainingScheme::t5) {
    // A number for each offset, which DIET-REL counts the other way.
    const Parameter& t5 = *model.layout().find("T5");
    const Matrix<double> bias =
        ConstMatrixMap<Scalar>(parameters + t5.offset, t5.rows, t5.columns).template cast<double>();
    const Matrix<double> turned = bias.rowwise().reverse().transpose();
    scheme = diet_rel(std::move(content), turned, {}, 1.0);
  } else {
    scheme = none(std::move(content), 1.0);
  }
  scheme.causal = options.causal;
  return scheme;
}

// Calls visit(sequence, head, terms) with the terms [n, n] of each head, one after another.
template <typename Scalar, typename Visit>
void each_head(Model<Scalar>& model, const Scalar* parameters, const Batch& batch, const Visit& visit) {
  const Index n = batch.n;
  const Matrix<double> of_tokens = model.token_queries_keys(parameters);
  const Index places = batch.sequences * n;
  Matrix<double> rows(places, of_tokens.cols());
  for (Index k = 0; k < places; ++k) rows.row(k) = of_tokens.row(batch.tokens[k]);
  const Matrix<double> mean = rows.colwise().mean();
  const Scheme<double> average = scheme_of(model, parameters, mean.replicate(n, 1));
  std::vector<double> terms(kAsked * n * n);
  for (int s = 0; s < batch.sequences; ++s) {
    const Scheme<double> scheme = scheme_of(model, parameters, rows.middleRows(s * n, n));
    for (int h = 0; h < model.options().heads; ++h) {
      scheme_asked(scheme, average, h, terms.data());
      visit(s, h, terms.data());
    }
  }
}

}  // namespace

template <typename Scalar>
Matrix<double> asked_shares(Model<Scalar>& model, const Scalar* parameters, const Batch& batch) {
  const Index n = batch.n, heads = model.options().heads, size = n * n;
  const CountedPairs counted{{}, model.options().causal};
  Matrix<double> covariances = Matrix<double>::Zero(heads, kAsked);
  Vector<double> variances = Vector<double>::Zero(heads);
  std::vector<double> scores(size);
  each_head(model, parameters, batch, [&](Index, Index h, const double* terms) {
    std::fill(scores.begin(), scores.end(), 0.0);
    for (int t = 0; t < kAsked; ++t) {
      for (Index at = 0; at < size; ++at) scores[at] += terms[t * size + at];
    }
    const Covariances found = row_centred_covariances(terms, kAsked, scores.data(), n, counted);
    covariances.row(h) += found.terms;
    variances[h] += found.logits;
  });
  for (Index h = 0; h < heads; ++h) covariances.row(h) /= variances[h];
  return covariances;
}

template <typename Scalar>
Evaluation evaluate_asked(Model<Scalar>& model, const Scalar* parameters, const Batch& batch,
                          const AskedTerms& kept) {
  const Index n = batch.n, heads = model.options().heads, size = n * n;
  std::vector<Scalar> scores(batch.sequences * heads * size);
  each_head(model, parameters, batch, [&](Index s, Index h, const double* terms) {
    Scalar* const to = scores.data() + (s * heads + h) * size;
    for (Index at = 0; at < size; ++at) {
      double sum = 0;
      for (int t = 0; t < kAsked; ++t) sum += kept[t] ? terms[t * size + at] : 0;
      to[at] = static_cast<Scalar>(sum);
    }
  });
  return model.evaluate_scores(parameters, batch, scores.data());
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                \
  template Matrix<double> asked_shares(Model<Scalar>&, const Scalar*, const Batch&); \
  template Evaluation evaluate_asked(Model<Scalar>&, const Scalar*, const Batch&, const AskedTerms&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
