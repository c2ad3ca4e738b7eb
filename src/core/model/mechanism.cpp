#include "model/mechanism.h"

#include <algorithm>
#include <cmath>

#include "encodings/rotary.h"

namespace superpose {

using Eigen::Index;

namespace {

enum Part { token, position, constant, offset };

template <typename Scalar>
Matrix<double> in_double(const Matrix<Scalar>& of, Index from) {
  Matrix<double> found(of.rows() - from, of.cols());
  for (Index at = 0; at < found.size(); ++at) found.data()[at] = of.data()[from * of.cols() + at];
  return found;
}

// One head of rows, their mean and their places.
Parted parted(const Matrix<double>& rows, const Matrix<double>& mean, const Matrix<double>& places,
              Index head, Index width) {
  const auto cut = [&](const Matrix<double>& of) -> Matrix<double> {
    return of.middleCols(head * width, width);
  };
  return part_rows(cut(rows), cut(mean), cut(places));
}

}  // namespace

template <typename Scalar>
Mechanism<Scalar>::Mechanism(const Encoder<Scalar>& encoder, const Forward<Scalar>& run, int layer,
                             const ScoreMeans& means)
    : encoder_(encoder),
      logits_(run.logits[layer]),
      rotary_(encoder.rotary(layer)),
      window_(encoder.window(layer)) {
  const EncoderOptions<Scalar>& options = encoder.options();
  const Index n = logits_.cols(), first = std::min(n, means.query.first), used = n - first;
  const Projections<Scalar> all = encoder.projections(layer, run.inputs[layer]);
  rows_ = {in_double(all.queries, first), in_double(all.keys, first)};
  const auto mean_of = [](const StateMeans<double>& from) { return Matrix<double>(from.mu.transpose()); };
  mean_ = {mean_of(means.query), mean_of(means.key)};
  places_ = {means.query.positions.topRows(used), means.key.positions.topRows(used)};
  // What a rotation multiplies by counts as the rows' own: at no step it turns nothing.
  const auto stretch = [&](int heads, Matrix<double>& of) {
    turn({rotary_.frequencies, Layout::concatenated, heads, rotary_.gain, 0, 0}, of.rows(), of);
  };
  for (Projections<double>* one : {&rows_, &mean_, &places_}) {
    stretch(options.heads, one->queries);
    stretch(options.key_heads, one->keys);
  }
  if (used == 0) return;
  turns_ = mean_turns(rotary_.frequencies, used, options.causal, window_);
  bias_ = in_double(encoder.score_bias(used), 0);
  const Projections<Scalar> offsets = encoder.of_offsets(layer, used);
  offsets_ = {in_double(offsets.queries, 0), in_double(offsets.keys, 0)};
}

template <typename Scalar>
typename Mechanism<Scalar>::Factors Mechanism<Scalar>::factors(int head) const {
  const EncoderOptions<Scalar>& options = encoder_.options();
  const Index width = rows_.queries.cols() / options.heads;
  const int of_key = key_head(head, options.key_heads, options.heads);
  return {parted(rows_.queries, mean_.queries, places_.queries, head, width),
          parted(rows_.keys, mean_.keys, places_.keys, of_key, width)};
}

template <typename Scalar>
void Mechanism<Scalar>::add_asked(const Matrix<double>& asked, const std::vector<int>& group_of, int groups,
                                  Scalar* terms) const {
  const Index n = logits_.cols(), used = rows_.queries.rows(), first = n - used;
  // In the order of Asked.
  const std::pair<Part, Part> places[kAsked] = {{token, token},       {token, position}, {position, token},
                                                {position, position}, {offset, offset},  {constant, token},
                                                {token, constant}};
  for (int one = 0; one < kAsked; ++one) {
    Scalar* const to = terms + (group_of[places[one].first] * groups + group_of[places[one].second]) * n * n;
    const double* const from = asked.data() + one * used * used;
    for (Index i = 0; i < used; ++i) {
      for (Index j = 0; j < used; ++j)
        to[(first + i) * n + first + j] += static_cast<Scalar>(from[i * used + j]);
    }
  }
}

template <typename Scalar>
Scalar Mechanism<Scalar>::head_terms(int head, const std::vector<int>& group_of, int groups, Scalar* terms,
                                     Scalar* logits) const {
  const EncoderOptions<Scalar>& options = encoder_.options();
  const Index n = logits_.cols(), used = rows_.queries.rows(), first = n - used, size = n * n;
  const Index width = rows_.queries.cols() / options.heads;
  std::copy_n(logits_.data() + head * size, size, logits);
  std::fill_n(terms, groups * groups * size, Scalar(0));
  Scalar* const apart = terms + group_of[constant] * (groups + 1) * size;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (i < first || j < first) apart[i * n + j] += logits[i * n + j];
    }
  }
  if (used == 0) return 0;

  Matrix<double> asked(kAsked, used * used);
  const auto [query, key] = factors(head);
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  turned_asked(query, key, rotary_.frequencies, Layout::concatenated, turns_, scale, asked.data());
  const auto with_offsets = [&](const Parted& factor, const Matrix<double>& table, bool keys) {
    if (!table.size()) return;
    const Matrix<double> of_head = table.middleCols(head * width, width);
    add_offset_asked(factor, of_head, keys, options.causal, window_, scale, asked.data());
  };
  with_offsets(query, offsets_.keys, false);
  with_offsets(key, offsets_.queries, true);
  if (bias_.size()) {
    Matrix<double> bias = Matrix<double>::Zero(used, used);
    add_offset_bias<double>(bias_, head, bias.data(), nullptr);
    add_bias_asked(bias, options.causal, window_, asked.data());
  }
  add_asked(asked, group_of, groups, terms);
  return largest_gap(terms, groups * groups, logits, size);
}

template class Mechanism<float>;
template class Mechanism<double>;

}  // namespace superpose
