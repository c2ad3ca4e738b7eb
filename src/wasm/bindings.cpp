// The whole of what JavaScript can call, in one place.
//
// These are the core's functions with arrays copied in and results copied out, for float
// (Float32Array) and double (Float64Array). Arguments are checked by the typed API in src/api before
// they come here; this file and the core trust them. Nothing returned points into the module's memory.

#include <limits>
#include <string>
#include <utility>

#include "encodings/channels.h"
#include "encodings/encodings.h"
#include "encodings/gram.h"
#include "encodings/shift.h"
#include "encodings/sinusoidal.h"
#include "geometry/collisions.h"
#include "geometry/cosines.h"
#include "geometry/directions.h"
#include "geometry/mean_decomposition.h"
#include "geometry/oblique.h"
#include "geometry/probes.h"
#include "geometry/subspaces.h"
#include "model/safetensors.h"
#include "numeric/factorize.h"
#include "numeric/random.h"
#include "numeric/summary.h"
#include "scores/concatenation.h"
#include "scores/cost.h"
#include "scores/decomposition.h"
#include "scores/decomposition_layer.h"
#include "scores/dot_products.h"
#include "scores/order.h"
#include "scores/pooled_shares.h"
#include "scores/rank.h"
#include "scores/scheme_registry.h"
#include "scores/schemes.h"
#include "scores/shares.h"
#include "scores/softmax.h"
#include "value.h"

namespace superpose {
namespace {

using val = Value;

template <typename Value>
void copy_in(const val& array, Value* to, std::size_t count) {
  array.copy_to(to, count);
}

template <typename Value>
val copy_out(const Value* from, std::size_t count) {
  return val::copy_of(from, count);
}

template <typename Scalar>
val copy_out(const Matrix<Scalar>& matrix) {
  return copy_out(matrix.data(), matrix.size());
}

// A Table, which keeps its width when it has no rows.
template <typename Scalar>
Matrix<Scalar> matrix_in(const val& table) {
  Matrix<Scalar> matrix(table["rows"].as<int>(), table["columns"].as<int>());
  copy_in(table["data"], matrix.data(), matrix.size());
  return matrix;
}

// An absent array (undefined) is an empty vector.
template <typename Scalar>
Vector<Scalar> vector_in(const val& array) {
  Vector<Scalar> vector(array.isUndefined() ? 0 : array.length());
  if (vector.size()) copy_in(array, vector.data(), vector.size());
  return vector;
}

// An array of small integers; an absent one is empty.
std::vector<int> integers_in(const val& array) {
  std::vector<int> integers(array.isUndefined() ? 0 : array.length());
  if (!integers.empty()) array.copy_to(integers.data(), integers.size());
  return integers;
}

template <typename Scalar>
Linear<Scalar> linear_in(const val& linear) {
  return {matrix_in<Scalar>(linear["weight"]), vector_in<Scalar>(linear["bias"])};
}

// Enumerations come as numbers, in the order of their declarations.
SinusoidalOptions encoding_of(int positions, int d_model, int layout, int spacing, double base,
                              double first_position) {
  return {positions, d_model,       static_cast<Layout>(layout), static_cast<Spacing>(spacing),
          base,      first_position};
}

template <typename Scalar>
val new_array(std::size_t count) {
  return val::zeros<Scalar>(count);
}

// The chosen heads of a score taken apart. Results leave head by head, so that the module never
// holds more than one head's terms.
template <typename Scalar>
val heads_out(const ProjectedParts<Scalar>& parts, const val& heads) {
  const std::size_t n = parts.tokens;
  const std::size_t count = parts.terms();
  const int chosen = heads.length();
  val terms = new_array<Scalar>(chosen * count * n * n);
  val logits = new_array<Scalar>(chosen * n * n);
  val residuals = new_array<double>(chosen);
  val covariances = new_array<double>(chosen * count);
  val variances = new_array<double>(chosen);
  val shares = new_array<double>(chosen * count);

  Matrix<Scalar> head_parts(count, n * n);
  Matrix<Scalar> head_logits(n, n);
  for (int k = 0; k < chosen; ++k) {
    const Scalar residual = head_terms(parts, heads[k].as<int>(), head_parts.data(), head_logits.data());
    const Covariances of_head = row_centred_covariances(head_parts.data(), count, head_logits.data(), n);
    terms.copy_from(head_parts.data(), head_parts.size(), k * count * n * n);
    logits.copy_from(head_logits.data(), head_logits.size(), k * n * n);
    covariances.copy_from(of_head.terms.data(), count, k * count);
    shares.copy_from(of_head.shares().data(), count, k * count);
    residuals.set(k, static_cast<double>(residual));
    variances.set(k, of_head.logits);
  }

  val result = val::object();
  result.set("terms", terms);
  result.set("logits", logits);
  result.set("residuals", residuals);
  result.set("covariances", covariances);
  result.set("variances", variances);
  result.set("shares", shares);
  return result;
}

template <typename Scalar>
val sinusoidal_out(int positions, int d_model, int layout, int spacing, double base, double first_position) {
  return copy_out(sinusoidal<Scalar>(encoding_of(positions, d_model, layout, spacing, base, first_position)));
}

val sinusoidal_frequencies_out(int d_model, int layout, int spacing, double base) {
  const std::vector<double> frequencies =
      sinusoidal_frequencies(encoding_of(0, d_model, layout, spacing, base, 0));
  return copy_out(frequencies.data(), frequencies.size());
}

template <typename Scalar>
val random_normal_out(int rows, int columns, double standard_deviation, std::uint32_t seed,
                      std::uint32_t stream) {
  return copy_out(random_normal<Scalar>(rows, columns, standard_deviation, seed, stream));
}

template <typename Scalar>
val random_uniform_out(int rows, int columns, std::uint32_t seed, std::uint32_t stream) {
  return copy_out(random_uniform<Scalar>(rows, columns, seed, stream));
}

template <typename Scalar>
val dot_products_out(const val& token, const val& position, double position_scale) {
  const DotProducts<Scalar> products = dot_products<Scalar>(
      matrix_in<Scalar>(token), matrix_in<Scalar>(position), static_cast<Scalar>(position_scale));
  const std::pair<const char*, const Matrix<Scalar>&> named[] = {
      {"tokenToken", products.token_token},
      {"tokenPosition", products.token_position},
      {"positionToken", products.position_token},
      {"positionPosition", products.position_position},
      {"added", products.added},
      {"concatenated", products.concatenated}};
  val result = val::object();
  val moments = val::object();
  const auto set_moments = [&](const char* name, const Matrix<Scalar>& matrix) {
    const PairMoments of_pairs = pair_moments(matrix);
    val moment = val::object();
    moment.set("mean", of_pairs.mean);
    moment.set("deviation", of_pairs.deviation);
    moments.set(name, moment);
  };
  for (const auto& [name, matrix] : named) {
    set_moments(name, matrix);
    result.set(name, copy_out(matrix));
  }
  set_moments("crossTerms", products.token_position + products.position_token);
  result.set("moments", moments);
  result.set("correlation", products.added.size() ? pair_correlation(products.added, products.concatenated)
                                                  : std::numeric_limits<double>::quiet_NaN());
  return result;
}

template <typename Scalar>
Normalization<Scalar> normalization_in(const val& norm) {
  return {static_cast<Norm>(norm["kind"].as<int>()), vector_in<Scalar>(norm["gamma"]),
          vector_in<Scalar>(norm["beta"]), static_cast<Scalar>(norm["epsilon"].as<double>())};
}

template <typename Scalar>
val decompose_out(const val& summands, const val& norm, const val& query, const val& key, int heads,
                  double scale, const val& group_of, int groups, const val& chosen) {
  std::vector<Matrix<Scalar>> tables;
  for (int s = 0; s < summands.length(); ++s) tables.push_back(matrix_in<Scalar>(summands[s]));
  const auto parts = project_sum(tables, normalization_in<Scalar>(norm), linear_in<Scalar>(query),
                                 linear_in<Scalar>(key), heads, static_cast<Scalar>(scale));
  const std::vector<int> group = integers_in(group_of);
  // Each part by itself, in order, is how they are already.
  std::vector<int> itself(group.size());
  for (std::size_t p = 0; p < itself.size(); ++p) itself[p] = static_cast<int>(p);
  return heads_out(group == itself ? parts : merge_parts(parts, group, groups), chosen);
}

template <typename Scalar>
val concatenate_raw_out(const val& token, const val& position, double position_scale, const val& chosen) {
  return heads_out(concatenate_raw<Scalar>(matrix_in<Scalar>(token), matrix_in<Scalar>(position),
                                           static_cast<Scalar>(position_scale)),
                   chosen);
}

template <typename Scalar>
val concatenate_full_out(const val& token, const val& position, const val& query, const val& key, int heads,
                         double scale, const val& chosen) {
  return heads_out(concatenate_full<Scalar>(matrix_in<Scalar>(token), matrix_in<Scalar>(position),
                                            linear_in<Scalar>(query), linear_in<Scalar>(key), heads,
                                            static_cast<Scalar>(scale)),
                   chosen);
}

template <typename Scalar>
val concatenate_block_diagonal_out(const val& token, const val& position, const val& token_query,
                                   const val& token_key, const val& position_query, const val& position_key,
                                   int heads, double scale, const val& chosen) {
  return heads_out(concatenate_block_diagonal<Scalar>(
                       matrix_in<Scalar>(token), matrix_in<Scalar>(position), matrix_in<Scalar>(token_query),
                       matrix_in<Scalar>(token_key), matrix_in<Scalar>(position_query),
                       matrix_in<Scalar>(position_key), heads, static_cast<Scalar>(scale)),
                   chosen);
}

// What the included terms of a head add up to: their sum, the same row-centred (what softmax sees),
// its softmax, and its share of the logits' variation.
template <typename Scalar>
val combine_terms_out(const val& terms, const val& logits, const val& included) {
  const Matrix<Scalar> all = matrix_in<Scalar>(terms);
  const Matrix<Scalar> whole = matrix_in<Scalar>(logits);
  const Eigen::Index n = whole.rows();
  std::vector<bool> flags(all.rows());
  for (std::size_t t = 0; t < flags.size(); ++t) flags[t] = included[t].as<bool>();
  const Matrix<Scalar> sum = sum_of_terms(all.data(), n, flags);

  val result = val::object();
  result.set("sum", copy_out(sum));
  result.set("centred", copy_out(row_centred(sum)));
  result.set("softmax", copy_out(softmax_of_terms(all.data(), n, flags)));
  result.set("share", row_centred_covariances(sum.data(), 1, whole.data(), n).shares()[0]);
  result.set("rawShare", raw_share(sum, whole));
  return result;
}

val safetensors_header_out(const val& bytes, double file_size) {
  std::vector<std::uint8_t> buffer(bytes.length());
  copy_in(bytes, buffer.data(), buffer.size());
  const SafetensorsHeader header =
      parse_safetensors_header(buffer.data(), buffer.size(), static_cast<std::uint64_t>(file_size));

  val entries = val::array();
  for (const SafetensorsEntry& entry : header.entries) {
    val shape = val::array();
    for (std::uint64_t extent : entry.shape) shape.push(static_cast<double>(extent));
    val out = val::object();
    out.set("name", entry.name);
    out.set("dtype", entry.dtype);
    out.set("shape", shape);
    out.set("begin", static_cast<double>(entry.begin));
    out.set("end", static_cast<double>(entry.end));
    entries.push(out);
  }
  val result = val::object();
  result.set("entries", entries);
  result.set("error", header.error);
  return result;
}

template <typename Scalar>
val decode_safetensors_out(const std::string& dtype, const val& bytes) {
  std::vector<std::uint8_t> buffer(bytes.length());
  copy_in(bytes, buffer.data(), buffer.size());
  Vector<Scalar> values(buffer.size() / safetensors_float_width(dtype));
  decode_safetensors(dtype, buffer.data(), values.size(), values.data());
  return copy_out(values.data(), values.size());
}

// Geometry: measurements, in double whatever comes in.

val copy_out(const Vector<double>& vector) { return copy_out(vector.data(), vector.size()); }

val shift_operator_out(int d_model, int layout, int spacing, double base, double offset) {
  return copy_out(shift_operator(encoding_of(0, d_model, layout, spacing, base, 0), offset));
}

double shift_error_out(int positions, int d_model, int layout, int spacing, double base,
                       double first_position, double offset) {
  return shift_error(encoding_of(positions, d_model, layout, spacing, base, first_position), offset);
}

val gram_out(const val& table) { return copy_out(gram(matrix_in<double>(table))); }

double toeplitz_spread_out(const val& square) { return toeplitz_spread(matrix_in<double>(square)); }

val offset_means_out(const val& square) {
  const OffsetMeans found = offset_means(matrix_in<double>(square));
  val result = val::object();
  result.set("mean", found.mean);
  result.set("means", copy_out(found.means));
  result.set("kernel", copy_out(found.kernel));
  result.set("share", found.share);
  result.set("apart", found.apart);
  return result;
}

val gram_spreads_out(int positions, int d_model, int layout, int spacing, double base, double first_position,
                     std::uint32_t seed) {
  const FormGrams grams =
      form_grams(encoding_of(positions, d_model, layout, spacing, base, first_position), seed);
  val result = val::object();
  val matrices = val::object();
  const std::pair<const char*, const Matrix<double>&> named[] = {{"whole", grams.whole},
                                                                 {"centred", grams.centred},
                                                                 {"sines", grams.sines},
                                                                 {"randomForm", grams.random_form},
                                                                 {"rotationForm", grams.rotation_form}};
  for (const auto& [name, matrix] : named) {
    result.set(name, toeplitz_spread(matrix));
    matrices.set(name, copy_out(matrix));
  }
  result.set("matrices", matrices);
  return result;
}

val row_lengths_out(const val& table) { return copy_out(row_lengths(matrix_in<double>(table))); }

val row_cosines_out(const val& a, const val& b) {
  return copy_out(row_cosines(matrix_in<double>(a), matrix_in<double>(b)));
}

val summary_out(const val& values) {
  const Summary found = summary(vector_in<double>(values));
  val result = val::object();
  result.set("mean", found.mean);
  result.set("meanSize", found.mean_size);
  result.set("least", found.least);
  result.set("median", found.median);
  result.set("largest", found.largest);
  result.set("largestSize", found.largest_size);
  return result;
}

double largest_difference_out(const val& a, const val& b) {
  return largest_difference(vector_in<double>(a), vector_in<double>(b));
}

val pooled_shares_out(const val& scores, int heads, int terms, const val& group_of, int groups) {
  Matrix<double> covariances(scores.length() * heads, terms);
  Vector<double> variances(covariances.rows());
  for (int s = 0; s < scores.length(); ++s) {
    copy_in(scores[s]["covariances"], covariances.data() + s * heads * terms, heads * terms);
    copy_in(scores[s]["variances"], variances.data() + s * heads, heads);
  }
  const PooledShares found = pooled_shares(covariances, variances, heads, integers_in(group_of), groups);
  val result = val::object();
  result.set("heads", copy_out(found.heads));
  result.set("mean", copy_out(found.mean));
  result.set("pooled", copy_out(found.pooled));
  return result;
}

val channel_ranges_out(const val& table) { return copy_out(channel_ranges(matrix_in<double>(table))); }

val ranks_out(const val& table, bool centred, double tolerance, double share) {
  const Matrix<double> raw = matrix_in<double>(table);
  const Vector<double> values = singular_values(centred ? column_centred(raw) : raw);
  val result = val::object();
  result.set("singularValues", copy_out(values));
  result.set("numerical", numerical_rank(values, tolerance));
  result.set("stable", stable_rank(values));
  result.set("energy", energy_rank(values, share));
  result.set("participationRatio", participation_ratio(values));
  return result;
}

val sample_cosines_out(int d, int count, std::uint32_t seed) {
  return copy_out(sample_cosines(d, count, seed));
}

val principal_angles_out(const val& first, const val& second, double tolerance) {
  const auto basis = [&](const val& table) {
    return orthonormal_basis(matrix_in<double>(table).transpose(), tolerance);
  };
  return copy_out(principal_angles(basis(first), basis(second)));
}

val random_angles_out(int d, int k1, int k2, std::uint32_t seed) {
  return copy_out(principal_angles(random_subspace(d, k1, seed, 0), random_subspace(d, k2, seed, 1)));
}

val angle_cosines_out(const val& angles) {
  const AngleCosines found = angle_cosines(vector_in<double>(angles));
  val result = val::object();
  result.set("cosines", copy_out(found.cosines));
  result.set("squares", found.squares);
  return result;
}

val chance_angles_out(int d, int k1, int k2) {
  const ChanceAngles chance = chance_angles(d, k1, k2);
  val result = val::object();
  result.set("lowestCosine", chance.lowest_cosine);
  result.set("highestCosine", chance.highest_cosine);
  result.set("cosineSquares", chance.cosine_squares);
  result.set("zeroAngles", chance.zero_angles);
  result.set("largestCosine", chance.largest_cosine);
  return result;
}

double energy_overlap_out(const val& tokens, const val& positions, bool centred) {
  const auto table = [&](const val& given) {
    const Matrix<double> raw = matrix_in<double>(given);
    return centred ? column_centred(raw) : raw;
  };
  return energy_overlap(table(tokens), table(positions));
}

val overlap_curve_out(const val& tokens, const val& positions, int k) {
  const OverlapCurve curve = overlap_curve(matrix_in<double>(tokens), matrix_in<double>(positions), k);
  val result = val::object();
  result.set("shares", copy_out(curve.shares));
  result.set("dimensions", curve.dimensions);
  result.set("chance", curve.chance);
  result.set("reached", copy_out(curve.reached));
  return result;
}

// Reading both back. Double alone but for the collision search, whose vocabulary is float.

val position_cost_out(int way, const val& shape) {
  const auto of = [&](const char* name) { return shape[name].as<double>(); };
  const Cost cost = position_cost(
      static_cast<PositionCost>(way),
      {of("vocabulary"), of("positions"), of("segments"), of("d_model"), of("heads"), of("layers"),
       of("ffnRatio"), of("sequence"), of("d_position"), of("d_positionHead"), shape["pooler"].as<bool>()});
  val result = val::object();
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

val permutation_effect_out(const val& input, const val& layers, bool causal, const val& permutation) {
  std::vector<AttentionLayer> stack;
  for (int l = 0; l < layers.length(); ++l) {
    const val layer = layers[l];
    stack.push_back({linear_in<double>(layer["query"]), linear_in<double>(layer["key"]),
                     linear_in<double>(layer["value"]), linear_in<double>(layer["output"]),
                     layer["heads"].as<int>()});
  }
  const PermutationEffect effect =
      permutation_effect(matrix_in<double>(input), stack, causal, integers_in(permutation));
  val result = val::object();
  result.set("output", copy_out(effect.output));
  result.set("permuted", copy_out(effect.permuted));
  result.set("equivariance", effect.equivariance);
  result.set("last", effect.last);
  return result;
}

val mean_decomposition_out(const val& rows, const val& position_of, int positions, const val& token_of,
                           int tokens) {
  const MeanDecomposition found = mean_decomposition(matrix_in<double>(rows), integers_in(position_of),
                                                     positions, integers_in(token_of), tokens);
  val result = val::object();
  result.set("global", copy_out(found.global.data(), found.global.size()));
  result.set("position", copy_out(found.position));
  result.set("token", copy_out(found.token));
  result.set("residual", copy_out(found.residual));
  result.set("positionCounts", copy_out(found.position_counts.data(), positions));
  result.set("tokenCounts", copy_out(found.token_counts.data(), tokens));
  result.set("positionShare", found.position_share);
  result.set("tokenShare", found.token_share);
  result.set("residualShare", found.residual_share);
  result.set("overlap", found.overlap);
  return result;
}

int numerical_rank_out(const val& matrix, double tolerance) {
  return numerical_rank(matrix_in<double>(matrix), tolerance);
}

val score_ranks_out(int n, int d_t, int d_p, int d_h, int d_h_position) {
  const ScoreRanks ranks = score_ranks(n, d_t, d_p, d_h, d_h_position);
  val result = val::object();
  result.set("added", ranks.added);
  result.set("concatenated", ranks.concatenated);
  result.set("untied", ranks.untied);
  return result;
}

val oblique_projection_out(const val& u, const val& w, double tolerance, const val& noise) {
  const Matrix<double> of_u = matrix_in<double>(u), of_w = matrix_in<double>(w);
  const ObliqueProjection found = oblique_projection(of_u, of_w, tolerance);
  val result = val::object();
  result.set("projector", copy_out(found.projector));
  result.set("exact", found.exact);
  result.set("gain", found.gain);
  result.set("smallestAngle", found.smallest_angle);
  result.set("recoveryError", found.exact ? recovery_error(found.projector, of_u, of_w)
                                          : std::numeric_limits<double>::quiet_NaN());
  result.set("noiseGains", copy_out(found.exact ? noise_gains(found.projector, matrix_in<double>(noise))
                                                : Vector<double>()));
  return result;
}

ProbeOptions probe_options_in(const val& options) {
  return {options["penalty"].as<double>(), options["folds"].as<int>(), options["shuffled"].as<bool>(),
          options["seed"].as<std::uint32_t>()};
}

val position_probe_out(const val& rows, const val& index, const val& options) {
  const PositionProbe probe =
      position_probe(matrix_in<double>(rows), vector_in<double>(index), probe_options_in(options));
  val result = val::object();
  result.set("predicted", copy_out(probe.predicted.data(), probe.predicted.size()));
  result.set("meanAbsoluteError", probe.mean_absolute_error);
  result.set("guessingError", probe.guessing_error);
  return result;
}

val order_probe_out(const val& rows, int pairs, const val& options) {
  const OrderProbe probe = order_probe(matrix_in<double>(rows), pairs, probe_options_in(options));
  val result = val::object();
  result.set("first", copy_out(probe.first.data(), pairs));
  result.set("second", copy_out(probe.second.data(), pairs));
  result.set("wrong", copy_out(probe.wrong.data(), pairs));
  result.set("error", probe.error);
  return result;
}

val token_probe_out(const val& token, const val& position, const val& options) {
  const TokenProbe probe = token_probe(
      matrix_in<double>(token), matrix_in<double>(position),
      {options["penalty"].as<double>(), options["heldOut"].as<double>(), options["trainingPairs"].as<int>(),
       options["testPairs"].as<int>(), options["seed"].as<std::uint32_t>()});
  val result = val::object();
  result.set("rSquared", probe.r_squared);
  result.set("trainingRSquared", probe.training_r_squared);
  result.set("meanCosine", probe.mean_cosine);
  result.set("heldOutTokens", copy_out(probe.held_out_tokens.data(), probe.held_out_tokens.size()));
  result.set("heldOutPositions", copy_out(probe.held_out_positions.data(), probe.held_out_positions.size()));
  return result;
}

// Objects that live in the module's memory between calls go out as their addresses; the typed API calls
// the function that frees them, and no other after it.
template <typename Object>
Object& at_address(std::uint32_t address) {
  return *reinterpret_cast<Object*>(static_cast<std::uintptr_t>(address));
}

template <typename Object>
std::uint32_t address_of(Object object) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(new Object(std::move(object))));
}

template <typename Scalar>
std::uint32_t decomposition_layer_out(const val& norm, const val& query, const val& key, int heads,
                                      double scale, int summands) {
  return address_of(DecompositionLayer<Scalar>(linear_in<Scalar>(query), linear_in<Scalar>(key),
                                               normalization_in<Scalar>(norm), heads,
                                               static_cast<Scalar>(scale), summands));
}

// `terms` is filled; with `kept`, it is as the last call left it.
template <typename Scalar>
void layer_terms_out(std::uint32_t address, int tokens, const val& summands, const val& factors,
                     const val& chosen, bool kept, const val& terms) {
  auto& layer = at_address<DecompositionLayer<Scalar>>(address);
  layer.resize(tokens);
  const Vector<Scalar> of_summands = vector_in<Scalar>(factors);
  for (int s = 0; s < of_summands.size(); ++s) {
    copy_in(summands[s], layer.next_table(), layer.table_size());
    layer.take(s, of_summands[s]);
  }
  val to = terms;
  layer.terms(integers_in(chosen), kept,
              [&](const Scalar* from, std::size_t count, std::size_t at) { to.copy_from(from, count, at); });
}

template <typename Scalar>
void delete_decomposition_layer_out(std::uint32_t address) {
  delete &at_address<DecompositionLayer<Scalar>>(address);
}

std::uint32_t collision_search_out(const val& tokens, const val& positions, double scale) {
  return address_of(
      collision_search(matrix_in<float>(tokens), static_cast<float>(scale) * matrix_in<float>(positions)));
}

val random_collisions_out(int d, double scale, double vocabulary) {
  const RandomCollisions found = random_collisions(d, scale, vocabulary);
  val result = val::object();
  result.set("pair", found.pair);
  result.set("expected", found.expected);
  return result;
}

void delete_collision_search_out(std::uint32_t search) { delete &at_address<CollisionSearch>(search); }

val nearest_tokens_out(std::uint32_t search, int first, int words) {
  const NearestTokens found = nearest_tokens(at_address<CollisionSearch>(search), first, words);
  val result = val::object();
  result.set("bare", copy_out(found.bare.data(), found.bare.size()));
  result.set("bareDistances", copy_out(found.bare_distances.data(), found.bare_distances.size()));
  result.set("nearest", copy_out(found.nearest.data(), found.nearest.size()));
  result.set("margins", copy_out(found.margins));
  result.set("bareMargins", copy_out(found.bare_margins));
  result.set("smallestMargins", copy_out(found.smallest_margins));
  result.set("lost", copy_out(found.lost.data(), found.lost.size()));
  return result;
}

val neighbours_out(std::uint32_t search, int word, int position, int count) {
  const Neighbours found = neighbours(at_address<CollisionSearch>(search), word, position, count);
  val result = val::object();
  result.set("tokens", copy_out(found.tokens.data(), found.tokens.size()));
  result.set("distances", copy_out(found.distances.data(), found.distances.size()));
  return result;
}

double collision_margin_out(std::uint32_t search, int a, int b, int position) {
  return collision_margin(at_address<CollisionSearch>(search), a, b, position);
}

val closest_across_positions_out(const val& tokens, const val& positions, int count) {
  val pairs = val::array();
  for (const CrossPair& pair :
       closest_across_positions(matrix_in<double>(tokens), matrix_in<double>(positions), count)) {
    val out = val::object();
    out.set("a", pair.a);
    out.set("i", pair.i);
    out.set("b", pair.b);
    out.set("j", pair.j);
    out.set("distance", pair.distance);
    pairs.push(out);
  }
  return pairs;
}

template <typename Scalar>
void bind_for_scalar(const std::string& suffix) {
  using emscripten::function;
  const auto named = [&](const char* name) { return name + suffix; };
  function(named("sinusoidal").c_str(), &sinusoidal_out<Scalar>);
  function(named("randomNormal").c_str(), &random_normal_out<Scalar>);
  function(named("randomUniform").c_str(), &random_uniform_out<Scalar>);
  function(named("dotProducts").c_str(), &dot_products_out<Scalar>);
  function(named("decompose").c_str(), &decompose_out<Scalar>);
  function(named("decompositionLayer").c_str(), &decomposition_layer_out<Scalar>);
  function(named("layerTerms").c_str(), &layer_terms_out<Scalar>);
  function(named("deleteDecompositionLayer").c_str(), &delete_decomposition_layer_out<Scalar>);
  function(named("concatenateRaw").c_str(), &concatenate_raw_out<Scalar>);
  function(named("concatenateFull").c_str(), &concatenate_full_out<Scalar>);
  function(named("concatenateBlockDiagonal").c_str(), &concatenate_block_diagonal_out<Scalar>);
  function(named("combineTerms").c_str(), &combine_terms_out<Scalar>);
  function(named("decodeSafetensors").c_str(), &decode_safetensors_out<Scalar>);
}

// The scheme that `id` names, from its learned parts; src/api/scores/schemes.ts says which each has.
template <typename Scalar>
Scheme<Scalar> scheme_in(const std::string& id, const val& input) {
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
val scheme_scores_out(const std::string& id, const val& input) {
  Scheme<Scalar> scheme = scheme_in<Scalar>(id, input);
  const Eigen::Index n = scheme.n;
  scheme.causal = input["causal"].as<bool>();
  const std::vector<int> heads = integers_in(input["only"]);
  const int count = static_cast<int>(scheme.terms.size());
  const std::size_t size = static_cast<std::size_t>(n) * n, chosen = heads.size();
  val terms = new_array<Scalar>(chosen * count * size);
  val logits = new_array<Scalar>(chosen * size);
  val weights = new_array<Scalar>(chosen * size);
  Matrix<double> residuals(1, chosen), covariances(chosen, count), variances(1, chosen),
      shares(chosen, count);

  Matrix<Scalar> head_parts(count, size);
  Matrix<Scalar> whole(n, n);
  const auto set = [](val& to, const auto& from, std::size_t at) {
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
    shares.row(k) = of_head.shares();
    variances(0, k) = of_head.logits;
  }

  val names = val::array();
  for (const auto& term : scheme.terms) names.push(std::string(term.name));
  val result = val::object();
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

val scheme_registry_out() {
  val entries = val::array();
  for (const SchemeInfo& info : scheme_registry()) {
    val entry = val::object();
    entry.set("id", std::string(info.id));
    entry.set("name", std::string(info.name));
    entry.set("formula", std::string(info.formula));
    entry.set("parameters", std::string(info.parameters));
    entry.set("source", std::string(info.source));
    entries.push(entry);
  }
  return entries;
}

double scheme_parameters_out(const std::string& id, const val& shape) {
  const auto of = [&](const char* name) { return shape[name].as<double>(); };
  return scheme_parameters(id, {of("dModel"), of("heads"), of("dHead"), of("dPosition"), of("dPositionHead"),
                                of("positions"), of("clip"), of("buckets"), of("layers")});
}

template <typename Scalar>
val rotate_out(const val& rows, int heads, int layout, double base, double first_position) {
  return copy_out(
      rotate(matrix_in<Scalar>(rows), {heads, static_cast<Layout>(layout), base, first_position}));
}

val rotary_permutation_out(int head_width) {
  const std::vector<int> order = rotary_permutation(head_width);
  return copy_out(order.data(), order.size());
}

val alibi_slopes_out(int heads) {
  const std::vector<double> slopes = alibi_slopes(heads);
  return copy_out(slopes.data(), slopes.size());
}

val t5_buckets_out(int n, bool bidirectional, int buckets, int max_distance) {
  const Indices index = t5_buckets(n, {bidirectional, buckets, max_distance});
  return copy_out(index.data(), index.size());
}

template <typename Scalar>
val fairseq_sinusoidal_out(int positions, int d_model, int padding_idx) {
  return copy_out(fairseq_sinusoidal<Scalar>(positions, d_model, padding_idx));
}

template <typename Scalar>
val mae_sinusoidal_out(int grid, int d_model, bool class_token) {
  return copy_out(mae_sinusoidal<Scalar>(grid, d_model, class_token));
}

template <typename Scalar>
val tensor2tensor_sinusoidal_out(const val& extents, int d_model, double min_timescale,
                                 double max_timescale) {
  return copy_out(
      tensor2tensor_sinusoidal<Scalar>(integers_in(extents), d_model, min_timescale, max_timescale));
}

template <typename Scalar>
val bert_embeddings_out(const val& token, const val& position, const val& token_type, const val& ids,
                        double position_scale) {
  const BertSummands<Scalar> summands = bert_embeddings<Scalar>(
      matrix_in<Scalar>(token), matrix_in<Scalar>(position), matrix_in<Scalar>(token_type), integers_in(ids),
      static_cast<Scalar>(position_scale));
  val result = val::object();
  result.set("position", copy_out(summands.position));
  result.set("token_type", copy_out(summands.token_type));
  result.set("sum", copy_out(summands.sum));
  return result;
}

template <typename Scalar>
val vit_embeddings_out(const val& patches, const val& class_token, const val& position) {
  return copy_out(vit_embeddings<Scalar>(matrix_in<Scalar>(patches), vector_in<Scalar>(class_token),
                                         matrix_in<Scalar>(position)));
}

// The index: everything that JavaScript can call.
EMSCRIPTEN_BINDINGS(superpose) {
  emscripten::register_type<val>("any");
  emscripten::function("sinusoidalFrequencies", &sinusoidal_frequencies_out);
  emscripten::function("safetensorsHeader", &safetensors_header_out);
  bind_for_scalar<float>("F32");
  bind_for_scalar<double>("F64");

  emscripten::function("shiftOperator", &shift_operator_out);
  emscripten::function("shiftError", &shift_error_out);
  emscripten::function("gram", &gram_out);
  emscripten::function("toeplitzSpread", &toeplitz_spread_out);
  emscripten::function("gramSpreads", &gram_spreads_out);
  emscripten::function("offsetMeans", &offset_means_out);
  emscripten::function("rowLengths", &row_lengths_out);
  emscripten::function("rowCosines", &row_cosines_out);
  emscripten::function("summary", &summary_out);
  emscripten::function("largestDifference", &largest_difference_out);
  emscripten::function("poolShares", &pooled_shares_out);
  emscripten::function("channelRanges", &channel_ranges_out);
  emscripten::function("ranks", &ranks_out);
  emscripten::function("sampleCosines", &sample_cosines_out);
  emscripten::function("cosineDensity", &cosine_density);
  emscripten::function("cosineMeanSize", &cosine_mean_size);
  emscripten::function("cosineDeviation", &cosine_deviation);
  emscripten::function("cosineTail", &cosine_tail);
  emscripten::function("largestCosineMedian", &largest_cosine_median);
  emscripten::function("principalAngles", &principal_angles_out);
  emscripten::function("randomAngles", &random_angles_out);
  emscripten::function("angleCosines", &angle_cosines_out);
  emscripten::function("chanceAngles", &chance_angles_out);
  emscripten::function("energyOverlap", &energy_overlap_out);
  emscripten::function("overlapCurve", &overlap_curve_out);

  emscripten::function("schemeRegistry", &scheme_registry_out);
  emscripten::function("schemeParameters", &scheme_parameters_out);
  emscripten::function("rotaryPermutation", &rotary_permutation_out);
  emscripten::function("alibiSlopes", &alibi_slopes_out);
  emscripten::function("t5Buckets", &t5_buckets_out);
  // In double alone: arrays of floats are widened as they are copied in, and the typed API rounds
  // what comes out. A second set for float would cost more bytes than it saves time.
  emscripten::function("schemeScores", &scheme_scores_out<double>);
  emscripten::function("rotate", &rotate_out<double>);
  emscripten::function("fairseqSinusoidal", &fairseq_sinusoidal_out<double>);
  emscripten::function("maeSinusoidal", &mae_sinusoidal_out<double>);
  emscripten::function("tensor2tensorSinusoidal", &tensor2tensor_sinusoidal_out<double>);
  emscripten::function("bertEmbeddings", &bert_embeddings_out<double>);
  emscripten::function("vitEmbeddings", &vit_embeddings_out<double>);
  emscripten::function("positionCost", &position_cost_out);
  emscripten::function("permutationEffect", &permutation_effect_out);
  emscripten::function("meanDecomposition", &mean_decomposition_out);
  emscripten::function("numericalRank", &numerical_rank_out);
  emscripten::function("scoreRanks", &score_ranks_out);
  emscripten::function("obliqueProjection", &oblique_projection_out);
  emscripten::function("positionProbe", &position_probe_out);
  emscripten::function("orderProbe", &order_probe_out);
  emscripten::function("tokenProbe", &token_probe_out);
  emscripten::function("closestAcrossPositions", &closest_across_positions_out);
  emscripten::function("collisionSearch", &collision_search_out);
  emscripten::function("deleteCollisionSearch", &delete_collision_search_out);
  emscripten::function("randomCollisions", &random_collisions_out);
  emscripten::function("nearestTokens", &nearest_tokens_out);
  emscripten::function("neighbours", &neighbours_out);
  emscripten::function("collisionMargin", &collision_margin_out);
}

}  // namespace
}  // namespace superpose
