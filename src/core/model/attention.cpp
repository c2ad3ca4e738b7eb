#include "model/attention.h"

#include <algorithm>
#include <cstdlib>

#include "encodings/relative_position.h"
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
Matrix<Scalar> offset_bias(const Matrix<Scalar>& table, const Vector<Scalar>& slopes, Index n) {
  if (!table.size() && !slopes.size()) return {};
  const Index heads = table.size() ? table.cols() : slopes.size();
  const T5Options buckets{true, static_cast<int>(table.rows()), 128};
  Matrix<Scalar> bias(heads, 2 * n - 1);
  for (Index column = 0; column < bias.cols(); ++column) {
    const int offset = static_cast<int>(column - n + 1);
    const int bucket = table.size() ? t5_bucket(offset, buckets) : 0;
    for (Index h = 0; h < heads; ++h) {
      bias(h, column) = table.size() ? table(bucket, h) : 0;
      if (slopes.size()) bias(h, column) += slopes[h] * static_cast<Scalar>(offset);
    }
  }
  return bias;
}

template <typename Scalar>
void add_offset_bias(const Matrix<Scalar>& bias, int head, Scalar* scores, Scalar* alone) {
  if (!bias.size()) return;
  const Index n = (bias.cols() + 1) / 2;
  const Scalar* const of_head = bias.data() + head * bias.cols();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const Scalar one = of_head[j - i + n - 1];
      scores[i * n + j] += one;
      if (alone) alone[i * n + j] = one;
    }
  }
}

template <typename Scalar>
void add_offset_products(const Rows<Scalar>& rows, const Rows<Scalar>& table, bool of_keys, Scalar scale,
                         Scalar* scores) {
  const Index n = rows.rows();
  const Matrix<Scalar> products = rows_times_rows<Scalar>(rows, table);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) scores[i * n + j] += scale * products(of_keys ? j : i, j - i + n - 1);
  }
}

template <typename Scalar>
void mask(bool causal, int window, const std::vector<char>& attended, Matrix<Scalar>& scores) {
  const Index n = scores.rows();
  if (!causal && window >= n && attended.empty()) return;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const bool padding = !attended.empty() && !attended[j];
      if (padding || (causal && j > i) || std::abs(i - j) > window) scores(i, j) = Scalar(kMasked);
    }
  }
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                 \
  template void normalize_heads(const Normalization<Scalar>&, int, Index, Matrix<Scalar>&);           \
  template Matrix<Scalar> of_query_heads(const Matrix<Scalar>&, int, int);                            \
  template Matrix<Scalar> offset_bias(const Matrix<Scalar>&, const Vector<Scalar>&, Index);           \
  template void add_offset_bias(const Matrix<Scalar>&, int, Scalar*, Scalar*);                        \
  template void add_offset_products(const Rows<Scalar>&, const Rows<Scalar>&, bool, Scalar, Scalar*); \
  template void mask(bool, int, const std::vector<char>&, Matrix<Scalar>&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
