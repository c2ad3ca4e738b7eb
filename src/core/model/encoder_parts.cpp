#include "model/encoder_parts.h"

#include "model/row_norm.h"

namespace superpose {

using Eigen::Index;

namespace {

// Moves each part's mean over the used rows, or the given one, into the last part, and the rows apart whole.
template <typename Scalar>
void take_means(const Gauge<Scalar>& gauge, const Matrix<Scalar>& given, const Vector<Scalar>& sigma,
                std::vector<Matrix<Scalar>>& parts) {
  Matrix<Scalar>& constant = parts.back();
  const Index n = constant.rows(), d = constant.cols();
  const std::vector<char> apart = row_flags(gauge.apart, n);
  const auto is_apart = [&](Index i) { return !apart.empty() && apart[i]; };
  for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
    Matrix<Scalar>& part = parts[p];
    Vector<Scalar> mean = Vector<Scalar>::Zero(d);
    if (given.size()) {
      if (static_cast<Index>(p) < given.rows()) mean = given.row(p).transpose();
    } else {
      Scalar weights = 0;
      for (Index i = 0; i < n; ++i) {
        if (is_apart(i)) continue;
        const Scalar weight = sigma.size() ? 1 / sigma[i] : 1;
        weights += weight;
        mean += weight * part.row(i).transpose();
      }
      if (weights != 0) mean /= weights;
    }
    for (Index i = 0; i < n; ++i) {
      if (is_apart(i)) {
        constant.row(i) += part.row(i);
        part.row(i).setZero();
      } else {
        constant.row(i) += mean.transpose();
        part.row(i) -= mean.transpose();
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
      sigma = sigma.size() ? Vector<Scalar>(sigma.cwiseProduct(second)) : second;
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
      parts[attention] += encoder.moved(l, run.attention[l], run.inputs[l]);
    } else {
      if (!pre) read = parts;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        if (p != attention) parts[p] += encoder.moved(l, run.attention[l], read[p]);
      }
    }
    add_rows<Scalar>({}, encoder.attention_constant(l), parts.back());
    if (!pre) through(encoder.attention_norm(l), run.attention_sigma[l], parts);
    parts[mlp] += run.written[l];
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
  if (n > 1) parts[0].bottomRows(n - 1) = positions.topRows(n - 1);
  parts[2].rowwise() += mu.transpose();
  parts[1] = input - parts[0] - parts[2];
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
