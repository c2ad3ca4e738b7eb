// The model of options.h: its logits, its loss and, derived by hand, its gradient.
//
// A batch is processed in parts of a few sequences, each forwards and then backwards at once, so that what the forward
// leaves for the gradient is small.
#pragma once

#include <array>
#include <vector>

#include "numeric/matrix.h"
#include "scores/gauge.h"
#include "training/fusion.h"
#include "training/norm.h"
#include "training/options.h"
#include "training/parameters.h"
#include "training/tasks.h"

namespace superpose {

// The terms of the first layer's score: the query's part, then the key's.
enum Term { token_token, token_position, position_token, position_position };
constexpr int kTermCount = 4;
constexpr std::array<const char*, kTermCount> names(Term) {
  return {"token-token", "token-position", "position-token", "position-position"};
}

// Which terms a score keeps; all, unless terms are cut.
using Terms = std::array<bool, kTermCount>;
constexpr Terms kAllTerms{true, true, true, true};

struct Evaluation {
  double loss = 0;  // mean over the targets
  int targets = 0;
  int right = 0;  // targets with the largest logit; of equal logits the first counts

  double accuracy() const { return static_cast<double>(right) / targets; }
};

// For one head: <T~_t, S~> and |S~|^2 over all sequences, rows centred over the keys they may read.
struct TermCovariances {
  std::array<double, kTermCount> terms{};
  double scores = 0;
  double largest = 0;  // |term|
};

class Model {
 public:
  explicit Model(const ModelOptions& options);

  const ModelOptions& options() const { return options_; }

  // In the functions below, the first layer's scores are the sum of the kept terms. Fewer than all are
  // allowed only where options().has_terms(). With none kept, attention is uniform.

  // The mean cross-entropy over the batch's targets, and its gradient, 0 for what is not trained. A batch has ids in
  // range, n at most the rows, and at least one target.
  double loss_and_gradient(const Parameters& of, const Batch& batch, Parameters& gradient,
                           const Terms& kept = kAllTerms) const;

  // [sequences n, classes].
  Matrix<float> logits(const Parameters& of, const Batch& batch, const Terms& kept = kAllTerms) const;

  // A layer's attention weights, layers counted from 0: [sequences H n, n], rows sum to 1.
  Matrix<float> attention(const Parameters& of, const Batch& batch, int layer,
                          const Terms& kept = kAllTerms) const;

  Evaluation evaluate(const Parameters& of, const Batch& batch, const Terms& kept = kAllTerms) const;

  // Covariances of the four terms with the scores, for each head of the first layer; only where
  // options().has_terms(); canonical not for `tupe`. Terms that are not kept are 0, as are the cross terms of
  // `tupe`, and everything where scores vary by rounding alone. In the canonical gauge, terms with constants are
  // left out.
  std::vector<TermCovariances> term_covariances(const Parameters& of, const Batch& batch,
                                                const Terms& kept = kAllTerms,
                                                GaugeKind gauge = GaugeKind::raw) const;

 private:
  struct Made;
  struct Parts;
  struct Layer;
  struct Trace;

  Made make(const Parameters& of, Eigen::Index n, const Terms& kept) const;
  Normed read(const Matrix<float>& x) const;
  Matrix<float> read_backward(const Normed& of, const Matrix<float>& gradient) const;
  void turn(Matrix<float>& qkv, Eigen::Index n, float direction) const;
  Trace forward(const Made& made, const Batch& part, const Terms& kept) const;
  Parts split(const Made& made, const Batch& part, const Normed& summed) const;
  Matrix<float> split_backward(const Made& made, const Batch& part, const Parts& parts, const Normed& summed,
                               Made& d_made) const;
  void attend(Layer& layer, const Matrix<float>& bias, Eigen::Index n, const Parts* parts,
              const Terms& kept) const;
  Matrix<float> attend_backward(const Layer& layer, const Matrix<float>& d_mixed, Eigen::Index n,
                                Parts* parts, const Terms& kept, Matrix<float>& d_bias) const;
  void backward(const Made& made, const Batch& part, Trace& trace, const Terms& kept, Made& d_made) const;
  void add_gradient(const Parameters& of, Made& d_made, Parameters& gradient) const;

  template <typename RowsOf>
  Matrix<float> rows_of_all(const Parameters& of, const Batch& batch, const Terms& kept,
                            const RowsOf& rows_of) const;

  // Whether the first layer's scores are made term by term.
  bool splits(const Terms& kept) const { return kept != kAllTerms && options_.sums(); }
  // Whether queries and keys read x + p while values read x.
  bool reads_sum() const { return options_.scheme == TrainingScheme::add_to_queries_keys; }

  ModelOptions options_;
  Matrix<float> cosines_, sines_;  // of RoPE, [L, d_h / 2]
};

}  // namespace superpose
