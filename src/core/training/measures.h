// Measurements of a trained model: the shares of its terms, the norms of its rows, and the overlap of tokens
// and positions.
#pragma once

#include <array>
#include <vector>

#include "numeric/bytes.h"
#include "training/model.h"

namespace superpose {

// For the first layer: each term's share of the scores' variation, <T~, S~> / |S~|^2, with each row centred
// over the keys that its query may read, and both products summed over the batch. The terms are those of e
// and p, both normalized by the sigma of their sum. Terms that are not included have 0. In the raw gauge the
// parts are as they were trained; in the canonical gauge, terms with constants make up the rest of 1. All are
// NaN without options().has_terms(), and in the canonical gauge without options().sums(). The shares are
// means over the heads whose scores vary; NaN if none does.
std::array<double, kTermCount> trained_shares(const Model& model, const Parameters& parameters,
                                              const Batch& batch, const Terms& terms = kAllTerms,
                                              GaugeKind gauge = GaugeKind::raw);

// The root mean squares of the norms of token rows and of position rows, as they are added.
struct Loudness {
  double tokens, positions;
};

struct LoudnessRecipe {
  const char* name;
  double tokens, positions;
  // The factor rho for sinusoidal rows that are added to tokens from N(0, 1): with it, the ratio of their
  // norms is that of the recipe. Without it, the norms are sqrt(d/2) and sqrt(d).
  double position_scale;
};

// For rows of d_model channels, in closed form:
//   transformer  N(0, 1/d) sqrt(d) and a sinusoid (arXiv 1706.03762, 3.4 and 3.5)
//   unscaled     the same without sqrt(d)
//   pytorch      N(0, 1) twice, as torch.nn.Embedding begins
//   bert         N(0, 0.02^2) twice (its released code)
//   gpt2         N(0, 0.02^2) and N(0, 0.01^2) (its released code)
std::vector<LoudnessRecipe> recipes(int d_model);

// The loudness of the rows of E as they are read, and of the first n rows of P; NaN for P without
// options().has_table().
Loudness row_loudness(const ModelOptions& options, const Parameters& parameters, int n);

// For the rows of E and the first n rows of P, each minus their mean row; NaN without options().in_stream(),
// and if the rows of either are all equal. In a concatenation each table has zeros in the channels of the
// other.
struct RowOverlap {
  double overlap;  // A = D |E_c P_c'|^2 / (|E_c|^2 |P_c|^2): 0 if orthogonal, 1 expected of random rotations
  double chance;   // A's standard deviation over random rotations
};
RowOverlap row_overlap(const ModelOptions& options, const Parameters& parameters, int n);

// Two directions [2, D] for drawing these rows: the leading direction of the rows of E, and that of the
// first n rows of P minus its part along the first. Rows are taken minus their mean row. Directions have
// length 1, and their largest entry is positive. Each is chosen without regard to the other table, so rows
// that look separate along them are separate. A direction is zero if the rows are all equal. Only with
// options().in_stream().
Matrix<double> row_directions(const ModelOptions& options, const Parameters& parameters, int n);

// The coordinates of the rows of E [V, k] and of the first n rows of P [n, k], each minus their mean row,
// along directions [k, D]. With fixed directions they are continuous in the rows.
struct RowCoordinates {
  Matrix<double> tokens, positions;
};
RowCoordinates row_coordinates(const ModelOptions& options, const Parameters& parameters, int n,
                               const Matrix<double>& directions);
constexpr double row_coordinates_bytes(double vocabulary, double n, double stream, double directions) {
  return bytes_of_doubles(3 * directions * (vocabulary + n + stream));
}

}  // namespace superpose
