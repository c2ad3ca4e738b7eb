// Measurements of encodings, and relative positions.
#include <utility>
#include <vector>

#include "convert.h"
#include "encodings/channels.h"
#include "encodings/gram.h"
#include "encodings/relative_position.h"
#include "encodings/rotary.h"
#include "encodings/shift.h"
#include "encodings/stretch.h"
#include "encodings/wavelengths.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"
#include "sinusoid_in.h"

namespace superpose {
namespace {

Typed<"Float64Array"> shift_operator_out(int d_model, int layout, int spacing, double base, double offset) {
  return copy_out(shift_operator(encoding_of(0, d_model, layout, spacing, base, 0), offset));
}

double shift_error_out(int positions, int d_model, int layout, int spacing, double base,
                       double first_position, double offset) {
  return shift_error(encoding_of(positions, d_model, layout, spacing, base, first_position), offset);
}

Typed<"Float64Array"> gram_out(const Typed<"Table">& table) {
  return copy_out(gram(matrix_in<double>(table)));
}

double toeplitz_spread_out(const Typed<"Table">& square) {
  return toeplitz_spread(matrix_in<double>(square));
}

Typed<"OffsetMeans"> offset_means_out(const Typed<"Table">& square) {
  const OffsetMeans found = offset_means(matrix_in<double>(square));
  return Value::object()
      .set("mean", found.mean)
      .set("means", copy_out(found.means))
      .set("kernel", copy_out(found.kernel))
      .set("share", found.share)
      .set("apart", found.apart);
}

Typed<"GramSpreads"> gram_spreads_out(int positions, int d_model, int layout, int spacing, double base,
                                      double first_position, std::uint32_t seed) {
  const FormGrams grams =
      form_grams(encoding_of(positions, d_model, layout, spacing, base, first_position), seed);
  Value result = Value::object();
  Value matrices = Value::object();
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

Typed<"Float64Array"> channel_ranges_out(const Typed<"Table">& table) {
  return copy_out(channel_ranges(matrix_in<double>(table)));
}

Typed<"Ranks"> ranks_out(const Typed<"Table">& table, bool centred, double tolerance, double share) {
  const Matrix<double> raw = matrix_in<double>(table);
  const Vector<double> values = singular_values(centred ? column_centred(raw) : raw);
  return Value::object()
      .set("singularValues", copy_out(values))
      .set("numerical", numerical_rank(values, tolerance))
      .set("stable", stable_rank(values))
      .set("energy", energy_rank(values, share))
      .set("participationRatio", participation_ratio(values));
}

Typed<"Float64Array"> rotate_out(const Typed<"Table">& rows, int heads, int layout, double base,
                                 double first_position) {
  return copy_out(
      rotate(matrix_in<double>(rows), {heads, static_cast<Layout>(layout), base, first_position}));
}

Typed<"Wavelengths"> wavelengths_out(int positions, int d_model, int layout, int spacing, double base,
                                     int farthest) {
  const Wavelengths found = wavelengths(encoding_of(positions, d_model, layout, spacing, base, 0), farthest);
  return Value::object()
      .set("lengths", copy_out(found.lengths))
      .set("belowOneTurn", found.below_one_turn)
      .set("similarity", copy_out(found.similarity))
      .set("nearest", found.nearest)
      .set("nearestApart", found.nearest_apart)
      .set("fallsTo", found.falls_to)
      .set("firstNegative", found.first_negative);
}

// way, factor, trained, alpha and beta; undefined for none. Ways are numbered in the order of their declarations.
StretchOptions stretch_in(const Value& from) {
  if (from.isUndefined()) return {};
  const Vector<double> given = vector_in<double>(from);
  return {static_cast<Stretch>(static_cast<int>(given[0])), given[1], given[2], given[3], given[4]};
}

Typed<"Float64Array"> rotary_frequencies_out(int head_width, double base,
                                             const Typed<"List | undefined">& stretch) {
  return copy_out(rotary_frequencies(head_width, base, stretch_in(stretch)));
}

Typed<"Int32Array"> rotary_permutation_out(int head_width) {
  return copy_out(rotary_permutation(head_width));
}

Typed<"Float64Array"> alibi_slopes_out(int heads) { return copy_out(alibi_slopes(heads)); }

Typed<"Int32Array"> t5_buckets_out(int n, bool bidirectional, int buckets, int max_distance) {
  return copy_out(t5_buckets(n, {bidirectional, buckets, max_distance}));
}

EMSCRIPTEN_BINDINGS(measures) {
  using emscripten::function;
  function("shiftOperator", &shift_operator_out);
  function("shiftError", &shift_error_out);
  function("gram", &gram_out);
  function("toeplitzSpread", &toeplitz_spread_out);
  function("offsetMeans", &offset_means_out);
  function("gramSpreads", &gram_spreads_out);
  function("channelRanges", &channel_ranges_out);
  function("ranks", &ranks_out);
  function("wavelengths", &wavelengths_out);
  function("rotate", &rotate_out);
  function("rotaryFrequencies", &rotary_frequencies_out);
  function("rotaryPermutation", &rotary_permutation_out);
  function("alibiSlopes", &alibi_slopes_out);
  function("t5Buckets", &t5_buckets_out);
}

}  // namespace
}  // namespace superpose
