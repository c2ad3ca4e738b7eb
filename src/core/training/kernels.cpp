// Loops run over whole vectors, and handle the last few entries as scalars. So any size is right, and
// multiples of four are fast.
#include "training/kernels.h"

#include <algorithm>
#include <cmath>

#include "numeric/lanes.h"

namespace superpose {

using Eigen::Index;

template <typename Scalar>
void softmax_backward(Block<const Scalar> weights, Block<Scalar> gradient, Index count, Index n) {
  using S = Simd<Scalar>;
  for (Index i = 0; i < count; ++i) {
    const Scalar* const w = weights.row(i);
    Scalar* const g = gradient.row(i);
    const Scalar mean = sum_of_products(w, g, n);
    const auto less = S::all(mean);
    along<Scalar>(
        n, [&](Index j) { S::store(g + j, S::load(w + j) * (S::load(g + j) - less)); },
        [&](Index j) { g[j] = w[j] * (g[j] - mean); });
  }
}

template <typename Scalar>
void layer_norm(const Scalar* x, Index count, Index d, Scalar* normalized, Scalar* inverse) {
  using S = Simd<Scalar>;
  const Scalar per = Scalar(1) / static_cast<Scalar>(d);
  for (Index i = 0; i < count; ++i, x += d, normalized += d) {
    Lanes<Scalar> sums{};
    Scalar rest = 0;
    along<Scalar>(
        d, [&](Index c) { sums += S::load(x + c); }, [&](Index c) { rest += x[c]; });
    const Scalar mean = (sum(sums) + rest) * per;
    const auto less = S::all(mean);
    sums = Lanes<Scalar>{};
    rest = 0;
    along<Scalar>(
        d,
        [&](Index c) {
          const auto centred = S::load(x + c) - less;
          sums += centred * centred;
          S::store(normalized + c, centred);
        },
        [&](Index c) {
          normalized[c] = x[c] - mean;
          rest += normalized[c] * normalized[c];
        });
    inverse[i] = 1 / std::sqrt((sum(sums) + rest) * per + Scalar(1e-5));
    scale_to(normalized, inverse[i], d, normalized);
  }
}

template <typename Scalar>
void add_layer_norm_backward(const Scalar* gradient, const Scalar* normalized, const Scalar* inverse,
                             Index count, Index d, Scalar* dx) {
  using S = Simd<Scalar>;
  const Scalar per = Scalar(1) / static_cast<Scalar>(d);
  for (Index i = 0; i < count; ++i, gradient += d, normalized += d, dx += d) {
    Lanes<Scalar> sums{}, products{};
    Scalar rest = 0, rest_of_products = 0;
    along<Scalar>(
        d,
        [&](Index c) {
          const auto g = S::load(gradient + c);
          sums += g;
          products += g * S::load(normalized + c);
        },
        [&](Index c) {
          rest += gradient[c];
          rest_of_products += gradient[c] * normalized[c];
        });
    const Scalar mean = (sum(sums) + rest) * per, along_row = (sum(products) + rest_of_products) * per;
    const auto means = S::all(mean), along_rows = S::all(along_row), factors = S::all(inverse[i]);
    along<Scalar>(
        d,
        [&](Index c) {
          const auto g = S::load(gradient + c) - means - S::load(normalized + c) * along_rows;
          S::store(dx + c, S::load(dx + c) + factors * g);
        },
        [&](Index c) { dx[c] += inverse[i] * (gradient[c] - mean - normalized[c] * along_row); });
  }
}

template <typename Scalar>
double cross_entropy(Scalar* logits, const int* targets, Index count, Index classes, double total) {
  double loss = 0;
  for (Index i = 0; i < count; ++i, logits += classes) {
    if (targets[i] < 0) {
      std::fill(logits, logits + classes, Scalar(0));
      continue;
    }
    const Scalar aim = logits[targets[i]];
    const auto [most, whole] = to_exponentials(logits, classes);
    loss += std::log(static_cast<double>(whole)) + (static_cast<double>(most) - aim);
    scale_to<Scalar>(logits, static_cast<Scalar>(1 / (whole * total)), classes, logits);
    logits[targets[i]] -= static_cast<Scalar>(1 / total);
  }
  return loss;
}

template <typename Scalar>
void copy_to(const Scalar* x, Index count, Scalar* y) {
  using S = Simd<Scalar>;
  along<Scalar>(
      count, [&](Index c) { S::store(y + c, S::load(x + c)); }, [&](Index c) { y[c] = x[c]; });
}

template <typename Scalar>
void add_to(const Scalar* x, Index count, Scalar* y) {
  using S = Simd<Scalar>;
  along<Scalar>(
      count, [&](Index c) { S::store(y + c, S::load(y + c) + S::load(x + c)); },
      [&](Index c) { y[c] += x[c]; });
}

template <typename Scalar>
void multiply_to(const Scalar* x, Index count, Scalar* y) {
  using S = Simd<Scalar>;
  along<Scalar>(
      count, [&](Index c) { S::store(y + c, S::load(y + c) * S::load(x + c)); },
      [&](Index c) { y[c] *= x[c]; });
}

template <typename Scalar>
void scale_to(const Scalar* x, Scalar a, Index count, Scalar* y) {
  using S = Simd<Scalar>;
  const auto factor = S::all(a);
  along<Scalar>(
      count, [&](Index c) { S::store(y + c, S::load(x + c) * factor); }, [&](Index c) { y[c] = x[c] * a; });
}

template <typename Scalar>
Scalar sum_of_products(const Scalar* x, const Scalar* y, Index count) {
  using S = Simd<Scalar>;
  Lanes<Scalar> sums{};
  Scalar rest = 0;
  along<Scalar>(
      count, [&](Index c) { sums += S::load(x + c) * S::load(y + c); },
      [&](Index c) { rest += x[c] * y[c]; });
  return sum(sums) + rest;
}

template <typename Scalar>
void adam(const AdamStep<Scalar>& step, const Scalar* gradient, Index count, Scalar* parameters,
          Scalar* first, Scalar* second) {
  using S = Simd<Scalar>;
  const Scalar keep = 1 - step.rate * step.decay;
  const auto one = [&](auto g, auto& theta, auto& m, auto& v, const auto& root) {
    g *= step.clip;
    m = step.beta1 * m + (1 - step.beta1) * g;
    v = step.beta2 * v + (1 - step.beta2) * g * g;
    theta = theta * keep - step.rate * step.correction1 * m / (root(v * step.correction2) + step.epsilon);
  };
  along<Scalar>(
      count,
      [&](Index c) {
        auto theta = S::load(parameters + c), m = S::load(first + c), v = S::load(second + c);
        one(S::load(gradient + c), theta, m, v, [](auto x) { return square_root(x); });
        S::store(parameters + c, theta), S::store(first + c, m), S::store(second + c, v);
      },
      [&](Index c) {
        one(gradient[c], parameters[c], first[c], second[c], [](auto x) { return std::sqrt(x); });
      });
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                        \
  template void softmax_backward(Block<const Scalar>, Block<Scalar>, Index, Index);                          \
  template void layer_norm(const Scalar*, Index, Index, Scalar*, Scalar*);                                   \
  template void add_layer_norm_backward(const Scalar*, const Scalar*, const Scalar*, Index, Index, Scalar*); \
  template double cross_entropy(Scalar*, const int*, Index, Index, double);                                  \
  template void copy_to(const Scalar*, Index, Scalar*);                                                      \
  template void add_to(const Scalar*, Index, Scalar*);                                                       \
  template void multiply_to(const Scalar*, Index, Scalar*);                                                  \
  template void scale_to(const Scalar*, Scalar, Index, Scalar*);                                             \
  template Scalar sum_of_products(const Scalar*, const Scalar*, Index);                                      \
  template void adam(const AdamStep<Scalar>&, const Scalar*, Index, Scalar*, Scalar*, Scalar*);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
