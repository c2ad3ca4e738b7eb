// The shift operator: PE(p + k) = M_k PE(p), one matrix for every position p.
//
// On each frequency's (sin wp, cos wp) it is the rotation [[cos kw, sin kw], [-sin kw, cos kw]]
// (Vaswani et al. 2017, section 3.5, state that such a linear map exists). The operator shifts the encoding
// alone: M_k (x + PE(p)) is not x + PE(p + k).
#pragma once

#include <vector>

#include "encodings/sinusoidal.h"
#include "numeric/bytes.h"

namespace superpose {

struct ChannelPair {
  int sine;
  int cosine;
};

// The channels of each frequency's sine and cosine, floor(d/2) pairs; an odd width's last channel is in no
// pair.
std::vector<ChannelPair> channel_pairs(const SinusoidalOptions& options);

// M_k, [d, d], orthogonal, for rows of sinusoidal(options) as column vectors; `offset` is k, any finite
// number of positions. An odd width's last channel stays as it is, which is right for the concatenated
// layout's zeros. For the single sine of the interleaved layout no M_k exists, as shift_error() shows.
Matrix<double> shift_operator(const SinusoidalOptions& options, double offset);

// The largest |PE(p + k) - M_k PE(p)| over the table's positions and channels; 0 for an empty table. Angles
// are rounded to 2^-53 of their size, so the error grows with p + k: about 1e-13 at 1024.
double shift_error(const SinusoidalOptions& options, double offset);
constexpr double shift_error_bytes(double positions, double d_model) {
  return bytes_of_doubles(d_model * (4 * positions + d_model));
}

}  // namespace superpose
