// Dot products of positions with positions, and how far they are from depending on p - q alone.
//
// PE(p).PE(q) = sum_i cos(w_i (p - q)) as long as each frequency has its sine and its cosine: a Toeplitz
// matrix. LayerNorm's centring, sines without cosines and a generic bilinear form (W_Q' W_K) break this
// pattern; a form that acts on each frequency's pair as aI + bJ preserves it.
#pragma once

#include <cstdint>

#include "encodings/sinusoidal.h"
#include "numeric/bytes.h"

namespace superpose {

// The largest max - min along a diagonal of a square matrix: 0 for a Toeplitz matrix and below 2 rows.
double toeplitz_spread(const Matrix<double>& square);

// The Gram matrix table table', [n, n], of a table [n, d].
Matrix<double> gram(const Matrix<double>& table);
constexpr double gram_bytes(double rows, double columns) {
  return bytes_of_doubles(2 * rows * rows + rows * columns);
}

// How much of a square matrix depends only on the offset, column - row: its mean along each diagonal.
struct OffsetMeans {
  double mean = 0;        // of all entries; NaN if there are none
  Vector<double> means;   // [2 n - 1], at the offsets -(n - 1) to n - 1; empty without rows
  Vector<double> kernel;  // [2 n - 1], means - mean
  double share = 0;  // the share of the squares about the mean that the kernel explains; NaN if they are 0
  double max_deviation = 0;  // the largest |entry - mean at its offset|: 0 for a Toeplitz matrix
};
OffsetMeans offset_means(const Matrix<double>& square);

// The dot products of a sinusoidal table's rows, as they are and after changes that break or preserve their
// pattern; each [n, n]. With a form F [d, d], entry (p, q) is PE(p)' F PE(q).
struct FormGrams {
  Matrix<double> original;     // the table as it is
  Matrix<double> centred;      // each row minus its mean, as LayerNorm does first
  Matrix<double> sines;        // only the columns of sines
  Matrix<double> random_form;  // entries from N(0, 1/d), so that lengths stay the same on average
  // [[a, -b], [b, a]] on each frequency's sine and cosine, a and b from N(0, 1); zero on an odd width's last
  // channel.
  Matrix<double> rotation_form;
};
FormGrams form_grams(const SinusoidalOptions& options, std::uint32_t seed);
constexpr double form_grams_bytes(double positions, double d_model) {
  return bytes_of_doubles(11 * positions * positions + 3 * positions * d_model + d_model * d_model);
}

}  // namespace superpose
