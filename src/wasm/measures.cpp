// Bindings of the measurements of encodings, and of rotary positions.
#include "bound.h"
#include "encodings/channels.h"
#include "encodings/gram.h"
#include "encodings/rotary.h"
#include "encodings/shift.h"
#include "encodings/wavelengths.h"
#include "sinusoidal_options.h"

namespace superpose {

SUPERPOSE_MEMBERS(Ranks, singular_values, numerical, stable, energy, participation_ratio);
SUPERPOSE_MEMBERS(OffsetMeans, mean, means, kernel, share, max_deviation);
SUPERPOSE_MEMBERS(FormGrams, original, centred, sines, random_form, rotation_form);
SUPERPOSE_MEMBERS(Wavelengths, lengths, below_one_turn, similarity, nearest, nearest_offset, falls_to,
                  first_negative);
SUPERPOSE_MEMBERS(RotaryOptions, heads, layout, base, first_position, step);
SUPERPOSE_MEMBERS(StretchOptions, way, factor, trained, alpha, beta);

EMSCRIPTEN_BINDINGS(measures) {
  bind<&shift_error>("shiftError");
  bind<&shift_error_bytes>("shiftErrorBytes");
  bind<&gram>("gram");
  bind<&gram_bytes>("gramBytes");
  bind<&toeplitz_spread>("toeplitzSpread");
  bind<&offset_means>("offsetMeans");
  bind<&form_grams>("formGrams");
  bind<&form_grams_bytes>("formGramsBytes");
  bind<&channel_ranges>("channelRanges");
  bind<&channel_ranges_bytes>("channelRangesBytes");
  bind<&ranks>("ranks");
  bind<&ranks_bytes>("ranksBytes");
  bind<&wavelengths>("wavelengths");
  bind<&rotate>("rotate");
  bind<&rotate_bytes>("rotateBytes");
  bind<&rotary_frequencies>("rotaryFrequencies");
}

}  // namespace superpose
