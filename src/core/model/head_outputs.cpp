#include "model/head_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/row_norm.h"
#include "numeric/in_place.h"
#include "numeric/lanes.h"
#include "scores/gauge.h"

namespace superpose {

using Eigen::Index;

namespace {

template <typename Scalar>
Scalar dot(const Scalar* a, const Scalar* b, Index count) {
  using S = Simd<Scalar>;
  Lanes<Scalar> sums{};
  Scalar rest = 0;
  along<Scalar>(
      count, [&](Index c) { sums = multiply_add<Scalar>(S::load(a + c), S::load(b + c), sums); },
      [&](Index c) { rest += a[c] * b[c]; });
  return sum(sums) + rest;
}

bool counts(const std::vector<char>& apart, Index row) { return apart.empty() || !apart[row]; }

Index used_rows(const std::vector<char>& apart, Index n) {
  return n - std::count(apart.begin(), apart.end(), char(1));
}

// The mean over the used rows; zero where there are none.
template <typename Scalar>
Vector<Scalar> used_mean(const Matrix<Scalar>& rows, const std::vector<char>& apart) {
  Vector<double> mean = Vector<double>::Zero(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index c = 0; counts(apart, i) && c < rows.cols(); ++c) mean[c] += rows(i, c);
  }
  const Index used = used_rows(apart, rows.rows());
  if (used > 0) mean /= static_cast<double>(used);
  return mean.template cast<Scalar>();
}

// Rows minus their mean over the used ones.
template <typename Scalar>
Matrix<Scalar> about_mean(Matrix<Scalar> rows, const std::vector<char>& apart) {
  const Vector<Scalar> less = -used_mean(rows, apart);
  add_rows<Scalar>({}, less, rows);
  return rows;
}

// Each row minus its mean over channels, as a LayerNorm has it.
template <typename Scalar>
void centre_channels(Matrix<Scalar>& rows) {
  normalize_part<Scalar>({Norm::layer_norm, {}, {}, 0}, Vector<Scalar>::Ones(rows.rows()), rows);
}

// W_O,h' C W_O,h of one head, [d_h, d_h]: its channels centred where a LayerNorm will do so.
template <typename Scalar>
Matrix<Scalar> gram_of(const OutputParts<Scalar>& parts, Index head, bool centred) {
  const Index width = parts.output.rows() / parts.heads;
  Matrix<Scalar> weight = parts.output.middleRows(head * width, width);
  if (centred) centre_channels(weight);
  return rows_times_rows<Scalar>(weight, weight);
}

// For each head, its columns of rows [n, d] times its own matrix [d_h, d_h].
template <typename Scalar>
Matrix<Scalar> times_blocks(const Matrix<Scalar>& rows, const std::vector<Matrix<Scalar>>& blocks) {
  const Index n = rows.rows(), d = rows.cols(), width = d / static_cast<Index>(blocks.size());
  Matrix<Scalar> out(n, d);
  for (std::size_t h = 0; h < blocks.size(); ++h) {
    const Index from = static_cast<Index>(h) * width;
    multiply<Scalar>({rows.data() + from, d}, {blocks[h].data(), width}, {n, width, width},
                     {out.data() + from, d});
  }
  return out;
}

template <typename Scalar>
double largest_size(const Matrix<Scalar>& rows) {
  using S = Simd<Scalar>;
  Lanes<Scalar> sizes{};
  Scalar rest = 0;
  along<Scalar>(
      rows.size(),
      [&](Index at) {
        const auto v = S::load(rows.data() + at);
        sizes = larger(sizes, larger(v, -v));
      },
      [&](Index at) { rest = std::max(rest, std::abs(rows.data()[at])); });
  return std::max(largest(sizes), rest);
}

// Covariances with the whole, which comes first, as shares of its variance if that is more than noise.
Covariances shares_of(const Vector<double>& covariances, double noise) {
  const Index count = covariances.size() - 1;
  Covariances result;
  result.terms.setZero(count);
  if (covariances[0] > noise) {
    result.logits = covariances[0];
    result.terms = covariances.tail(count);
  }
  result.shares = result.terms / result.logits;
  return result;
}

// What is left when the parts are taken from the whole, through W_O: one residual a head, then that of all.
template <typename Scalar>
void find_residuals(const OutputParts<Scalar>& parts, std::vector<OutputShares>& found) {
  const Index n = parts.values.rows(), of_heads = parts.values.cols(), width = of_heads / parts.heads;
  const Index d = parts.output.cols();
  Matrix<Scalar> rest = parts.contexts[0], left(n, d), all = Matrix<Scalar>::Zero(n, d);
  for (std::size_t p = 1; p < parts.contexts.size(); ++p) rest -= parts.contexts[p];
  for (Index h = 0; h < parts.heads; ++h) {
    multiply<Scalar>({rest.data() + h * width, of_heads}, {parts.output.data() + h * width * d, d},
                     {n, width, d}, {left.data(), d});
    found[h].residual = largest_size(left);
    add_rows<Scalar>(left, {}, all);
  }
  found.back().residual = largest_size(all);
}

// The squared length of the longest row that a part writes, for each head and, by their lengths' sum, for all.
template <typename Scalar>
std::vector<double> longest_rows(const OutputParts<Scalar>& parts) {
  const Index n = parts.values.rows(), d = parts.values.cols(), width = d / parts.heads;
  std::vector<Matrix<Scalar>> grams;
  for (Index h = 0; h < parts.heads; ++h) grams.push_back(gram_of(parts, h, false));
  std::vector<double> longest(parts.heads);
  for (const Matrix<Scalar>& one : parts.contexts) {
    const Matrix<Scalar> moved = times_blocks(one, grams);
    for (Index i = 0; i < n; ++i) {
      for (Index h = 0; h < parts.heads; ++h) {
        const Index at = i * d + h * width;
        longest[h] = std::max<double>(longest[h], dot(one.data() + at, moved.data() + at, width));
      }
    }
  }
  double lengths = 0;
  for (const double squares : longest) lengths += std::sqrt(squares);
  longest.push_back(lengths * lengths);
  return longest;
}

}  // namespace

template <typename Scalar>
OutputParts<Scalar> output_parts(const Encoder<Scalar>& encoder, int layer, const Forward<Scalar>& run,
                                 const std::vector<Matrix<Scalar>>& parts, const std::vector<int>& apart,
                                 bool contrast) {
  const Matrix<Scalar>& attention = run.attention[layer];
  const Index n = attention.cols();
  OutputParts<Scalar> result;
  const EncoderOptions<Scalar>& options = encoder.options();
  result.values = of_query_heads(run.values[layer], options.key_heads, options.heads);
  result.written = run.attended[layer];
  result.output = encoder.output_weight(layer);
  result.apart = row_flags(apart, n);
  result.heads = options.heads;
  result.centre_channels = encoder.attention_norm(layer).kind == Norm::layer_norm;

  const Index d = result.values.cols(), width = d / result.heads;
  result.contexts.push_back(run.contexts[layer]);
  for (const Matrix<Scalar>& part : parts) result.contexts.push_back(encoder.mixed(layer, attention, part));
  // Every row of attention sums to 1, so b_V passes through it.
  add_rows<Scalar>({}, encoder.value_bias(layer), result.contexts.back());
  if (result.apart.empty() || !contrast) return result;

  const Matrix<Scalar> from_mean = about_mean(result.values, result.apart);
  Matrix<Scalar> context = Matrix<Scalar>::Zero(n, d);
  for (const int a : apart) {
    for (Index h = 0; h < result.heads; ++h) {
      for (Index i = 0; i < n; ++i) {
        const Scalar weight = attention(h * n + i, a);
        for (Index c = h * width; c < (h + 1) * width; ++c) context(i, c) += weight * from_mean(a, c);
      }
    }
  }
  result.contexts.back() -= context;
  result.contexts.insert(result.contexts.end() - 1, std::move(context));
  return result;
}

template <typename Scalar>
std::vector<OutputShares> output_shares(const OutputParts<Scalar>& parts) {
  const Index n = parts.values.rows(), d = parts.values.cols(), heads = parts.heads, width = d / heads;
  const Index count = parts.parts(), used = used_rows(parts.apart, n);
  std::vector<OutputShares> found(heads + 1);
  find_residuals(parts, found);

  // The whole that each part is compared with, put through W_O and back: rows [n, d] whose products with a
  // part's contexts are covariances. A head's whole is its own.
  std::vector<Matrix<Scalar>> grams;
  for (Index h = 0; h < heads; ++h) grams.push_back(gram_of(parts, h, parts.centre_channels));
  Matrix<Scalar> weight = parts.output;
  if (parts.centre_channels) centre_channels(weight);
  const Matrix<Scalar> of_heads = times_blocks(about_mean(parts.contexts[0], parts.apart), grams);
  const Matrix<Scalar> of_all = rows_times_rows<Scalar>(about_mean(parts.written, parts.apart), weight);

  // The same of what the whole's mean is beyond uniform attention: what the shares from uniform have besides.
  const Vector<Scalar> uniform = used_mean(parts.values, parts.apart);
  const Matrix<Scalar> beyond = (used_mean(parts.contexts[0], parts.apart) - uniform).transpose();
  const Matrix<Scalar> beyond_heads = times_blocks(beyond, grams);
  Matrix<Scalar> written(1, weight.cols());
  multiply<Scalar>({beyond.data(), d}, {weight.data(), weight.cols()}, {1, d, weight.cols()},
                   {written.data(), weight.cols()});
  const Matrix<Scalar> beyond_all = rows_times_rows<Scalar>(written, weight);

  const std::vector<double> longest = longest_rows(parts);
  const double unit = 64 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  Matrix<double> over_queries(heads + 1, count + 1), from_uniform(heads + 1, count + 1);
  for (Index p = 0; p <= count; ++p) {
    const Matrix<Scalar>& context = parts.contexts[p];
    const Matrix<Scalar> varying = about_mean(context, parts.apart);
    Vector<Scalar> mean = used_mean(context, parts.apart);
    // What attending to all alike would write is taken from the whole, and so from the constant.
    if (p == 0 || p == count) mean -= uniform;
    for (Index h = 0; h <= heads; ++h) {
      const Index from = h < heads ? h * width : 0, columns = h < heads ? width : d;
      const Matrix<Scalar>& whole = h < heads ? of_heads : of_all;
      const Matrix<Scalar>& besides = h < heads ? beyond_heads : beyond_all;
      double sum = 0;
      for (Index i = 0; i < n; ++i) {
        if (counts(parts.apart, i))
          sum += dot(varying.data() + i * d + from, whole.data() + i * d + from, columns);
      }
      over_queries(h, p) = sum;
      from_uniform(h, p) =
          sum + static_cast<double>(used) * dot(mean.data() + from, besides.data() + from, columns);
    }
  }
  for (Index h = 0; h <= heads; ++h) {
    const double noise = unit * unit * longest[h] * static_cast<double>(used);
    found[h].over_queries = shares_of(over_queries.row(h), noise);
    found[h].from_uniform = shares_of(from_uniform.row(h), noise);
  }
  return found;
}

template <typename Scalar>
Matrix<Scalar> head_output(const OutputParts<Scalar>& parts, int head, int part) {
  const Index n = parts.values.rows(), of_heads = parts.values.cols(), d = parts.output.cols();
  const Index columns = head < 0 ? of_heads : of_heads / parts.heads, from = head < 0 ? 0 : head * columns;
  Matrix<Scalar> out(n, d);
  multiply<Scalar>({parts.contexts[1 + part].data() + from, of_heads}, {parts.output.data() + from * d, d},
                   {n, columns, d}, {out.data(), d});
  return out;
}

template <typename Scalar>
Matrix<double> norm_weighted(const OutputParts<Scalar>& parts, int head, Matrix<double> attention) {
  const Index n = parts.values.rows(), width = parts.values.cols() / parts.heads;
  const Matrix<Scalar> values = about_mean<Scalar>(parts.values.middleCols(head * width, width), parts.apart);
  const Matrix<Scalar> moved = times_blocks<Scalar>(values, {gram_of(parts, head, parts.centre_channels)});
  Vector<double> norms(n);
  for (Index j = 0; j < n; ++j) {
    const double squares = dot(values.data() + j * width, moved.data() + j * width, width);
    norms[j] = std::sqrt(std::max(0.0, squares));
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) attention(i, j) *= norms[j];
  }
  return attention;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                    \
  template OutputParts<Scalar> output_parts(const Encoder<Scalar>&, int, const Forward<Scalar>&,         \
                                            const std::vector<Matrix<Scalar>>&, const std::vector<int>&, \
                                            bool);                                                       \
  template std::vector<OutputShares> output_shares(const OutputParts<Scalar>&);                          \
  template Matrix<Scalar> head_output(const OutputParts<Scalar>&, int, int);                             \
  template Matrix<double> norm_weighted(const OutputParts<Scalar>&, int, Matrix<double>);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
