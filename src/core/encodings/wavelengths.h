// The effect of a sinusoid's base: its wavelengths compared with the length in use, and how the dot product
// of two positions falls with their distance.
//
// If each frequency has its sine and its cosine, p.p' / |p|^2 is the similarity s(k) = mean_i cos(w_i k) at
// the distance k, the same for every p. With many pairs and w_i = base^(-2i/d), s(k) is close to
// (Ci(k) - Ci(k / base)) / ln base, where Ci is the cosine integral. The distance between neighbours is then
// sqrt(2 (gamma - Ci(1)) / ln base) of a row's norm, with Euler's gamma, and the share of pairs that make
// less than one turn in n positions is 1 - ln(n / 2 pi) / ln base.
#pragma once

#include "encodings/sinusoidal.h"

namespace superpose {

struct Wavelengths {
  Vector<double> lengths;     // 2 pi / w_i of each pair, in positions, fastest first
  int below_one_turn = 0;     // how many pairs have a wavelength longer than `positions`
  Vector<double> similarity;  // s(0) to s(farthest)
  double nearest = 0;  // least distance between two positions' rows, over a row's norm; NaN for one position
  int nearest_offset = 0;  // how many positions apart those two are; 0 for one position
  int falls_to = 0;        // s falls strictly from distance 0 to this one, but not to the next
  int first_negative = 0;  // the least distance at which s < 0; 0 if there is none up to `farthest`
};

// positions >= 1, d_model even and >= 2, farthest >= positions - 1.
Wavelengths wavelengths(const SinusoidalOptions& options, int farthest);

}  // namespace superpose
