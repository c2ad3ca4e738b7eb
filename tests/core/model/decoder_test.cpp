// What decoders have beside BERT: groups of heads, widths of heads, rotation, norms of heads, gates.
#include <gtest/gtest.h>

#include "any_encoder.h"
#include "model/encoder.h"
#include "model/encoder_parts.h"

namespace superpose {
namespace {

double largest(const Matrix<double>& of) { return std::max(1.0, max_abs(of)); }

// The largest difference of states, logits and attention, as a part of the largest number in each.
template <typename Scalar, typename Other>
double difference(const Forward<Scalar>& run, const Other& other) {
  double worst = 0;
  const auto compare = [&](const auto& found, const auto& wanted) {
    const Matrix<double> as = wanted.template cast<double>();
    worst = std::max(worst, max_abs(found.template cast<double>() - as) / largest(as));
  };
  for (std::size_t l = 0; l < run.states.size(); ++l) compare(run.states[l], other.states[l]);
  for (std::size_t l = 0; l < run.logits.size(); ++l) {
    compare(run.logits[l], other.logits[l]);
    compare(run.attention[l], other.attention[l]);
  }
  compare(run.last, other.last);
  return worst;
}

TEST(Decoder, ForwardIsThatOfPlainLoops) {
  Shapes shapes(31);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const int n = trial % 10 == 0 ? 1 : shapes.between(2, 13);
    const AnyEncoder made = any_encoder(shapes, 2);
    const Matrix<double> rows = shapes.matrix(n, made.d);
    const PlainForward wanted = plain_forward(made, rows);
    EXPECT_LT(difference(traced(made.encoder(), rows), wanted), 1e-11);
    EXPECT_LT(difference(traced(made.single(), rows), wanted), 2e-4);
  }
}

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
    const Gauge<double> gauge{
        kind, {}, kind == GaugeKind::raw || n == 1 ? std::vector<int>() : std::vector<int>{0}};
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

}  // namespace
}  // namespace superpose
