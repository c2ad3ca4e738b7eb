#include "model/channel_pairs.h"

#include <cmath>

#include "numeric/power_of_two.h"

namespace superpose {

using Eigen::Index;

template <typename Scalar>
Matrix<double> channel_pair_shares(const Encoder<Scalar>& encoder, const Forward<Scalar>& run, int layer,
                                   const std::vector<int>& heads, const CountedPairs& counted) {
  const Index n = run.logits[layer].cols(),
              pairs = static_cast<Index>(encoder.rotary(layer).frequencies.size());
  const EncoderOptions<Scalar>& options = encoder.options();
  const Projections<Scalar> turned = encoder.turned(layer, run.inputs[layer]);
  const Index all = turned.queries.cols(), of_keys = turned.keys.cols(), width = all / options.heads;
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  Matrix<double> shares = Matrix<double>::Zero(heads.size(), pairs + 1);
  std::vector<double> mixed(width);
  for (std::size_t k = 0; k < heads.size(); ++k) {
    const Scalar* const logits = run.logits[layer].data() + heads[k] * n * n;
    const Scalar* const query = turned.queries.data() + heads[k] * width;
    const Scalar* const key =
        turned.keys.data() + key_head(heads[k], options.key_heads, options.heads) * width;
    // In a unit whose squares do not overflow.
    const double unit = std::sqrt(row_centred_covariances<Scalar>(nullptr, 0, logits, n, counted).logits);
    for (Index i = 0; i < n; ++i) {
      double sum = 0, count = 0;
      for (Index j = 0; j < n; ++j) {
        if (!counted.counts(i, j)) continue;
        sum += logits[i * n + j];
        ++count;
      }
      mixed.assign(width, 0);
      for (Index j = 0; j < n; ++j) {
        if (!counted.counts(i, j)) continue;
        const double weight = (logits[i * n + j] - sum / count) / unit;
        for (Index c = 0; c < width; ++c) mixed[c] += weight * key[j * of_keys + c];
      }
      for (Index c = 0; c < 2 * pairs; ++c)
        shares(k, c % pairs) += query[i * all + c] * mixed[c] * scale / unit;
    }
    double rest = unit > 0 ? 1 : unit / unit;
    for (Index m = 0; m < pairs; ++m) rest -= shares(k, m);
    shares(k, pairs) = rest;
  }
  return shares;
}

#define SUPERPOSE_INSTANTIATE(Scalar)                                                              \
  template Matrix<double> channel_pair_shares(const Encoder<Scalar>&, const Forward<Scalar>&, int, \
                                              const std::vector<int>&, const CountedPairs&);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
