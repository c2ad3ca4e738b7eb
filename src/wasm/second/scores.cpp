// Every scheme of position, and what scores of a scheme can do and cost.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "convert.h"
#include "numeric/orthogonal.h"
#include "scores/cost.h"
#include "scores/order.h"
#include "scores/rank.h"
#include "scores/scheme_registry.h"
#include "scores/schemes.h"
#include "scores/shares.h"
#include "scores/softmax.h"

namespace superpose {
namespace {

// The scheme that `id` names, from its learned parts; src/api/scores/schemes.ts says which each has.
template <typename Scalar>
Scheme<Scalar> scheme_in(const std::string& id, const Value& input) {
  const int heads = input["heads"].as<int>();
  const Scalar scale = static_cast<Scalar>(input["scale"].as<double>());
  const auto matrix = [&](const char* name) {
    return input[name].isUndefined() ? Matrix<Scalar>() : matrix_in<Scalar>(input[name]);
  };
  const auto linear = [&](const char* name) { return linear_in<Scalar>(input[name]); };
  const Matrix<Scalar> rows = matrix_in<Scalar>(input["content"]);
  const Content<Scalar> content = project_content(rows, linear("query"), linear("key"), heads);
  const auto buckets = [&] {
    return T5Options{input["bidirectional"].as<bool>(), input["buckets"].as<int>(),
                     input["maxDistance"].as<int>()};
  };
  const auto segments = [&]() -> SegmentBias<Scalar> {
    return {matrix("segmentBias"), integers_in(input["segmentIds"])};
  };
  // rho multiplies the positions before anything else.
  const auto position = [&]() -> Matrix<Scalar> {
    return static_cast<Scalar>(input["positionScale"].as<double>()) * matrix("position");
  };
  if (id == "added") return added(rows, position(), linear("query"), linear("key"), heads, scale);
  if (id == "concatenated-raw") return concatenated_raw(rows, position(), heads, scale);
  if (id == "concatenated-full") {
    return concatenated_full(rows, position(), linear("query"), linear("key"), linear("positionQuery").weight,
                             linear("positionKey").weight, heads, scale);
  }
  if (id == "concatenated-block-diagonal") {
    return concatenated_block_diagonal(
        content, project_content(position(), linear("positionQuery"), linear("positionKey"), heads), scale);
  }
  if (id == "shaw") return shaw(content, matrix("offsetKeys"), scale);
  if (id == "transformer-xl") {
    return transformer_xl(content, matrix("offsets"), linear("offsetKey"), vector_in<Scalar>(input["u"]),
                          vector_in<Scalar>(input["v"]), scale);
  }
  if (id == "t5") return t5(content, matrix("bias"), buckets(), scale);
  if (id == "alibi") return alibi(content, scale, input["causal"].as<bool>());
  if (id == "deberta") {
    return deberta(content, matrix("distances"), linear("positionQuery"), linear("positionKey"),
                   static_cast<DebertaIndex>(input["convention"].as<int>()), scale);
  }
  if (id == "tupe") {
    return tupe(content, matrix("position"), linear("positionQuery"), linear("positionKey"),
                input["resetCls"].as<bool>(), matrix("bias"), buckets(), scale);
  }
  if (id == "diet-abs") {
    return diet_absolute(content, matrix("positionQuery"), matrix("positionKey"), segments(), scale);
  }
  if (id == "diet-rel") return diet_relative(content, matrix("bias"), segments(), scale);
  const auto turned = [&] {
    return std::pair(static_cast<Layout>(input["layout"].as<int>()), input["base"].as<double>());
  };
  if (id == "rope") return rope(content, turned().first, turned().second, scale);
  if (id == "decoupled-rope") {
    return decoupled_rope(content, apply(linear("rotaryQuery"), rows), apply(linear("rotaryKey"), rows),
                          turned().first, turned().second, scale);
  }
  return no_position(content, scale);
}

// As heads_out, for named terms. Under a causal mask the weights are those of the keys that each
// query sees, and so are the shares; terms and logits are given for all pairs.
template <typename Scalar>
Value scheme_scores_out(const std::string& id, const Value& input) {
  Scheme<Scalar> scheme = scheme_in<Scalar>(id, input);
  const Eigen::Index n = scheme.n;
  scheme.causal = input["causal"].as<bool>();
  const std::vector<int> heads = integers_in(input["only"]);
  const int count = static_cast<int>(scheme.terms.size());
  const std::size_t size = static_cast<std::size_t>(n) * n, chosen = heads.size();
  Value terms = new_array<Scalar>(chosen * count * size);
  Value logits = new_array<Scalar>(chosen * size);
  Value weights = new_array<Scalar>(chosen * size);
  Matrix<double> residuals(1, chosen), covariances(chosen, count), variances(1, chosen),
      shares(chosen, count);

  Matrix<Scalar> head_parts(count, size);
  Matrix<Scalar> whole(n, n);
  const auto set = [](Value& to, const auto& from, std::size_t at) {
    to.copy_from(from.data(), from.size(), at);
  };
  for (std::size_t k = 0; k < chosen; ++k) {
    residuals(0, k) = scheme_head_terms(scheme, heads[k], head_parts.data(), whole.data());
    set(terms, head_parts, k * count * size);
    set(logits, whole, k * size);
    Matrix<Scalar> seen = whole;
    if (scheme.causal) {
      constexpr Scalar kMean = std::numeric_limits<Scalar>::quiet_NaN();
      mask_future<Scalar>(seen, -std::numeric_limits<Scalar>::infinity());
      mask_future<Scalar>(whole, kMean);
      for (int t = 0; t < count; ++t) {
        Matrix<Scalar> term = ConstMatrixMap<Scalar>(head_parts.row(t).data(), n, n);
        mask_future<Scalar>(term, kMean);
        MatrixMap<Scalar>(head_parts.row(t).data(), n, n) = term;
      }
    }
    softmax_rows<Scalar>(seen);
    set(weights, seen, k * size);
    const Covariances of_head = row_centred_covariances(head_parts.data(), count, whole.data(), n);
    covariances.row(k) = of_head.terms;
    shares.row(k) = of_head.shares;
    variances(0, k) = of_head.logits;
  }

  Value names = Value::array();
  for (const auto& term : scheme.terms) names.push(std::string(term.name));
  Value result = Value::object();
  result.set("termNames", names);
  result.set("terms", terms);
  result.set("logits", logits);
  result.set("weights", weights);
  result.set("residuals", copy_out(residuals));
  result.set("covariances", copy_out(covariances));
  result.set("variances", copy_out(variances));
  result.set("shares", copy_out(shares));
  return result;
}

Value scheme_registry_out() {
  Value entries = Value::array();
  for (const SchemeInfo& info : scheme_registry()) {
    Value entry = Value::object();
    entry.set("id", std::string(info.id));
    entry.set("name", std::string(info.name));
    entry.set("formula", std::string(info.formula));
    entry.set("parameters", std::string(info.parameters));
    entry.set("source", std::string(info.source));
    entries.push(entry);
  }
  return entries;
}

double scheme_parameters_out(const std::string& id, const Value& shape) {
  const auto of = [&](const char* name) { return shape[name].as<double>(); };
  return scheme_parameters(
      id, {of("d_model"), of("heads"), of("d_head"), of("d_position"), of("d_position_head"), of("positions"),
           of("clip"), of("buckets"), of("layers")});
}

Value position_cost_out(int way, const Value& shape) {
  const auto of = [&](const char* name) { return shape[name].as<double>(); };
  const Cost cost = position_cost(
      static_cast<PositionCost>(way),
      {of("vocabulary"), of("positions"), of("segments"), of("d_model"), of("heads"), of("layers"),
       of("ffnRatio"), of("sequence"), of("d_position"), of("d_position_head"), shape["pooler"].as<bool>()});
  Value result = Value::object();
  result.set("width", cost.width);
  result.set("headsDivide", cost.heads_divide);
  result.set("tables", cost.tables);
  result.set("embedding", cost.embedding);
  result.set("projection", cost.projection);
  result.set("layer", cost.layer);
  result.set("total", cost.total);
  result.set("flopsPerToken", cost.flops_per_token);
  result.set("kvCache", cost.kv_cache);
  return result;
}

Value permutation_effect_out(const Value& input, const Value& layers, bool causal, const Value& permutation) {
  std::vector<AttentionLayer> stack;
  for (int l = 0; l < layers.length(); ++l) {
    const Value layer = layers[l];
    stack.push_back({linear_in<double>(layer["query"]), linear_in<double>(layer["key"]),
                     linear_in<double>(layer["value"]), linear_in<double>(layer["output"]),
                     layer["heads"].as<int>()});
  }
  const PermutationEffect effect =
      permutation_effect(matrix_in<double>(input), stack, causal, integers_in(permutation));
  Value result = Value::object();
  result.set("output", copy_out(effect.output));
  result.set("permuted", copy_out(effect.permuted));
  result.set("equivariance", effect.equivariance);
  result.set("last", effect.last);
  return result;
}

int numerical_rank_out(const Value& matrix, double tolerance) {
  return numerical_rank(matrix_in<double>(matrix), tolerance);
}

Value score_ranks_out(int n, int d_token, int d_position, int d_head, int d_position_head) {
  const ScoreRanks ranks = score_ranks(n, d_token, d_position, d_head, d_position_head);
  Value result = Value::object();
  result.set("added", ranks.added);
  result.set("concatenated", ranks.concatenated);
  result.set("untied", ranks.untied);
  return result;
}

EMSCRIPTEN_BINDINGS(second_scores) {
  using emscripten::function;
  function("schemeScores", &scheme_scores_out<double>);
  function("schemeRegistry", &scheme_registry_out);
  function("schemeParameters", &scheme_parameters_out);
  function("positionCost", &position_cost_out);
  function("permutationEffect", &permutation_effect_out);
  function("numericalRank", &numerical_rank_out);
  function("scoreRanks", &score_ranks_out);
}

}  // namespace
}  // namespace superpose
