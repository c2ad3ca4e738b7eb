// Products of matrices with about 30 columns, written as expressions that call the kernels of
// numeric/in_place.h, and sums along rows.
#pragma once

#include "numeric/in_place.h"
#include "numeric/lanes.h"

namespace superpose {

// A matrix, or a block of one.
template <typename Of>
Block<const float> block_of(const Of& of) {
  return {of.data(), of.outerStride()};
}
template <typename Of>
Block<float> block_of(Of& of) {
  return {of.data(), of.outerStride()};
}

// out = a b, out += a b, out = a' b and out += a' b. `out` may be a block, and overlaps neither a nor b.
template <typename A, typename B, typename Out>
void set_times(const A& a, const B& b, Out&& out) {
  multiply(block_of(a), block_of(b), {a.rows(), a.cols(), b.cols()}, block_of(out));
}
template <typename A, typename B, typename Out>
void add_times(const A& a, const B& b, Out&& out) {
  const Block<float> to = block_of(out);
  multiply<float>(block_of(a), block_of(b), {a.rows(), a.cols(), b.cols()}, to, to);
}
template <typename A, typename B, typename Out>
void set_transposed_times(const A& a, const B& b, Out&& out) {
  multiply_transposed(block_of(a), block_of(b), {a.cols(), a.rows(), b.cols()}, block_of(out));
}
template <typename A, typename B, typename Out>
void add_transposed_times(const A& a, const B& b, Out&& out) {
  const Block<float> to = block_of(out);
  multiply_transposed<float>(block_of(a), block_of(b), {a.cols(), a.rows(), b.cols()}, to, to);
}

template <typename Of>
Matrix<float> transposed(const Of& of) {
  Matrix<float> out(of.cols(), of.rows());
  transpose(block_of(of), of.rows(), of.cols(), block_of(out));
  return out;
}

// a b
template <typename A, typename B>
Matrix<float> times(const A& a, const B& b) {
  Matrix<float> out(a.rows(), b.cols());
  set_times(a, b, out);
  return out;
}

// a b'
template <typename A, typename B>
Matrix<float> times_transposed(const A& a, const B& b) {
  return times(a, transposed(b));
}

// The dot product of each row with the same row of another matrix, [rows].
inline Vector<float> row_dots(const Matrix<float>& a, const Matrix<float>& b) {
  Vector<float> dots(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) dots[i] = dot(&a(i, 0), &b(i, 0), a.cols());
  return dots;
}

// The mean of each row, [rows].
inline Vector<float> row_means(const Matrix<float>& x) {
  Vector<float> means(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) means[i] = mean_of(&x(i, 0), x.cols());
  return means;
}

}  // namespace superpose
