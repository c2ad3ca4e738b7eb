// Calls every measurement that takes a caller's numbers with arbitrary bytes: it must touch no memory but its
// own, terminate, and return a result of the right shape and range.
#pragma once

#include <initializer_list>
#include <iterator>
#include <string_view>

#include "encodings/channels.h"
#include "encodings/gram.h"
#include "encodings/relative_position.h"
#include "encodings/rotary.h"
#include "fuzz/bytes.h"
#include "geometry/collisions.h"
#include "geometry/cosines.h"
#include "geometry/directions.h"
#include "geometry/oblique.h"
#include "geometry/subspaces.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"
#include "numeric/summary.h"
#include "scores/decomposition.h"
#include "scores/dot_products.h"
#include "scores/gauge.h"
#include "scores/scheme_scores.h"
#include "scores/shares.h"

namespace superpose {

inline bool within(double value, double low, double high) {
  return std::isnan(value) || (value >= low && value <= high);
}

inline void fuzz_ranks(Bytes& bytes) {
  const Matrix<double> table = bytes.table(0, 7, 7);
  const Ranks result = ranks(table, bytes.flag(), bytes.integer(0, 8) / 8.0);
  const Vector<double>& values = result.singular_values;
  const int most = static_cast<int>(std::min(table.rows(), table.cols()));
  SUPERPOSE_MUST(values.size() <= most);
  for (Eigen::Index k = 1; k < values.size(); ++k) SUPERPOSE_MUST(!(values[k] > values[k - 1]));
  SUPERPOSE_MUST(result.numerical >= 0 && result.numerical <= most);
  SUPERPOSE_MUST(within(result.stable, 0, most + 1e-9));
  SUPERPOSE_MUST(result.energy <= most);
  SUPERPOSE_MUST(within(result.participation_ratio, 0, most + 1e-9));
  SUPERPOSE_MUST(channel_ranges(table).size() == table.cols());
}

inline void fuzz_angles(Bytes& bytes) {
  const int d = bytes.integer(1, 5);
  const Matrix<double> a = bytes.matrix(d, bytes.integer(0, 4)), b = bytes.matrix(d, bytes.integer(0, 4));
  const Matrix<double> u = orthonormal_basis(a, 1e-10), v = orthonormal_basis(b, 1e-10);
  SUPERPOSE_MUST(u.cols() <= std::min<Eigen::Index>(a.cols(), d));
  const Vector<double> angles = principal_angles(u, v);
  SUPERPOSE_MUST(angles.size() == std::min(u.cols(), v.cols()));
  for (const double angle : angles) SUPERPOSE_MUST(angle >= 0 && angle <= std::acos(-1) / 2 + 1e-12);
}

inline void fuzz_overlap(Bytes& bytes) {
  const int d = bytes.integer(1, 5);
  const Matrix<double> a = bytes.matrix(bytes.integer(0, 4), d), b = bytes.matrix(bytes.integer(0, 4), d);
  const double overlap = energy_overlap(a, b, bytes.flag());
  SUPERPOSE_MUST(within(overlap, -1e-9, d * (1 + 1e-9)));
  const OverlapCurve curve = overlap_curve(a, b, bytes.integer(0, d));
  SUPERPOSE_MUST(curve.shares.size() == d && curve.dimensions <= d);
  for (const double share : curve.shares) SUPERPOSE_MUST(share >= -1e-9 && share <= 1 + 1e-9);
}

inline void fuzz_oblique(Bytes& bytes) {
  const int d = bytes.integer(1, 5);
  const Matrix<double> a = bytes.matrix(d, bytes.integer(0, 4)), b = bytes.matrix(d, bytes.integer(0, 4));
  const ObliqueProjection projection = oblique_projection(a, b, bytes.matrix(bytes.integer(0, 3), d));
  SUPERPOSE_MUST(projection.exact == std::isfinite(projection.gain));
  SUPERPOSE_MUST(projection.smallest_angle >= 0 && projection.smallest_angle <= std::acos(-1) / 2 + 1e-12);
  if (!projection.exact) return;
  SUPERPOSE_MUST(projection.projector.rows() == d && projection.projector.allFinite());
}

inline void fuzz_means(Bytes& bytes) {
  const int n = bytes.integer(0, 6), d = bytes.integer(1, 4);
  const Matrix<double> rows = bytes.matrix(n, d);
  const Matrix<double> centred = column_centred(rows);
  SUPERPOSE_MUST(centred.rows() == n && centred.cols() == d);
  const Vector<double> lengths = row_lengths(rows);
  SUPERPOSE_MUST(lengths.size() == n);
  const Matrix<double> cosines = row_cosines(rows, rows);
  for (Eigen::Index at = 0; at < cosines.size(); ++at)
    SUPERPOSE_MUST(within(cosines.data()[at], -1 - 1e-9, 1 + 1e-9));
  const Vector<double> list = Eigen::Map<const Vector<double>>(rows.data(), rows.size());
  const Summary statistics = summary(list);
  if (list.size())
    SUPERPOSE_MUST(statistics.least <= statistics.largest &&
                   within(statistics.median, statistics.least, statistics.largest));
  SUPERPOSE_MUST(largest_difference(list, list) == 0);
}

inline void fuzz_collisions(Bytes& bytes) {
  const int V = bytes.integer(1, 6), L = bytes.integer(0, 4), d = bytes.integer(1, 5);
  const Matrix<double> of_tokens = bytes.matrix(V, d), of_positions = bytes.matrix(L, d);
  const CollisionSearch search = collision_search(of_tokens, of_positions);
  const int first = bytes.integer(0, V - 1), words = bytes.integer(0, V - first);
  const NearestTokens nearest_of_words = nearest_tokens(search, first, words);
  for (const int token : nearest_of_words.bare) SUPERPOSE_MUST(token >= -1 && token < V);
  for (const int token : nearest_of_words.nearest) SUPERPOSE_MUST(token >= -1 && token < V);
  for (const int count : nearest_of_words.lost) SUPERPOSE_MUST(count >= 0 && count <= words);
}

inline void fuzz_matrices(Bytes& bytes) {
  const int n = bytes.integer(0, 6);
  const Matrix<double> square = bytes.matrix(n, n);
  SUPERPOSE_MUST(!(toeplitz_spread(square) < 0));
  const OffsetMeans means = offset_means(square);
  SUPERPOSE_MUST(means.means.size() == (n ? 2 * n - 1 : 0));
  SUPERPOSE_MUST(within(means.share, -1e-9, 1 + 1e-9));
  SUPERPOSE_MUST(gram(square).rows() == n);
  const int heads = bytes.integer(1, 3), width = 2 * bytes.integer(1, 3);
  const Matrix<double> rows = bytes.matrix(n, heads * width);
  const RotaryOptions options{heads, bytes.flag() ? Layout::interleaved : Layout::concatenated,
                              bytes.positive(), bytes.number()};
  const Matrix<double> rotated = rotate(rows, options);
  SUPERPOSE_MUST(rotated.rows() == n && rotated.cols() == heads * width);
  const T5Options t5{true, 2 * bytes.integer(2, 20), bytes.integer(40, 200)};
  const Indices buckets = t5_buckets(n, t5);
  for (Eigen::Index at = 0; at < buckets.size(); ++at)
    SUPERPOSE_MUST(buckets.data()[at] >= 0 && buckets.data()[at] < t5.buckets);
}

inline void fuzz_scores(Bytes& bytes) {
  const int n = bytes.integer(0, 4), d = bytes.integer(1, 4), heads = bytes.integer(1, 2);
  const Linear<float> query = bytes.linear<float>(2 * heads, d), key = bytes.linear<float>(2 * heads, d);
  const std::vector<Matrix<float>> summands = {bytes.matrix<float>(n, d), bytes.matrix<float>(n, d)};
  const Normalization<double> norm{static_cast<Norm>(bytes.integer(0, 2)), {}, {}, bytes.integer(0, 8) / 8.0};
  const ScoreLayer layer{norm, query, key, heads, 0.5};
  ProjectedParts parts = project_sum(summands, layer);
  SUPERPOSE_MUST(parts.parts == 3 && parts.tokens == n);
  Gauge gauge{static_cast<GaugeKind>(bytes.integer(0, 1)), {}};
  for (int row = 0; row < n; ++row)
    if (gauge.kind == GaugeKind::canonical && bytes.flag()) gauge.excluded_rows.push_back(row);
  apply_gauge(gauge, parts);
  const ProjectedParts merged = merge_parts(parts, bytes.integers(3, 1), 2);
  for (const ProjectedParts* some : std::initializer_list<const ProjectedParts*>{&parts, &merged}) {
    std::vector<float> terms(some->terms() * n * n), logits(n * n);
    for (int head = 0; head < heads; ++head) head_terms(*some, head, terms.data(), logits.data());
    const CountedPairs counted{row_flags(gauge.excluded_rows, n), bytes.flag()};
    const Covariances covariances =
        row_centred_covariances(terms.data(), some->terms(), logits.data(), n, counted);
    SUPERPOSE_MUST(covariances.shares.size() == some->terms() && !(covariances.logits < 0));
    std::vector<int> groups = bytes.integers(some->terms(), 1);
    const PooledShares pooled = pooled_shares(covariances.terms.transpose(),
                                              Vector<double>::Constant(1, covariances.logits), 1, groups, 2);
    SUPERPOSE_MUST(pooled.heads.rows() == 1 && pooled.pooled.size() == 2);
    std::vector<bool> included(some->terms());
    for (std::size_t k = 0; k < included.size(); ++k) included[k] = bytes.flag();
    SUPERPOSE_MUST(sum_of_terms(terms.data(), n, included).rows() == n);
  }
  const DotProducts products =
      dot_products(summands[0].cast<double>(), summands[1].cast<double>(), bytes.integer(-8, 8) / 4.0);
  SUPERPOSE_MUST(products.added.rows() == n && products.concatenated.cols() == n);
}

inline void fuzz_schemes(Bytes& bytes) {
  const int n = bytes.integer(1, 4), d = 2 * bytes.integer(1, 2), heads = bytes.integer(1, 2),
            all = 2 * heads;
  const int which = bytes.integer(0, static_cast<int>(scheme_registry().size()) - 1);
  const SchemeInfo& info = scheme_registry()[which];
  const std::string_view id = info.id;
  SchemeInput in;
  in.content = bytes.matrix(n, d);
  in.query = bytes.linear(all, d);
  in.key = bytes.linear(all, d);
  in.heads = heads;
  in.scale = bytes.positive();
  in.causal = bytes.flag();
  in.position = bytes.matrix(id.starts_with("tupe") ? n + 1 : n, d);
  in.position_scale = bytes.number();
  const bool tables = id == "diet-abs";
  in.position_query = tables ? Linear<double>{bytes.matrix(n, all), {}} : bytes.linear(all, d);
  in.position_key = tables ? Linear<double>{bytes.matrix(n, all), {}} : bytes.linear(all, d);
  const int clip = bytes.integer(1, 3);
  in.offset_keys = bytes.matrix(2 * clip + 1, 2);
  in.offsets = bytes.matrix(2 * n - 1, d);
  in.distances = bytes.matrix(2 * clip, d);
  in.buckets = {true, 4, 8};
  if (id != "tupe-a") in.bias = bytes.matrix(5, heads);
  in.offset_key = bytes.linear(all, d);
  in.rotary_query = bytes.linear(all, d);
  in.rotary_key = bytes.linear(bytes.flag() ? all : 2, d);
  in.u = bytes.vector(all);
  in.v = bytes.vector(all);
  in.layout = bytes.flag() ? Layout::interleaved : Layout::concatenated;
  in.base = bytes.positive();
  const Scheme scheme = info.build(in);
  SUPERPOSE_MUST(scheme.n == n && scheme.heads == heads);
  const bool anova = bytes.flag();
  const SchemeScores scores = scheme_scores(info, in, {heads - 1}, anova);
  SUPERPOSE_MUST(!(scores.residuals[0] < 0) && !(scores.variances[0] < 0));
  SUPERPOSE_MUST(scores.weights.size() == n * n && (!anova || scores.term_names.size() == 7));
}

inline constexpr void (*fuzz_kinds[])(Bytes&) = {
    fuzz_ranks,      fuzz_angles,   fuzz_overlap, fuzz_oblique, fuzz_means,
    fuzz_collisions, fuzz_matrices, fuzz_scores,  fuzz_schemes,
};

// Calls one target, which the first byte chooses.
inline void fuzz_core(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  fuzz_kinds[bytes.byte() % std::size(fuzz_kinds)](bytes);
}

}  // namespace superpose
