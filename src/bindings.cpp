// The whole of what JavaScript can call, in one place.
//
// These are the core's functions with arrays copied in and results copied out, for float
// (Float32Array) and double (Float64Array). Arguments are checked by the typed API in web/api before
// they come here; this file and the core trust them. Nothing returned points into the module's memory.

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <limits>
#include <utility>

#include "channels.h"
#include "concatenation.h"
#include "cosines.h"
#include "decomposition.h"
#include "dot_products.h"
#include "factorize.h"
#include "gram.h"
#include "random.h"
#include "safetensors.h"
#include "shares.h"
#include "shift.h"
#include "sinusoidal.h"
#include "softmax.h"
#include "subspaces.h"

namespace superpose {
namespace {

using emscripten::typed_memory_view;
using emscripten::val;

template <typename Value>
void copy_in(const val& array, Value* to, std::size_t count) {
  val(typed_memory_view(count, to)).call<void>("set", array);
}

template <typename Value>
val copy_out(const Value* from, std::size_t count) {
  return val(typed_memory_view(count, from)).call<val>("slice");
}

template <typename Scalar>
val copy_out(const Matrix<Scalar>& matrix) {
  return copy_out(matrix.data(), matrix.size());
}

template <typename Scalar>
Matrix<Scalar> matrix_in(const val& array, int rows) {
  const int size = array["length"].as<int>();
  Matrix<Scalar> matrix(rows, rows ? size / rows : 0);
  copy_in(array, matrix.data(), matrix.size());
  return matrix;
}

// An absent array (undefined) is an empty vector.
template <typename Scalar>
Vector<Scalar> vector_in(const val& array) {
  Vector<Scalar> vector(array.isUndefined() ? 0 : array["length"].as<int>());
  if (vector.size()) copy_in(array, vector.data(), vector.size());
  return vector;
}

template <typename Scalar>
Linear<Scalar> linear_in(const val& linear) {
  return {matrix_in<Scalar>(linear["weight"], linear["rows"].as<int>()),
          vector_in<Scalar>(linear["bias"])};
}

template <typename Scalar>
val new_array(std::size_t count) {
  return val::global(sizeof(Scalar) == 4 ? "Float32Array" : "Float64Array").new_(count);
}

// The chosen heads of a score taken apart. Results leave head by head, so that the module never
// holds more than one head's terms.
template <typename Scalar>
val heads_out(const ProjectedParts<Scalar>& parts, const val& heads) {
  const std::size_t n = parts.tokens();
  const std::size_t count = parts.terms();
  const int chosen = heads["length"].as<int>();
  val terms = new_array<Scalar>(chosen * count * n * n);
  val logits = new_array<Scalar>(chosen * n * n);
  val residuals = new_array<double>(chosen);
  val covariances = new_array<double>(chosen * count);
  val variances = new_array<double>(chosen);
  val shares = new_array<double>(chosen * count);

  Matrix<Scalar> head_parts(count, n * n);
  Matrix<Scalar> head_logits(n, n);
  for (int k = 0; k < chosen; ++k) {
    const Scalar residual =
        head_terms(parts, heads[k].as<int>(), head_parts.data(), head_logits.data());
    const Covariances of_head =
        row_centred_covariances(head_parts.data(), count, head_logits.data(), n);
    terms.call<void>("set", val(typed_memory_view(head_parts.size(), head_parts.data())),
                     k * count * n * n);
    logits.call<void>("set", val(typed_memory_view(head_logits.size(), head_logits.data())),
                      k * n * n);
    covariances.call<void>("set", val(typed_memory_view(count, of_head.terms.data())), k * count);
    const Vector<double> head_shares = of_head.shares();
    shares.call<void>("set", val(typed_memory_view(count, head_shares.data())), k * count);
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
val sinusoidal_out(int positions, int d_model, Layout layout, Spacing spacing, double base,
                   double first_position) {
  return copy_out(
      sinusoidal<Scalar>({positions, d_model, layout, spacing, base, first_position}));
}

val sinusoidal_frequencies_out(int d_model, Layout layout, Spacing spacing, double base) {
  const std::vector<double> frequencies =
      sinusoidal_frequencies({0, d_model, layout, spacing, base, 0});
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
val dot_products_out(int n, const val& token, const val& position, double position_scale) {
  const DotProducts<Scalar> products =
      dot_products<Scalar>(matrix_in<Scalar>(token, n), matrix_in<Scalar>(position, n),
                           static_cast<Scalar>(position_scale));
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
  result.set("correlation", products.added.size()
                                ? pair_correlation(products.added, products.concatenated)
                                : std::numeric_limits<double>::quiet_NaN());
  return result;
}

template <typename Scalar>
val decompose_out(int n, const val& summands, const val& norm, const val& query, const val& key,
                  int heads, double scale, const val& group_of, int groups, const val& chosen) {
  std::vector<Matrix<Scalar>> tables;
  for (int s = 0; s < summands["length"].as<int>(); ++s) {
    tables.push_back(matrix_in<Scalar>(summands[s], n));
  }
  const Normalization<Scalar> normalization{
      norm["kind"].as<Norm>(), vector_in<Scalar>(norm["gamma"]), vector_in<Scalar>(norm["beta"]),
      static_cast<Scalar>(norm["epsilon"].as<double>())};
  std::vector<int> group_of_part;
  for (int p = 0; p < group_of["length"].as<int>(); ++p) {
    group_of_part.push_back(group_of[p].as<int>());
  }
  const ProjectedParts<Scalar> parts =
      project_sum(tables, normalization, linear_in<Scalar>(query), linear_in<Scalar>(key), heads,
                  static_cast<Scalar>(scale));
  return heads_out(merge_parts(parts, group_of_part, groups), chosen);
}

template <typename Scalar>
val concatenate_raw_out(int n, const val& token, const val& position, double position_scale,
                        const val& chosen) {
  return heads_out(concatenate_raw<Scalar>(matrix_in<Scalar>(token, n),
                                           matrix_in<Scalar>(position, n),
                                           static_cast<Scalar>(position_scale)),
                   chosen);
}

template <typename Scalar>
val concatenate_full_out(int n, const val& token, const val& position, const val& query,
                         const val& key, int heads, double scale, const val& chosen) {
  return heads_out(
      concatenate_full<Scalar>(matrix_in<Scalar>(token, n), matrix_in<Scalar>(position, n),
                               linear_in<Scalar>(query), linear_in<Scalar>(key), heads,
                               static_cast<Scalar>(scale)),
      chosen);
}

template <typename Scalar>
val concatenate_block_diagonal_out(int n, const val& token, const val& position,
                                   const val& token_query, const val& token_key,
                                   const val& position_query, const val& position_key, int heads,
                                   double scale, const val& chosen) {
  const auto weight = [](const val& linear) { return linear_in<Scalar>(linear).weight; };
  return heads_out(
      concatenate_block_diagonal<Scalar>(
          matrix_in<Scalar>(token, n), matrix_in<Scalar>(position, n), weight(token_query),
          weight(token_key), weight(position_query), weight(position_key), heads,
          static_cast<Scalar>(scale)),
      chosen);
}

// What the included terms of a head add up to: their sum, the same row-centred (what softmax sees),
// its softmax, and its share of the logits' variation.
template <typename Scalar>
val combine_terms_out(int n, const val& terms, const val& logits, const val& included) {
  const int count = included["length"].as<int>();
  std::vector<bool> flags(count);
  for (int t = 0; t < count; ++t) flags[t] = included[t].as<bool>();
  const Matrix<Scalar> all = matrix_in<Scalar>(terms, count);
  const Matrix<Scalar> whole = matrix_in<Scalar>(logits, n);
  const Matrix<Scalar> sum = sum_of_terms(all.data(), n, flags);

  val result = val::object();
  result.set("sum", copy_out(sum));
  result.set("centred", copy_out(row_centred(sum)));
  result.set("softmax", copy_out(softmax_of_terms(all.data(), n, flags)));
  result.set("share", row_centred_covariances(sum.data(), 1, whole.data(), n).shares()[0]);
  return result;
}

val safetensors_header_out(const val& bytes, double file_size) {
  std::vector<std::uint8_t> buffer(bytes["length"].as<std::size_t>());
  copy_in(bytes, buffer.data(), buffer.size());
  const SafetensorsHeader header = parse_safetensors_header(
      buffer.data(), buffer.size(), static_cast<std::uint64_t>(file_size));

  val entries = val::array();
  for (const SafetensorsEntry& entry : header.entries) {
    val shape = val::array();
    for (std::uint64_t extent : entry.shape) shape.call<void>("push", static_cast<double>(extent));
    val out = val::object();
    out.set("name", entry.name);
    out.set("dtype", entry.dtype);
    out.set("shape", shape);
    out.set("begin", static_cast<double>(entry.begin));
    out.set("end", static_cast<double>(entry.end));
    entries.call<void>("push", out);
  }
  val result = val::object();
  result.set("entries", entries);
  result.set("error", header.error);
  return result;
}

template <typename Scalar>
val decode_safetensors_out(const std::string& dtype, const val& bytes) {
  std::vector<std::uint8_t> buffer(bytes["length"].as<std::size_t>());
  copy_in(bytes, buffer.data(), buffer.size());
  Vector<Scalar> values(buffer.size() / safetensors_float_width(dtype));
  decode_safetensors(dtype, buffer.data(), values.size(), values.data());
  return copy_out(values.data(), values.size());
}

// Geometry: measurements, in double whatever comes in.

val copy_out(const Vector<double>& vector) { return copy_out(vector.data(), vector.size()); }

// A whole Table: unlike matrix_in(), it knows its columns when it has no rows.
Matrix<double> table_in(const val& table) {
  Matrix<double> matrix(table["rows"].as<int>(), table["columns"].as<int>());
  copy_in(table["data"], matrix.data(), matrix.size());
  return matrix;
}

val shift_operator_out(int d_model, Layout layout, Spacing spacing, double base, double offset) {
  return copy_out(shift_operator({0, d_model, layout, spacing, base, 0}, offset));
}

double shift_error_out(int positions, int d_model, Layout layout, Spacing spacing, double base,
                       double first_position, double offset) {
  return shift_error({positions, d_model, layout, spacing, base, first_position}, offset);
}

val gram_out(const val& table) { return copy_out(gram(table_in(table))); }

double toeplitz_spread_out(const val& square) { return toeplitz_spread(table_in(square)); }

val gram_spreads_out(int positions, int d_model, Layout layout, Spacing spacing, double base,
                     double first_position, std::uint32_t seed) {
  const GramSpreads spreads =
      gram_spreads({positions, d_model, layout, spacing, base, first_position}, seed);
  val result = val::object();
  result.set("whole", spreads.whole);
  result.set("centred", spreads.centred);
  result.set("sines", spreads.sines);
  result.set("randomForm", spreads.random_form);
  result.set("rotationForm", spreads.rotation_form);
  return result;
}

val channel_ranges_out(const val& table) { return copy_out(channel_ranges(table_in(table))); }

val ranks_out(const val& table, bool centred, double tolerance, double share) {
  const Matrix<double> raw = table_in(table);
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
    return orthonormal_basis(table_in(table).transpose(), tolerance);
  };
  return copy_out(principal_angles(basis(first), basis(second)));
}

val random_angles_out(int d, int k1, int k2, std::uint32_t seed) {
  return copy_out(principal_angles(random_subspace(d, k1, seed, 0), random_subspace(d, k2, seed, 1)));
}

val chance_angles_out(int d, int k1, int k2) {
  const ChanceAngles chance = chance_angles(d, k1, k2);
  val result = val::object();
  result.set("lowestCosine", chance.lowest_cosine);
  result.set("highestCosine", chance.highest_cosine);
  result.set("cosineSquares", chance.cosine_squares);
  result.set("zeroAngles", chance.zero_angles);
  return result;
}

double energy_overlap_out(const val& tokens, const val& positions, bool centred) {
  const auto table = [&](const val& given) {
    const Matrix<double> raw = table_in(given);
    return centred ? column_centred(raw) : raw;
  };
  return energy_overlap(table(tokens), table(positions));
}

val overlap_curve_out(const val& tokens, const val& positions, int k) {
  const OverlapCurve curve = overlap_curve(table_in(tokens), table_in(positions), k);
  val result = val::object();
  result.set("shares", copy_out(curve.shares));
  result.set("dimensions", curve.dimensions);
  result.set("chance", curve.chance);
  return result;
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
  function(named("concatenateRaw").c_str(), &concatenate_raw_out<Scalar>);
  function(named("concatenateFull").c_str(), &concatenate_full_out<Scalar>);
  function(named("concatenateBlockDiagonal").c_str(), &concatenate_block_diagonal_out<Scalar>);
  function(named("combineTerms").c_str(), &combine_terms_out<Scalar>);
  function(named("decodeSafetensors").c_str(), &decode_safetensors_out<Scalar>);
}

EMSCRIPTEN_BINDINGS(superpose) {
  emscripten::enum_<Layout>("Layout")
      .value("interleaved", Layout::interleaved)
      .value("concatenated", Layout::concatenated);
  emscripten::enum_<Spacing>("Spacing")
      .value("d_model", Spacing::d_model)
      .value("timescales", Spacing::timescales);
  emscripten::enum_<Norm>("Norm")
      .value("none", Norm::none)
      .value("layer_norm", Norm::layer_norm)
      .value("rms_norm", Norm::rms_norm);

  emscripten::function("sinusoidalFrequencies", &sinusoidal_frequencies_out);
  emscripten::function("safetensorsHeader", &safetensors_header_out);
  bind_for_scalar<float>("F32");
  bind_for_scalar<double>("F64");

  emscripten::function("shiftOperator", &shift_operator_out);
  emscripten::function("shiftError", &shift_error_out);
  emscripten::function("gram", &gram_out);
  emscripten::function("toeplitzSpread", &toeplitz_spread_out);
  emscripten::function("gramSpreads", &gram_spreads_out);
  emscripten::function("channelRanges", &channel_ranges_out);
  emscripten::function("ranks", &ranks_out);
  emscripten::function("sampleCosines", &sample_cosines_out);
  emscripten::function("cosineDensity", &cosine_density);
  emscripten::function("cosineMeanSize", &cosine_mean_size);
  emscripten::function("cosineTail", &cosine_tail);
  emscripten::function("largestCosineMedian", &largest_cosine_median);
  emscripten::function("principalAngles", &principal_angles_out);
  emscripten::function("randomAngles", &random_angles_out);
  emscripten::function("chanceAngles", &chance_angles_out);
  emscripten::function("energyOverlap", &energy_overlap_out);
  emscripten::function("overlapCurve", &overlap_curve_out);
}

}  // namespace
}  // namespace superpose
