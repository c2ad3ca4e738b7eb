#include "model/channel_pairs.h"

#include <gtest/gtest.h>

#include "any_encoder.h"

namespace superpose {
namespace {

// Each pair's product as a matrix of its own, whose shares are those of any other term.
TEST(ChannelPairs, SharesAreThoseOfTheirProducts) {
  Shapes shapes(51);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const int n = shapes.between(3, 9);
    const AnyEncoder made = any_encoder(shapes, 1, n);
    const auto encoder = made.encoder();
    const auto run = traced(encoder, shapes.matrix(n, made.d));
    const auto& layer = made.layers[0];
    const int heads = made.options.heads, width = made.width();
    const int pairs = static_cast<int>(layer.rotary.frequencies.size());
    plain::Lists read;
    for (int i = 0; i < n; ++i) read.emplace_back(run.inputs[0].row(i).begin(), run.inputs[0].row(i).end());
    const auto q = plain::heads_of(layer.query, layer.query_norm, layer.rotary, heads, read, false);
    const auto k = plain::heads_of(layer.key, layer.key_norm, layer.rotary, made.key_heads(), read, false);
    const CountedPairs counted{{}, made.options.causal, layer.window};
    std::vector<int> chosen;
    for (int h = heads - 1; h >= 0; --h) chosen.push_back(h);
    const Matrix<double> found = channel_pair_shares(encoder, run, 0, chosen, counted);
    ASSERT_EQ(found.cols(), pairs + 1);
    for (int at = 0; at < heads; ++at) {
      const int h = chosen[at], of_key = h / (heads / made.key_heads());
      const Matrix<double> logits = run.logits[0].middleRows(h * n, n);
      Matrix<double> terms = Matrix<double>::Zero(pairs + 1, n * n);
      terms.row(pairs) = Eigen::Map<const Eigen::RowVectorXd>(logits.data(), n * n);
      for (int m = 0; m < pairs; ++m) {
        for (int cell = 0; cell < n * n; ++cell) {
          for (int c : {m, m + pairs})
            terms(m, cell) += q[cell / n][h * width + c] * k[cell % n][of_key * width + c] / std::sqrt(width);
        }
        terms.row(pairs) -= terms.row(m);
      }
      const Vector<double> wanted =
          row_centred_covariances(terms.data(), pairs + 1, logits.data(), n, counted).shares;
      if (std::isnan(wanted[0])) {
        EXPECT_TRUE(std::isnan(found(at, 0)));
        continue;
      }
      EXPECT_NEAR(found.row(at).sum(), 1, 1e-9);
      for (int m = 0; m <= pairs; ++m) EXPECT_NEAR(found(at, m), wanted[m], 1e-9 * (1 + std::abs(wanted[m])));
    }
  }
}

}  // namespace
}  // namespace superpose
