#include "model/encoder_parts.h"

#include <algorithm>
#include <utility>

#include "model/row_norm.h"

namespace superpose {

using Eigen::Index;

namespace {

// Moves each part's mean over the used rows into the last part. Rows that stand apart
// move there whole.
template <typename Scalar>
void take_means(const Gauge<Scalar>& gauge, const Vector<Scalar>& sigma, std::vector<Matrix<Scalar>>& parts) {
  Matrix<Scalar>& constant = parts.back();
  const Index n = constant.rows(), d = constant.cols();
  const std::vector<char> apart = row_flags(gauge.apart, n);
  std::vector<Index> used, alone;
  for (Index i = 0; i < n; ++i) (apart.empty() || !apart[i] ? used : alone).push_back(i);
  for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
    Matrix<Scalar>& part = parts[p];
    const auto move = [&](const Scalar* from, Index row) {
      Scalar* const to = constant.data() + row * d;
      for (Index c = 0; c < d; ++c) to[c] += from[c];
    };
    for (const Index i : alone) {
      move(part.data() + i * d, i);
      part.row(i).setZero();
    }
    if (used.empty()) continue;
    Vector<Scalar> mean = Vector<Scalar>::Zero(d);
    // About the first row, so that rows that are all equal leave exactly nothing.
    const Vector<Scalar> first = part.row(used[0]);
    Scalar weights = 0;
    for (const Index i : used) {
      const Scalar weight = sigma.size() ? 1 / sigma[i] : 1;
      const Scalar* const row = part.data() + i * d;
      weights += weight;
      for (Index c = 0; c < d; ++c) mean[c] += weight * (row[c] - first[c]);
    }
    mean = mean / weights + first;
    for (const Index i : used) {
      Scalar* const row = part.data() + i * d;
      move(mean.data(), i);
      for (Index c = 0; c < d; ++c) row[c] -= mean[c];
    }
  }
}

template <typename Scalar>
void through(const Normalization<Scalar>& norm, const Vector<Scalar>& sigma,
             std::vector<Matrix<Scalar>>& parts) {
  for (Matrix<Scalar>& part : parts) normalize_part(norm, sigma, part);
  add_rows<Scalar>({}, norm.beta, parts.back());
}

}  // namespace

template <typename Scalar>
InputParts<Scalar>::InputParts(const Encoder<Scalar>& encoder, const std::vector<Matrix<Scalar>>& summands,
                               const Forward<Scalar>& run, Way way, Gauge<Scalar> gauge)
    : encoder_(encoder), summands_(summands), run_(run), way_(way), gauge_(std::move(gauge)) {
  start();
}

template <typename Scalar>
void InputParts<Scalar>::start() {
  const EncoderOptions<Scalar>& options = encoder_.options();
  layer_ = 0;
  parts_ = summands_;
  const Index n = parts_[0].rows();
  while (parts_.size() < summands_.size() + 3) parts_.push_back(Matrix<Scalar>::Zero(n, summands_[0].cols()));
  if (gauge_.moves_terms()) {
    Vector<Scalar> sigma;
    if (options.embedding_norm.kind != Norm::none) sigma = run_.embedding_sigma;
    if (options.pre_norm) {
      const Vector<Scalar>& second = run_.attention_sigma[0];
      if (!sigma.size()) sigma = Vector<Scalar>::Ones(n);
      for (Index i = 0; i < n; ++i) sigma[i] *= second[i];
    }
    take_means(gauge_, sigma, parts_);
  }
  if (options.embedding_norm.kind != Norm::none)
    through(options.embedding_norm, run_.embedding_sigma, parts_);
}

// From before a layer to before the next.
template <typename Scalar>
void InputParts<Scalar>::pass(int layer) {
  using Parts = std::vector<Matrix<Scalar>>;
  const bool pre = encoder_.options().pre_norm;
  const std::size_t attention = summands_.size(), mlp = attention + 1;
  if (way_ == Way::direct) {
    const Vector<Scalar> less = -encoder_.moved_bias(layer);
    add_rows(run_.attended[layer], less, parts_[attention]);
  } else {
    Parts read = parts_;
    if (pre) through(encoder_.attention_norm(layer), run_.attention_sigma[layer], read);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (p == attention) continue;
      add_rows<Scalar>(encoder_.moved(layer, run_.attention[layer], read[p]), {}, parts_[p]);
    }
  }
  add_rows<Scalar>({}, encoder_.attention_constant(layer), parts_.back());
  if (!pre) through(encoder_.attention_norm(layer), run_.attention_sigma[layer], parts_);
  add_rows<Scalar>(run_.written[layer], {}, parts_[mlp]);
  add_rows<Scalar>({}, encoder_.mlp_constant(layer), parts_.back());
  if (!pre) through(encoder_.mlp_norm(layer), run_.mlp_sigma[layer], parts_);
}

template <typename Scalar>
std::vector<Matrix<Scalar>> InputParts<Scalar>::at(int layer) {
  if (layer < layer_) start();
  for (; layer_ < layer; ++layer_) pass(layer_);
  const bool pre = encoder_.options().pre_norm;
  std::vector<Matrix<Scalar>> read = parts_;
  if (gauge_.kind == GaugeKind::canonical)
    take_means<Scalar>(gauge_, pre ? run_.attention_sigma[layer] : Vector<Scalar>(), read);
  if (pre) through(encoder_.attention_norm(layer), run_.attention_sigma[layer], read);
  return read;
}

template <typename Scalar>
std::vector<Matrix<Scalar>> mean_parts(const Encoder<Scalar>& encoder, const Forward<Scalar>& run, int layer,
                                       const StateMeans<Scalar>& means, const Gauge<Scalar>& gauge) {
  const Matrix<Scalar>& state = run.states[layer];
  const Index n = state.rows(), d = state.cols(), first = means.first;
  eigen_assert(n <= means.positions.rows() + first);
  std::vector<Matrix<Scalar>> parts(3, Matrix<Scalar>::Zero(n, d));
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < d; ++c) {
      if (i >= first) parts[0](i, c) = means.positions(i - first, c);
      parts[1](i, c) = state(i, c) - parts[0](i, c) - means.mu[c];
      parts[2](i, c) = means.mu[c];
    }
  }
  const bool pre = encoder.options().pre_norm;
  const Vector<Scalar> sigma = pre ? run.attention_sigma[layer] : Vector<Scalar>();
  if (gauge.kind == GaugeKind::canonical) take_means<Scalar>(gauge, sigma, parts);
  if (pre) through(encoder.attention_norm(layer), sigma, parts);
  return parts;
}

template <typename Scalar>
std::vector<Matrix<Scalar>> group_inputs(std::vector<Matrix<Scalar>> parts, const std::vector<int>& group_of,
                                         int groups) {
  std::vector<Matrix<Scalar>> merged(groups);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Matrix<Scalar>& to = merged[group_of[p]];
    if (to.size())
      add_rows<Scalar>(parts[p], {}, to);
    else
      to = std::move(parts[p]);
  }
  std::rotate(merged.begin() + group_of.back(), merged.begin() + group_of.back() + 1, merged.end());
  return merged;
}

template <typename Scalar>
ProjectedParts<Scalar> in_order_of_groups(ProjectedParts<Scalar> parts, int constant) {
  const int groups = parts.parts;
  if (constant == groups - 1) return parts;
  std::vector<int> group_of(groups);
  for (int p = 0; p < groups; ++p) group_of[p] = p < constant ? p : p + 1;
  group_of.back() = constant;
  return merge_parts(parts, group_of, groups);
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                     \
  template class InputParts<Scalar>;                                                                      \
  template std::vector<Matrix<Scalar>> mean_parts(const Encoder<Scalar>&, const Forward<Scalar>&, int,    \
                                                  const StateMeans<Scalar>&, const Gauge<Scalar>&);       \
  template std::vector<Matrix<Scalar>> group_inputs(std::vector<Matrix<Scalar>>, const std::vector<int>&, \
                                                    int);                                                 \
  template ProjectedParts<Scalar> in_order_of_groups(ProjectedParts<Scalar>, int);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
