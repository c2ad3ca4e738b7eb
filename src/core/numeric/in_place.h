// Products, transposes and softmax of matrices that are used where they lie in memory, in vectors of 16
// bytes. Rows of a matrix are `stride` entries apart.
//
// The products in a small transformer, and in one head's scores, are only about 30 wide. Packing the operands
// first, as numeric/product.h does for large ones, would cost as much as it saves.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

template <typename Scalar>
struct Block {
  Scalar* at;
  Eigen::Index stride;

  operator Block<const Scalar>() const { return {at, stride}; }
  Scalar* row(Eigen::Index i) const { return at + i * stride; }
};

struct ProductShape {
  Eigen::Index rows, depth, columns;
};

// out = a b for a [rows, depth] and b [depth, columns]; or out = plus + a b, where `plus` is either `out`
// itself or does not overlap it.
template <typename Scalar>
void multiply(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape, Block<Scalar> out);
template <typename Scalar>
void multiply(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape, Block<Scalar> out,
              Block<const Scalar> plus);

// The same for a' b with a [depth, rows].
template <typename Scalar>
void multiply_transposed(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape, Block<Scalar> out);
template <typename Scalar>
void multiply_transposed(Block<const Scalar> a, Block<const Scalar> b, ProductShape shape, Block<Scalar> out,
                         Block<const Scalar> plus);

// out [columns, rows] = from' for `from` [rows, columns].
template <typename Scalar>
void transpose(Block<const Scalar> from, Eigen::Index rows, Eigen::Index columns, Block<Scalar> out);

// Replaces each of `count` rows [n] by its softmax. In float, the exponential is a polynomial, accurate to
// 2 ulp. An entry of kMasked gets the weight 0, unless all entries of its row are masked.
constexpr double kMasked = -1e30;
template <typename Scalar>
void softmax(Block<Scalar> rows, Eigen::Index count, Eigen::Index n);

}  // namespace superpose
