#include "training/fusion.h"

#include "training/kernels.h"

namespace superpose {

using Eigen::Index;

template <typename Scalar>
Fusion<Scalar>::Fusion(const ModelOptions& options, const ParameterLayout& layout)
    : options_(options),
      layout_(layout),
      e_(layout_.find("E")),
      p_(layout_.find("P")),
      w_f_(layout_.find("W_f")),
      scale_(static_cast<Scalar>(options.token_scale())) {
  tokens_.setZero(options.vocabulary, options.d_token());
  positions_.setZero(options.rows, options.d_position());
  d_tokens_ = tokens_;
  d_positions_ = positions_;
}

template <typename Scalar>
void Fusion<Scalar>::prepare(const Scalar* parameters, Index n) {
  tokens_ = scale_ * of(e_, parameters);
  if (p_) positions_.topRows(n) = of(p_, parameters).topRows(n);
  if (w_f_) {
    const auto weights = of(w_f_, parameters);
    tokens_ = (tokens_.lazyProduct(weights.topRows(options_.width))).eval();
    positions_.topRows(n) = (positions_.topRows(n).lazyProduct(weights.bottomRows(options_.width))).eval();
  }
  d_tokens_.setZero();
  d_positions_.setZero();
}

template <typename Scalar>
void Fusion<Scalar>::rows(const int* tokens, Index count, Index n, Scalar* x) const {
  const Index d = options_.d_model(), d_token = options_.d_token(), d_position = options_.d_position();
  MatrixMap<Scalar> rows(x, count, d);
  for (Index r = 0; r < count; ++r) {
    const auto e = tokens_.row(tokens[r]);
    rows.row(r).head(d_token) = e;
    if (options_.concatenates())
      rows.row(r).tail(d_position) = positions_.row(r % n);
    else if (options_.in_stream())
      rows.row(r) += positions_.row(r % n);
    else if (options_.scheme == TrainingScheme::multiply)
      rows.row(r).array() *= 1 + positions_.row(r % n).array();
  }
}

template <typename Scalar>
void Fusion<Scalar>::add_gradients(const int* tokens, Index count, Index n, const Scalar* by_token,
                                   const Scalar* by_position) {
  const Index d = options_.d_model(), d_token = options_.d_token(), d_position = options_.d_position();
  for (Index r = 0; r < count; ++r) {
    if (by_token) add_to<Scalar>(by_token + r * d, d_token, &d_tokens_(tokens[r], 0));
    if (by_position)
      add_to<Scalar>(by_position + r * d + d - d_position, d_position, &d_positions_(r % n, 0));
  }
}

template <typename Scalar>
void Fusion<Scalar>::backward(const int* tokens, Index count, Index n, const Scalar* dx) {
  if (options_.scheme != TrainingScheme::multiply)
    return add_gradients(tokens, count, n, dx, options_.in_stream() ? dx : nullptr);
  const ConstMatrixMap<Scalar> d_rows(dx, count, options_.d_model());
  for (Index r = 0; r < count; ++r) {
    const auto d_row = d_rows.row(r).array();
    d_tokens_.row(tokens[r]).array() += d_row * (1 + positions_.row(r % n).array());
    d_positions_.row(r % n).array() += d_row * tokens_.row(tokens[r]).array();
  }
}

template <typename Scalar>
void Fusion<Scalar>::finish(const Scalar* parameters, Index n, Scalar* gradient) {
  if (w_f_) {
    const Index d = options_.width;
    const auto weights = of(w_f_, parameters);
    auto d_weights = of(w_f_, gradient);
    d_weights.topRows(d) = scale_ * of(e_, parameters).transpose().lazyProduct(d_tokens_);
    d_weights.bottomRows(d) = of(p_, parameters).topRows(n).transpose().lazyProduct(d_positions_.topRows(n));
    d_tokens_ = d_tokens_.lazyProduct(weights.topRows(d).transpose()).eval();
    d_positions_ = d_positions_.lazyProduct(weights.bottomRows(d).transpose()).eval();
  }
  if (options_.trains_tokens()) of(e_, gradient) += scale_ * d_tokens_;
  if (options_.trains_positions()) of(p_, gradient) += d_positions_;
}

template class Fusion<float>;
template class Fusion<double>;

}  // namespace superpose
