// Stacks with everything that a layer may have: groups of heads, any widths of heads, rotation, norms of
// heads, gates.
#include <gtest/gtest.h>

#include <limits>

#include "any_stack.h"
#include "model/input_parts.h"
#include "model/transformer_stack.h"

namespace superpose {
namespace {

// In units in the last place of the largest number, or of 1.
double units(const Matrix<double>& gap, const Matrix<double>& of) {
  return max_abs(gap) / std::max(1.0, max_abs(of)) / std::numeric_limits<float>::epsilon();
}
Matrix<double> in_double(const Matrix<float>& of) { return of.cast<double>(); }

struct Parts {
  const char* way;
  std::vector<Matrix<float>> of_input;
};

// The parts of a layer's input in every way and gauge.
std::vector<Parts> all_parts(Shapes& shapes, const TransformerStack& stack,
                             const std::vector<Matrix<float>>& summands, const Forward& run, int l) {
  const int n = static_cast<int>(summands[0].rows()), d = static_cast<int>(run.states[0].cols());
  std::vector<Parts> all;
  for (const GaugeKind kind : {GaugeKind::raw, GaugeKind::canonical}) {
    const Gauge gauge{kind, kind == GaugeKind::raw || n == 1 ? std::vector<int>() : std::vector<int>{0}};
    all.push_back({"direct", InputParts(stack, summands, run, Way::direct, gauge).at(l)});
    all.push_back({"streams", InputParts(stack, summands, run, Way::streams, gauge).at(l)});
    const StateMeans means{shapes.vector(d), shapes.matrix(n, d), 1};
    all.push_back({"mean", mean_parts(stack, run, l, means, gauge)});
  }
  return all;
}

TEST(TransformerStack, TermsOfEveryWayAddUpToTheScores) {
  Shapes shapes(36);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const int n = trial % 10 == 0 ? 1 : shapes.between(2, 9);
    const AnyStack any = any_stack(shapes, 3);
    const TransformerStack& stack = any.stack;
    std::vector<Matrix<float>> summands{shapes.matrix(n, any.d).cast<float>()};
    Matrix<float> rows = summands[0];
    if (shapes.coin()) rows += summands.emplace_back(shapes.matrix(n, any.d).cast<float>());
    const auto run = traced_forward(stack, rows);
    for (int l = 0; l < 3; ++l) {
      for (const Parts& parts : all_parts(shapes, stack, summands, run, l)) {
        SCOPED_TRACE(parts.way);
        Matrix<double> sum = Matrix<double>::Zero(n, any.d), sizes = sum;
        for (const Matrix<float>& part : parts.of_input) {
          sum += in_double(part);
          sizes += in_double(part).cwiseAbs();
        }
        EXPECT_LT(units(sum - in_double(run.inputs[l]), sizes), 64);
        const auto projected = stack.queries_and_keys(l, run.inputs[l], parts.of_input);
        for (int h = 0; h < stack.options().heads; ++h) {
          Matrix<float> float_terms(projected.terms(), n * n), float_logits(n, n);
          const Matrix<double> expected_logits = in_double(stack.logits(run, l, h));
          const double residual = head_terms(projected, h, float_terms.data(), float_logits.data());
          const Matrix<double> terms = in_double(float_terms);
          Matrix<double> logits = in_double(float_logits);
          EXPECT_LT(units(logits - expected_logits, terms), 64);
          const Matrix<double> gap = MatrixMap<double>(logits.data(), 1, n * n) - terms.colwise().sum();
          EXPECT_LT(units(gap, terms), 64);
          EXPECT_NEAR(residual, max_abs(gap), 1e-12 * std::max(1.0, max_abs(terms)));
        }
      }
    }
  }
}

void expect_same(const Forward& run, const Forward& expected) {
  EXPECT_EQ(run.states, expected.states);
  EXPECT_EQ(run.inputs, expected.inputs);
  EXPECT_EQ(run.attended, expected.attended);
  EXPECT_EQ(run.written, expected.written);
  EXPECT_EQ(run.last, expected.last);
  EXPECT_EQ(run.pooled, expected.pooled);
  const auto expect_same_rows = [](const std::vector<Projections>& all, const std::vector<Projections>& of) {
    ASSERT_EQ(all.size(), of.size());
    for (std::size_t l = 0; l < all.size(); ++l) {
      EXPECT_EQ(all[l].queries, of[l].queries);
      EXPECT_EQ(all[l].keys, of[l].keys);
    }
  };
  expect_same_rows(run.projections, expected.projections);
  expect_same_rows(run.rotated, expected.rotated);
}

// A forward in steps of any length gives the numbers of a forward in a single step, and no step is long.
TEST(ForwardSteps, OfAnyLengthGiveTheSameForward) {
  Shapes shapes(31);
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    const int n = trial % 5 ? shapes.between(1, 9) : 170;
    const AnyStack any = any_stack(shapes, shapes.between(0, 3));
    const TransformerStack& stack = any.stack;
    const Matrix<float> rows = shapes.matrix(n, any.d).cast<float>();
    ForwardOptions options;
    options.trace = options.projections = shapes.coin();
    const Forward expected = forward(stack, rows, options);
    ForwardSteps steps(stack, rows, options);
    const double length = trial % 2 ? 1 : 2000;
    int count = 1;
    while (!steps.step(length)) ++count;
    EXPECT_TRUE(steps.step(length));
    // Each head and each map is at least one piece.
    if (length == 1) {
      EXPECT_GE(count, stack.layers() * (stack.options().heads + 6));
    }
    expect_same(steps.run, expected);
  }
}

// A forward that holds only the layer that it has reached gives the numbers of one that holds all layers.
TEST(ForwardSteps, AreTheSameWithLayersThatAreReleasedAndSetAgain) {
  Shapes shapes(32);
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    const int n = shapes.between(1, 9), count = shapes.between(1, 4);
    AnyStack any = any_stack(shapes, count);
    const Matrix<float> rows = shapes.matrix(n, any.d).cast<float>();
    ForwardOptions options;
    options.layers = shapes.between(0, count);
    options.has_more = options.layers < count;
    options.trace = options.projections = shapes.coin();
    const Forward expected = forward(any.stack, rows, options);
    const int needed = options.layers + (options.has_more && options.projections);
    for (int l = 0; l < count; ++l) any.stack.release_layer(l);
    ForwardSteps steps(any.stack, rows, options);
    for (int l = 0; l < needed; ++l) {
      EXPECT_FALSE(steps.step(std::numeric_limits<double>::infinity()));
      ASSERT_EQ(steps.layer_number(), l);
      if (l > 0) any.stack.release_layer(l - 1);
      Shapes before = any.before_layers[l];
      set_any_layer(any, before, l);
    }
    EXPECT_TRUE(steps.step(std::numeric_limits<double>::infinity()));
    expect_same(steps.run, expected);
    if (!options.projections || !options.has_more) continue;
    // The queries and keys of the next layer are those of a forward that runs through it.
    for (int l = 0; l < count; ++l) set_any_layer(any, any.before_layers[l], l);
    options.has_more = ++options.layers < count;
    const Forward longer = forward(any.stack, rows, options);
    EXPECT_EQ(steps.run.projections.back().queries, longer.projections[options.layers - 1].queries);
    EXPECT_EQ(steps.run.projections.back().keys, longer.projections[options.layers - 1].keys);
  }
}

}  // namespace
}  // namespace superpose
