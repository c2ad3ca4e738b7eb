// The options of a sinusoid, as the typed API numbers them.
#pragma once

#include "encodings/sinusoidal.h"

namespace superpose {

// Enumerations arrive as numbers, in the order of their declarations.
inline SinusoidalOptions encoding_of(int positions, int d_model, int layout, int spacing, double base,
                                     double first_position) {
  return {positions, d_model,       static_cast<Layout>(layout), static_cast<Spacing>(spacing),
          base,      first_position};
}

}  // namespace superpose
