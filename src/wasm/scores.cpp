// Dot products, and attention scores taken apart.
#include <limits>
#include <utility>
#include <vector>

#include "bound.h"
#include "heads_out.h"
#include "scores/cost.h"
#include "scores/decomposition.h"
#include "scores/dot_products.h"
#include "scores/gauge.h"
#include "scores/one_layer.h"
#include "scores/pooled_shares.h"
#include "scores/shares.h"
#include "scores/softmax.h"

namespace superpose {

SUPERPOSE_MEMBERS(PairMoments, mean, deviation);
SUPERPOSE_MEMBERS(PooledShares, heads, mean, pooled);
SUPERPOSE_MEMBERS(OneLayerOptions, pull, scale, undoes, norm);
SUPERPOSE_MEMBERS(OneLayer, weights, added, concatenated, difference, apart, miss, sharedMiss);
SUPERPOSE_MEMBERS(ModelShape, vocabulary, positions, segments, d_model, heads, layers, ffnRatio, sequence,
                  d_position, d_position_head, pooler);
SUPERPOSE_MEMBERS(Cost, width, headsDivide, tables, embedding, projection, layer, total, flopsPerToken,
                  kvCache);

namespace {

// The matrices one below the other in one array, which is copied once; those that differing widths leave empty last.
Typed<"DotProductsOut"> dot_products_out(const Typed<"Table">& token, const Typed<"Table">& position,
                                         double position_scale) {
  const DotProducts products =
      dot_products(matrix_in<double>(token), matrix_in<double>(position), position_scale);
  const std::pair<const char*, const Matrix<double>&> named[] = {
      {"token-token", products.token_token},       {"position-position", products.position_position},
      {"concatenated", products.concatenated},     {"token-position", products.token_position},
      {"position-token", products.position_token}, {"added", products.added}};
  Value moments = Value::object();
  const auto set_moments = [&](const char* name, const Matrix<double>& matrix) {
    moments.set(name, value_out(pair_moments(matrix)));
  };
  const Eigen::Index n = products.token_token.rows();
  Matrix<double> all((products.added.size() ? 6 : 3) * n, n);
  Eigen::Index at = 0;
  for (const auto& [name, matrix] : named) {
    set_moments(name, matrix);
    all.middleRows(at, matrix.rows()) = matrix;
    at += matrix.rows();
  }
  set_moments("crossTerms", products.token_position + products.position_token);
  return Value::object()
      .set("products", copy_out(all))
      .set("moments", moments)
      .set("correlation", products.added.size() ? pair_correlation(products.added, products.concatenated)
                                                : std::numeric_limits<double>::quiet_NaN());
}

const ScoreLayer& layer_at(std::uint32_t address) { return at_address<ScoreLayer>(address); }

// A layer that stays in the module's memory, packed.
std::uint32_t layer_out(const Typed<"Norm">& norm, const Typed<"Linear">& query, const Typed<"Linear">& key,
                        int heads, double scale) {
  return address_of(new ScoreLayer(normalization_in<double>(norm), linear_in<double>(query),
                                   linear_in<double>(key), heads, scale));
}

void delete_layer(std::uint32_t layer) { delete &layer_at(layer); }

// Every part of a sum that a layer reads, projected and in its gauge.
ProjectedParts<double> parts_in(std::uint32_t address, const Value& summands, const Gauge<double>& gauge,
                                bool whole) {
  const auto tables = value_in<std::vector<Matrix<double>>>(summands);
  const ScoreLayer& layer = layer_at(address);
  auto parts = project_sum(tables, layer, whole);
  apply_gauge(gauge, layer, parts);
  return parts;
}

Typed<"Heads<Float64Array>"> decompose_out(std::uint32_t layer, const Typed<"readonly Table[]">& summands,
                                           const Typed<"Integers">& group_of, int groups,
                                           const Typed<"Integers">& chosen, const Typed<"Gauge">& gauge,
                                           bool causal) {
  const Gauge<double> in = gauge_in<double>(gauge);
  const auto parts = parts_in(layer, summands, in, true);
  const std::vector<int> group = integers_in(group_of);
  // If each part is a group of its own, in order, nothing is merged.
  std::vector<int> itself(group.size());
  for (std::size_t p = 0; p < itself.size(); ++p) itself[p] = static_cast<int>(p);
  return heads_out(group == itself ? parts : merge_parts(parts, group, groups), chosen, in.apart, causal);
}

Typed<"Float64Array"> decompose_terms_out(std::uint32_t layer, const Typed<"readonly Table[]">& summands,
                                          bool constant, const Typed<"Integers">& chosen,
                                          const Typed<"Gauge">& gauge) {
  auto parts = parts_in(layer, summands, gauge_in<double>(gauge), false);
  if (!constant) leave_out_constant(parts);
  const std::size_t size = parts.terms() * parts.tokens * parts.tokens;
  const int count = chosen.length();
  Value terms = new_array<double>(count * size);
  Vector<double> of_head(size);
  for (int k = 0; k < count; ++k) {
    head_terms(parts, chosen[k].as<int>(), of_head.data());
    terms.copy_from(of_head.data(), size, k * size);
  }
  return terms;
}

// For each mask, the terms of a head that it includes: their sum, the same less its rows' means, its softmax, and
// its share of the logits' variation.
Typed<"CombinedTerms<Float64Array>[]"> combine_terms_out(
    const Typed<"Table">& terms, const Typed<"Table">& logits,
    const Typed<"readonly (readonly boolean[])[]">& masks, const Typed<"Integers">& apart, bool causal) {
  const Matrix<double> all = matrix_in<double>(terms);
  const Matrix<double> whole = matrix_in<double>(logits);
  const Eigen::Index n = whole.rows();
  const CountedPairs counted{row_flags(integers_in(apart), n), causal};

  Value results = Value::array();
  for (int m = 0; m < masks.length(); ++m) {
    const Value included = masks[m];
    std::vector<bool> flags(all.rows());
    for (std::size_t t = 0; t < flags.size(); ++t) flags[t] = included[t].as<bool>();
    Matrix<double> sum = sum_of_terms(all.data(), n, flags);
    Value result = Value::object();
    result.set("sum", copy_out(sum));
    result.set("centred", copy_out(seen_by_softmax(sum, causal)));
    result.set("share", row_centred_covariances(sum.data(), 1, whole.data(), n, counted).shares[0]);
    softmax_rows(sum, causal);
    result.set("softmax", copy_out(sum));
    results.push(result);
  }
  return results;
}

Typed<"PooledShares"> pooled_shares_out(const Typed<"readonly Pooled[]">& scores, int heads, int terms,
                                        const Typed<"Integers">& group_of, int groups) {
  Matrix<double> covariances(scores.length() * heads, terms);
  Vector<double> variances(covariances.rows());
  for (int s = 0; s < scores.length(); ++s) {
    copy_in(scores[s]["covariances"], covariances.data() + s * heads * terms, heads * terms);
    copy_in(scores[s]["variances"], variances.data() + s * heads, heads);
  }
  return value_out(pooled_shares(covariances, variances, heads, integers_in(group_of), groups));
}

EMSCRIPTEN_BINDINGS(scores) {
  using emscripten::function;
  function("dotProducts", &dot_products_out);
  function("layer", &layer_out);
  function("deleteLayer", &delete_layer);
  function("decompose", &decompose_out);
  function("decomposeTerms", &decompose_terms_out);
  function("combineTerms", &combine_terms_out);
  function("poolShares", &pooled_shares_out);
  bind<&one_layer>("oneLayer");
  bind<&position_cost>("positionCost");
}

}  // namespace
}  // namespace superpose
