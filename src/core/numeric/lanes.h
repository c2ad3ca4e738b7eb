// Operations on vectors of 16 bytes (simd.h): sums, the exponential, loops over rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "numeric/matrix.h"
#include "numeric/simd.h"

#ifdef __wasm_relaxed_simd__
#include <wasm_simd128.h>
#endif

namespace superpose {

template <typename Scalar>
using Lanes = typename Simd<Scalar>::Vector;
template <typename Scalar>
constexpr Eigen::Index kLanes = Simd<Scalar>::kLanes;

// a * b + c. Always inlined: only some files of the relaxed build have the fused instruction, and from two
// copies that are not inlined the linker would choose one for all files.
template <typename Scalar>
[[gnu::always_inline]] inline Lanes<Scalar> multiply_add(Lanes<Scalar> a, Lanes<Scalar> b, Lanes<Scalar> c) {
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

// e^x to 2 ulp: x = k ln 2 + r with |r| <= ln(2)/2, a polynomial in r (Cephes, expf), and k added to the
// exponent's bits. The result is 0 for x below -87, and e^88 for x above 88.
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

// Calls of_vector(c) for each full vector of entries, and of_entry(c) for each entry after the last of them.
template <typename Scalar, typename OfVector, typename OfEntry>
inline void along(Eigen::Index count, const OfVector& of_vector, const OfEntry& of_entry) {
  Eigen::Index c = 0;
  for (; c + kLanes<Scalar> <= count; c += kLanes<Scalar>) of_vector(c);
  for (; c < count; ++c) of_entry(c);
}

// sum_c x_c y_c, a vector at a time. Eigen's own sums are not vectorized here (simd.h).
template <typename Scalar>
inline Scalar dot(const Scalar* x, const Scalar* y, Eigen::Index count) {
  using S = Simd<Scalar>;
  Lanes<Scalar> sums{};
  Scalar rest = 0;
  along<Scalar>(
      count, [&](Eigen::Index c) { sums += S::load(x + c) * S::load(y + c); },
      [&](Eigen::Index c) { rest += x[c] * y[c]; });
  return sum(sums) + rest;
}

template <typename Scalar>
inline Scalar mean_of(const Scalar* x, Eigen::Index count) {
  using S = Simd<Scalar>;
  Lanes<Scalar> sums{};
  Scalar rest = 0;
  along<Scalar>(
      count, [&](Eigen::Index c) { sums += S::load(x + c); }, [&](Eigen::Index c) { rest += x[c]; });
  return (sum(sums) + rest) / static_cast<Scalar>(count);
}

// The largest |x_c|; 0 if there are none. NaN counts as 0.
template <typename Scalar>
inline Scalar largest_magnitude(const Scalar* x, Eigen::Index count) {
  using S = Simd<Scalar>;
  Lanes<Scalar> most{};
  Scalar rest = 0;
  along<Scalar>(
      count,
      [&](Eigen::Index c) {
        const auto values = S::load(x + c);
        most = larger(larger(values, -values), most);
      },
      [&](Eigen::Index c) { rest = std::max(rest, std::abs(x[c])); });
  return std::max(rest, largest(most));
}

// The four numbers at `from`, as doubles.
struct FourDoubles {
  Lanes<double> low, high;
};
inline FourDoubles load_as_doubles(const double* from) {
  return {Simd<double>::load(from), Simd<double>::load(from + 2)};
}
inline FourDoubles load_as_doubles(const float* from) {
  const auto four = Simd<float>::load(from);
  return {__builtin_convertvector(__builtin_shufflevector(four, four, 0, 1), Lanes<double>),
          __builtin_convertvector(__builtin_shufflevector(four, four, 2, 3), Lanes<double>)};
}

// A 4 x 4 block, transposed: row i of the result is column i of the block.
struct TransposedBlock {
  Lanes<float> row[4];
};

inline TransposedBlock transposed_block(const float* from, Eigen::Index stride) {
  using S = Simd<float>;
  const auto a = S::load(from), b = S::load(from + stride);
  const auto c = S::load(from + 2 * stride), d = S::load(from + 3 * stride);
  const auto ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const auto cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return {{__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
           __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)}};
}

// A row's largest entry, and the sum of the numbers e^(x - largest) that replace its entries x.
template <typename Scalar>
struct Exponentials {
  Scalar largest, sum;
};

template <typename Scalar>
inline Exponentials<Scalar> to_exponentials(Scalar* row, Eigen::Index n) {
  using S = Simd<Scalar>;
  auto highest = S::all(row[0]);
  Scalar most = row[0];
  along<Scalar>(
      n, [&](Eigen::Index j) { highest = larger(S::load(row + j), highest); },
      [&](Eigen::Index j) { most = std::max(most, row[j]); });
  most = std::max(most, largest(highest));
  const auto less = S::all(most);
  Lanes<Scalar> sums{};
  Scalar rest = 0;
  along<Scalar>(
      n,
      [&](Eigen::Index j) {
        const auto e = exponential(S::load(row + j) - less);
        sums += e;
        S::store(row + j, e);
      },
      [&](Eigen::Index j) { rest += row[j] = exponential_of<Scalar>(row[j] - most); });
  return {most, sum(sums) + rest};
}

}  // namespace superpose
