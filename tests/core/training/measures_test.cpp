// What is measured of a trained model: overlap, chance, directions and shares.
#include "training/measures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "geometry/subspaces.h"
#include "numeric/orthogonal.h"
#include "sanitized.h"
#include "training_models.h"

namespace superpose {
namespace {

ModelOptions narrow(int width) {
  ModelOptions options;
  options.vocabulary = 7;
  options.positions = 6;
  options.d_model = width;
  return options;
}

// The standard deviation of A over random rotations of one table, as measured, at a small width too.
TEST(Measures, ChanceIsTheSpreadOverRandomRotations) {
  constexpr int kDraws = kSanitized ? 400 : 4000;
  for (const int d : {8, 32}) {
    const ModelOptions options = narrow(d);
    Shapes shapes(d);
    Parameters parameters(options);
    parameters.E = shapes.matrix(7, d, 1).cast<float>();
    // With few directions, so that participation ratios are not those of a round cloud.
    for (int c = 0; c < d; ++c) parameters.P.col(c) = shapes.matrix(6, 1, std::pow(0.7, c)).cast<float>();
    const RowOverlap expected = row_overlap(options, parameters, 6);
    const Matrix<double> positions = parameters.P.cast<double>();
    double sum = 0, squares = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      parameters.P = (positions * random_subspace(d, d, 1, draw)).cast<float>();
      const double overlap = row_overlap(options, parameters, 6).overlap;
      sum += overlap;
      squares += overlap * overlap;
    }
    const double mean = sum / kDraws, spread = std::sqrt(squares / kDraws - mean * mean);
    std::printf("D = %d: A %.3f +- %.3f; chance %.3f\n", d, mean, spread, expected.chance);
    EXPECT_NEAR(mean, 1, 4 * expected.chance / std::sqrt(kDraws));
    EXPECT_NEAR(spread / expected.chance, 1, 4 / std::sqrt(kDraws));
  }
}

TEST(Measures, DirectionsAreOfTheTablesAndSteady) {
  const ModelOptions options = narrow(12);
  const Parameters parameters = initial_parameters(options, 3);
  const Matrix<double> directions = row_directions(options, parameters, 6);
  EXPECT_LT(max_abs(directions * directions.transpose() - Matrix<double>::Identity(2, 2)), 1e-14);

  // The tokens extend no further in any direction; coordinates are relative to the mean row.
  const RowCoordinates coordinates = row_coordinates(options, parameters, 6, directions);
  EXPECT_LT(max_abs(coordinates.tokens.colwise().mean()), 1e-15);
  EXPECT_LT(max_abs(coordinates.positions.colwise().mean()), 1e-15);
  Shapes shapes(4);
  for (int trial = 0; trial < 100; ++trial) {
    Matrix<double> other = shapes.matrix(1, 12, 1);
    other /= other.norm();
    EXPECT_LT(row_coordinates(options, parameters, 6, other).tokens.norm(), coordinates.tokens.col(0).norm());
  }

  // If tokens are read times the root of their width, their coordinates are too, to the precision of float32.
  ModelOptions scaled = options;
  scaled.scale_tokens = true;
  const RowCoordinates scaled_rows = row_coordinates(scaled, parameters, 6, directions);
  EXPECT_LT(max_abs(scaled_rows.tokens - std::sqrt(12) * coordinates.tokens), 1e-6);
  EXPECT_EQ(max_abs(scaled_rows.positions - coordinates.positions), 0);

  // Mirrored tables give the same directions, and a small change of the tables changes them little.
  Parameters changed = parameters;
  changed.E *= -1, changed.P *= -1;
  EXPECT_LT(max_abs(row_directions(options, changed, 6) - directions), 1e-12);
  changed = parameters;
  changed.E(0, 5) += 1e-7f;
  EXPECT_LT(max_abs(row_directions(options, changed, 6) - directions), 1e-4);

  // If tokens vary in one channel and positions in another, each table lies along one axis.
  changed = Parameters(options);
  for (int i = 0; i < 6; ++i)
    changed.E(i, 2) = static_cast<float>(i), changed.P(i, 9) = static_cast<float>(-i * i);
  const Matrix<double> axes = row_directions(options, changed, 6);
  const RowCoordinates cross = row_coordinates(options, changed, 6, axes);
  EXPECT_LT(max_abs(cross.tokens.col(1)), 1e-14);
  EXPECT_LT(max_abs(cross.positions.col(0)), 1e-14);
  EXPECT_NEAR(axes(0, 2), 1, 1e-14);
  EXPECT_NEAR(axes(1, 9), 1, 1e-14);

  // Equal rows have no directions.
  changed.E.setOnes(), changed.P.setOnes();
  EXPECT_EQ(max_abs(row_directions(options, changed, 6)), 0);
}

// Tables that extend equally in all directions, and a stream of one channel, in which rotations change
// nothing.
TEST(Measures, ChanceIsNeverNegative) {
  for (const int width : {1, 3}) {
    ModelOptions options = narrow(width);
    options.heads = 1;
    options.vocabulary = options.positions = 2 * width;
    Parameters parameters(options);
    for (Matrix<float>* table : {&parameters.E, &parameters.P})
      for (int c = 0; c < width; ++c) (*table)(2 * c, c) = 0.1f, (*table)(2 * c + 1, c) = -0.1f;
    EXPECT_NEAR(row_overlap(options, parameters, options.positions).chance, 0, 1e-15);
  }
}

// Every key is the same, so no score varies over keys.
TEST(Measures, RoundingHasNoShares) {
  for (const float value : {0.1f, 1.0f / 3}) {
    ModelOptions options = narrow(12);
    options.layer_norm = false;
    const Model model(options);
    Parameters parameters = initial_parameters(options, 3);
    parameters.E.setConstant(value), parameters.P.setConstant(value);
    Shapes shapes(5);
    const BatchData batch = any_batch(options, 3, 6, shapes);
    for (const GaugeKind gauge : {GaugeKind::raw, GaugeKind::canonical}) {
      for (const double share : trained_shares(model, parameters, batch.view(), kAllTerms, gauge))
        EXPECT_TRUE(std::isnan(share)) << share;
    }
  }
}

}  // namespace
}  // namespace superpose
