#include "training/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "geometry/subspaces.h"
#include "numeric/centred.h"
#include "numeric/orthogonal.h"
#include "scores/shares.h"

namespace superpose {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// A table in the channels from `first` on, minus its mean row; zeros elsewhere.
Matrix<double> centred_rows(const Matrix<double>& rows, int first, int d) {
  Matrix<double> table = Matrix<double>::Zero(rows.rows(), d);
  table.middleCols(first, rows.cols()) = rows;
  return column_centred(table);
}

// Token rows as they are read, and the position rows of a sequence of n, each in all channels of the stream.
struct Rows {
  Matrix<double> tokens, positions;
};

Rows rows_in_stream(const ModelOptions& options, const Parameters& parameters, int n) {
  const int d = options.stream();
  const Tables stream = tables(options, parameters, n);
  const Matrix<double> positions = stream.positions.cast<double>();
  return {centred_rows(stream.tokens.cast<double>(), 0, d),
          centred_rows(positions, d - static_cast<int>(positions.cols()), d)};
}

}  // namespace

std::array<double, kTermCount> trained_shares(const Model& model, const Parameters& parameters,
                                              const Batch& batch, const Terms& terms, GaugeKind gauge) {
  std::array<double, kTermCount> shares;
  shares.fill(kUndefined);
  const ModelOptions& options = model.options();
  if (!options.has_terms() || (gauge == GaugeKind::canonical && !options.sums())) return shares;
  const TermCovariances all = model.term_covariances(parameters, batch, terms, gauge);
  const Vector<double> mean =
      pooled_shares(all.terms, all.scores, options.heads, {0, 1, 2, 3}, kTermCount).mean;
  std::copy_n(mean.data(), kTermCount, shares.begin());
  return shares;
}

Loudness row_loudness(const ModelOptions& options, const Parameters& parameters, int n) {
  const auto loudness = [](const Matrix<float>& rows) {
    return rows.cast<double>().norm() / std::sqrt(static_cast<double>(rows.rows()));
  };
  return {options.token_scale() * loudness(parameters.E),
          options.has_table() ? loudness(parameters.P.topRows(n)) : kUndefined};
}

std::vector<LoudnessRecipe> recipes(int d_model) {
  const double root = std::sqrt(d_model), half = std::numbers::sqrt2 / 2;
  // Standard deviations; a sinusoid's rows have the root mean square 1 / sqrt(2), exactly where d_model is
  // even.
  std::vector<LoudnessRecipe> all = {
      {"transformer", 1, half, 0}, {"unscaled", 1 / root, half, 0}, {"pytorch", 1, 1, 0},
      {"bert", 0.02, 0.02, 0},     {"gpt2", 0.02, 0.01, 0},
  };
  for (LoudnessRecipe& recipe : all) {
    recipe.tokens *= root;
    recipe.positions *= root;
    // A quotient, so that `half` cancels: at a width of 64 the scale is exactly 8.
    recipe.position_scale = recipe.positions / (recipe.tokens * half);
  }
  return all;
}

RowOverlap row_overlap(const ModelOptions& options, const Parameters& parameters, int n) {
  if (!options.in_stream()) return {kUndefined, kUndefined};
  const auto [tokens, positions] = rows_in_stream(options, parameters, n);
  // A table's overlap with itself is D divided by its participation ratio, which is at most D.
  const double width = options.stream(), of_tokens = energy_overlap(tokens, tokens, false) / width,
               of_positions = energy_overlap(positions, positions, false) / width;
  const auto beyond_a_ball = [width](double inverse_ratio) {
    return std::isnan(inverse_ratio) ? inverse_ratio : std::max(0.0, inverse_ratio - 1 / width);
  };
  const double spread = beyond_a_ball(of_tokens) * beyond_a_ball(of_positions);
  // In one dimension a rotation changes nothing.
  const double chance =
      width == 1 ? spread : std::sqrt(2 * width * width * spread / ((width - 1) * (width + 2)));
  return {energy_overlap(tokens, positions, false), chance};
}

Matrix<double> row_directions(const ModelOptions& options, const Parameters& parameters, int n) {
  const auto [tokens, positions] = rows_in_stream(options, parameters, n);
  Matrix<double> directions = Matrix<double>::Zero(2, options.stream());
  const auto leading = [](const Matrix<double>& rows, auto direction) {
    const Svd factors = svd(rows);
    if (factors.V.cols() > 0) direction = factors.V.col(0).transpose();
  };
  leading(tokens, directions.row(0));
  leading(positions, directions.row(1));
  directions.row(1) -= directions.row(1).dot(directions.row(0)) * directions.row(0);
  for (int k : {0, 1}) {
    Eigen::Index largest;
    const double norm = directions.row(k).norm();
    if (directions.row(k).cwiseAbs().maxCoeff(&largest) == 0) continue;
    directions.row(k) *= (directions(k, largest) < 0 ? -1 : 1) / norm;
  }
  return directions;
}

RowCoordinates row_coordinates(const ModelOptions& options, const Parameters& parameters, int n,
                               const Matrix<double>& directions) {
  const auto [tokens, positions] = rows_in_stream(options, parameters, n);
  return {tokens * directions.transpose(), positions * directions.transpose()};
}

}  // namespace superpose
