// Every scheme of positions, and what its scores can do and cost.
#include <string>
#include <vector>

#include "convert.h"
#include "numeric/orthogonal.h"
#include "scores/asked.h"
#include "scores/scheme_head.h"
#include "scores/scheme_registry.h"

namespace superpose {
namespace {

// The scheme that `id` names. The typed API lets no other id through.
const SchemeInfo& scheme_named(const std::string& id) {
  const SchemeInfo* info = find_scheme(id);
  if (!info) emscripten::val("No scheme is called " + id + ".").throw_();
  return *info;
}

// The given parts of a scheme; the registry says which each has.
SchemeInput scheme_input_in(const Value& input) {
  const auto matrix = [&](const char* name) {
    return input[name].isUndefined() ? Matrix<double>() : matrix_in<double>(input[name]);
  };
  // A bare table stands for a weight.
  const auto linear = [&](const char* name) -> Linear<double> {
    if (input[name].isUndefined()) return {};
    if (input[name]["weight"].isUndefined()) return {matrix(name), {}};
    return linear_in<double>(input[name]);
  };
  const auto number = [&](const char* name, double usual) {
    return input[name].isUndefined() ? usual : input[name].as<double>();
  };
  const auto whole = [&](const char* name, int usual) { return static_cast<int>(number(name, usual)); };
  const auto flag = [&](const char* name) { return !input[name].isUndefined() && input[name].as<bool>(); };
  SchemeInput in;
  in.content = matrix("content");
  in.query = linear("query");
  in.key = linear("key");
  in.heads = whole("heads", 1);
  in.scale = number("scale", 1);
  in.causal = flag("causal");
  in.position = matrix("position");
  in.position_scale = number("positionScale", 1);
  in.position_query = linear("positionQuery");
  in.position_key = linear("positionKey");
  in.offset_keys = matrix("offsetKeys");
  in.offsets = matrix("offsets");
  in.bias = matrix("bias");
  in.distances = matrix("distances");
  in.offset_key = linear("offsetKey");
  in.rotary_query = linear("rotaryQuery");
  in.rotary_key = linear("rotaryKey");
  const auto vector = [&](const char* name) { return vector_in<double>(input[name]); };
  in.u = vector("u");
  in.v = vector("v");
  in.buckets = {flag("bidirectional"), whole("buckets", 0), whole("maxDistance", 0)};
  in.reset_cls = flag("resetCls");
  in.convention = static_cast<DebertaIndex>(whole("convention", 0));
  in.segments = {matrix("segmentBias"), integers_in(input["segmentIds"])};
  in.layout = static_cast<Layout>(whole("layout", 0));
  in.base = number("base", 1);
  return in;
}

// Like heads_out, for named terms. Under a causal mask, weights and shares are over the keys that each
// query sees; terms and logits are for all pairs.
Typed<"SchemeHeads"> scheme_scores_out(const std::string& id, const Typed<"SchemeInput">& input) {
  const SchemeInfo& info = scheme_named(id);
  const SchemeInput given = scheme_input_in(input);
  Scheme scheme = info.build(given);
  const Eigen::Index n = scheme.n;
  scheme.causal = input["causal"].as<bool>();
  const bool asked = input["asked"].as<bool>();
  Scheme average;
  if (asked) average = info.build(with_mean_token(given));
  const std::vector<int> heads = integers_in(input["only"]);
  const int count = asked ? kAsked : static_cast<int>(scheme.terms.size());
  const std::size_t size = static_cast<std::size_t>(n) * n, chosen = heads.size();
  Value terms = new_array<double>(chosen * count * size);
  Value logits = new_array<double>(chosen * size);
  Value weights = new_array<double>(chosen * size);
  Matrix<double> residuals(1, chosen), covariances(chosen, count), variances(1, chosen),
      shares(chosen, count);

  const auto set = [](Value& to, const auto& from, std::size_t at) {
    to.copy_from(from.data(), from.size(), at);
  };
  for (std::size_t k = 0; k < chosen; ++k) {
    const SchemeHead head = scheme_head(scheme, heads[k], asked ? &average : nullptr);
    set(terms, head.terms, k * count * size);
    set(logits, head.logits, k * size);
    set(weights, head.weights, k * size);
    residuals(0, k) = head.residual;
    covariances.row(k) = head.covariances.terms;
    shares.row(k) = head.covariances.shares;
    variances(0, k) = head.covariances.logits;
  }

  Value names = Value::array();
  if (asked) {
    for (const char* name : kAskedNames) names.push(std::string(name));
  } else {
    for (const auto& term : scheme.terms) names.push(std::string(term.name));
  }
  return Value::object()
      .set("termNames", names)
      .set("terms", terms)
      .set("logits", logits)
      .set("weights", weights)
      .set("residuals", copy_out(residuals))
      .set("covariances", copy_out(covariances))
      .set("variances", copy_out(variances))
      .set("shares", copy_out(shares));
}

Value extent_out(const Extent& extent) {
  Value by = Value::array();
  for (const Size size : {extent.by, extent.and_by}) {
    if (size != Size::one) by.push(std::string(kSizeNames[static_cast<int>(size)]));
  }
  return Value::object().set("times", extent.times).set("by", by).set("plus", extent.plus);
}

Value part_out(const SchemePart& part) {
  return Value::object()
      .set("name", std::string(part.name))
      .set("kind", std::string(kPartKindNames[static_cast<int>(part.kind)]))
      .set("rows", extent_out(part.rows))
      .set("columns", extent_out(part.columns));
}

Value names_out(const Few<const char*>& names) {
  Value result = Value::array();
  for (const char* name : names) result.push(std::string(name));
  return result;
}

Typed<"SchemeInfo[]"> scheme_registry_out() {
  Value entries = Value::array();
  for (const SchemeInfo& info : scheme_registry()) {
    Value parts = Value::array(), divisor = Value::array();
    for (const SchemePart& part : info.parts) parts.push(part_out(part));
    for (const Extent& extent : info.divisor) divisor.push(extent_out(extent));
    Value entry = Value::object();
    entry.set("id", std::string(info.id));
    entry.set("name", std::string(info.name));
    entry.set("formula", std::string(info.formula));
    entry.set("bidirectionalFormula",
              std::string(info.bidirectional_formula ? info.bidirectional_formula : info.formula));
    entry.set("parameters", std::string(info.parameters));
    entry.set("source", std::string(info.source));
    entry.set("parts", parts);
    entry.set("options", names_out(info.options));
    entry.set("terms", names_out(info.terms));
    entry.set("divisor", divisor);
    entry.set("causal", info.causal);
    entry.set("whole", info.whole);
    entry.set("clip", info.clip);
    entries.push(entry);
  }
  return entries;
}

// Sizes that are left out are 0.
SchemeShape scheme_shape_in(const Value& sizes) {
  SchemeShape shape;
  for (int size = 1; size < kSizes; ++size) {
    const Value given = sizes[kSizeNames[size]];
    if (!given.isUndefined()) shape.sizes[size] = given.as<double>();
  }
  return shape;
}

double scheme_parameters_out(const std::string& id, const Typed<"SchemeSizes">& sizes) {
  return scheme_parameters(scheme_named(id), scheme_shape_in(sizes));
}

double scheme_work_out(const std::string& id, const Typed<"SchemeSizes">& sizes) {
  return scheme_named(id).work(scheme_shape_in(sizes));
}

EMSCRIPTEN_BINDINGS(schemes) {
  using emscripten::function;
  function("schemeScores", &scheme_scores_out);
  function("schemeRegistry", &scheme_registry_out);
  function("schemeParameters", &scheme_parameters_out);
  function("schemeWork", &scheme_work_out);
}

}  // namespace
}  // namespace superpose
