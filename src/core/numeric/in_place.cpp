// Loops run over full vectors, and over the last few entries as scalars: any size is right, and multiples of
// four are fast.
#include "numeric/in_place.h"

#include <utility>

#include "numeric/lanes.h"

namespace superpose {
namespace {

using Eigen::Index;

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
  // Not unrolled: otherwise all loads of an iteration come first, and some of the sums no longer fit into
  // registers.
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

void write(const TransposedBlock& tile, Block<float> out) {
  for (int i = 0; i < 4; ++i) Simd<float>::store(out.row(i), tile.row[i]);
}

}  // namespace

template <typename Scalar>
void transpose(Block<const Scalar> from, Index rows, Index columns, Block<Scalar> out) {
  Index whole_rows = 0, whole_columns = 0;
  if constexpr (sizeof(Scalar) == 4) {
    whole_rows = rows - rows % 4, whole_columns = columns - columns % 4;
    for (Index i = 0; i < whole_rows; i += 4) {
      for (Index j = 0; j < whole_columns; j += 4)
        write(transposed_block(from.row(i) + j, from.stride), {out.row(j) + i, out.stride});
    }
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = i < whole_rows ? whole_columns : 0; j < columns; ++j) out.row(j)[i] = from.row(i)[j];
  }
}

template <typename Scalar>
void softmax(Block<Scalar> rows, Index count, Index n) {
  for (Index i = 0; i < count; ++i) {
    Scalar* const row = rows.row(i);
    const Scalar factor = 1 / to_exponentials(row, n).sum;
    const auto factors = Simd<Scalar>::all(factor);
    along<Scalar>(
        n, [&](Index j) { Simd<Scalar>::store(row + j, Simd<Scalar>::load(row + j) * factors); },
        [&](Index j) { row[j] *= factor; });
  }
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                       \
  template void multiply(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>);            \
  template void multiply(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>,             \
                         Block<const Scalar>);                                                              \
  template void multiply_transposed(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>); \
  template void multiply_transposed(Block<const Scalar>, Block<const Scalar>, ProductShape, Block<Scalar>,  \
                                    Block<const Scalar>);                                                   \
  template void transpose(Block<const Scalar>, Index, Index, Block<Scalar>);                                \
  template void softmax(Block<Scalar>, Index, Index);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
