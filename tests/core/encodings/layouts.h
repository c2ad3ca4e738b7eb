// What a sinusoid can be laid out and spaced as, for tests that try all.
#pragma once

#include "encodings/sinusoidal.h"

namespace superpose {

constexpr Layout kLayouts[] = {Layout::interleaved, Layout::concatenated};
constexpr Spacing kSpacings[] = {Spacing::d_model, Spacing::timescales};

}  // namespace superpose
