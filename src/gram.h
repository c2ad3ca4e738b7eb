// Dot products of positions with positions, and how far they are from depending on p - q alone.
//
// PE(p).PE(q) = sum_i cos(w_i (p - q)) as long as each frequency keeps its sine and its cosine: a
// Toeplitz matrix. LayerNorm's centring, sines without cosines and a generic bilinear form (W_Q' W_K)
// break it; a form that acts on each frequency's pair as aI + bJ keeps it.
#pragma once

#include <cstdint>

#include "sinusoidal.h"

namespace superpose {

// The largest max - min along a diagonal of a square matrix: 0 for a Toeplitz matrix and below 2 rows.
double toeplitz_spread(const Matrix<double>& square);

// The Gram matrix table table', [n, n], of a table [n, d].
Matrix<double> gram(const Matrix<double>& table);

// table form table', [n, n]: entry (p, q) is table_p' form table_q. form is [d, d].
Matrix<double> bilinear_gram(const Matrix<double>& table, const Matrix<double>& form);

// The columns of a sinusoidal table that hold sines, [n, floor(d/2)].
Matrix<double> sines_only(const Matrix<double>& table, const SinusoidalOptions& options);

// [d, d], entries from N(0, 1/d), so that it leaves lengths as they are on average.
Matrix<double> random_form(int d, std::uint32_t seed);

// [d, d]: on each frequency's (sine, cosine) it is [[a, -b], [b, a]], a and b from N(0, 1), drawn from
// the seed; zero on an odd width's last channel.
Matrix<double> rotation_form(const SinusoidalOptions& options, std::uint32_t seed);

// toeplitz_spread() of each.
struct GramSpreads {
  double whole = 0;          // the table as it is
  double centred = 0;        // each row minus its mean, as LayerNorm does first
  double sines = 0;          // sines_only()
  double random_form = 0;    // bilinear_gram() with random_form()
  double rotation_form = 0;  // bilinear_gram() with rotation_form()
};

GramSpreads gram_spreads(const SinusoidalOptions& options, std::uint32_t seed);

}  // namespace superpose
