// Rotary positions beyond the trained length: how the frequencies change so that s times as many positions turn
// by angles that the model has seen.
//
//   interpolate  theta / s: position interpolation             (Chen et al., arXiv 2306.15595, equation 4)
//   parts        theta (gamma + (1 - gamma) / s), gamma = clamp((n theta / 2 pi - alpha) / (beta - alpha)) from 0
//                to 1: pairs that turn often within the n trained positions stay ("NTK by parts")
//                                                               (arXiv 2309.00071, equations 17 to 20)
//
// The paper's gamma is a ramp over the turns n theta / 2 pi. Code released with it has a ramp over channels from that
// of beta turns to that of alpha turns, rounded outwards: other frequencies.
#pragma once

#include <vector>

namespace superpose {

enum class Stretch { none, interpolate, parts };

struct StretchOptions {
  Stretch way = Stretch::none;
  double factor = 1;   // s >= 1
  double trained = 1;  // n > 0, of parts
  double alpha = 1;    // turns up to which a pair is interpolated
  double beta = 32;    // turns from which it stays, > alpha
};

// Frequencies, each slowed.
std::vector<double> stretched(std::vector<double> frequencies, const StretchOptions& options);

}  // namespace superpose
