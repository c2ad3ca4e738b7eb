// Every measurement that takes a caller's numbers, on whatever bytes make of them: no memory but its own is touched,
// nothing runs on for ever, and what is returned has its shape and its range.
#pragma once

#include <cstdio>

#include "encodings/channels.h"
#include "encodings/gram.h"
#include "encodings/relative_position.h"
#include "encodings/rotary.h"
#include "fuzz/bytes.h"
#include "geometry/collisions.h"
#include "geometry/cosines.h"
#include "geometry/directions.h"
#include "geometry/mean_decomposition.h"
#include "geometry/oblique.h"
#include "geometry/probes.h"
#include "geometry/subspaces.h"
#include "numeric/orthogonal.h"
#include "numeric/summary.h"
#include "scores/concatenation.h"
#include "scores/decomposition.h"
#include "scores/dot_products.h"
#include "scores/softmax.h"

namespace superpose {

inline bool within(double value, double low, double high) {
  return std::isnan(value) || (value >= low && value <= high);
}

inline void fuzz_ranks(Bytes& bytes) {
  const Matrix<double> table = bytes.matrix(bytes.integer(0, 7), bytes.integer(1, 7));
  const Vector<double> values = singular_values(table);
  const int most = static_cast<int>(std::min(table.rows(), table.cols()));
  SUPERPOSE_MUST(values.size() <= most);
  for (Eigen::Index k = 1; k < values.size(); ++k) SUPERPOSE_MUST(!(values[k] > values[k - 1]));
  const int rank = numerical_rank(values, 1e-10);
  SUPERPOSE_MUST(rank >= 0 && rank <= most);
  SUPERPOSE_MUST(within(stable_rank(values), 0, most + 1e-9));
  SUPERPOSE_MUST(energy_rank(values, bytes.integer(0, 8) / 8.0) <= most);
  SUPERPOSE_MUST(within(participation_ratio(values), 0, most + 1e-9));
  SUPERPOSE_MUST(channel_ranges(table).size() == table.cols());
}

inline void fuzz_subspaces(Bytes& bytes) {
  const int d = bytes.integer(1, 6);
  const Matrix<double> a = bytes.matrix(bytes.integer(0, 5), d), b = bytes.matrix(bytes.integer(0, 5), d);
  const Matrix<double> u = orthonormal_basis(a.transpose(), 1e-10),
                       v = orthonormal_basis(b.transpose(), 1e-10);
  SUPERPOSE_MUST(u.cols() <= std::min<Eigen::Index>(a.rows(), d));
  const Vector<double> angles = principal_angles(u, v);
  SUPERPOSE_MUST(angles.size() == std::min(u.cols(), v.cols()));
  for (const double angle : angles) SUPERPOSE_MUST(angle >= 0 && angle <= std::acos(-1) / 2 + 1e-12);
  const double overlap = energy_overlap(a, b);
  SUPERPOSE_MUST(within(overlap, -1e-9, d * (1 + 1e-9)));
  const OverlapCurve curve = overlap_curve(a, b, bytes.integer(0, d));
  SUPERPOSE_MUST(curve.shares.size() == d && curve.dimensions <= d);
  for (const double share : curve.shares) SUPERPOSE_MUST(share >= -1e-9 && share <= 1 + 1e-9);
  const ObliqueProjection found = oblique_projection(a.transpose(), b.transpose(), 1e-10);
  SUPERPOSE_MUST(found.exact == std::isfinite(found.gain));
  SUPERPOSE_MUST(found.smallest_angle >= 0 && found.smallest_angle <= std::acos(-1) / 2 + 1e-12);
  if (!found.exact) return;
  SUPERPOSE_MUST(found.projector.rows() == d && found.projector.allFinite());
  recovery_error(found.projector, a.transpose(), b.transpose());
  noise_gains(found.projector, bytes.matrix(bytes.integer(0, 3), d));
}

inline void fuzz_probes(Bytes& bytes) {
  const int n = bytes.integer(2, 8), d = bytes.integer(1, 4);
  const Matrix<double> rows = bytes.matrix(n, d);
  const ProbeOptions options{bytes.flag() ? 0 : std::abs(bytes.number()), bytes.integer(2, n), bytes.flag(),
                             bytes.byte()};
  Vector<double> index(n);
  for (double& one : index) one = bytes.integer(0, 20);
  SUPERPOSE_MUST(position_probe(rows, index, options).predicted.size() == n);
  ProbeOptions logistic = options;
  logistic.penalty = bytes.positive();
  const OrderProbe order = order_probe(rows, n, logistic);
  SUPERPOSE_MUST(order.error >= 0 && order.error <= 1);
  for (int k = 0; k < n; ++k) {
    SUPERPOSE_MUST(order.first[k] >= 0 && order.first[k] < n && order.second[k] >= 0 && order.second[k] < n);
    SUPERPOSE_MUST(order.first[k] != order.second[k]);
  }
  const Matrix<double> positions = bytes.matrix(bytes.integer(2, 5), d);
  const TokenProbe token = token_probe(rows, positions, {bytes.positive(), 0.3, 12, 6, bytes.byte()});
  SUPERPOSE_MUST(!token.held_out_tokens.empty() && !token.held_out_positions.empty());
  SUPERPOSE_MUST(within(token.mean_cosine, -1 - 1e-9, 1 + 1e-9));
}

inline void fuzz_means(Bytes& bytes) {
  const int n = bytes.integer(0, 6), d = bytes.integer(1, 4);
  const Matrix<double> rows = bytes.matrix(n, d);
  const int positions = bytes.integer(1, 4), tokens = bytes.integer(1, 4);
  const MeanDecomposition means = mean_decomposition(rows, bytes.integers(n, positions - 1), positions,
                                                     bytes.integers(n, tokens - 1), tokens);
  SUPERPOSE_MUST(means.position_counts.sum() == n && means.token_counts.sum() == n);
  SUPERPOSE_MUST(means.residual.rows() == n && means.residual.cols() == d);
  const Vector<double> lengths = row_lengths(rows);
  SUPERPOSE_MUST(lengths.size() == n);
  const Matrix<double> cosines = row_cosines(rows, rows);
  for (Eigen::Index at = 0; at < cosines.size(); ++at)
    SUPERPOSE_MUST(within(cosines.data()[at], -1 - 1e-9, 1 + 1e-9));
  const Vector<double> list = Eigen::Map<const Vector<double>>(rows.data(), rows.size());
  const Summary found = summary(list);
  if (list.size())
    SUPERPOSE_MUST(found.least <= found.largest && within(found.median, found.least, found.largest));
  SUPERPOSE_MUST(largest_difference(list, list) == 0);
}

inline void fuzz_collisions(Bytes& bytes) {
  const int V = bytes.integer(1, 6), L = bytes.integer(0, 4), d = bytes.integer(1, 5);
  const CollisionSearch search = collision_search(bytes.matrix<float>(V, d), bytes.matrix<float>(L, d));
  const int first = bytes.integer(0, V - 1), words = bytes.integer(0, V - first);
  const NearestTokens found = nearest_tokens(search, first, words);
  for (const int token : found.bare) SUPERPOSE_MUST(token >= -1 && token < V);
  for (const int token : found.nearest) SUPERPOSE_MUST(token >= -1 && token < V);
  for (const int count : found.lost) SUPERPOSE_MUST(count >= 0 && count <= words);
  const int wanted = bytes.integer(0, 9);
  const Neighbours near =
      neighbours(search, first, L > 0 && bytes.flag() ? bytes.integer(0, L - 1) : -1, wanted);
  SUPERPOSE_MUST(static_cast<int>(near.tokens.size()) == std::min(wanted, V));
  for (const int token : near.tokens) SUPERPOSE_MUST(token >= 0 && token < V);
  const Matrix<double> tokens = bytes.matrix(V, d), positions = bytes.matrix(L, d);
  for (const CrossPair& pair : closest_across_positions(tokens, positions, bytes.integer(0, 9)))
    SUPERPOSE_MUST(pair.a != pair.b && pair.i < pair.j && !(pair.distance < 0));
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
  const Matrix<double> turned = rotate(rows, options);
  SUPERPOSE_MUST(turned.rows() == n && turned.cols() == heads * width);
  const T5Options t5{true, 2 * bytes.integer(2, 20), bytes.integer(40, 200)};
  const Indices buckets = t5_buckets(n, t5);
  for (Eigen::Index at = 0; at < buckets.size(); ++at)
    SUPERPOSE_MUST(buckets.data()[at] >= 0 && buckets.data()[at] < t5.buckets);
}

template <typename Scalar>
void fuzz_scores(Bytes& bytes) {
  const int n = bytes.integer(0, 4), d = bytes.integer(1, 4), heads = bytes.integer(1, 2);
  const auto linear = [&] {
    Linear<Scalar> drawn{bytes.matrix<Scalar>(2 * heads, d), {}};
    if (bytes.flag()) drawn.bias = bytes.matrix<Scalar>(1, 2 * heads).row(0);
    return drawn;
  };
  const Linear<Scalar> query = linear(), key = linear();
  const std::vector<Matrix<Scalar>> summands = {bytes.matrix<Scalar>(n, d), bytes.matrix<Scalar>(n, d)};
  const Normalization<Scalar> norm{
      static_cast<Norm>(bytes.integer(0, 2)), {}, {}, static_cast<Scalar>(bytes.integer(0, 8)) / 8};
  const ProjectedParts<Scalar> parts = project_sum(summands, norm, query, key, heads, Scalar(0.5));
  SUPERPOSE_MUST(parts.parts == 3 && parts.tokens == n);
  const ProjectedParts<Scalar> merged = merge_parts(parts, bytes.integers(3, 1), 2);
  for (const ProjectedParts<Scalar>* some : {&parts, &merged}) {
    std::vector<Scalar> terms(some->terms() * n * n), logits(n * n);
    for (int head = 0; head < heads; ++head) head_terms(*some, head, terms.data(), logits.data());
    std::vector<bool> included(some->terms());
    for (std::size_t k = 0; k < included.size(); ++k) included[k] = bytes.flag();
    SUPERPOSE_MUST(sum_of_terms(terms.data(), n, included).rows() == n);
  }
  const DotProducts<Scalar> products =
      dot_products(summands[0], summands[1], static_cast<Scalar>(bytes.integer(-8, 8)) / 4);
  SUPERPOSE_MUST(products.added.rows() == n && products.concatenated.cols() == n);
}

// One call of one of them, which the first byte chooses.
inline void fuzz_core(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  switch (bytes.byte() % 8) {
    case 0:
      return fuzz_ranks(bytes);
    case 1:
      return fuzz_subspaces(bytes);
    case 2:
      return fuzz_probes(bytes);
    case 3:
      return fuzz_means(bytes);
    case 4:
      return fuzz_collisions(bytes);
    case 5:
      return fuzz_matrices(bytes);
    case 6:
      return fuzz_scores<double>(bytes);
    default:
      return fuzz_scores<float>(bytes);
  }
}

}  // namespace superpose
