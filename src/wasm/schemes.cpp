// Bindings of the score schemes: their registry, their scores, and what they cost.
#include "bound.h"
#include "scores/scheme_registry.h"
#include "scores/scheme_scores.h"

namespace superpose {

SUPERPOSE_MEMBERS(Linear<double>, weight, bias);
SUPERPOSE_MEMBERS(T5Options, bidirectional, buckets, max_distance);
SUPERPOSE_MEMBERS(SchemeInput, content, query, key, heads, scale, causal, position, position_scale,
                  position_query, position_key, offset_keys, offsets, bias, distances, offset_key,
                  rotary_query, rotary_key, u, v, buckets, layout, base);
SUPERPOSE_MEMBERS(SchemeScores, term_names, terms, logits, weights, residuals, covariances, variances,
                  shares);
SUPERPOSE_MEMBERS(Extent, times, by, and_by, plus);
SUPERPOSE_MEMBERS(SchemePart, name, kind, rows, columns, counted);
SUPERPOSE_MEMBERS(SchemeInfo, id, name, formula, parameters, source, parts, terms, divisor, build, options,
                  work, causal, bidirectional_formula, clip);
SUPERPOSE_MEMBERS(SchemeShape, one, d_model, heads, d_head, d_position, d_position_head, d_offset, positions,
                  clip, buckets, layers);

namespace {

// The typed API passes only ids that exist.
SchemeScores scores_of(const std::string& id, const SchemeInput& input, const std::vector<int>& heads,
                       bool anova) {
  return scheme_scores(*find_scheme(id), input, heads, anova);
}

double parameters_of(const std::string& id, const SchemeShape& shape) {
  return scheme_parameters(*find_scheme(id), shape);
}

double scores_bytes(const std::string& id, const SchemeShape& shape, int chosen, bool anova,
                    double part_values) {
  return scheme_scores_bytes(*find_scheme(id), shape, chosen, anova, part_values);
}

EMSCRIPTEN_BINDINGS(schemes) {
  bind<&scores_of>("schemeScores");
  bind<&scores_bytes>("schemeScoresBytes");
  bind<&scheme_registry>("schemeRegistry");
  bind<&parameters_of>("schemeParameters");
}

}  // namespace
}  // namespace superpose
