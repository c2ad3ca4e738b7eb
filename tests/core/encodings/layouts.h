// Every layout and spacing of a sinusoid, for tests that try them all.
#pragma once

#include "encodings/sinusoidal.h"

namespace superpose {

constexpr Layout kLayouts[] = {Layout::interleaved, Layout::concatenated};
constexpr Spacing kSpacings[] = {Spacing::d_model, Spacing::timescales};

}  // namespace superpose
