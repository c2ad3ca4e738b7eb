#include "model/encoder_parts.h"

#include "model/row_norm.h"

namespace superpose {

using Eigen::Index;

namespace {

// Moves each part's mean over the used rows, or the given mean, into the last part. Rows that stand apart
// move there whole.
template <typename Scalar>
void take_means(const Gauge<Scalar>& gauge, const Matrix<Scalar>& given, const Vector<Scalar>& sigma,
                std::vector<Matrix<Scalar>>& parts) {
  Matrix<Scalar>& constant = parts.back();
  const Index n = constant.rows(), d = constant.cols();
  const std::vector<char> apart = row_flags(gauge.apart, n);
  const auto is_apart = [&](Index i) { return !apart.empty() && apart[i]; };
  for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
    Matrix<Scalar>& part = parts[p];
    std::vector<Scalar> mean(d);
    if (given.size()) {
      for (Index c = 0; c < d && static_cast<Index>(p) < given.rows(); ++c) mean[c] = given(p, c);
    } else {
      Scalar weights = 0;
      for (Index i = 0; i < n; ++i) {
        if (is_apart(i)) continue;
        const Scalar weight = sigma.size() ? 1 / sigma[i] : 1;
        weights += weight;
        for (Index c = 0; c < d; ++c) mean[c] += weight * part(i, c);
      }
      for (Index c = 0; c < d && weights != 0; ++c) mean[c] /= weights;
    }
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < d; ++c) {
        const Scalar taken = is_apart(i) ? part(i, c) : mean[c];
        constant(i, c) += taken;
        part(i, c) -= taken;
      }
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
std::vector<Matrix<Scalar>> input_parts(const Encoder<Scalar>& encoder,
                                        const std::vector<Matrix<Scalar>>& summands,
                                        const Forward<Scalar>& run, int layer, Way way,
                                        const Gauge<Scalar>& gauge) {
  const EncoderOptions<Scalar>& options = encoder.options();
  const bool pre = options.pre_norm;
  std::vector<Matrix<Scalar>> parts = summands;
  const Index n = parts[0].rows();
  while (parts.size() < summands.size() + 3) parts.push_back(Matrix<Scalar>::Zero(n, parts[0].cols()));
  const std::size_t attention = summands.size(), mlp = attention + 1;

  if (gauge.moves_terms()) {
    Vector<Scalar> sigma;
    if (options.embedding_norm.kind != Norm::none) sigma = run.embedding_sigma;
    if (pre) {
      const Vector<Scalar>& second = run.attention_sigma[0];
      if (!sigma.size()) sigma = Vector<Scalar>::Ones(n);
      for (Index i = 0; i < n; ++i) sigma[i] *= second[i];
    }
    take_means(gauge, gauge.means, sigma, parts);
  }
  if (options.embedding_norm.kind != Norm::none) through(options.embedding_norm, run.embedding_sigma, parts);
  if (options.projection.weight.size()) {
    for (Matrix<Scalar>& part : parts) part = encoder.projected(part);
    add_rows<Scalar>({}, options.projection.bias, parts.back());
  }
  for (int l = 0;; ++l) {
    const bool here = l == layer;
    std::vector<Matrix<Scalar>> read;
    if (here && gauge.kind == GaugeKind::canonical) {
      take_means<Scalar>(gauge, {}, pre ? run.attention_sigma[l] : Vector<Scalar>(), parts);
    }
    if (here && !pre) return parts;
    if (pre && (here || way == Way::streams)) {
      read = parts;
      through(encoder.attention_norm(l), run.attention_sigma[l], read);
      if (here) return read;
    }
    if (way == Way::direct) {
      add_rows<Scalar>(encoder.moved(l, run.attention[l], run.inputs[l]), {}, parts[attention]);
    } else {
      if (!pre) read = parts;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (p != attention) add_rows<Scalar>(encoder.moved(l, run.attention[l], read[p]), {}, parts[p]);
      }
    }
    add_rows<Scalar>({}, encoder.attention_constant(l), parts.back());
    if (!pre) through(encoder.attention_norm(l), run.attention_sigma[l], parts);
    add_rows<Scalar>(run.written[l], {}, parts[mlp]);
    add_rows<Scalar>({}, encoder.mlp_constant(l), parts.back());
    if (!pre) through(encoder.mlp_norm(l), run.mlp_sigma[l], parts);
  }
}

template <typename Scalar>
std::vector<Matrix<Scalar>> mean_parts(const Matrix<Scalar>& input, const Vector<Scalar>& mu,
                                       const Matrix<Scalar>& positions, const Gauge<Scalar>& gauge) {
  const Index n = input.rows(), d = input.cols();
  eigen_assert(n <= positions.rows() + 1);
  std::vector<Matrix<Scalar>> parts(3, Matrix<Scalar>::Zero(n, d));
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < d; ++c) {
      if (i > 0) parts[0](i, c) = positions(i - 1, c);
      parts[1](i, c) = input(i, c) - parts[0](i, c) - mu[c];
      parts[2](i, c) = mu[c];
    }
  }
  if (gauge.kind == GaugeKind::canonical) take_means<Scalar>(gauge, {}, {}, parts);
  return parts;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                                       \
  template std::vector<Matrix<Scalar>> input_parts(const Encoder<Scalar>&,                                  \
                                                   const std::vector<Matrix<Scalar>>&,                      \
                                                   const Forward<Scalar>&, int, Way, const Gauge<Scalar>&); \
  template std::vector<Matrix<Scalar>> mean_parts(const Matrix<Scalar>&, const Vector<Scalar>&,             \
                                                  const Matrix<Scalar>&, const Gauge<Scalar>&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
