#include "training/fusion.h"

#include <algorithm>
#include <cmath>

namespace superpose {

using Eigen::Index;

template <typename Scalar>
Fusion<Scalar>::Fusion(const ModelOptions& options, const ParameterLayout& layout, Index most)
    : options_(options) {
  const auto place = [&layout](const char* name) {
    const Parameter* const found = layout.find(name);
    return found ? found->offset : -1;
  };
  using enum TrainingScheme;
  const TrainingScheme scheme = options.scheme;
  const bool gated = scheme == gate || scheme == row_gate;
  e_ = place("E"), p_ = place("P");
  weights_ = place(scheme == project ? "W_f" : gated ? "W_g" : "W_gamma");
  more_weights_ = place("W_beta");
  gates_of_row_ = scheme == gate ? options.width : scheme == row_gate ? 1 : 0;
  scale_ = static_cast<Scalar>(options.token_scale());

  const Index v = options.vocabulary, l = options.rows, d = options.width;
  Index used = 0;
  Scalar* start = nullptr;
  const auto take = [&](Scalar*& pointer, bool wanted, Index count) {
    pointer = wanted && start ? start + used : nullptr;
    used += wanted ? (count + 15) / 16 * 16 : 0;
  };
  const auto take_all = [&] {
    used = 0;
    const auto both = [&](Made& made, bool wanted, Index count) {
      take(made.rows, wanted, count);
      take(made.gradient, wanted, count);
    };
    both(made_tokens_, scheme == project || scale_ != 1, v * d);
    both(made_positions_, scheme == project || scheme == film, l * d);
    both(factors_, scheme == film || scheme == multiply, l * d);
    both(token_gates_, gated, v * gates_of_row_);
    both(position_gates_, gated, l * gates_of_row_);
    take(gates_, gated, most * d);
    take(d_gates_, gated, d);
    take(unread_, gated, d);
    take(turned_, weights_ >= 0, d * d);
  };
  take_all();
  start = memory_.at_least(used);
  std::fill(start, start + used, Scalar(0));
  take_all();
}

// to = from W, for W [D, columns] and from [count, D].
template <typename Scalar>
void Fusion<Scalar>::make(const Scalar* from, Index count, const Scalar* weight, Index columns,
                          const Made& to) const {
  const Index d = options_.width;
  superpose::multiply<Scalar>({from, d}, {weight, columns}, {count, d, columns}, {to.rows, columns});
}

// The gradients of make(), added; that of `from` unless it is null.
template <typename Scalar>
void Fusion<Scalar>::unmake(const Scalar* from, Index count, const Scalar* weight, Index columns,
                            const Made& made, Scalar* d_weight, Scalar* d_from) const {
  const Index d = options_.width;
  const Block<const Scalar> d_made{made.gradient, columns};
  const Block<Scalar> to{d_weight, columns};
  multiply_transposed<Scalar>({from, d}, d_made, {d, count, columns}, to, to);
  if (!d_from) return;
  transpose<Scalar>({weight, columns}, d, columns, {turned_, d});
  const Block<Scalar> rows{d_from, d};
  superpose::multiply<Scalar>(d_made, {turned_, d}, {count, columns, d}, rows, rows);
}

template <typename Scalar>
Scalar* Fusion<Scalar>::token_gradient(Scalar* gradient) const {
  if (options_.scheme == TrainingScheme::project) return made_tokens_.gradient;
  if (!options_.trains_tokens()) return nullptr;
  return made_tokens_.gradient ? made_tokens_.gradient : gradient + e_;
}

template <typename Scalar>
Scalar* Fusion<Scalar>::position_gradient(Scalar* gradient) const {
  if (made_positions_.gradient) return made_positions_.gradient;
  return options_.trains_positions() ? gradient + p_ : nullptr;
}

template <typename Scalar>
void Fusion<Scalar>::prepare(const Scalar* parameters, Index n, bool backward) {
  using enum TrainingScheme;
  const Index v = options_.vocabulary, d = options_.width;
  const Scalar* const e = parameters + e_;
  const Scalar* const p = options_.has_table() ? parameters + p_ : nullptr;
  const Scalar* const weights = parameters + std::max<Index>(0, weights_);
  tokens_ = made_tokens_.rows ? made_tokens_.rows : e;
  positions_ = made_positions_.rows ? made_positions_.rows : p;
  if (options_.scheme == project) {
    make(e, v, weights, d, made_tokens_);
    scale_to<Scalar>(made_tokens_.rows, scale_, v * d, made_tokens_.rows);
    make(p, n, weights + d * d, d, made_positions_);
  } else if (made_tokens_.rows) {
    scale_to<Scalar>(e, scale_, v * options_.d_token(), made_tokens_.rows);
  }
  if (options_.scheme == film) {
    make(p, n, weights, d, factors_);
    make(p, n, parameters + more_weights_, d, made_positions_);
  } else if (factors_.rows) {
    copy_to<Scalar>(p, n * d, factors_.rows);
  }
  for (Index k = 0; factors_.rows && k < n * d; ++k) factors_.rows[k] += 1;
  if (gates_of_row_) {
    make(tokens_, v, weights, gates_of_row_, token_gates_);
    make(p, n, weights + d * gates_of_row_, gates_of_row_, position_gates_);
  }
  if (!backward) return;
  const auto clear = [](const Made& made, Index count) {
    if (made.gradient) std::fill_n(made.gradient, count, Scalar(0));
  };
  clear(made_tokens_, v * d);
  clear(made_positions_, n * d);
  clear(factors_, n * d);
  clear(token_gates_, v * gates_of_row_);
  clear(position_gates_, n * gates_of_row_);
}

template <typename Scalar>
void Fusion<Scalar>::rows(const int* tokens, Index count, Index n, Scalar* x) {
  using enum TrainingScheme;
  const Index d = options_.d_model(), d_token = options_.d_token(), d_position = options_.d_position();
  for (Index r = 0; r < count; ++r) {
    Scalar* const row = x + r * d;
    const Index i = r % n;
    if (gates_of_row_) {
      Scalar* const gates = gates_ + r * d;
      sigmoid_of_sum<Scalar>(token_gates_.rows + tokens[r] * gates_of_row_,
                             position_gates_.rows + i * gates_of_row_, gates_of_row_, gates);
      if (gates_of_row_ < d) std::fill_n(gates, d, Scalar(gates[0]));
      mix<Scalar>(gates, token(tokens[r]), position(i), d, row);
      continue;
    }
    copy_to<Scalar>(token(tokens[r]), d_token, row);
    if (factors_.rows) multiply_to<Scalar>(factors_.rows + i * d, d, row);
    if (options_.concatenates())
      copy_to<Scalar>(position(i), d_position, row + d_token);
    else if (options_.in_stream() || options_.scheme == film)
      add_to<Scalar>(position(i), d, row);
  }
}

template <typename Scalar>
void Fusion<Scalar>::add_gradients(const int* tokens, Index count, Index n, const Scalar* by_token,
                                   const Scalar* by_position, Scalar* gradient) {
  const Index d = options_.d_model(), d_token = options_.d_token(), d_position = options_.d_position();
  Scalar* const of_tokens = by_token ? token_gradient(gradient) : nullptr;
  Scalar* const of_positions = by_position ? position_gradient(gradient) : nullptr;
  for (Index r = 0; r < count; ++r) {
    if (of_tokens) add_to<Scalar>(by_token + r * d, d_token, of_tokens + tokens[r] * d_token);
    if (of_positions)
      add_to<Scalar>(by_position + r * d + d - d_position, d_position, of_positions + r % n * d_position);
  }
}

template <typename Scalar>
void Fusion<Scalar>::backward(const int* tokens, Index count, Index n, const Scalar* dx, Scalar* gradient) {
  using enum TrainingScheme;
  const Index d = options_.d_model();
  if (!gates_of_row_ && !factors_.rows)
    return add_gradients(tokens, count, n, dx, options_.in_stream() ? dx : nullptr, gradient);
  Scalar* const of_tokens = token_gradient(gradient);
  Scalar* const of_positions = position_gradient(gradient);
  for (Index r = 0; r < count; ++r) {
    const Index i = r % n, t = tokens[r];
    const Scalar* const d_row = dx + r * d;
    if (factors_.rows) {
      add_product_to<Scalar>(d_row, token(tokens[r]), d, factors_.gradient + i * d);
      if (of_tokens) add_product_to<Scalar>(d_row, factors_.rows + i * d, d, of_tokens + t * d);
      if (made_positions_.gradient) add_to<Scalar>(d_row, d, of_positions + i * d);
      continue;
    }
    mix_backward<Scalar>(gates_ + r * d, d_row, token(tokens[r]), position(i), d,
                         of_tokens ? of_tokens + t * d : unread_,
                         of_positions ? of_positions + i * d : unread_, d_gates_);
    if (gates_of_row_ < d) {
      for (Index c = 1; c < d; ++c) d_gates_[0] += d_gates_[c];
    }
    add_to<Scalar>(d_gates_, gates_of_row_, token_gates_.gradient + t * gates_of_row_);
    add_to<Scalar>(d_gates_, gates_of_row_, position_gates_.gradient + i * gates_of_row_);
  }
}

template <typename Scalar>
void Fusion<Scalar>::finish(const Scalar* parameters, Index n, Scalar* gradient) {
  using enum TrainingScheme;
  const Index v = options_.vocabulary, d = options_.width;
  const Scalar* const e = parameters + e_;
  const Scalar* const p = options_.has_table() ? parameters + p_ : nullptr;
  Scalar* const d_e = options_.trains_tokens() ? gradient + e_ : nullptr;
  Scalar* const d_p = options_.trains_positions() ? gradient + p_ : nullptr;
  const Scalar* const weights = parameters + std::max<Index>(0, weights_);
  Scalar* const d_weights = gradient + std::max<Index>(0, weights_);
  if (gates_of_row_) {
    unmake(tokens_, v, weights, gates_of_row_, token_gates_, d_weights, token_gradient(gradient));
    unmake(p, n, weights + d * gates_of_row_, gates_of_row_, position_gates_, d_weights + d * gates_of_row_,
           d_p);
  }
  if (options_.scheme == project) {
    scale_to<Scalar>(made_tokens_.gradient, scale_, v * d, made_tokens_.gradient);
    unmake(e, v, weights, d, made_tokens_, d_weights, d_e);
    unmake(p, n, weights + d * d, d, made_positions_, d_weights + d * d, d_p);
  } else if (made_tokens_.gradient && d_e) {
    scale_to<Scalar>(made_tokens_.gradient, scale_, v * options_.d_token(), d_e);
  }
  if (options_.scheme == film) {
    unmake(p, n, weights, d, factors_, d_weights, d_p);
    unmake(p, n, parameters + more_weights_, d, made_positions_, gradient + more_weights_, d_p);
  } else if (factors_.gradient && d_p) {
    add_to<Scalar>(factors_.gradient, n * d, d_p);
  }
}

template class Fusion<float>;
template class Fusion<double>;

}  // namespace superpose
