// Which two channels make a pair, for sinusoids and for rotations.
#pragma once

#include <array>

namespace superpose {

enum class Layout {
  interleaved,   // channels 2i and 2i + 1; a sinusoid has sin(w_i p) in the first, cos(w_i p) in the second
  concatenated,  // channels i and n + i, n = floor(d/2), likewise
};
constexpr std::array<const char*, 2> names(Layout) { return {"interleaved", "concatenated"}; }

}  // namespace superpose
