#include "model/head_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scores/gauge.h"

namespace superpose {

using Eigen::Index;

namespace {

using Rowsd = Matrix<double>;

struct Columns {
  Index from, count;
};

Columns columns_of(const OutputParts& parts, int head) {
  const Index d = parts.values.cols(), width = d / parts.heads;
  return head < 0 ? Columns{0, d} : Columns{head * width, width};
}

Rowsd product(const Rowsd& a, const Rowsd& b) { return rows_times_rows<double>(a, b); }

// W_O,h' C W_O,h, [d_h, d_h]: its channels centred where a LayerNorm will do so.
Rowsd gram_of(Rowsd weight, bool centred) {
  for (Index c = 0; centred && c < weight.rows(); ++c) {
    double mean = 0;
    for (Index o = 0; o < weight.cols(); ++o) mean += weight(c, o);
    mean /= static_cast<double>(weight.cols());
    for (Index o = 0; o < weight.cols(); ++o) weight(c, o) -= mean;
  }
  return product(weight, weight);
}

// The mean over the used rows; zero where there are none.
Vector<double> used_mean(const Rowsd& rows, const std::vector<char>& apart) {
  Vector<double> mean = Vector<double>::Zero(rows.cols());
  double count = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (!apart.empty() && apart[i]) continue;
    count += 1;
    for (Index c = 0; c < rows.cols(); ++c) mean[c] += rows(i, c);
  }
  for (Index c = 0; count > 0 && c < mean.size(); ++c) mean[c] /= count;
  return mean;
}

void shift(const Vector<double>& by, double sign, Rowsd& rows) {
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index c = 0; c < rows.cols(); ++c) rows(i, c) += sign * by[c];
  }
}

double dot(const Rowsd& a, const Rowsd& b, Index row) {
  double sum = 0;
  for (Index c = 0; c < a.cols(); ++c) sum += a(row, c) * b(row, c);
  return sum;
}

// contexts[0] is the whole; the covariances of the others with it, over the used rows.
Covariances covariances_of(const std::vector<Rowsd>& contexts, const Rowsd& gram,
                           const std::vector<char>& apart, double noise) {
  const Rowsd whole = product(contexts[0], gram);
  const auto with_whole = [&](const Rowsd& one) {
    double sum = 0;
    for (Index i = 0; i < one.rows(); ++i) sum += apart.empty() || !apart[i] ? dot(one, whole, i) : 0;
    return sum;
  };
  Covariances result;
  const Index count = static_cast<Index>(contexts.size()) - 1;
  result.terms.setZero(count);
  result.shares.resize(count);
  const double variance = with_whole(contexts[0]);
  if (variance > noise) result.logits = variance;
  for (Index p = 0; p < count; ++p) {
    if (variance > noise) result.terms[p] = with_whole(contexts[p + 1]);
    result.shares[p] = result.terms[p] / result.logits;
  }
  return result;
}

}  // namespace

template <typename Scalar>
OutputParts output_parts(const Encoder<Scalar>& encoder, int layer, const Matrix<Scalar>& attention,
                         const Matrix<Scalar>& input, std::vector<Matrix<Scalar>> parts,
                         const std::vector<int>& apart) {
  const Index n = input.rows(), d = input.cols();
  OutputParts result;
  result.apart = row_flags(apart, n);
  result.heads = encoder.options().heads;
  result.centre_channels = encoder.attention_norm(layer).kind == Norm::layer_norm;
  result.epsilon = static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  result.value_bias = encoder.value_bias(layer).template cast<double>();
  if (!result.apart.empty()) {
    const Vector<double> mean = used_mean(input.template cast<double>(), result.apart);
    Matrix<Scalar> contrast = Matrix<Scalar>::Zero(n, d);
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; result.apart[i] && c < d; ++c) {
        contrast(i, c) = input(i, c) - static_cast<Scalar>(mean[c]);
        parts.back()(i, c) -= contrast(i, c);
      }
    }
    parts.insert(parts.end() - 1, std::move(contrast));
  }
  const auto context_of = [&](const Matrix<Scalar>& values) {
    result.contexts.push_back(encoder.attended(attention, values).template cast<double>());
  };
  const Matrix<Scalar> values = encoder.values(layer, input);
  result.values = values.template cast<double>();
  context_of(values);
  for (const Matrix<Scalar>& part : parts) context_of(encoder.values(layer, part));
  // Every row of attention sums to 1, so b_V passes through it.
  shift(result.value_bias, 1, result.contexts.front());
  shift(result.value_bias, 1, result.contexts.back());
  result.output = encoder.output_weight(layer).template cast<double>();
  return result;
}

OutputShares output_shares(const OutputParts& parts, int head) {
  const auto [from, count] = columns_of(parts, head);
  const Rowsd weight = parts.output.middleRows(from, count);
  const Rowsd by = gram_of(weight, false);
  const Index n = parts.values.rows();
  OutputShares result;

  std::vector<Rowsd> contexts;
  for (const Rowsd& one : parts.contexts) contexts.push_back(one.middleCols(from, count));
  Rowsd rest = contexts[0];
  for (std::size_t p = 1; p < contexts.size(); ++p) rest -= contexts[p];
  const Rowsd left = product(rest, weight.transpose());
  for (Index at = 0; at < left.size(); ++at)
    result.residual = std::max(result.residual, std::abs(left.data()[at]));

  double longest = 0, used = 0;
  for (const Rowsd& one : contexts) {
    const Rowsd moved = product(one, by);
    for (Index i = 0; i < n; ++i) longest = std::max(longest, dot(one, moved, i));
  }
  for (Index i = 0; i < n; ++i) used += parts.apart.empty() || !parts.apart[i];
  const double unit = 64 * parts.epsilon, noise = unit * unit * longest * used;

  const Rowsd gram = parts.centre_channels ? gram_of(weight, true) : by;
  // The whole and the constant less what attending to all used rows alike would write.
  std::vector<Rowsd> moved = contexts;
  const Vector<double> mean = used_mean(parts.values, parts.apart) + parts.value_bias;
  shift(mean.segment(from, count), -1, moved.front());
  shift(mean.segment(from, count), -1, moved.back());
  result.from_uniform = covariances_of(moved, gram, parts.apart, noise);

  for (Rowsd& one : contexts) shift(used_mean(one, parts.apart), -1, one);
  result.over_queries = covariances_of(contexts, gram, parts.apart, noise);
  return result;
}

Matrix<double> head_output(const OutputParts& parts, int head, int part) {
  const auto [from, count] = columns_of(parts, head);
  return product(parts.contexts[1 + part].middleCols(from, count),
                 parts.output.middleRows(from, count).transpose());
}

Matrix<double> norm_weighted(const OutputParts& parts, int head, Matrix<double> attention) {
  const auto [from, count] = columns_of(parts, head);
  Rowsd values = parts.values.middleCols(from, count);
  shift(used_mean(values, parts.apart), -1, values);
  const Rowsd moved = product(values, gram_of(parts.output.middleRows(from, count), parts.centre_channels));
  for (Index j = 0; j < values.rows(); ++j) {
    const double norm = std::sqrt(std::max(0.0, dot(values, moved, j)));
    for (Index i = 0; i < attention.rows(); ++i) attention(i, j) *= norm;
  }
  return attention;
}

template OutputParts output_parts(const Encoder<float>&, int, const Matrix<float>&, const Matrix<float>&,
                                  std::vector<Matrix<float>>, const std::vector<int>&);
template OutputParts output_parts(const Encoder<double>&, int, const Matrix<double>&, const Matrix<double>&,
                                  std::vector<Matrix<double>>, const std::vector<int>&);

}  // namespace superpose
