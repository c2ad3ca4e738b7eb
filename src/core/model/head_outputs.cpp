#include "model/head_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/row_norm.h"
#include "scores/gauge.h"

namespace superpose {

using Eigen::Index;

namespace {

struct Columns {
  Index from, count;
};

template <typename Scalar>
Columns columns_of(const OutputParts<Scalar>& parts, int head) {
  const Index d = parts.values.cols(), width = d / parts.heads;
  return head < 0 ? Columns{0, d} : Columns{head * width, width};
}

// W_O,h transposed, [d_h, d], its channels centred where a LayerNorm will do so.
template <typename Scalar>
Matrix<Scalar> read_by_norm(const OutputParts<Scalar>& parts, Columns head) {
  Matrix<Scalar> weight = parts.output.middleRows(head.from, head.count);
  for (Index c = 0; parts.centre_channels && c < weight.rows(); ++c) {
    double mean = 0;
    for (Index o = 0; o < weight.cols(); ++o) mean += weight(c, o);
    mean /= static_cast<double>(weight.cols());
    for (Index o = 0; o < weight.cols(); ++o) weight(c, o) -= static_cast<Scalar>(mean);
  }
  return weight;
}

template <typename Scalar>
Matrix<Scalar> gram(const Matrix<Scalar>& rows) {
  return rows_times_rows<Scalar>(rows, rows);
}

// The mean over the used rows.
template <typename Scalar>
Vector<Scalar> used_mean(const Matrix<Scalar>& rows, const std::vector<char>& apart) {
  Vector<double> sum = Vector<double>::Zero(rows.cols());
  double count = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (!apart.empty() && apart[i]) continue;
    count += 1;
    for (Index c = 0; c < rows.cols(); ++c) sum[c] += rows(i, c);
  }
  Vector<Scalar> mean(rows.cols());
  for (Index c = 0; c < rows.cols(); ++c) mean[c] = static_cast<Scalar>(count ? sum[c] / count : 0);
  return mean;
}

template <typename Scalar>
void subtract_row(const Vector<Scalar>& row, Matrix<Scalar>& from) {
  for (Index i = 0; i < from.rows(); ++i) {
    for (Index c = 0; c < from.cols(); ++c) from(i, c) -= row[c];
  }
}

template <typename Scalar>
double dot(const Matrix<Scalar>& a, const Matrix<Scalar>& b, const std::vector<char>& apart) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index c = 0; (apart.empty() || !apart[i]) && c < a.cols(); ++c) sum += double(a(i, c)) * b(i, c);
  }
  return sum;
}

// rows [n, d_h] times a Gram matrix [d_h, d_h], which is its own transpose.
template <typename Scalar>
Matrix<Scalar> weighed(const Matrix<Scalar>& rows, const Matrix<Scalar>& by) {
  return rows_times_rows<Scalar>(rows, by);
}

// contexts[0] is the whole; the covariances of the others with it.
template <typename Scalar>
Covariances covariances_of(const std::vector<Matrix<Scalar>>& contexts, const Matrix<Scalar>& by,
                           const std::vector<char>& apart, double noise) {
  const Matrix<Scalar> whole = weighed(contexts[0], by);
  Covariances result;
  result.logits = dot(contexts[0], whole, apart);
  result.terms.resize(static_cast<Index>(contexts.size()) - 1);
  for (Index p = 0; p < result.terms.size(); ++p) result.terms[p] = dot(contexts[p + 1], whole, apart);
  if (!(result.logits > noise)) {
    result.logits = 0;
    result.terms.setZero();
  }
  result.shares.resize(result.terms.size());
  for (Index p = 0; p < result.terms.size(); ++p) result.shares[p] = result.terms[p] / result.logits;
  return result;
}

}  // namespace

template <typename Scalar>
OutputParts<Scalar> output_parts(const Encoder<Scalar>& encoder, int layer, const Matrix<Scalar>& attention,
                                 const Matrix<Scalar>& input, std::vector<Matrix<Scalar>> parts,
                                 const std::vector<int>& apart) {
  const Index n = input.rows(), d = input.cols();
  OutputParts<Scalar> result;
  result.apart = row_flags(apart, n);
  result.heads = encoder.options().heads;
  result.centre_channels = encoder.attention_norm(layer).kind == Norm::layer_norm;
  result.value_bias = encoder.value_bias(layer);
  if (!result.apart.empty()) {
    const Vector<Scalar> mean = used_mean(input, result.apart);
    Matrix<Scalar> contrast = Matrix<Scalar>::Zero(n, d);
    Matrix<Scalar>& constant = parts.back();
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; result.apart[i] && c < d; ++c) {
        contrast(i, c) = input(i, c) - mean[c];
        constant(i, c) -= contrast(i, c);
      }
    }
    parts.insert(parts.end() - 1, std::move(contrast));
  }
  result.values = encoder.values(layer, input);
  result.contexts.push_back(encoder.attended(attention, result.values));
  for (const Matrix<Scalar>& part : parts)
    result.contexts.push_back(encoder.attended(attention, encoder.values(layer, part)));
  // Every row of attention sums to 1, so b_V passes through it.
  add_rows<Scalar>({}, result.value_bias, result.contexts.front());
  add_rows<Scalar>({}, result.value_bias, result.contexts.back());
  result.output = encoder.output_weight(layer);
  return result;
}

template <typename Scalar>
OutputShares output_shares(const OutputParts<Scalar>& parts, int head) {
  const Columns columns = columns_of(parts, head);
  const Matrix<Scalar> weight = parts.output.middleRows(columns.from, columns.count);
  const Matrix<Scalar> by = gram(read_by_norm(parts, columns)), as_it_is = gram(weight);
  const Index n = parts.values.rows();
  Index used = 0;
  for (Index i = 0; i < n; ++i) used += parts.apart.empty() || !parts.apart[i];

  std::vector<Matrix<Scalar>> contexts;
  for (const Matrix<Scalar>& one : parts.contexts)
    contexts.push_back(one.middleCols(columns.from, columns.count));
  double longest = 0;
  Matrix<Scalar> rest = contexts[0];
  for (std::size_t p = 0; p < contexts.size(); ++p) {
    if (p > 0) rest -= contexts[p];
    const Matrix<Scalar> squares = weighed(contexts[p], as_it_is);
    for (Index i = 0; i < n; ++i) {
      double square = 0;
      for (Index c = 0; c < squares.cols(); ++c) square += double(contexts[p](i, c)) * squares(i, c);
      longest = std::max(longest, square);
    }
  }
  OutputShares result;
  const Matrix<Scalar> left = rows_times_rows<Scalar>(rest, Matrix<Scalar>(weight.transpose()));
  for (Index at = 0; at < left.size(); ++at)
    result.residual = std::max(result.residual, std::abs(double(left.data()[at])));

  const double unit = 64 * double(std::numeric_limits<Scalar>::epsilon());
  const double noise = unit * unit * longest * static_cast<double>(used);

  // From uniform: less what attending to all used rows alike would write of the whole and of each part.
  std::vector<Matrix<Scalar>> moved = contexts;
  const Vector<Scalar> mean = used_mean(parts.values, parts.apart);
  Vector<Scalar> uniform(columns.count);
  for (Index c = 0; c < columns.count; ++c)
    uniform[c] = mean[columns.from + c] + parts.value_bias[columns.from + c];
  subtract_row(uniform, moved.front());
  subtract_row(uniform, moved.back());
  result.from_uniform = covariances_of(moved, by, parts.apart, noise);

  for (Matrix<Scalar>& one : contexts) subtract_row(used_mean(one, parts.apart), one);
  result.over_queries = covariances_of(contexts, by, parts.apart, noise);
  return result;
}

template <typename Scalar>
Matrix<Scalar> head_output(const OutputParts<Scalar>& parts, int head, int part) {
  const Columns columns = columns_of(parts, head);
  const Matrix<Scalar> weight = parts.output.middleRows(columns.from, columns.count).transpose();
  return rows_times_rows<Scalar>(
      Matrix<Scalar>(parts.contexts[1 + part].middleCols(columns.from, columns.count)), weight);
}

template <typename Scalar>
Matrix<Scalar> norm_weighted(const OutputParts<Scalar>& parts, int head, const Matrix<Scalar>& attention) {
  const Columns columns = columns_of(parts, head);
  Matrix<Scalar> values = parts.values.middleCols(columns.from, columns.count);
  subtract_row(used_mean(values, parts.apart), values);
  const Matrix<Scalar> moved = weighed(values, gram(read_by_norm(parts, columns)));
  Matrix<Scalar> result = attention;
  for (Index j = 0; j < values.rows(); ++j) {
    double square = 0;
    for (Index c = 0; c < values.cols(); ++c) square += double(values(j, c)) * moved(j, c);
    const auto norm = static_cast<Scalar>(std::sqrt(std::max(0.0, square)));
    for (Index i = 0; i < result.rows(); ++i) result(i, j) *= norm;
  }
  return result;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                           \
  template OutputParts<Scalar> output_parts(const Encoder<Scalar>&, int, const Matrix<Scalar>&, \
                                            const Matrix<Scalar>&, std::vector<Matrix<Scalar>>, \
                                            const std::vector<int>&);                           \
  template OutputShares output_shares(const OutputParts<Scalar>&, int);                         \
  template Matrix<Scalar> head_output(const OutputParts<Scalar>&, int, int);                    \
  template Matrix<Scalar> norm_weighted(const OutputParts<Scalar>&, int, const Matrix<Scalar>&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
