// Tiles of 4 or 5 rows by 2 vectors stay in registers while k runs. Both operands are packed first, so that
// k runs through memory in order: a in panels [k][rows], b in panels [k][2 vectors]. The plain build, the
// relaxed one (with fused multiply-adds) and the native one have the same source.

#include "numeric/product.h"

#include <algorithm>

#include "numeric/lanes.h"

namespace superpose {
namespace {

using Eigen::Index;

template <typename Scalar>
constexpr int kColumns = 2 * Simd<Scalar>::kLanes;
// V8 offers fifteen registers. Without a fused multiply-add each row in flight takes one more of them; with
// it six rows just fit, but Firefox then takes 1.7 times as long.
#ifdef __wasm_relaxed_simd__
constexpr int kRows = 5;
#else
constexpr int kRows = 4;
#endif
// The plain build stores each scalar of a as a full vector, so that no tile has to spread one.
// JavaScriptCore, which has no relaxed SIMD and so runs this build, is a third faster with it, and V8 is no
// slower.
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
constexpr bool kSpread = true;
#else
constexpr bool kSpread = false;
#endif
template <typename Scalar>
constexpr int kCopies = kSpread ? Simd<Scalar>::kLanes : 1;
// The height of the next tile when `left` rows remain: every number of rows from 12 on is a sum of fours and
// fives, so that no tile has rows of zeros.
constexpr Eigen::Index height_of_tile(Eigen::Index left) { return left % kRows == 0 ? kRows : 4; }
// A panel of b fits into the L1 cache and a block of a into the L2; both buffers have a fixed size.
constexpr Index kDepth = 384;
constexpr Index kRowPanels = 16;
constexpr Index kColumnPanels = 128;

// Stores one row of a tile, scaled; with `add`, on top of what earlier blocks of k stored there.
template <typename Scalar>
inline void store_row(typename Simd<Scalar>::Vector left, typename Simd<Scalar>::Vector right, Scalar scale,
                      bool add, Scalar* to) {
  using S = Simd<Scalar>;
  left *= scale;
  right *= scale;
  if (add) {
    left += S::load(to);
    right += S::load(to + S::kLanes);
  }
  S::store(to, left);
  S::store(to + S::kLanes, right);
}

// The scalar at `from` in every lane.
template <typename Scalar>
inline typename Simd<Scalar>::Vector spread(const Scalar* from) {
  if constexpr (kSpread) return *reinterpret_cast<const typename Simd<Scalar>::Vector*>(from);
  return Simd<Scalar>::all(*from);
}

// One full tile. Each sum is a variable of its own, because compilers spill arrays of vectors to memory.
template <int Rows, typename Scalar>
[[gnu::noinline]] void multiply_tile(const Scalar* a, const Scalar* b, Index depth, Scalar scale, bool add,
                                     Scalar* to, Index stride) {
  using Vector = typename Simd<Scalar>::Vector;
  Vector l0{}, l1{}, l2{}, l3{}, l4{}, r0{}, r1{}, r2{}, r3{}, r4{};
  // Not unrolled: otherwise WebKit is slower, and a tile of five rows no longer fits into registers.
#ifdef __clang__
#pragma clang loop unroll_count(1)
#else
#pragma GCC unroll 4
#endif
  for (Index k = 0; k < depth; ++k) {
    const Vector left = reinterpret_cast<const Vector*>(b)[0];
    const Vector right = reinterpret_cast<const Vector*>(b)[1];
    Vector row = spread(a);
    l0 = multiply_add<Scalar>(row, left, l0);
    r0 = multiply_add<Scalar>(row, right, r0);
    row = spread(a + kCopies<Scalar>);
    l1 = multiply_add<Scalar>(row, left, l1);
    r1 = multiply_add<Scalar>(row, right, r1);
    row = spread(a + 2 * kCopies<Scalar>);
    l2 = multiply_add<Scalar>(row, left, l2);
    r2 = multiply_add<Scalar>(row, right, r2);
    row = spread(a + 3 * kCopies<Scalar>);
    l3 = multiply_add<Scalar>(row, left, l3);
    r3 = multiply_add<Scalar>(row, right, r3);
    if constexpr (Rows > 4) {
      row = spread(a + 4 * kCopies<Scalar>);
      l4 = multiply_add<Scalar>(row, left, l4);
      r4 = multiply_add<Scalar>(row, right, r4);
    }
    a += Rows * kCopies<Scalar>;
    b += kColumns<Scalar>;
  }
  store_row(l0, r0, scale, add, to);
  store_row(l1, r1, scale, add, to + stride);
  store_row(l2, r2, scale, add, to + 2 * stride);
  store_row(l3, r3, scale, add, to + 3 * stride);
  if constexpr (Rows > 4) store_row(l4, r4, scale, add, to + 4 * stride);
}

// Packs a panel of floats four columns at a time; returns the number of columns packed.
template <int Width>
Index pack_by_fours(const float* from, Index stride, Index depth, float* to) {
  using S = Simd<float>;
  Index k = 0;
  for (; k + 4 <= depth; k += 4, to += 4 * Width) {
    const TransposedBlock first = transposed_block(from + k, stride);
    if constexpr (Width == 8) {
      const TransposedBlock second = transposed_block(from + 4 * stride + k, stride);
      for (int i = 0; i < 4; ++i) {
        S::store(to + i * Width, first.row[i]);
        S::store(to + i * Width + 4, second.row[i]);
      }
    } else if constexpr (Width == 4) {
      for (int i = 0; i < 4; ++i) S::store(to + i * Width, first.row[i]);
    } else {
      for (int i = 0; i < 4; ++i) {
        S::store(to + i * Width, first.row[i]);
        to[i * Width + 4] = from[4 * stride + k + i];
      }
    }
  }
  return k;
}

// Rows as a panel [depth][Width], zeros where there are fewer rows.
template <int Width, typename Scalar>
[[gnu::noinline]] void pack(const Scalar* from, Index stride, Index rows, Index depth, Scalar* to) {
  if (rows == Width) {
    Index k = 0;
    if constexpr (sizeof(Scalar) == 4) {
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

// A panel of a, with kCopies of each scalar.
template <int Height, typename Scalar>
void pack_copies(const Scalar* from, Index stride, Index rows, Index depth, Scalar* to) {
  pack<Height>(from, stride, rows, depth, to);
  if constexpr (kSpread) {
    // From the last to the first, so that none is overwritten before it is read.
    for (Index i = depth * Height; i-- > 0;)
      Simd<Scalar>::store(to + i * kCopies<Scalar>, Simd<Scalar>::all(to[i]));
  }
}

// The two packed operands, reused by later calls to avoid allocating.
template <typename Scalar>
thread_local AlignedBuffer<Scalar> buffers;

constexpr Index ceil_of(Index count, Index of) { return (count + of - 1) / of; }

// How a stack of matrices [columns, k] is cut into panels: no panel holds rows of two matrices.
template <typename Scalar>
struct Panels {
  Index stacked, columns;
  Index each = ceil_of(columns, kColumns<Scalar>);

  Index count() const { return stacked * each; }
  // The number of panels in a piece: about the same in all pieces, and no more than fit into the cache beside
  // a block of a.
  Index piece() const { return ceil_of(count(), ceil_of(count(), kColumnPanels)); }
  Index matrix(Index p) const { return p / each; }
  Index column(Index p) const { return p % each * kColumns<Scalar>; }
  Index width(Index p) const { return std::min<Index>(kColumns<Scalar>, columns - column(p)); }
};

// Panels p0 .. p1 - 1 of b, at the depths from k on.
template <typename Scalar>
[[gnu::noinline]] void pack_panels(const Rows<Scalar>& b, const Panels<Scalar>& panels, Index p0, Index p1,
                                   Index k, Index depth, Scalar* to) {
  for (Index p = p0; p < p1; ++p, to += depth * kColumns<Scalar>) {
    const Index row = panels.matrix(p) * panels.columns + panels.column(p);
    pack<kColumns<Scalar>>(b.data() + row * b.outerStride() + k, b.outerStride(), panels.width(p), depth, to);
  }
}

// The state that the pieces of a product share. add() does one piece: all rows of a times the packed panels
// p0 .. p1 - 1 of b, at the depths from k on.
template <typename Scalar>
struct Product {
  const Rows<Scalar>& a;
  Panels<Scalar> panels;
  Scalar scale;
  Index rows, across;
  Scalar* out;
  Scalar* packed_a;

  [[gnu::noinline]] void add(Index k, Index depth, Index p0, Index p1, const Scalar* packed_b) const {
    for (Index i0 = 0; i0 < a.rows(); i0 += kRowPanels * kRows) {
      const Index i1 = std::min(a.rows(), i0 + kRowPanels * kRows);
      // For each row, the place of column 0 of its panel.
      Index offset[kRowPanels * kRows];
      Index matrix = i0 / rows, row = i0 % rows;
      for (Index i = i0; i < i1; ++i, ++row) {
        if (row == rows) row = 0, ++matrix;
        offset[i - i0] = (matrix * across * rows + row) * panels.columns;
      }
      for (Index i = i0, height; i < i1; i += height) {
        height = height_of_tile(i1 - i);
        const Scalar* const from = a.data() + i * a.outerStride() + k;
        Scalar* const to = packed_a + (i - i0) * depth * kCopies<Scalar>;
        if (height == kRows)
          pack_copies<kRows>(from, a.outerStride(), std::min(height, i1 - i), depth, to);
        else
          pack_copies<4>(from, a.outerStride(), std::min(height, i1 - i), depth, to);
      }
      for (Index p = p0; p < p1; ++p) {
        const Scalar* const panel = packed_b + (p - p0) * depth * kColumns<Scalar>;
        const Index width = panels.width(p);
        Scalar* const start = out + panels.matrix(p) * rows * panels.columns + panels.column(p);
        for (Index i = i0, height; i < i1; i += height) {
          height = height_of_tile(i1 - i);
          const auto multiply = [&, row_panel = packed_a + (i - i0) * depth * kCopies<Scalar>](
                                    bool add, Scalar* to, Index stride) {
            if (height == kRows)
              multiply_tile<kRows>(row_panel, panel, depth, scale, add, to, stride);
            else
              multiply_tile<4>(row_panel, panel, depth, scale, add, to, stride);
          };
          const Index* const at = offset + (i - i0);
          const Index here = std::min(height, i1 - i);
          // A tile inside one product is written in place; one that crosses an edge is buffered and copied.
          if (here == height && width == kColumns<Scalar> &&
              at[height - 1] - at[0] == (height - 1) * panels.columns) {
            multiply(k > 0, start + at[0], panels.columns);
            continue;
          }
          Scalar tile[kRows * kColumns<Scalar>];
          multiply(false, tile, kColumns<Scalar>);
          for (Index r = 0; r < here; ++r) {
            Scalar* const to = start + at[r];
            const Scalar* const from = tile + r * kColumns<Scalar>;
            for (Index j = 0; j < width; ++j) to[j] = k > 0 ? to[j] + from[j] : from[j];
          }
        }
      }
    }
  }
};

}  // namespace

template <typename Scalar>
void multiply_pairs(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, Scalar* out) {
  using S = Simd<Scalar>;
  const Index depth = a.cols(), vector_depth = depth - depth % kColumns<Scalar>;
  Scalar* at = out;
  for (Index i = 0; i < a.rows(); ++i) {
    const Scalar* x = a.data() + i * a.outerStride();
    for (Index j = 0; j < b.rows(); ++j, ++at) {
      // A table times itself is symmetric, so this product has already been computed.
      if (a.data() == b.data() && a.outerStride() == b.outerStride() && j < i) {
        *at = out[j * b.rows() + i];
        continue;
      }
      const Scalar* y = b.data() + j * b.outerStride();
      typename S::Vector left{}, right{};
      for (Index k = 0; k < vector_depth; k += kColumns<Scalar>) {
        left = multiply_add<Scalar>(S::load(x + k), S::load(y + k), left);
        right = multiply_add<Scalar>(S::load(x + k + S::kLanes), S::load(y + k + S::kLanes), right);
      }
      left += right;
      Scalar sum = 0;
      for (int lane = 0; lane < S::kLanes; ++lane) sum += left[lane];
      for (Index k = vector_depth; k < depth; ++k) sum += x[k] * y[k];
      *at = scale * sum;
    }
  }
}

template <typename Scalar>
void multiply_stacks(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, Index rows, Index columns,
                     Scalar* out, Index across) {
  if (rows == 0 || columns == 0) return;
  eigen_assert(a.cols() == b.cols() && a.rows() % rows == 0 && b.rows() % columns == 0);
  if (a.rows() < kRows / 2 && a.rows() == rows && columns == b.rows())
    return multiply_pairs(a, b, scale, out);

  const Panels<Scalar> panels{b.rows() / columns, columns};
  const Index most_depth = std::min(a.cols(), kDepth);
  const Index size_of_b = std::min(panels.count(), kColumnPanels) * most_depth * kColumns<Scalar>;
  Scalar* const packed_b =
      buffers<Scalar>.at_least(size_of_b + kRowPanels * most_depth * kRows * kCopies<Scalar>);
  const Product<Scalar> product{
      a, panels, scale, rows, across ? across : panels.stacked, out, packed_b + size_of_b};
  Index k = 0;
  do {
    const Index depth = std::min(kDepth, a.cols() - k);
    for (Index p = 0; p < panels.count(); p += kColumnPanels) {
      const Index end = std::min(panels.count(), p + kColumnPanels);
      pack_panels(b, panels, p, end, k, depth, packed_b);
      product.add(k, depth, p, end, packed_b);
    }
    k += depth;
  } while (k < a.cols());
}

template <typename Scalar>
PackedMatrix<Scalar>::PackedMatrix(Index rows, Index columns) : rows_(rows), columns_(columns) {
  const Index full_rows = rows_ - rows_ % kColumns<Scalar>, count = Panels<Scalar>{1, rows_}.count();
  Scalar* const panels = panels_.at_least(count * kColumns<Scalar> * columns_);
  // Zeros in the part of the last panel that no row fills.
  for (Index k = 0; k < columns_ && full_rows < rows_; k += kDepth) {
    const Index depth = std::min(kDepth, columns_ - k);
    std::fill_n(panels + k * count * kColumns<Scalar> + full_rows * depth, depth * kColumns<Scalar>,
                Scalar(0));
  }
}

template <typename Scalar>
void PackedMatrix<Scalar>::place_rows(const Rows<Scalar>& rows, Index first) {
  constexpr Index kWidth = kColumns<Scalar>;
  const Index count = Panels<Scalar>{1, rows_}.count(), stride = rows.outerStride();
  for (Index k = 0; k < columns_; k += kDepth) {
    const Index depth = std::min(kDepth, columns_ - k);
    for (Index i = 0, here; i < rows.rows(); i += here) {
      const Index lane = (first + i) % kWidth;
      Scalar* const to = panels_.data() + k * count * kWidth + (first + i - lane) * depth;
      const Scalar* const from = rows.data() + i * stride + k;
      here = std::min(kWidth - lane, rows.rows() - i);
      if (here == kWidth) {
        pack<kWidth>(from, stride, here, depth, to);
        continue;
      }
      for (Index row = 0; row < here; ++row) {
        for (Index c = 0; c < depth; ++c) to[c * kWidth + lane + row] = from[row * stride + c];
      }
    }
  }
}

template <typename Scalar>
void PackedMatrix<Scalar>::place_columns(const Rows<Scalar>& columns, Index first) {
  const Index full_rows = rows_ - rows_ % kColumns<Scalar>, count = Panels<Scalar>{1, rows_}.count();
  for (Index c = 0; c < columns.rows(); ++c) {
    const Index k = (first + c) / kDepth * kDepth, depth = std::min(kDepth, columns_ - k);
    const Scalar* const from = columns.data() + c * columns.outerStride();
    Scalar* const to = panels_.data() + (k * count + first + c - k) * kColumns<Scalar>;
    for (Index row = 0; row < full_rows; row += kColumns<Scalar>)
      std::copy_n(from + row, kColumns<Scalar>, to + row * depth);
    std::copy_n(from + full_rows, rows_ - full_rows, to + full_rows * depth);
  }
}

// A piece is a block of a, which fits into the L2, with as many panels of b as fit there too.
template <typename Scalar>
Index PackedMatrix<Scalar>::pieces(Index rows_of_a) const {
  return ceil_of(rows_of_a, kRowPanels * kRows) * ceil_of(Panels<Scalar>{1, rows_}.count(), kColumnPanels);
}

template <typename Scalar>
void multiply_packed(const Rows<Scalar>& a, const PackedMatrix<Scalar>& b, Index from, Index to,
                     Scalar* out) {
  eigen_assert(a.cols() == b.columns_ && to <= b.pieces(a.rows()));
  const Panels<Scalar> panels{1, b.rows_};
  const Index count = panels.count(), blocks = ceil_of(a.rows(), kRowPanels * kRows);
  Scalar* const packed_a =
      buffers<Scalar>.at_least(kRowPanels * std::min(a.cols(), kDepth) * kRows * kCopies<Scalar>);
  for (Index end; from < to; from = end) {
    // All blocks of a that are multiplied by the same panels of b.
    const Index across = from / blocks, block = from % blocks;
    end = std::min(to, (across + 1) * blocks);
    const Index first = block * kRowPanels * kRows;
    const Index rows = std::min(a.rows() - first, (end - from) * kRowPanels * kRows);
    const Index p0 = across * panels.piece(), p1 = std::min(count, p0 + panels.piece());
    const Rows<Scalar> here = a.middleRows(first, rows);
    const Product<Scalar> product{here, panels, 1, rows, 1, out + first * b.rows_, packed_a};
    for (Index k = 0; k < a.cols(); k += kDepth) {
      const Index depth = std::min(kDepth, a.cols() - k);
      product.add(k, depth, p0, p1, b.panels_.data() + (k * count + p0 * depth) * kColumns<Scalar>);
    }
  }
}

template <typename Scalar>
void multiply_rows(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, MatrixMap<Scalar> out) {
  eigen_assert(out.rows() == a.rows() && out.cols() == b.rows());
  multiply_stacks<Scalar>(a, b, scale, a.rows(), b.rows(), out.data());
}

template void multiply_pairs(const Rows<double>&, const Rows<double>&, double, double*);
template void multiply_rows(const Rows<float>&, const Rows<float>&, float, MatrixMap<float>);
template void multiply_rows(const Rows<double>&, const Rows<double>&, double, MatrixMap<double>);
template void multiply_stacks(const Rows<float>&, const Rows<float>&, float, Index, Index, float*, Index);
template class PackedMatrix<float>;
template void multiply_packed(const Rows<float>&, const PackedMatrix<float>&, Index, Index, float*);

}  // namespace superpose
