// Measurements of encodings, and relative positions.
#include "bound.h"
#include "encodings/channels.h"
#include "encodings/gram.h"
#include "encodings/relative_position.h"
#include "encodings/rotary.h"
#include "encodings/shift.h"
#include "encodings/wavelengths.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"

namespace superpose {

SUPERPOSE_MEMBERS(OffsetMeans, mean, means, kernel, share, apart);
SUPERPOSE_MEMBERS(FormGrams, whole, centred, sines, randomForm, rotationForm);
SUPERPOSE_MEMBERS(Wavelengths, lengths, belowOneTurn, similarity, nearest, nearestApart, fallsTo,
                  firstNegative);
SUPERPOSE_MEMBERS(RotaryOptions, heads, layout, base, firstPosition, step);
SUPERPOSE_MEMBERS(StretchOptions, way, factor, trained, alpha, beta);
SUPERPOSE_MEMBERS(T5Options, bidirectional, buckets, maxDistance);

namespace {

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

EMSCRIPTEN_BINDINGS(measures) {
  bind<&shift_operator>("shiftOperator");
  bind<&shift_error>("shiftError");
  bind<&gram>("gram");
  bind<&toeplitz_spread>("toeplitzSpread");
  bind<&offset_means>("offsetMeans");
  bind<&form_grams>("formGrams");
  bind<&channel_ranges>("channelRanges");
  emscripten::function("ranks", &ranks_out);
  bind<&wavelengths>("wavelengths");
  bind<&rotate>("rotate");
  bind<&rotary_frequencies>("rotaryFrequencies");
  bind<&rotary_permutation>("rotaryPermutation");
  bind<&alibi_slopes>("alibiSlopes");
  bind<&t5_buckets>("t5Buckets");
}

}  // namespace
}  // namespace superpose
