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
    : encoder_(encoder), logits_(run.logits[layer]), frequencies_(encoder.frequencies(layer)) {
  const Index n = logits_.cols(), first = std::min(n, means.query.first), used = n - first;
  const Projections<Scalar> all = encoder.projections(layer, run.inputs[layer]);
  rows_ = {in_double(all.queries, first), in_double(all.keys, first)};
  const auto mean_of = [](const StateMeans<double>& from) { return Matrix<double>(from.mu.transpose()); };
  mean_ = {mean_of(means.query), mean_of(means.key)};
  places_ = {means.query.positions.topRows(used), means.key.positions.topRows(used)};
  if (used == 0) return;
  turns_ = mean_turns(frequencies_, used, encoder.options().causal);
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
  turned_asked(query, key, frequencies_, Layout::concatenated, turns_, scale, asked.data());
  add_asked(asked, group_of, groups, terms);
  return largest_gap(terms, groups * groups, logits, size);
}

template class Mechanism<float>;
template class Mechanism<double>;

}  // namespace superpose
