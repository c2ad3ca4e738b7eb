#include "model/input_parts.h"

#include <algorithm>
#include <utility>

#include "model/add_rows.h"

namespace superpose {

using Eigen::Index;

namespace {

// Moves the weighted mean of each part into the last part, the constant. An empty sigma stands for ones.
void move_means_into_constant(const Gauge& gauge, const Vector<float>& sigma,
                              std::vector<Matrix<float>>& parts) {
  Matrix<float>& constant = parts.back();
  const Index n = constant.rows();
  GaugeRows rows{Vector<double>::Ones(n), row_flags(gauge.excluded_rows, n), false};
  if (sigma.size()) rows.sigma = sigma.cast<double>();
  for (std::size_t p = 0; p + 1 < parts.size(); ++p)
    move_mean_into_constant(rows, constant.cols(), parts[p].data(), constant.data());
}

// Puts each part through a norm that has the sigma of their sum; the results add up to that norm of the sum.
void normalize_parts(const Normalization<float>& norm, const Vector<float>& sigma,
                     std::vector<Matrix<float>>& parts) {
  for (Matrix<float>& part : parts) normalize_part(norm, Centring::twice, sigma, part);
  add_rows({}, norm.beta, parts.back());
}

}  // namespace

InputParts::InputParts(const TransformerStack& stack, const std::vector<Matrix<float>>& summands,
                       const Forward& run, Way way, Gauge gauge)
    : stack_(stack), summands_(summands), run_(run), way_(way), gauge_(std::move(gauge)) {
  start();
}

void InputParts::start() {
  const StackOptions& options = stack_.options();
  layer_ = 0;
  parts_ = summands_;
  const Index n = parts_[0].rows();
  parts_.resize(summands_.size() + 3, Matrix<float>::Zero(n, summands_[0].cols()));
  if (gauge_.kind == GaugeKind::canonical) {
    Vector<float> sigma;
    if (options.embedding_norm.kind != Norm::none) sigma = run_.embedding_sigma;
    if (options.pre_norm) {
      const Vector<float>& second = run_.attention_sigma[0];
      if (!sigma.size()) sigma = Vector<float>::Ones(n);
      for (Index i = 0; i < n; ++i) sigma[i] *= second[i];
    }
    move_means_into_constant(gauge_, sigma, parts_);
  }
  if (options.embedding_norm.kind != Norm::none)
    normalize_parts(options.embedding_norm, run_.embedding_sigma, parts_);
}

// Replaces the parts of the stream before a layer by those before the next layer.
void InputParts::advance(int layer) {
  using Parts = std::vector<Matrix<float>>;
  const bool pre = stack_.options().pre_norm;
  const std::size_t attention = summands_.size(), mlp = attention + 1;
  if (way_ == Way::direct) {
    const Vector<float> minus_bias = -stack_.attention_bias(layer);
    add_rows(run_.attended[layer], minus_bias, parts_[attention]);
  } else {
    Parts read = parts_;
    if (pre) normalize_parts(stack_.attention_norm(layer), run_.attention_sigma[layer], read);
    std::vector<Matrix<float>> weights(stack_.options().heads);
    for (int h = 0; h < stack_.options().heads; ++h) weights[h] = stack_.attention(run_, layer, h);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (p == attention) continue;
      add_rows(stack_.attend(layer, weights, read[p]), {}, parts_[p]);
    }
  }
  add_rows({}, stack_.attention_constant(layer), parts_.back());
  if (!pre) normalize_parts(stack_.attention_norm(layer), run_.attention_sigma[layer], parts_);
  add_rows(run_.written[layer], {}, parts_[mlp]);
  add_rows({}, stack_.mlp_constant(layer), parts_.back());
  if (!pre) normalize_parts(stack_.mlp_norm(layer), run_.mlp_sigma[layer], parts_);
}

std::vector<Matrix<float>> InputParts::at(int layer) {
  if (layer < layer_) start();
  for (; layer_ < layer; ++layer_) advance(layer_);
  const bool pre = stack_.options().pre_norm;
  std::vector<Matrix<float>> read = parts_;
  if (gauge_.kind == GaugeKind::canonical)
    move_means_into_constant(gauge_, pre ? run_.attention_sigma[layer] : Vector<float>(), read);
  if (pre) normalize_parts(stack_.attention_norm(layer), run_.attention_sigma[layer], read);
  return read;
}

std::vector<Matrix<float>> mean_parts(const TransformerStack& stack, const Forward& run, int layer,
                                      const StateMeans& means, const Gauge& gauge) {
  const Matrix<float>& state = run.states[layer];
  const Index n = state.rows(), d = state.cols(), first = means.first;
  eigen_assert(n <= means.position.rows() + first);
  std::vector<Matrix<float>> parts(3, Matrix<float>::Zero(n, d));
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < d; ++c) {
      if (i >= first) parts[0](i, c) = static_cast<float>(means.position(i - first, c));
      parts[2](i, c) = static_cast<float>(means.mean[c]);
      parts[1](i, c) = state(i, c) - parts[0](i, c) - parts[2](i, c);
    }
  }
  const bool pre = stack.options().pre_norm;
  const Vector<float> sigma = pre ? run.attention_sigma[layer] : Vector<float>();
  if (gauge.kind == GaugeKind::canonical) move_means_into_constant(gauge, sigma, parts);
  if (pre) normalize_parts(stack.attention_norm(layer), sigma, parts);
  return parts;
}

std::vector<Matrix<float>> group_inputs(std::vector<Matrix<float>> parts, const std::vector<int>& group_of,
                                        int groups) {
  std::vector<Matrix<float>> merged(groups);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Matrix<float>& to = merged[group_of[p]];
    if (to.size())
      add_rows(parts[p], {}, to);
    else
      to = std::move(parts[p]);
  }
  std::rotate(merged.begin() + group_of.back(), merged.begin() + group_of.back() + 1, merged.end());
  return merged;
}

ProjectedParts in_order_of_groups(ProjectedParts parts, int constant) {
  const int groups = parts.parts;
  if (constant == groups - 1) return parts;
  std::vector<int> group_of(groups);
  for (int p = 0; p < groups; ++p) group_of[p] = p < constant ? p : p + 1;
  group_of.back() = constant;
  return merge_parts(parts, group_of, groups);
}

}  // namespace superpose
