#include "model/attention.h"

#include <algorithm>

#include "model/row_norm.h"
#include "numeric/in_place.h"
#include "numeric/product.h"

namespace superpose {

using Eigen::Index;

template <typename Scalar>
void normalize_heads(const Normalization<Scalar>& norm, int heads, Index n, Matrix<Scalar>& stack) {
  if (norm.kind == Norm::none) return;
  const Index size = n * stack.cols();
  Scalar* const end = stack.data() + stack.size();
  Vector<Scalar> sigma;
  for (Scalar* at = stack.data(); at < end; at += size) {
    // A head's channels are a row of their own.
    Matrix<Scalar> block(n * heads, stack.cols() / heads);
    std::copy_n(at, size, block.data());
    if (at == stack.data())
      normalize_rows(norm, block, sigma);
    else
      normalize_part(norm, sigma, block);
    if (at != stack.data() && at + size == end) add_rows<Scalar>({}, norm.beta, block);
    std::copy_n(block.data(), size, at);
  }
}

template <typename Scalar>
Matrix<Scalar> of_query_heads(const Matrix<Scalar>& of_key_heads, int key_heads, int heads) {
  if (key_heads == heads) return of_key_heads;
  const Index width = of_key_heads.cols() / key_heads;
  Matrix<Scalar> expanded(of_key_heads.rows(), heads * width);
  for (Index i = 0; i < expanded.rows(); ++i) {
    const Scalar* const row = of_key_heads.data() + i * of_key_heads.cols();
    Scalar* to = expanded.data() + i * expanded.cols();
    for (int h = 0; h < heads; ++h) to = std::copy_n(row + key_head(h, key_heads, heads) * width, width, to);
  }
  return expanded;
}

template <typename Scalar>
void mask_later(Matrix<Scalar>& scores) {
  const Index n = scores.rows();
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) scores(i, j) = Scalar(kMasked);
  }
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                       \
  template void normalize_heads(const Normalization<Scalar>&, int, Index, Matrix<Scalar>&); \
  template Matrix<Scalar> of_query_heads(const Matrix<Scalar>&, int, int);                  \
  template void mask_later(Matrix<Scalar>&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
