// The model of options.h: its logits, its loss and, derived by hand, its gradient.
//
// A batch is processed in parts of a few sequences, each forwards and then backwards at once, so that what
// the forward stores for the gradient is small.
#pragma once

#include <array>
#include <vector>

#include "numeric/matrix.h"
#include "scores/gauge.h"
#include "training/fusion.h"
#include "training/options.h"
#include "training/parameters.h"
#include "training/product.h"
#include "training/tasks.h"

namespace superpose {

// The terms of the first layer's score: the query's part, then the key's.
enum Term { token_token, token_position, position_token, position_position };
constexpr int kTermCount = 4;
constexpr std::array<const char*, kTermCount> names(Term) {
  return {"token-token", "token-position", "position-token", "position-position"};
}

// Which terms a score includes.
using Terms = std::array<bool, kTermCount>;
constexpr Terms kAllTerms{true, true, true, true};

struct Evaluation {
  double loss = 0;  // mean over the targets
  int targets = 0;
  int right = 0;  // targets with the largest logit; of equal logits the first counts

  double accuracy() const { return static_cast<double>(right) / targets; }
};

// <T~_t, S~> of each term with the score and |S~|^2, for each sequence and head, sequence by sequence:
// shares.h.
struct TermCovariances {
  Matrix<double> terms;   // [sequences H, kTermCount]
  Vector<double> scores;  // [sequences H]
};

class Model {
 public:
  explicit Model(const ModelOptions& options);

  const ModelOptions& options() const { return options_; }

  // In the functions below, the first layer's scores are the sum of the included terms. Fewer than all terms
  // are allowed only where options().has_terms(). With none, attention is uniform.

  // The mean cross-entropy over the batch's targets, and its gradient, which is 0 for parameters that are not
  // trained. The batch has ids in range, n at most the rows of P, and at least one target.
  double loss_and_gradient(const Parameters& parameters, const Batch& batch, Parameters& gradient,
                           const Terms& terms = kAllTerms) const;

  // [sequences n, classes]
  Matrix<float> logits(const Parameters& parameters, const Batch& batch,
                       const Terms& terms = kAllTerms) const;

  // A layer's attention weights, layers counted from 0: [sequences H n, n], rows sum to 1.
  Matrix<float> attention(const Parameters& parameters, const Batch& batch, int layer,
                          const Terms& terms = kAllTerms) const;

  Evaluation evaluate(const Parameters& parameters, const Batch& batch, const Terms& terms = kAllTerms) const;

  // Covariances of the first layer's terms with its scores, over the keys that each query may read; only
  // where options().has_terms(), and in the canonical gauge not for `tupe`. Terms that are not included are
  // 0, as are the cross terms of `tupe`, and everything where scores vary by rounding alone. In the canonical
  // gauge, terms with constants are left out.
  TermCovariances term_covariances(const Parameters& parameters, const Batch& batch,
                                   const Terms& terms = kAllTerms, GaugeKind gauge = GaugeKind::raw) const;

 private:
  struct Derived;
  struct Normalized;
  struct Scores;
  struct Factor;
  struct Layer;
  struct Trace;

  Derived derive(const Parameters& parameters, Eigen::Index n) const;
  std::vector<Scores> choose_scores(const Terms& terms) const;
  Normalized normalize(const Matrix<float>& x) const;
  Matrix<float> normalize_backward(const Normalized& normalized, const Matrix<float>& gradient) const;
  void rotate(Matrix<float>& queries_keys, Eigen::Index n, float direction) const;

  Factor factor(const Derived& derived, int layer, const Matrix<float>& rows, Eigen::Index n) const;
  std::vector<Factor> part_factors(const Derived& derived, const Batch& part, const Normalized& sum) const;
  Trace forward(const Derived& derived, const Batch& part, const std::vector<Scores>& scores) const;
  void attend(const Derived& derived, const Scores& scores, Eigen::Index n, Layer& layer) const;

  void backward(const Derived& derived, const Batch& part, const std::vector<Scores>& scores, Trace& trace,
                Derived& d_derived) const;
  Matrix<float> attend_backward(const Scores& scores, const Matrix<float>& d_mixed, Eigen::Index n,
                                Layer& layer, Matrix<float>& d_bias) const;
  Matrix<float> factor_backward(const Derived& derived, int layer, const Matrix<float>& rows,
                                const Factor& factor, Derived& d_derived) const;
  Matrix<float> part_factors_backward(const Derived& derived, const Batch& part,
                                      const std::vector<Factor>& factors, const Normalized& sum,
                                      Derived& d_derived) const;
  void add_gradient(const Parameters& parameters, Derived& d_derived, Parameters& gradient) const;

  template <typename RowsOf>
  Matrix<float> rows_of_all(const Parameters& parameters, const Batch& batch, const Terms& terms,
                            const RowsOf& rows_of) const;

  // Whether queries and keys read x + p while values read x.
  bool scores_read_sum() const { return options_.scheme == TrainingScheme::add_to_queries_keys; }

  ModelOptions options_;
  Matrix<float> cosines_, sines_;  // of RoPE, [L, d_h / 2]
};

}  // namespace superpose
