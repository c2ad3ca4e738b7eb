// A forward in steps of any length: the same numbers, and no step is long.
#include <gtest/gtest.h>

#include "any_encoder.h"

namespace superpose {
namespace {

TEST(ForwardSteps, OfAnyLengthAreTheWholeForward) {
  Shapes shapes(31);
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    const int n = trial % 5 ? shapes.between(1, 9) : 170;
    const AnyEncoder made = any_encoder(shapes, shapes.between(0, 3));
    const Encoder<double> encoder = made.encoder();
    const Matrix<double> rows = shapes.matrix(n, made.d);
    ForwardOptions<double> asked;
    asked.trace = asked.projections = shapes.coin();
    const Forward<double> whole = encoder.forward(rows, asked);
    ForwardSteps<double> steps(encoder, rows, asked);
    const double length = trial % 2 ? 1 : 2000;
    int count = 1;
    while (!steps.step(length)) ++count;
    EXPECT_TRUE(steps.step(length));
    // Each head and each map is a piece at least.
    if (length == 1) {
      EXPECT_GE(count, encoder.layers() * (made.options.heads + 6));
    }
    const Forward<double>& run = steps.run;
    EXPECT_EQ(run.states, whole.states);
    EXPECT_EQ(run.logits, whole.logits);
    EXPECT_EQ(run.attention, whole.attention);
    EXPECT_EQ(run.inputs, whole.inputs);
    EXPECT_EQ(run.attended, whole.attended);
    EXPECT_EQ(run.written, whole.written);
    EXPECT_EQ(run.last, whole.last);
    EXPECT_EQ(run.pooled, whole.pooled);
    EXPECT_EQ(run.projections.size(), whole.projections.size());
  }
}

}  // namespace
}  // namespace superpose
