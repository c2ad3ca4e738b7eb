#include "model/mechanism.h"

#include <algorithm>
#include <cmath>

#include "encodings/rotary.h"

namespace superpose {

using Eigen::Index;

namespace {

enum Part { token, position, constant, offset };

// The parts of one head, from the rows, mean and position means of all heads.
FactorParts parts_of_head(const Matrix<double>& rows, const Matrix<double>& mean,
                          const Matrix<double>& places, Index head, Index width) {
  const auto of_head = [&](const Matrix<double>& of) -> Matrix<double> {
    return of.middleCols(head * width, width);
  };
  return factor_parts(of_head(rows), of_head(mean), of_head(places));
}

}  // namespace

Mechanism::Mechanism(const TransformerStack& stack, const Forward& run, int layer, const ScoreMeans& means)
    : stack_(stack), run_(run), layer_(layer), frequencies_(stack.frequencies(layer)) {
  const Index n = run.inputs[layer].rows(), first = std::min<Index>(n, means.query.first), used = n - first;
  const Projections all = stack.projections(layer, run.inputs[layer]);
  rows_ = {all.queries.bottomRows(used).cast<double>(), all.keys.bottomRows(used).cast<double>()};
  mean_ = {means.query.mean.transpose(), means.key.mean.transpose()};
  places_ = {means.query.position.topRows(used), means.key.position.topRows(used)};
  if (used == 0) return;
  mean_rotations_ = mean_rotations(frequencies_, used, stack.options().causal);
}

Mechanism::Factors Mechanism::factors(int head) const {
  const StackOptions& options = stack_.options();
  const Index width = rows_.queries.cols() / options.heads;
  const int of_key = key_head(head, options.key_heads, options.heads);
  return {parts_of_head(rows_.queries, mean_.queries, places_.queries, head, width),
          parts_of_head(rows_.keys, mean_.keys, places_.keys, of_key, width)};
}

void Mechanism::add_anova_terms(const Matrix<double>& anova, const std::vector<int>& group_of, int groups,
                                float* terms) const {
  const Index n = run_.inputs[layer_].rows(), used = rows_.queries.rows(), first = n - used;
  // In the order of AnovaTerm.
  const std::pair<Part, Part> places[kAnovaTerms] = {
      {token, token},   {token, position}, {position, token}, {position, position},
      {offset, offset}, {constant, token}, {token, constant}};
  for (int t = 0; t < kAnovaTerms; ++t) {
    float* const to = terms + (group_of[places[t].first] * groups + group_of[places[t].second]) * n * n;
    const double* const from = anova.data() + t * used * used;
    for (Index i = 0; i < used; ++i) {
      for (Index j = 0; j < used; ++j) to[(first + i) * n + first + j] += from[i * used + j];
    }
  }
}

double Mechanism::head_terms(int head, const std::vector<int>& group_of, int groups, float* terms,
                             float* logits) const {
  const StackOptions& options = stack_.options();
  const Index n = run_.inputs[layer_].rows(), used = rows_.queries.rows(), first = n - used, size = n * n;
  const Index width = rows_.queries.cols() / options.heads;
  std::copy_n(stack_.logits(run_, layer_, head).data(), size, logits);
  std::fill_n(terms, groups * groups * size, 0.0f);
  float* const constant_term = terms + group_of[constant] * (groups + 1) * size;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (i < first || j < first) constant_term[i * n + j] += logits[i * n + j];
    }
  }
  if (used == 0) return 0;

  Matrix<double> anova(kAnovaTerms, used * used);
  const auto [query, key] = factors(head);
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  rotary_anova_terms(query, key, frequencies_, Layout::concatenated, mean_rotations_, scale, anova.data());
  add_anova_terms(anova, group_of, groups, terms);
  return largest_gap(terms, groups * groups, logits, size);
}

}  // namespace superpose
