// How token rows and position rows become the rows that the first layer reads, and the gradient of that.
//
// With e = E[t], times sqrt(d) if options say so, and p = P[i], both rows:
//
//   add, every_layer     e + p
//   concat, concat_wide  [e | p]
//   project              [e | p] W_f, which is e A + p B with W_f = [A; B]
//   gate                 g e + (1 - g) p, channel by channel, g = sigmoid([e | p] W_g)
//   row_gate             the same with one g for the whole row
//   film                 e (1 + p W_gamma) + p W_beta (arXiv 1709.07871)
//   multiply             e (1 + p)
//
// and e alone under all other schemes. What a weight makes of whole tables is computed once per step, so a
// token costs a few vector operations whatever the scheme.
#pragma once

#include "numeric/product.h"
#include "training/kernels.h"
#include "training/options.h"
#include "training/parameters.h"

namespace superpose {

template <typename Scalar>
class Fusion {
 public:
  // For at most `most` tokens at once.
  Fusion(const ModelOptions& options, const ParameterLayout& layout, Eigen::Index most);

  // Call it whenever parameters have changed, before what follows.
  void prepare(const Scalar* parameters, Eigen::Index n, bool backward);

  // x [count, D] of tokens [count], in whole sequences of n.
  void rows(const int* tokens, Eigen::Index count, Eigen::Index n, Scalar* x);

  // Adds the gradient of rows() to `gradient`, or keeps it for finish(), given that with respect to x.
  void backward(const int* tokens, Eigen::Index count, Eigen::Index n, const Scalar* dx, Scalar* gradient);
  // Passes what was kept on to its parameters, once per step.
  void finish(const Scalar* parameters, Eigen::Index n, Scalar* gradient);

  // The summands [d_token] and [d_position], where rows are sums or concatenations of them.
  const Scalar* token(int id) const { return tokens_ + id * options_.d_token(); }
  const Scalar* position(Eigen::Index i) const { return positions_ + i * options_.d_position(); }
  // Adds their gradients, [count, D] each, in their own channels; either may be null.
  void add_gradients(const int* tokens, Eigen::Index count, Eigen::Index n, const Scalar* by_token,
                     const Scalar* by_position, Scalar* gradient);

  // Whether any parameter here is trained.
  bool trains() const { return options_.trains_tokens() || options_.trains_positions() || weights_ >= 0; }

 private:
  // A table made from another, with the gradient with respect to it.
  struct Made {
    Scalar *rows = nullptr, *gradient = nullptr;
  };

  void make(const Scalar* from, Eigen::Index count, const Scalar* weight, Eigen::Index columns,
            const Made& to) const;
  void unmake(const Scalar* from, Eigen::Index count, const Scalar* weight, Eigen::Index columns,
              const Made& made, Scalar* d_weight, Scalar* d_from) const;
  // Where the gradients of the summands go; null when nothing needs them.
  Scalar* token_gradient(Scalar* gradient) const;
  Scalar* position_gradient(Scalar* gradient) const;

  ModelOptions options_;
  Eigen::Index e_, p_, weights_, more_weights_, gates_of_row_ = 0;
  Scalar scale_;
  AlignedBuffer<Scalar> memory_;
  const Scalar *tokens_ = nullptr, *positions_ = nullptr;
  // e scaled or e A; p B or p W_beta; 1 + p W_gamma or 1 + p; the two summands of a gate's logits.
  Made made_tokens_, made_positions_, factors_, token_gates_, position_gates_;
  Scalar *gates_ = nullptr, *d_gates_ = nullptr, *unread_ = nullptr, *turned_ = nullptr;
};

}  // namespace superpose
