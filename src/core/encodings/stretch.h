// Rotary positions beyond the trained length: how the frequencies change so that s times as many positions turn
// by angles that the model has seen.
//
//   interpolate  theta / s: position interpolation             (Chen et al., arXiv 2306.15595, equation 4)
//   ntk          the frequencies of base s^(d / (d - 2)): the fastest pair stays, the slowest is theta / s
//                                                               (bloc97; arXiv 2309.00071, equations 14 to 16)
//   parts        theta (gamma + (1 - gamma) / s), gamma = clamp((n theta / 2 pi - alpha) / (beta - alpha)) from 0
//                to 1: pairs that turn often within the n trained positions stay ("NTK by parts")
//                                                               (arXiv 2309.00071, equations 17 to 20)
//   yarn         the same, and queries and keys times 0.1 ln s + 1 (equations 21 and 22)
//
// The paper's gamma is a ramp over the turns n theta / 2 pi. Code released with it has a ramp over channels from that
// of beta turns to that of alpha turns, rounded outwards: other frequencies.
#pragma once

#include <vector>

namespace superpose {

enum class Stretch { none, interpolate, ntk, parts, yarn };

struct StretchOptions {
  Stretch way = Stretch::none;
  double factor = 1;   // s >= 1
  double trained = 1;  // n > 0, of parts and yarn
  double alpha = 1;    // turns up to which a pair is interpolated
  double beta = 32;    // turns from which it stays, > alpha
};

// From the frequencies base^(-2i/d), [d / 2], of d channels.
std::vector<double> stretched(const std::vector<double>& frequencies, double base,
                              const StretchOptions& options);

// What queries, and keys, are multiplied by; 1 but for yarn.
double stretch_gain(const StretchOptions& options);

}  // namespace superpose
