// Loops run over whole vectors, and handle the last few entries as scalars. So any size is right, and
// multiples of four are fast.
#include "training/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "numeric/simd.h"

#ifdef __wasm_relaxed_simd__
#include <wasm_simd128.h>
#endif

namespace superpose {
namespace {

using Eigen::Index;

template <typename Scalar>
using Lanes = typename Simd<Scalar>::Vector;
template <typename Scalar>
constexpr Index kLanes = Simd<Scalar>::kLanes;

template <typename Scalar>
inline Lanes<Scalar> multiply_add(Lanes<Scalar> a, Lanes<Scalar> b, Lanes<Scalar> c) {
#ifdef __wasm_relaxed_simd__
  if constexpr (sizeof(Scalar) == 4)
    return (Lanes<Scalar>)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
  else
    return (Lanes<Scalar>)wasm_f64x2_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
  return a * b + c;
#endif
}

inline float sum(Lanes<float> v) {
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1);
  return v[0] + v[1];
}
inline double sum(Lanes<double> v) { return v[0] + v[1]; }

template <typename Vector>
inline Vector larger(Vector a, Vector b) {
  return a > b ? a : b;
}
inline float largest(Lanes<float> v) {
  v = larger(v, (Lanes<float>)__builtin_shufflevector(v, v, 2, 3, 0, 1));
  return std::max(v[0], v[1]);
}
inline double largest(Lanes<double> v) { return std::max(v[0], v[1]); }

// e^x to 2 ulp: x = k ln 2 + r with |r| <= ln(2)/2, a polynomial in r (Cephes, expf), and k into the
// exponent. 0 below -87, and no more than e^88 above.
inline Lanes<float> exponential(Lanes<float> x) {
  using S = Simd<float>;
  typedef std::int32_t Bits __attribute__((vector_size(kVectorBytes)));
  const auto low = S::all(-87), high = S::all(88);
  const auto clamped = x > high ? high : x;
  // Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits.
  const auto shift = S::all(12582912.0f);
  const auto shifted = clamped * S::all(1.44269504088896341f) + shift;
  const auto k = shifted - shift;
  const auto r = clamped - k * S::all(0.693359375f) - k * S::all(-2.12194440e-4f);
  auto p = S::all(1.9875691500e-4f);
  for (const float c :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = multiply_add<float>(p, r, S::all(c));
  p = multiply_add<float>(p, r * r, r) + S::all(1);
  const auto result = (Lanes<float>)((Bits)p + ((Bits)shifted << 23));
  return x < low ? S::all(0) : result;
}
inline Lanes<double> exponential(Lanes<double> x) {
  for (int lane = 0; lane < Simd<double>::kLanes; ++lane) x[lane] = std::exp(x[lane]);
  return x;
}

// For one number, by the same steps as for a vector.
template <typename Scalar>
inline Scalar exponential_of(Scalar x) {
  return exponential(Simd<Scalar>::all(x))[0];
}

inline Lanes<float> square_root(Lanes<float> v) {
#pragma GCC unroll 4
  for (int lane = 0; lane < 4; ++lane) v[lane] = std::sqrt(v[lane]);
  return v;
}
inline Lanes<double> square_root(Lanes<double> v) {
#pragma GCC unroll 2
  for (int lane = 0; lane < 2; ++lane) v[lane] = std::sqrt(v[lane]);
  return v;
}

// Calls whole(c) for each full vector of entries, and single(c) for each entry left over.
template <typename Scalar, typename Whole, typename Single>
inline void along(Index count, const Whole& whole, const Single& single) {
  Index c = 0;
  for (; c + kLanes<Scalar> <= count; c += kLanes<Scalar>) whole(c);
  for (; c < count; ++c) single(c);
}

// ---- products ----

enum class Left { as_is, transposed };

// The entry of a at row i and depth k.
template <Left kLeft, typename Scalar>
inline const Scalar* entry(Block<const Scalar> a, Index i, Index k) {
  return kLeft == Left::as_is ? a.at + i * a.stride + k : a.at + k * a.stride + i;
}

// kRows rows by kVectors vectors of the result stay in registers while k runs.
template <Left kLeft, int kRows, int kVectors, typename Scalar, int... kRow>
inline void tile(Block<const Scalar> a, Block<const Scalar> b, Index depth, const Block<const Scalar>* plus,
                 Block<Scalar> out, std::integer_sequence<int, kRow...>) {
  using S = Simd<Scalar>;
  using V = Lanes<Scalar>;
  constexpr Index kLanes = S::kLanes;
  V left[kRows], right[kRows];
  if (plus) {
    ((left[kRow] = S::load(plus->row(kRow))), ...);
    if constexpr (kVectors > 1) ((right[kRow] = S::load(plus->row(kRow) + kLanes)), ...);
  } else {
    ((left[kRow] = V{}, right[kRow] = V{}), ...);
  }
  const Scalar* from[kRows] = {entry<kLeft>(a, kRow, 0)...};
  const Scalar* b_row = b.at;
  // Unrolled, all loads of a turn come first, and some of the sums no longer fit into registers.
#ifdef __clang__
#pragma clang loop unroll(disable)
#else
#pragma GCC unroll 4
#endif
  for (Index k = 0; k < depth; ++k) {
    const V first = S::load(b_row);
    V second{};
    if constexpr (kVectors > 1) second = S::load(b_row + kLanes);
    b_row += b.stride;
    const auto add = [&](Scalar factor, V & l, V & r) __attribute__((always_inline)) {
      const V row = S::all(factor);
      l = multiply_add<Scalar>(row, first, l);
      if constexpr (kVectors > 1) r = multiply_add<Scalar>(row, second, r);
    };
    if constexpr (kLeft == Left::as_is) {
      (add(*from[kRow]++, left[kRow], right[kRow]), ...);
    } else {
      (add(from[0][kRow], left[kRow], right[kRow]), ...);
      from[0] += a.stride;
    }
  }
  (S::store(out.row(kRow), left[kRow]), ...);
  if constexpr (kVectors > 1) (S::store(out.row(kRow) + kLanes, right[kRow]), ...);
}

template <Left kLeft, int kVectors, typename Scalar>
inline void panel(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape,
                  const Block<const Scalar>* plus, Block<Scalar> out) {
  constexpr int kRows = 4;
  Index i = 0;
  const auto place = [&](auto rows) {
    constexpr int kHere = decltype(rows)::value;
    Block<const Scalar> more{};
    if (plus) more = {plus->row(i), plus->stride};
    tile<kLeft, kHere, kVectors>(Block<const Scalar>{entry<kLeft>(a, i, 0), a.stride}, b, shape.depth,
                                 plus ? &more : nullptr, Block<Scalar>{out.row(i), out.stride},
                                 std::make_integer_sequence<int, kHere>());
  };
  for (; i + kRows <= shape.rows; i += kRows) place(std::integral_constant<int, kRows>());
  for (; i < shape.rows; ++i) place(std::integral_constant<int, 1>());
}

template <Left kLeft, typename Scalar>
void product(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape,
             const Block<const Scalar>* plus, Block<Scalar> out) {
  constexpr Index kLanes = Simd<Scalar>::kLanes;
  Index j = 0;
  const auto from = [&](auto block) { return decltype(block){block.at + j, block.stride}; };
  const auto columns = [&](auto vectors) {
    Block<const Scalar> more{};
    if (plus) more = from(*plus);
    panel<kLeft, decltype(vectors)::value>(a, from(b), shape, plus ? &more : nullptr, from(out));
  };
  for (; j + 2 * kLanes <= shape.columns; j += 2 * kLanes) columns(std::integral_constant<int, 2>());
  for (; j + kLanes <= shape.columns; j += kLanes) columns(std::integral_constant<int, 1>());
  for (; j < shape.columns; ++j) {
    for (Index i = 0; i < shape.rows; ++i) {
      Scalar total = plus ? plus->row(i)[j] : 0;
      for (Index k = 0; k < shape.depth; ++k) total += *entry<kLeft>(a, i, k) * b.row(k)[j];
      out.row(i)[j] = total;
    }
  }
}

}  // namespace

template <typename Scalar>
void multiply(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape, Block<Scalar> out) {
  product<Left::as_is>(a, b, shape, static_cast<const Block<const Scalar>*>(nullptr), out);
}
template <typename Scalar>
void multiply(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape, Block<Scalar> out,
              Block<const Scalar> plus) {
  product<Left::as_is>(a, b, shape, &plus, out);
}
template <typename Scalar>
void multiply_transposed(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape,
                         Block<Scalar> out) {
  product<Left::transposed>(a, b, shape, static_cast<const Block<const Scalar>*>(nullptr), out);
}
template <typename Scalar>
void multiply_transposed(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape, Block<Scalar> out,
                         Block<const Scalar> plus) {
  product<Left::transposed>(a, b, shape, &plus, out);
}

namespace {

// Transposes a tile of four rows by four.
inline void transpose_tile(Block<const float> from, Block<float> out) {
  using S = Simd<float>;
  const auto a = S::load(from.row(0)), b = S::load(from.row(1));
  const auto c = S::load(from.row(2)), d = S::load(from.row(3));
  const auto ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const auto cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  S::store(out.row(0), __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  S::store(out.row(1), __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  S::store(out.row(2), __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5));
  S::store(out.row(3), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7));
}

}  // namespace

template <typename Scalar>
void transpose(Block<const Scalar> from, Index rows, Index columns, Block<Scalar> out) {
  Index whole_rows = 0, whole_columns = 0;
  if constexpr (sizeof(Scalar) == 4) {
    whole_rows = rows - rows % 4, whole_columns = columns - columns % 4;
    for (Index i = 0; i < whole_rows; i += 4) {
      for (Index j = 0; j < whole_columns; j += 4)
        transpose_tile({from.row(i) + j, from.stride}, {out.row(j) + i, out.stride});
    }
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = i < whole_rows ? whole_columns : 0; j < columns; ++j) out.row(j)[i] = from.row(i)[j];
  }
}

namespace {

// A row's largest entry and the sum of e^(x - largest), which takes each entry's place.
template <typename Scalar>
struct Exponentials {
  Scalar largest, sum;
};

template <typename Scalar>
inline Exponentials<Scalar> to_exponentials(Scalar* row, Index n) {
  using S = Simd<Scalar>;
  auto highest = S::all(row[0]);
  Scalar most = row[0];
  along<Scalar>(
      n, [&](Index j) { highest = larger(S::load(row + j), highest); },
      [&](Index j) { most = std::max(most, row[j]); });
  most = std::max(most, largest(highest));
  const auto less = S::all(most);
  Lanes<Scalar> sums{};
  Scalar rest = 0;
  along<Scalar>(
      n,
      [&](Index j) {
        const auto e = exponential(S::load(row + j) - less);
        sums += e;
        S::store(row + j, e);
      },
      [&](Index j) { rest += row[j] = exponential_of<Scalar>(row[j] - most); });
  return {most, sum(sums) + rest};
}

}  // namespace

template <typename Scalar>
void softmax(Block<Scalar> rows, Index count, Index n) {
  for (Index i = 0; i < count; ++i) {
    Scalar* const row = rows.row(i);
    scale_to<Scalar>(row, 1 / to_exponentials(row, n).sum, n, row);
  }
}

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

// x/2 (1 + tanh u) is x s with s = 1 / (1 + e^-2u).
template <typename Scalar>
void gelu(const Scalar* x, Index count, Scalar* y, Scalar* slope) {
  constexpr Scalar kTwice = Scalar(1.5957691216057308), kCube = Scalar(0.044715);
  const auto at = [&](auto v, auto& s) {
    const auto square = v * v;
    const auto u = kTwice * v * (1 + kCube * square);
    using V = decltype(v);
    V e;
    if constexpr (sizeof(V) == sizeof(Scalar))
      e = exponential_of<Scalar>(-u);
    else
      e = exponential(-u);
    const V sigmoid = 1 / (1 + e);
    s = sigmoid + v * sigmoid * (1 - sigmoid) * kTwice * (1 + 3 * kCube * square);
    return v * sigmoid;
  };
  using S = Simd<Scalar>;
  along<Scalar>(
      count,
      [&](Index c) {
        Lanes<Scalar> s;
        S::store(y + c, at(S::load(x + c), s));
        S::store(slope + c, s);
      },
      [&](Index c) {
        const Scalar from = x[c];
        y[c] = at(from, slope[c]);
      });
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
void add_product_to(const Scalar* a, const Scalar* b, Index count, Scalar* y) {
  using S = Simd<Scalar>;
  along<Scalar>(
      count, [&](Index c) { S::store(y + c, S::load(y + c) + S::load(a + c) * S::load(b + c)); },
      [&](Index c) { y[c] += a[c] * b[c]; });
}

template <typename Scalar>
void sigmoid_of_sum(const Scalar* a, const Scalar* b, Index count, Scalar* y) {
  using S = Simd<Scalar>;
  const auto one = S::all(1);
  along<Scalar>(
      count, [&](Index c) { S::store(y + c, one / (one + exponential(-(S::load(a + c) + S::load(b + c))))); },
      [&](Index c) { y[c] = 1 / (1 + exponential_of<Scalar>(-(a[c] + b[c]))); });
}

template <typename Scalar>
void mix(const Scalar* g, const Scalar* a, const Scalar* b, Index count, Scalar* y) {
  using S = Simd<Scalar>;
  along<Scalar>(
      count,
      [&](Index c) {
        const auto second = S::load(b + c);
        S::store(y + c, second + S::load(g + c) * (S::load(a + c) - second));
      },
      [&](Index c) { y[c] = b[c] + g[c] * (a[c] - b[c]); });
}

template <typename Scalar>
void mix_backward(const Scalar* g, const Scalar* dy, const Scalar* a, const Scalar* b, Index count,
                  Scalar* da, Scalar* db, Scalar* d_logit) {
  using S = Simd<Scalar>;
  const auto one = [](auto gate, auto d, auto difference, auto& first, auto& second) {
    const auto part = gate * d;
    first += part;
    second += d - part;
    return (part - gate * part) * difference;
  };
  along<Scalar>(
      count,
      [&](Index c) {
        auto first = S::load(da + c), second = S::load(db + c);
        S::store(d_logit + c,
                 one(S::load(g + c), S::load(dy + c), S::load(a + c) - S::load(b + c), first, second));
        S::store(da + c, first);
        S::store(db + c, second);
      },
      [&](Index c) { d_logit[c] = one(g[c], dy[c], a[c] - b[c], da[c], db[c]); });
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
  template void multiply(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>);             \
  template void multiply(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>,              \
                         Block<const Scalar>);                                                               \
  template void multiply_transposed(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>);  \
  template void multiply_transposed(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>,   \
                                    Block<const Scalar>);                                                    \
  template void transpose(Block<const Scalar>, Index, Index, Block<Scalar>);                                 \
  template void softmax(Block<Scalar>, Index, Index);                                                        \
  template void softmax_backward(Block<const Scalar>, Block<Scalar>, Index, Index);                          \
  template void layer_norm(const Scalar*, Index, Index, Scalar*, Scalar*);                                   \
  template void add_layer_norm_backward(const Scalar*, const Scalar*, const Scalar*, Index, Index, Scalar*); \
  template void gelu(const Scalar*, Index, Scalar*, Scalar*);                                                \
  template double cross_entropy(Scalar*, const int*, Index, Index, double);                                  \
  template void copy_to(const Scalar*, Index, Scalar*);                                                      \
  template void add_to(const Scalar*, Index, Scalar*);                                                       \
  template void multiply_to(const Scalar*, Index, Scalar*);                                                  \
  template void add_product_to(const Scalar*, const Scalar*, Index, Scalar*);                                \
  template void sigmoid_of_sum(const Scalar*, const Scalar*, Index, Scalar*);                                \
  template void mix(const Scalar*, const Scalar*, const Scalar*, Index, Scalar*);                            \
  template void mix_backward(const Scalar*, const Scalar*, const Scalar*, const Scalar*, Index, Scalar*,     \
                             Scalar*, Scalar*);                                                              \
  template void scale_to(const Scalar*, Scalar, Index, Scalar*);                                             \
  template Scalar sum_of_products(const Scalar*, const Scalar*, Index);                                      \
  template void adam(const AdamStep<Scalar>&, const Scalar*, Index, Scalar*, Scalar*, Scalar*);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
