// Sinusoidal position encodings: one formula with two independent switches.
//
// Every variant in use fills pairs of channels with sin(w_i p) and cos(w_i p). Variants differ in where a
// pair is (the layout) and in how the frequencies w_i are spaced (the spacing):
//
//   Vaswani et al. 2017, section 3.5    interleaved    d_model
//   tensor2tensor, fairseq              concatenated   timescales
//   Transformer-XL                      concatenated   d_model
#pragma once

#include <array>
#include <vector>

#include "encodings/layout.h"
#include "numeric/matrix.h"

namespace superpose {

enum class Spacing {
  d_model,     // w_i = base^(-2i/d)                         (Vaswani et al. 2017)
  timescales,  // w_i = base^(-i/max(n-1, 1)), n = floor(d/2) (tensor2tensor, get_timing_signal_1d)
};
constexpr std::array<const char*, 2> names(Spacing) { return {"d_model", "timescales"}; }

struct SinusoidalOptions {
  int positions = 0;  // rows, >= 0
  int d_model = 1;    // channels, >= 1; odd widths are allowed, see sinusoidal()
  Layout layout = Layout::interleaved;
  Spacing spacing = Spacing::d_model;
  double base = 10000;        // > 0: the ratio of the longest to the shortest timescale
  double first_position = 0;  // the position of row 0; fairseq starts at padding_idx + 1
};

// The frequencies w_i in radians per position, always in double: in float, w_i p is off by 1e-3 rad at
// p = 5000. There are floor(d/2); an interleaved odd width has one more.
std::vector<double> sinusoidal_frequencies(const SinusoidalOptions& options);

// The table [positions, d_model]. An odd width has one channel without a partner, the last. In the
// interleaved layout it is a sine without its cosine, as the formula taken literally says; in the
// concatenated layout it is a column of zeros (tensor2tensor). Only with the zeros is the Gram matrix
// Toeplitz.
Matrix<double> sinusoidal(const SinusoidalOptions& options);

}  // namespace superpose
