// The options of a sinusoidal encoding, for the bindings of both modules.
#pragma once

#include "bound.h"
#include "encodings/sinusoidal.h"

namespace superpose {

SUPERPOSE_MEMBERS(SinusoidalOptions, positions, d_model, layout, spacing, base, first_position);

}  // namespace superpose
