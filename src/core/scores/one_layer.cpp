#include "scores/one_layer.h"

#include <cmath>
#include <utility>

namespace superpose {

OneLayer one_layer(std::vector<Matrix<double>> parts, std::vector<Matrix<double>> weights,
                   const OneLayerOptions& options) {
  const Eigen::Index d = parts[0].cols(), count = static_cast<Eigen::Index>(parts.size());
  const double t = options.pull, rho = options.scale;
  for (Eigen::Index k = 1; k < count; ++k) weights[k] = (1 - t) * weights[k] + t * weights[0];
  if (count > 1) {
    parts[1] *= rho;
    if (options.undoes) weights[1] /= rho;
  }
  Matrix<double> sum = parts[0], joined(sum.rows(), d * count), stacked(d * count, weights[0].cols());
  for (Eigen::Index k = 0; k < count; ++k) {
    if (k) sum += parts[k];
    joined.middleCols(k * d, d) = parts[k];
    stacked.middleRows(k * d, d) = weights[k];
  }
  // PyTorch's LayerNorm adds 1e-5 to the variance.
  const Normalization<double> between{options.norm, {}, {}, 1e-5};
  OneLayer out;
  out.added = normalize({sum}, between).sum().lazyProduct(weights[0]);
  const Matrix<double> read = normalize({joined}, between).sum();
  out.concatenated = read.lazyProduct(stacked);
  for (Eigen::Index k = 0; k < count; ++k)
    out.contributions.emplace_back(read.middleCols(k * d, d).lazyProduct(weights[k]));
  const double size = out.added.norm();
  const auto distance = [&](double factor) { return (factor * out.concatenated - out.added).norm() / size; };
  if (out.added.size()) out.difference = (out.concatenated - out.added).cwiseAbs().maxCoeff();
  out.relative_difference = distance(1);
  out.miss = distance(out.concatenated.cwiseProduct(out.added).sum() / out.concatenated.squaredNorm());
  out.length_ratios = out.concatenated.rowwise().norm().cwiseQuotient(out.added.rowwise().norm());
  out.shared_miss = std::abs(1 - rho) / std::sqrt(2 * (1 + rho * rho));
  out.weights = std::move(weights);
  return out;
}

}  // namespace superpose
