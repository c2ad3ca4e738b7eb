// What decoders have beside BERT: groups of heads, widths of heads, rotation, norms of heads, gates.
#include <gtest/gtest.h>

#include "any_encoder.h"
#include "model/encoder.h"
#include "model/encoder_parts.h"

namespace superpose {
namespace {

double largest(const Matrix<double>& of) { return std::max(1.0, max_abs(of)); }

struct Parts {
  const char* way;
  std::vector<Matrix<double>> of_input;
};

// Those of a layer in every way and gauge, from summands that have no position among them where there is one alone.
std::vector<Parts> all_parts(Shapes& shapes, const Encoder<double>& encoder,
                             const std::vector<Matrix<double>>& summands, const Forward<double>& run, int l) {
  const int n = static_cast<int>(summands[0].rows()), d = static_cast<int>(run.states[0].cols());
  std::vector<Parts> found;
  for (const GaugeKind kind : {GaugeKind::raw, GaugeKind::canonical}) {
    const Gauge<double> gauge{kind,
                              kind == GaugeKind::raw || n == 1 ? std::vector<int>() : std::vector<int>{0}};
    found.push_back({"direct", input_parts(encoder, summands, run, l, Way::direct, gauge)});
    found.push_back({"streams", input_parts(encoder, summands, run, l, Way::streams, gauge)});
    const StateMeans<double> means{shapes.vector(d), shapes.matrix(n, d), 1};
    found.push_back({"mean", mean_parts(encoder, run, l, means, gauge)});
  }
  return found;
}

TEST(Decoder, TermsOfEveryWayAddUpToTheScores) {
  Shapes shapes(36);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const int n = trial % 10 == 0 ? 1 : shapes.between(2, 9);
    const AnyEncoder made = any_encoder(shapes, 3);
    const auto encoder = made.encoder();
    std::vector<Matrix<double>> summands{shapes.matrix(n, made.d)};
    Matrix<double> rows = summands[0];
    if (shapes.coin()) rows += summands.emplace_back(shapes.matrix(n, made.d));
    const auto run = traced(encoder, rows);
    for (int l = 0; l < 3; ++l) {
      for (const Parts& parts : all_parts(shapes, encoder, summands, run, l)) {
        SCOPED_TRACE(parts.way);
        Matrix<double> sum = parts.of_input[0];
        for (std::size_t p = 1; p < parts.of_input.size(); ++p) sum += parts.of_input[p];
        EXPECT_LT(max_abs(sum - run.inputs[l]) / largest(run.inputs[l]), 1e-12);
        const auto projected = encoder.queries_and_keys(l, run.inputs[l], parts.of_input);
        for (int h = 0; h < made.options.heads; ++h) {
          Matrix<double> terms(projected.terms(), n * n), logits(n, n);
          const Matrix<double> wanted = run.logits[l].middleRows(h * n, n);
          EXPECT_LT(head_terms(projected, h, terms.data(), logits.data()) / largest(terms), 1e-12);
          EXPECT_LT(max_abs(logits - wanted) / largest(wanted), 1e-12);
          const Matrix<double> total = terms.colwise().sum();
          EXPECT_LT(max_abs(MatrixMap<double>(logits.data(), 1, n * n) - total) / largest(terms), 1e-12);
        }
      }
    }
  }
}

// A forward in steps of any length: the same numbers, and no step is long.
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
