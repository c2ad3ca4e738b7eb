// The product of large matrices, rows times rows, which are packed first. Projections are rows times the
// rows of a weight [out, in], scores are queries times keys, and Gram matrices are rows times themselves, so
// each is a * b'. Products of some 30 columns, which packing would only slow down, are in
// numeric/in_place.h.
#pragma once

#include <memory>
#include <new>

#include "numeric/matrix.h"

namespace superpose {

// Rows that may be a block of a wider matrix, such as one head's columns.
template <typename Scalar>
using Rows = Eigen::Ref<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;

// out = scale * a * b', where a is [m, k], b is [n, k] and out, which may not overlap them, is [m, n].
template <typename Scalar>
void multiply_rows(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, MatrixMap<Scalar> out);

// The same, one pair of rows at a time: for few rows, which are not worth packing. The small module, which
// opens a page, multiplies doubles only in this way, and so does without the 2 KB of code that packs them.
template <typename Scalar>
void multiply_pairs(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, Scalar* out);

// The same for stacks: a is s matrices [m, k], b is r matrices [n, k], and out is the s * r products [m, n],
// each stack one matrix after another; product (i, j) is at place i * r + j. One call packs each operand
// once, where s * r calls would pack it r or s times. `rows` is m and `columns` is n. With `across` above r,
// product (i, j) is at place i * across + j, and the places between are left as they are.
template <typename Scalar>
void multiply_stacks(const Rows<Scalar>& a, const Rows<Scalar>& b, Scalar scale, Eigen::Index rows,
                     Eigen::Index columns, Scalar* out, Eigen::Index across = 0);

// Aligned memory for loading vectors. It only grows, so that repeated use allocates once.
template <typename Scalar>
class AlignedBuffer {
 public:
  Scalar* at_least(Eigen::Index count) {
    if (count > size_) {
      memory_.reset(static_cast<Scalar*>(::operator new(count * sizeof(Scalar), kAlignment)));
      size_ = count;
    }
    return memory_.get();
  }
  const Scalar* data() const { return memory_.get(); }
  Scalar* data() { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(Scalar* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<Scalar, Free> memory_;
  Eigen::Index size_ = 0;
};

// A matrix b, packed once for products with many a. Its rows or columns are placed a few at a time, so that
// a large matrix need not be in memory twice.
template <typename Scalar>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // Every entry must be placed before it is used.
  PackedMatrix(Eigen::Index rows, Eigen::Index columns);
  explicit PackedMatrix(const Rows<Scalar>& b) : PackedMatrix(b.rows(), b.cols()) { place_rows(b, 0); }

  Eigen::Index rows() const { return rows_; }
  Eigen::Index columns() const { return columns_; }
  // Rows from row `first` on.
  void place_rows(const Rows<Scalar>& rows, Eigen::Index first);
  // Columns from column `first` on, each a row of `columns`.
  void place_columns(const Rows<Scalar>& columns, Eigen::Index first);
  // Frees the entries and keeps the extents; nothing can be placed or multiplied afterwards.
  void release() { panels_ = {}; }

  // The number of pieces of about equal work into which a product with an a of this height can be divided.
  Eigen::Index pieces(Eigen::Index rows_of_a) const;

 private:
  template <typename S>
  friend void multiply_packed(const Rows<S>&, const PackedMatrix<S>&, Eigen::Index, Eigen::Index, S*);
  AlignedBuffer<Scalar> panels_;
  Eigen::Index rows_ = 0, columns_ = 0;
};

// Pieces `from` .. `to` - 1 of out = a * b', out [a.rows(), b.rows()].
template <typename Scalar>
void multiply_packed(const Rows<Scalar>& a, const PackedMatrix<Scalar>& b, Eigen::Index from, Eigen::Index to,
                     Scalar* out);

// a * b' as a new matrix.
template <typename Scalar>
Matrix<Scalar> rows_times_rows(const Rows<Scalar>& a, const Rows<Scalar>& b) {
  Matrix<Scalar> out(a.rows(), b.rows());
  multiply_rows<Scalar>(a, b, 1, MatrixMap<Scalar>(out.data(), out.rows(), out.cols()));
  return out;
}

template <typename Scalar>
Matrix<Scalar> pairs_of_rows(const Rows<Scalar>& a, const Rows<Scalar>& b) {
  Matrix<Scalar> out(a.rows(), b.rows());
  multiply_pairs<Scalar>(a, b, 1, out.data());
  return out;
}

template <typename Scalar>
Matrix<Scalar> rows_times_rows(const Rows<Scalar>& a, const PackedMatrix<Scalar>& b) {
  Matrix<Scalar> out(a.rows(), b.rows());
  multiply_packed<Scalar>(a, b, 0, b.pieces(a.rows()), out.data());
  return out;
}

// y = W x + b on row vectors: rows [n, in] give [n, out].
template <typename Scalar>
struct Linear {
  Matrix<Scalar> weight;  // [out, in]
  Vector<Scalar> bias;    // [out], or empty for zeros
};

// A linear map whose weight is packed for products.
template <typename Scalar>
struct PackedLinear {
  PackedMatrix<Scalar> weight;  // [out, in]
  Vector<Scalar> bias;          // [out], or empty for zeros
};

template <typename Scalar>
Matrix<Scalar> apply(const Linear<Scalar>& linear, const Matrix<Scalar>& rows) {
  Matrix<Scalar> out = rows_times_rows<Scalar>(rows, linear.weight);
  if (linear.bias.size()) out.rowwise() += linear.bias.transpose();
  return out;
}

}  // namespace superpose
