// How token rows and position rows become the rows that the first layer reads, and the gradient of that.
//
// With e = E[t], times sqrt(d) if options say so, and p = P[i], both rows:
//
//   add                  e + p
//   concat, concat_wide  [e | p]
//   project              [e | p] W_f, which is e A + p B with W_f = [A; B]
//   multiply             e (1 + p)
//
// and e alone under all other schemes. What a weight makes of whole tables is computed once per step, so a
// token costs a few vector operations whatever the scheme.
#pragma once

#include "training/options.h"
#include "training/parameters.h"

namespace superpose {

template <typename Scalar>
class Fusion {
 public:
  Fusion(const ModelOptions& options, const ParameterLayout& layout);

  // Call it whenever parameters have changed, before what follows.
  void prepare(const Scalar* parameters, Eigen::Index n);

  // x [count, D] of tokens [count], in whole sequences of n.
  void rows(const int* tokens, Eigen::Index count, Eigen::Index n, Scalar* x) const;

  // Keeps the gradient of rows(), given that with respect to x, for finish().
  void backward(const int* tokens, Eigen::Index count, Eigen::Index n, const Scalar* dx);
  // Passes what was kept on to its parameters, once per step.
  void finish(const Scalar* parameters, Eigen::Index n, Scalar* gradient);

  // The rows [d_token] and [d_position] that are added or concatenated.
  const Scalar* token(int id) const { return &tokens_(id, 0); }
  const Scalar* position(Eigen::Index i) const { return &positions_(i, 0); }
  // Keeps their gradients, [count, D] each, in their own channels; either may be null.
  void add_gradients(const int* tokens, Eigen::Index count, Eigen::Index n, const Scalar* by_token,
                     const Scalar* by_position);

  // Whether any parameter here is trained.
  bool trains() const { return options_.trains_tokens() || options_.trains_positions() || w_f_; }

 private:
  MatrixMap<Scalar> of(const Parameter* parameter, Scalar* list) const {
    return {list + parameter->offset, parameter->rows, parameter->columns};
  }
  ConstMatrixMap<Scalar> of(const Parameter* parameter, const Scalar* list) const {
    return {list + parameter->offset, parameter->rows, parameter->columns};
  }

  ModelOptions options_;
  ParameterLayout layout_;
  const Parameter *e_, *p_, *w_f_;
  Scalar scale_;
  // The tables as they are read, scaled or projected, and the gradients with respect to them.
  Matrix<Scalar> tokens_, positions_, d_tokens_, d_positions_;
};

}  // namespace superpose
