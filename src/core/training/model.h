// The model of options.h: its logits, its loss and, derived by hand, its gradient.
//
// A batch is processed in parts of a few sequences, each forwards and then backwards at once, so that what
// the forward leaves for the gradient is still in the L1 cache. All memory is taken when the model is made.
#pragma once

#include <array>
#include <vector>

#include "numeric/matrix.h"
#include "numeric/product.h"
#include "training/fusion.h"
#include "training/kernels.h"
#include "training/options.h"
#include "training/parameters.h"
#include "training/tasks.h"

namespace superpose {

// The terms of the first layer's score: the query's part, then the key's.
enum Term { token_token, token_position, position_token, position_position, kTermCount };

// Which terms a score keeps; all, unless terms are cut.
using Terms = std::array<bool, kTermCount>;
constexpr Terms kAllTerms{true, true, true, true};

struct Evaluation {
  double loss = 0;  // mean over the targets
  int targets = 0;
  int right = 0;  // targets with the largest logit; of equal logits the first counts

  double accuracy() const { return static_cast<double>(right) / targets; }
};

// What counts as constant in the first layer's parts, sequence by sequence: nothing, or each part's mean over
// the sequence, weighted so that the rest sums to zero over it (scores/gauge.h, with no rows apart).
enum class TermGauge { raw, canonical };

// For one head: <T~_t, S~> and |S~|^2 over all sequences, rows centred over the keys they may read.
struct TermCovariances {
  std::array<double, kTermCount> terms{};
  double scores = 0;
  double largest = 0;  // |term|
};

template <typename Scalar>
class Model {
 public:
  explicit Model(const ModelOptions& options);

  const ModelOptions& options() const { return options_; }
  const ParameterLayout& layout() const { return layout_; }

  // In the functions below, the first layer's scores are the sum of the kept terms. Fewer than all are
  // allowed only where options().has_terms(). With none kept, attention is uniform.

  // The mean cross-entropy over the batch's targets, and its gradient in the layout of the parameters, 0
  // for those that are not trained. A batch has ids in range, n at most the rows, and at least one target.
  double loss_and_gradient(const Scalar* parameters, const Batch& batch, Scalar* gradient,
                           const Terms& kept = kAllTerms);

  // [sequences * n, classes].
  void logits(const Scalar* parameters, const Batch& batch, Scalar* out, const Terms& kept = kAllTerms);

  // A layer's attention weights, layers counted from 0: [sequences, H, n, n], rows sum to 1.
  void attention(const Scalar* parameters, const Batch& batch, int layer, Scalar* out,
                 const Terms& kept = kAllTerms);

  Evaluation evaluate(const Scalar* parameters, const Batch& batch, const Terms& kept = kAllTerms);

  // Covariances of the four terms with the scores, for each head of the first layer; only where
  // options().has_terms(); canonical not for `untied`. Terms that are not kept are 0, as are the cross terms of
  // `untied`, and everything where scores vary by rounding alone. In the canonical gauge, terms with constants are
  // left out.
  void term_covariances(const Scalar* parameters, const Batch& batch, TermCovariances* heads,
                        const Terms& kept = kAllTerms, TermGauge gauge = TermGauge::raw);

 private:
  // The places of a layer's parameters in the list; that of the gain only if there is one.
  struct LayerPlaces {
    Eigen::Index g1, qkv, o;
  };
  // What forward() leaves for backward(), and matrices made from parameters once per step.
  struct Layer {
    Scalar *x, *normalized, *inverse, *qkv, *turned, *weights, *mixed;
    // x + p, normalized, where queries and keys read that.
    Scalar *normalized_sum, *inverse_sum;
    Scalar *qkv_in, *qkv_back, *o_back;
    Scalar* qkv_gradient;
  };

  void take_memory();
  void prepare(const Scalar* parameters, Eigen::Index n, bool backward);
  void make_bias(const Scalar* parameters, Eigen::Index n, bool positions);
  void forward(const Scalar* parameters, const int* tokens, Eigen::Index count, Eigen::Index n,
               const Terms& kept);
  void add_positions(Eigen::Index count, Eigen::Index n, Scalar* x) const;
  void project_in(const Layer& layer, Eigen::Index count, Eigen::Index n) const;
  void attend(const Layer& layer, Eigen::Index sequences, Eigen::Index n, bool by_terms, const Terms& kept);
  void split_terms(const int* tokens, Eigen::Index count, Eigen::Index n);
  void add_terms(Eigen::Index sequence, Eigen::Index head, Eigen::Index n, const Terms& kept,
                 Block<Scalar> scores);
  void move_means_into_constant(Eigen::Index sequences, Eigen::Index n);
  void turn(Scalar* qkv, Eigen::Index count, Eigen::Index n, Scalar direction) const;
  void backward(const int* tokens, Eigen::Index count, Eigen::Index n, Scalar* gradient, const Terms& kept);
  void attend_backward(const Layer& layer, Eigen::Index sequences, Eigen::Index n, bool by_terms,
                       const Terms& kept);
  void terms_backward(Eigen::Index sequence, Eigen::Index head, Eigen::Index n, const Terms& kept);
  template <typename Visit>
  void each_score(const Scalar* parameters, const Batch& batch, const Terms& kept, TermGauge gauge,
                  const Visit& visit);
  void split_backward(Eigen::Index count, Scalar* d_sum);
  bool splits(const Terms& kept) const { return kept != kAllTerms && options_.sums(); }
  // Whether queries and keys read x + p while values read x.
  bool reads_sum() const { return options_.scheme == TrainingScheme::qk; }
  void finish(const Scalar* parameters, Eigen::Index n, Scalar* gradient);
  // 1 / sigma of the rows that the first layer's queries and keys read.
  const Scalar* inverse_of_scores() const {
    return reads_sum() ? layers_[0].inverse_sum : layers_[0].inverse;
  }
  Eigen::Index sequences_of_part(Eigen::Index n) const;
  const Scalar* gain(const Scalar* parameters, Eigen::Index place) const;

  ModelOptions options_;
  ParameterLayout layout_;
  Fusion<Scalar> fusion_;
  Eigen::Index p_ = 0, u_q_ = 0, u_k_ = 0, t5_ = 0, gf_ = 0, w_u_ = 0;
  std::vector<LayerPlaces> places_;
  std::vector<Layer> layers_;
  AlignedBuffer<Scalar> memory_;
  // For one part of a batch.
  Scalar *x_out_, *normalized_out_, *inverse_out_, *logits_, *dx_, *d_sum_, *d_normalized_, *d_mixed_,
      *d_qkv_, *d_scores_;
  Scalar *unembedding_in_, *unembedding_back_, *unembedding_gradient_;
  // What is added to the scores, and its gradient, [H, n, n].
  Scalar *bias_, *bias_gradient_;
  // For the positions in `untied`: p U_q scaled, p U_k, the latter transposed; their gradients; U transposed.
  Scalar *position_queries_, *position_keys_, *keys_turned_, *d_position_queries_, *d_position_keys_,
      *u_turned_;
  // RoPE's cosines and sines, [L, d_h / 2] each.
  Scalar *cosines_, *sines_;
  // Normalized e and p apart, and the queries and keys of each, [count, 2D]; then their gradients, with
  // d_parts_ finally those of e and p themselves.
  Scalar *parts_[2], *queries_keys_[2], *d_parts_[2], *d_queries_keys_[2], *scores_of_terms_, *keys_of_terms_;
  std::vector<double> slopes_;  // of ALiBi
  bool has_bias_, trains_bias_;
  double content_scale_;
};

}  // namespace superpose
