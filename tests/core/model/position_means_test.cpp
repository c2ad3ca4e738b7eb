#include "model/position_means.h"

#include <gtest/gtest.h>

#include "numeric/centred.h"
#include "random_shapes.h"

namespace superpose {
namespace {

// Everything recomputed from all windows at once, by definition.
TEST(PositionMeans, AreTheDefinitions) {
  Shapes shapes(11);
  const int count = 9, length = 6, d = 4;
  std::vector<Matrix<double>> windows;
  for (int c = 0; c < count; ++c) windows.push_back(shapes.matrix(length, d));
  PositionMeans means(length, d), first(length, d);
  for (const auto& window : windows) {
    means.add(window.data());
    const Matrix<double> squares = window.array().square();
    first.add(squares.data());
  }
  Vector<double> mu = Vector<double>::Zero(d);
  Matrix<double> position = Matrix<double>::Zero(length, d), halves[2] = {position, position};
  for (int c = 0; c < count; ++c) {
    mu += windows[c].colwise().mean().transpose() / count;
    position += windows[c] / count;
    halves[c % 2] += windows[c] / (c % 2 ? count / 2 : (count + 1) / 2);
  }
  position.rowwise() -= mu.transpose();
  for (auto& half : halves) half = column_centred(half);
  EXPECT_LT(max_abs(means.mu() - mu), 1e-14);
  EXPECT_LT(max_abs(means.positions() - position), 1e-14);

  double energy = 0, context = 0;
  Matrix<double> content = Matrix<double>::Zero(d, d);
  for (const auto& window : windows) {
    const Matrix<double> centred = window.rowwise() - mu.transpose();
    const Matrix<double> rest = centred - position;
    energy += centred.squaredNorm() / (count * length);
    content += rest.transpose() * rest;
    Vector<double> parity[2] = {Vector<double>::Zero(d), Vector<double>::Zero(d)};
    for (int t = 0; t < length; ++t) parity[t % 2] += rest.row(t).transpose() / (length / 2);
    context += parity[0].cwiseProduct(parity[1]).sum() / count;
  }
  const Matrix<double> cross = halves[0].transpose() * halves[1];
  const Matrix<double> of_position = (cross + cross.transpose()) / 2;
  const PositionFindings found = means.findings(means);
  EXPECT_NEAR(found.position_energy, halves[0].cwiseProduct(halves[1]).sum() / length / energy, 1e-13);
  EXPECT_NEAR(found.context_energy, context / energy, 1e-13);
  EXPECT_NEAR(found.participation_ratio,
              of_position.trace() * of_position.trace() / of_position.squaredNorm(), 1e-12);
  EXPECT_NEAR(found.overlap, d * (of_position * content).trace() / (of_position.trace() * content.trace()),
              1e-10);
  EXPECT_NEAR(found.cosine_with_first, 1, 1e-14);
  EXPECT_LT(std::abs(means.findings(first).cosine_with_first), 1 - 1e-3);
}

}  // namespace
}  // namespace superpose
