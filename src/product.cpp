// Tiles of 4 or 6 rows by 2 vectors are kept in registers while k runs; both operands are packed first, so
// that k runs through memory in order: a in panels [k][rows], b in panels [k][2 vectors]. The same source
// makes the plain build, the relaxed one (fused multiply-adds) and the native one.

#include "product.h"

#include <algorithm>
#include <memory>
#include <new>

#include "simd.h"

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#elif defined(__FMA__)
#include <immintrin.h>
#endif

namespace superpose {
namespace {

using Eigen::Index;

template <typename Scalar>
constexpr int kColumns = 2 * Simd<Scalar>::kLanes;
// Multiplying and adding apart needs a register more for each row in flight, and V8 gives fifteen.
#if defined(__wasm_relaxed_simd__) || defined(__FMA__)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
// A panel of b stays in the first cache and a block of a in the second; both buffers are of fixed size.
constexpr Index kDepth = 384;
constexpr Index kRowPanels = 16;
constexpr Index kColumnPanels = 128;

// a * b + c
template <typename Scalar>
inline typename Simd<Scalar>::Vector multiply_add(typename Simd<Scalar>::Vector a,
                                                  typename Simd<Scalar>::Vector b,
                                                  typename Simd<Scalar>::Vector c) {
  using Vector [[maybe_unused]] = typename Simd<Scalar>::Vector;
#if defined(__wasm_relaxed_simd__)
  if constexpr (sizeof(Scalar) == 4) return (Vector)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
  else return (Vector)wasm_f64x2_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#elif defined(__FMA__) && defined(__AVX__)
  if constexpr (sizeof(Scalar) == 4) return (Vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
  else return (Vector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

// How a row of a tile leaves: scaled, as the first of the sum over k or added to what is there.
template <typename Scalar>
struct Leaving {
  Scalar scale;
  bool add;
  Index columns;
};

template <typename Scalar>
inline void leave(typename Simd<Scalar>::Vector left, typename Simd<Scalar>::Vector right, Scalar* to,
                  const Leaving<Scalar>& how) {
  using S = Simd<Scalar>;
  left *= how.scale;
  right *= how.scale;
  if (how.columns == kColumns<Scalar>) {
    S::store(to, how.add ? S::load(to) + left : left);
    S::store(to + S::kLanes, how.add ? S::load(to + S::kLanes) + right : right);
    return;
  }
  for (Index j = 0; j < how.columns; ++j) {
    const Scalar value = j < S::kLanes ? left[j] : right[j - S::kLanes];
    to[j] = how.add ? to[j] + value : value;
  }
}

// One tile. The sums stand in variables of their own, because arrays of vectors are spilled to memory.
template <typename Scalar>
[[gnu::noinline]] void multiply_tile(const Scalar* a, const Scalar* b, Index depth, Scalar* const* to,
                                     Index rows, const Leaving<Scalar> how) {
  using Vector = typename Simd<Scalar>::Vector;
  Vector l0{}, l1{}, l2{}, l3{}, l4{}, l5{}, r0{}, r1{}, r2{}, r3{}, r4{}, r5{};
#ifdef __clang__
#pragma clang loop unroll_count(4)
#else
#pragma GCC unroll 4
#endif
  for (Index k = 0; k < depth; ++k) {
    const Vector left = reinterpret_cast<const Vector*>(b)[0];
    const Vector right = reinterpret_cast<const Vector*>(b)[1];
    Vector row = Simd<Scalar>::all(a[0]);
    l0 = multiply_add<Scalar>(row, left, l0);
    r0 = multiply_add<Scalar>(row, right, r0);
    row = Simd<Scalar>::all(a[1]);
    l1 = multiply_add<Scalar>(row, left, l1);
    r1 = multiply_add<Scalar>(row, right, r1);
    row = Simd<Scalar>::all(a[2]);
    l2 = multiply_add<Scalar>(row, left, l2);
    r2 = multiply_add<Scalar>(row, right, r2);
    row = Simd<Scalar>::all(a[3]);
    l3 = multiply_add<Scalar>(row, left, l3);
    r3 = multiply_add<Scalar>(row, right, r3);
    if constexpr (kRows > 4) {
      row = Simd<Scalar>::all(a[4]);
      l4 = multiply_add<Scalar>(row, left, l4);
      r4 = multiply_add<Scalar>(row, right, r4);
    }
    if constexpr (kRows > 4) {
      row = Simd<Scalar>::all(a[5]);
      l5 = multiply_add<Scalar>(row, left, l5);
      r5 = multiply_add<Scalar>(row, right, r5);
    }
    a += kRows;
    b += kColumns<Scalar>;
  }
  leave(l0, r0, to[0], how);
  if (rows > 1) leave(l1, r1, to[1], how);
  if (rows > 2) leave(l2, r2, to[2], how);
  if (rows > 3) leave(l3, r3, to[3], how);
  if constexpr (kRows > 4) {
    if (rows > 4) leave(l4, r4, to[4], how);
  }
  if constexpr (kRows > 4) {
    if (rows > 5) leave(l5, r5, to[5], how);
  }
}

// Four rows by four columns, turned: row i of the result is column i.
struct Turned {
  typedef Simd<float>::Vector Vector;
  Vector row[4];
};

#if defined(__AVX__)
constexpr bool kTurns = false;
#else
constexpr bool kTurns = true;

inline Turned turned(const float* from, Index stride) {
  using S = Simd<float>;
  const auto a = S::load(from), b = S::load(from + stride);
  const auto c = S::load(from + 2 * stride), d = S::load(from + 3 * stride);
  const auto ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const auto cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return {{__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
           __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)}};
}

// Four columns of a panel of floats at a time; returns how many were packed.
template <int Width>
Index pack_by_fours(const float* from, Index stride, Index depth, float* to) {
  using S = Simd<float>;
  Index k = 0;
  for (; k + 4 <= depth; k += 4, to += 4 * Width) {
    const Turned first = turned(from + k, stride);
    if constexpr (Width == 8) {
      const Turned second = turned(from + 4 * stride + k, stride);
      for (int i = 0; i < 4; ++i) {
        S::store(to + i * Width, first.row[i]);
        S::store(to + i * Width + 4, second.row[i]);
      }
    } else if constexpr (Width == 4) {
      for (int i = 0; i < 4; ++i) S::store(to + i * Width, first.row[i]);
    } else {
      const auto a = S::load(from + 4 * stride + k), b = S::load(from + 5 * stride + k);
      const auto low = __builtin_shufflevector(a, b, 0, 4, 1, 5), high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      S::store(to, first.row[0]);
      S::store(to + 4, __builtin_shufflevector(low, first.row[1], 0, 1, 4, 5));
      S::store(to + 8, __builtin_shufflevector(first.row[1], low, 2, 3, 6, 7));
      S::store(to + 12, first.row[2]);
      S::store(to + 16, __builtin_shufflevector(high, first.row[3], 0, 1, 4, 5));
      S::store(to + 20, __builtin_shufflevector(first.row[3], high, 2, 3, 6, 7));
    }
  }
  return k;
}
#endif

// Rows as a panel [depth][Width], zeros where there are fewer rows.
template <int Width, typename Scalar>
void pack(const Scalar* from, Index stride, Index rows, Index depth, Scalar* to) {
  if (rows == Width) {
    Index k = 0;
    if constexpr (kTurns && sizeof(Scalar) == 4) {
      k = pack_by_fours<Width>(from, stride, depth, to);
      to += k * Width;
    }
    for (; k < depth; ++k, to += Width) {
      for (Index i = 0; i < Width; ++i) to[i] = from[i * stride + k];
    }
    return;
  }
  std::fill(to, to + depth * Width, Scalar(0));
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < depth; ++k) to[k * Width + i] = from[i * stride + k];
  }
}

// The two packed operands, kept between calls so that none allocates.
template <typename Scalar>
class Buffers {
 public:
  Scalar* at_least(Index count) {
    if (count > size_) {
      held_.reset(static_cast<Scalar*>(::operator new(count * sizeof(Scalar), kAlignment)));
      size_ = count;
    }
    return held_.get();
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(Scalar* held) const { ::operator delete(held, kAlignment); }
  };
  std::unique_ptr<Scalar, Free> held_;
  Index size_ = 0;
};

// Too few rows to be worth packing b for: each pair by itself.
template <typename Scalar>
void multiply_few(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, Scalar* out) {
  using S = Simd<Scalar>;
  const Index depth = a.cols(), whole = depth - depth % kColumns<Scalar>;
  for (Index i = 0; i < a.rows(); ++i) {
    const Scalar* x = a.data() + i * a.outerStride();
    for (Index j = 0; j < b.rows(); ++j) {
      const Scalar* y = b.data() + j * b.outerStride();
      typename S::Vector left{}, right{};
      for (Index k = 0; k < whole; k += kColumns<Scalar>) {
        left = multiply_add<Scalar>(S::load(x + k), S::load(y + k), left);
        right = multiply_add<Scalar>(S::load(x + k + S::kLanes), S::load(y + k + S::kLanes), right);
      }
      left += right;
      Scalar sum = 0;
      for (int lane = 0; lane < S::kLanes; ++lane) sum += left[lane];
      for (Index k = whole; k < depth; ++k) sum += x[k] * y[k];
      *out++ = scale * sum;
    }
  }
}

}  // namespace

template <typename Scalar>
void multiply_stacks(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, Index rows, Index columns,
                     Scalar* out, Index across) {
  if (rows == 0 || columns == 0) return;
  eigen_assert(a.cols() == b.cols() && a.rows() % rows == 0 && b.rows() % columns == 0);
  if (a.rows() < kRows / 2 && a.rows() == rows && columns == b.rows()) return multiply_few(a, b, scale, out);

  const Index stacked = b.rows() / columns;
  if (across == 0) across = stacked;
  const Index panels_each = (columns + kColumns<Scalar> - 1) / kColumns<Scalar>;
  const Index panels = stacked * panels_each;
  const Index most_depth = std::min(a.cols(), kDepth);
  const Index size_of_b = std::min(panels, kColumnPanels) * most_depth * kColumns<Scalar>;
  thread_local Buffers<Scalar> buffers;
  Scalar* const packed_b = buffers.at_least(size_of_b + kRowPanels * most_depth * kRows);
  Scalar* const packed_a = packed_b + size_of_b;

  // The places of panel p of b: its first row, and where product (0, its own) has that column.
  const auto first_row = [&](Index p) { return p / panels_each * columns + p % panels_each * kColumns<Scalar>; };
  const auto first_place = [&](Index p) {
    return p / panels_each * rows * columns + p % panels_each * kColumns<Scalar>;
  };
  const auto width = [&](Index p) {
    return std::min<Index>(kColumns<Scalar>, columns - p % panels_each * kColumns<Scalar>);
  };

  Index k = 0;
  do {
    const Index depth = std::min(kDepth, a.cols() - k);
    for (Index p0 = 0; p0 < panels; p0 += kColumnPanels) {
      const Index p1 = std::min(panels, p0 + kColumnPanels);
      for (Index p = p0; p < p1; ++p) {
        pack<kColumns<Scalar>>(b.data() + first_row(p) * b.outerStride() + k, b.outerStride(), width(p), depth,
                          packed_b + (p - p0) * depth * kColumns<Scalar>);
      }
      for (Index i0 = 0; i0 < a.rows(); i0 += kRowPanels * kRows) {
        const Index i1 = std::min(a.rows(), i0 + kRowPanels * kRows);
        for (Index i = i0; i < i1; i += kRows) {
          pack<kRows>(a.data() + i * a.outerStride() + k, a.outerStride(), std::min<Index>(kRows, i1 - i),
                      depth, packed_a + (i - i0) * depth);
        }
        Index offset[kRowPanels * kRows];
        for (Index i = i0; i < i1; ++i) {
          offset[i - i0] = (i / rows * across * rows + i % rows) * columns;
        }
        for (Index p = p0; p < p1; ++p) {
          const Leaving<Scalar> how{scale, k > 0, width(p)};
          Scalar* const start = out + first_place(p);
          for (Index i = i0; i < i1; i += kRows) {
            Scalar* to[kRows];
            const Index here = std::min<Index>(kRows, i1 - i);
            for (Index r = 0; r < kRows; ++r) to[r] = start + offset[i - i0 + std::min(r, here - 1)];
            multiply_tile(packed_a + (i - i0) * depth, packed_b + (p - p0) * depth * kColumns<Scalar>, depth, to,
                          here, how);
          }
        }
      }
    }
    k += depth;
  } while (k < a.cols());
}

template <typename Scalar>
void multiply_rows(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, MatrixMap<Scalar> out) {
  eigen_assert(out.rows() == a.rows() && out.cols() == b.rows());
  multiply_stacks<Scalar>(a, b, scale, a.rows(), b.rows(), out.data());
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                               \
  template void multiply_rows(const Rows<Scalar>&, const Rows<Scalar>&, Scalar, MatrixMap<Scalar>); \
  template void multiply_stacks(const Rows<Scalar>&, const Rows<Scalar>&, Scalar, Eigen::Index,     \
                                Eigen::Index, Scalar*, Eigen::Index);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
