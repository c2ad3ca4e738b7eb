// Bindings of dot products and of decompositions of attention scores.
#include <limits>
#include <utility>

#include "bound.h"
#include "heads_out.h"
#include "scores/cost.h"
#include "scores/dot_products.h"
#include "scores/one_layer.h"
#include "scores/shares.h"
#include "scores/softmax.h"

namespace superpose {

namespace {

struct DotProductMoments {
  PairMoments token_token, token_position, position_token, position_position, added, concatenated,
      cross_terms;
};

struct MeasuredDotProducts {
  DotProducts products;
  DotProductMoments moments;
  double correlation;  // of added and concatenated
};

struct CombinedTerms {
  Matrix<double> sum, centred, softmax;
  double share;
};

// The part of a decomposition that shares are pooled from.
struct Pooled {
  std::vector<double> covariances, variances;
};

}  // namespace

SUPERPOSE_MEMBERS(PairMoments, mean, deviation);
SUPERPOSE_MEMBERS(DotProducts, token_token, token_position, position_token, position_position, added,
                  concatenated);
SUPERPOSE_MEMBERS(DotProductMoments, token_token, token_position, position_token, position_position, added,
                  concatenated, cross_terms);
SUPERPOSE_MEMBERS(MeasuredDotProducts, products, moments, correlation);
SUPERPOSE_MEMBERS(Linear<float>, weight, bias);
SUPERPOSE_MEMBERS(Normalization<double>, kind, gamma, beta, epsilon);
SUPERPOSE_MEMBERS(CombinedTerms, sum, centred, softmax, share);
SUPERPOSE_MEMBERS(Pooled, covariances, variances);
SUPERPOSE_MEMBERS(PooledShares, heads, mean, pooled);
SUPERPOSE_MEMBERS(OneLayerOptions, pull, scale, undoes, norm);
SUPERPOSE_MEMBERS(OneLayer, weights, added, concatenated, contributions, difference, relative_difference,
                  miss, length_ratios, shared_miss);
SUPERPOSE_MEMBERS(ModelShape, vocabulary, positions, segments, d_model, heads, layers, d_position,
                  d_position_head);
SUPERPOSE_MEMBERS(Cost, width, total);

namespace {

MeasuredDotProducts measured_dot_products(const Matrix<double>& token, const Matrix<double>& position,
                                          double position_scale) {
  DotProducts products = dot_products(token, position, position_scale);
  const DotProductMoments moments = {
      pair_moments(products.token_token),
      pair_moments(products.token_position),
      pair_moments(products.position_token),
      pair_moments(products.position_position),
      pair_moments(products.added),
      pair_moments(products.concatenated),
      pair_moments(products.token_position + products.position_token),
  };
  const double correlation = products.added.size() ? pair_correlation(products.added, products.concatenated)
                                                   : std::numeric_limits<double>::quiet_NaN();
  return {std::move(products), moments, correlation};
}

// A layer that stays in the module's memory with its weights packed.
std::unique_ptr<ScoreLayer> layer(const Normalization<double>& norm, const Linear<float>& query,
                                  const Linear<float>& key, int heads, float scale) {
  return std::make_unique<ScoreLayer>(norm, query, key, heads, scale);
}

Heads decompose(const ScoreLayer& layer, const std::vector<Matrix<float>>& summands,
                const std::vector<int>& group_of, int groups, const std::vector<int>& chosen,
                const Gauge& gauge, bool causal) {
  auto parts = project_sum(summands, layer);
  apply_gauge(gauge, parts);
  // If each part is a group of its own, in order, nothing is merged.
  std::vector<int> itself(group_of.size());
  for (std::size_t p = 0; p < itself.size(); ++p) itself[p] = static_cast<int>(p);
  if (group_of != itself) parts = merge_parts(parts, group_of, groups);
  return heads_out(
      parts.tokens, parts.terms(), chosen, {row_flags(gauge.excluded_rows, parts.tokens), causal},
      [&](int head, float* terms, float* logits) { return head_terms(parts, head, terms, logits); });
}

// For each mask, the sum of the terms of a head that the mask includes, that sum minus its rows' means, its
// softmax, and its share of the logits' variation.
std::vector<CombinedTerms> combine_terms(const Matrix<float>& terms, const Matrix<float>& logits,
                                         const Matrix<int>& masks, const std::vector<int>& excluded_rows,
                                         bool causal) {
  const Eigen::Index n = logits.rows();
  const int count = static_cast<int>(masks.cols());
  const Vector<double> shares =
      row_centred_covariances(terms.data(), count, logits.data(), n, {row_flags(excluded_rows, n), causal})
          .shares;
  std::vector<CombinedTerms> results;
  for (Eigen::Index m = 0; m < masks.rows(); ++m) {
    std::vector<bool> flags(masks.cols());
    for (std::size_t t = 0; t < flags.size(); ++t) flags[t] = masks(m, t);
    Matrix<double> sum = sum_of_terms(terms.data(), n, flags), softmax = sum;
    softmax_rows(softmax, causal);
    const double share = shares.dot(masks.row(m).cast<double>());
    Matrix<double> centred = seen_by_softmax(sum, causal);
    results.push_back({std::move(sum), std::move(centred), std::move(softmax), share});
  }
  return results;
}

PooledShares pool_shares(const std::vector<Pooled>& scores, int heads, int terms,
                         const std::vector<int>& group_of, int groups) {
  Matrix<double> covariances(scores.size() * heads, terms);
  Vector<double> variances(covariances.rows());
  for (std::size_t s = 0; s < scores.size(); ++s) {
    std::ranges::copy(scores[s].covariances, covariances.data() + s * heads * terms);
    std::ranges::copy(scores[s].variances, variances.data() + s * heads);
  }
  return pooled_shares(covariances, variances, heads, group_of, groups);
}

EMSCRIPTEN_BINDINGS(scores) {
  bind<&measured_dot_products>("dotProducts");
  bind<&dot_products_bytes>("dotProductsBytes");
  bind<&layer>("layer");
  bind<&score_layer_bytes>("layerBytes");
  bind<&score_layer_bytes_to_make>("layerBytesToMake");
  bind_delete<ScoreLayer>("deleteLayer");
  bind<&decompose>("decompose");
  bind<&decomposition_bytes>("decompositionBytes");
  bind<&combine_terms>("combineTerms");
  bind<&pool_shares>("poolShares");
  bind<&pooled_shares_bytes>("poolSharesBytes");
  bind<&one_layer>("oneLayer");
  bind<&one_layer_bytes>("oneLayerBytes");
  bind<&position_cost>("positionCost");
}

}  // namespace
}  // namespace superpose
