#include "model/encoder_parts.h"

#include <gtest/gtest.h>

#include "encoder_reference.h"
#include "random_shapes.h"
#include "scores/shares.h"

namespace superpose {
namespace {

struct Tiny {
  Encoder<double> encoder;
  std::vector<Matrix<double>> summands;
  std::vector<int> apart;
  bool causal;
  int n;

  explicit Tiny(const rapidjson::Value& from)
      : encoder(TinyEncoder::encoder<double>(from)),
        apart(whole_numbers_of(from["apart"])),
        causal(from["causal"].GetBool()),
        n(static_cast<int>(from["states"][0].Size())) {
    summands = TinyEncoder::summands<double>(from, n);
  }

  Forward<double> run(const std::vector<Matrix<double>>& rows) const {
    ForwardOptions<double> asked;
    asked.scores = asked.trace = true;
    return encoder.forward(sum_of(rows), asked);
  }
  Gauge<double> gauge(GaugeKind kind) const {
    return {kind, {}, kind == GaugeKind::raw ? std::vector<int>() : apart};
  }
};

constexpr std::pair<const char*, Way> kWays[] = {{"direct", Way::direct}, {"streams", Way::streams}};

TEST(EncoderParts, AgreeWithTheOracleAndAddUp) {
  const auto oracle = reference("encoder.json");
  for (const auto& from : oracle["cases"].GetArray()) {
    SCOPED_TRACE(from["name"].GetString());
    const Tiny tiny(from);
    const auto run = tiny.run(tiny.summands);
    for (const auto& [name, way] : kWays) {
      for (int l = 0; l < 2; ++l) {
        const auto parts =
            input_parts(tiny.encoder, tiny.summands, run, l, way, tiny.gauge(GaugeKind::canonical));
        const auto& wanted = from["decomposition"][name];
        for (std::size_t p = 0; p < parts.size(); ++p)
          EXPECT_LT(max_abs(parts[p] - matrix_of(wanted["parts"][l][p])), 1e-11) << name << l << p;
        EXPECT_LT(max_abs(sum_of(parts) - run.inputs[l]), 1e-12);
        // The relative bias is a term of its own, the last.
        const auto projected = tiny.encoder.queries_and_keys(l, run.inputs[l], parts);
        const int terms = projected.terms();
        const CountedPairs counted{row_flags(tiny.apart, tiny.n), tiny.causal};
        for (int h = 0; h < tiny.encoder.options().heads; ++h) {
          const bool biased = tiny.encoder.has_relative_bias();
          Matrix<double> all(terms + 1, tiny.n * tiny.n), logits(tiny.n, tiny.n);
          EXPECT_LT(head_terms(projected, h, all.data(), logits.data()), 1e-12);
          if (biased)
            tiny.encoder.add_relative_bias(h, tiny.encoder.relative_buckets(tiny.n), logits.data(),
                                           all.row(terms).data());
          EXPECT_LT(max_abs(logits - run.logits[l].middleRows(h * tiny.n, tiny.n)), 1e-12);
          const Vector<double> shares =
              row_centred_covariances(all.data(), biased ? terms + 1 : terms, logits.data(), tiny.n, counted)
                  .shares;
          EXPECT_LT(max_abs(shares - vector_of(wanted["shares"][l][h])), 1e-10);
        }
      }
    }
    const auto raw =
        input_parts(tiny.encoder, tiny.summands, run, 1, Way::direct, tiny.gauge(GaugeKind::raw));
    const auto projected = tiny.encoder.queries_and_keys(1, run.inputs[1], raw);
    if (tiny.encoder.options().relative_bias.size()) continue;
    for (int h = 0; h < tiny.encoder.options().heads; ++h) {
      Matrix<double> all(projected.terms(), tiny.n * tiny.n), logits(tiny.n, tiny.n);
      head_terms(projected, h, all.data(), logits.data());
      const Vector<double> shares =
          row_centred_covariances(all.data(), projected.terms(), logits.data(), tiny.n, {{}, tiny.causal})
              .shares;
      EXPECT_LT(max_abs(shares - vector_of(from["decomposition"]["direct_raw"]["shares"][1][h])), 1e-10);
    }
  }
}

// For any number of summands, their parts, what was written and the constant add up to what the layer reads.
TEST(EncoderParts, AddUpForAnyNumberOfSummands) {
  const auto oracle = reference("encoder.json");
  for (const auto& from : oracle["cases"].GetArray()) {
    SCOPED_TRACE(from["name"].GetString());
    const Tiny tiny(from);
    std::vector<Matrix<double>> rows;
    for (const auto& summand :
         {sum_of(tiny.summands), tiny.summands[0], tiny.summands[1], tiny.summands[2]}) {
      rows.push_back(summand);
      const auto run = tiny.run(rows);
      for (const auto& [name, way] : kWays) {
        for (int l = 0; l < 2; ++l) {
          const auto parts = input_parts(tiny.encoder, rows, run, l, way, tiny.gauge(GaugeKind::canonical));
          EXPECT_EQ(parts.size(), rows.size() + 3);
          EXPECT_LT(max_abs(sum_of(parts) - run.inputs[l]), 1e-12) << name << l;
        }
      }
    }
  }
}

// t + a, p + b, s - a - b, and t_CLS + v, p_0 - v: no state changes, and no canonical part.
TEST(EncoderParts, AreFreeOfShiftsInTheCanonicalGaugeAlone) {
  const auto oracle = reference("encoder.json");
  Shapes shapes(3);
  for (const auto& from : oracle["cases"].GetArray()) {
    SCOPED_TRACE(from["name"].GetString());
    const Tiny tiny(from);
    auto moved = tiny.summands;
    const int e = static_cast<int>(moved[0].cols());
    const Vector<double> a = shapes.vector(e), b = shapes.vector(e), v = shapes.vector(e);
    moved[0].rowwise() += a.transpose();
    moved[1].rowwise() += b.transpose();
    moved[2].rowwise() -= (a + b).transpose();
    for (int row : tiny.apart) {
      moved[0].row(row) += v.transpose();
      moved[1].row(row) -= v.transpose();
    }
    const auto before = tiny.run(tiny.summands), after = tiny.run(moved);
    for (const auto& [name, way] : kWays) {
      for (const GaugeKind kind : {GaugeKind::canonical, GaugeKind::raw}) {
        double change = 0;
        const auto was = input_parts(tiny.encoder, tiny.summands, before, 1, way, tiny.gauge(kind));
        const auto is = input_parts(tiny.encoder, moved, after, 1, way, tiny.gauge(kind));
        for (std::size_t p = 0; p < was.size(); ++p) change = std::max(change, max_abs(was[p] - is[p]));
        if (kind == GaugeKind::canonical)
          EXPECT_LT(change, 1e-10) << name;
        else
          EXPECT_GT(change, 0.1) << name;
      }
    }
  }
}

// The same shifts in the caller's means: no part changes.
TEST(EncoderParts, FollowTheCallersMeans) {
  const auto oracle = reference("encoder.json");
  Shapes shapes(4);
  for (const auto& from : oracle["cases"].GetArray()) {
    SCOPED_TRACE(from["name"].GetString());
    const Tiny tiny(from);
    auto moved = tiny.summands;
    Matrix<double> shifts = shapes.matrix(3, static_cast<int>(moved[0].cols()));
    shifts.row(2) = -shifts.topRows(2).colwise().sum();
    const Matrix<double> means =
        shapes.matrix(static_cast<int>(moved.size()), static_cast<int>(shifts.cols()));
    Matrix<double> moved_means = means;
    for (int s = 0; s < 3; ++s) {
      moved[s].rowwise() += shifts.row(s);
      moved_means.row(s) += shifts.row(s);
    }
    const auto before = tiny.run(tiny.summands), after = tiny.run(moved);
    const auto parts = [&](const Forward<double>& run, const std::vector<Matrix<double>>& summands,
                           const Matrix<double>& given) {
      return input_parts<double>(tiny.encoder, summands, run, 1, Way::direct,
                                 {GaugeKind::means, given, tiny.apart});
    };
    const auto was = parts(before, tiny.summands, means), is = parts(after, moved, moved_means);
    const auto others = parts(after, moved, means);
    double change = 0, otherwise = 0;
    for (std::size_t p = 0; p < was.size(); ++p) {
      change = std::max(change, max_abs(was[p] - is[p]));
      otherwise = std::max(otherwise, max_abs(was[p] - others[p]));
    }
    EXPECT_LT(change, 1e-10);
    EXPECT_GT(otherwise, 0.1);
  }
}

TEST(MeanParts, AddUpAndLeaveRowsApartConstant) {
  Shapes shapes(5);
  const Matrix<double> input = shapes.matrix(6, 5), positions = shapes.matrix(7, 5);
  const Vector<double> mu = shapes.vector(5);
  const auto raw = mean_parts<double>(input, mu, positions, {});
  EXPECT_EQ(max_abs(raw[0].bottomRows(5) - positions.topRows(5)), 0);
  EXPECT_EQ(max_abs(raw[0].row(0)), 0);
  EXPECT_LT(max_abs(sum_of(raw) - input), 1e-14);
  const auto canonical = mean_parts<double>(input, mu, positions, {GaugeKind::canonical, {}, {0}});
  EXPECT_LT(max_abs(sum_of(canonical) - input), 1e-14);
  for (int p = 0; p < 2; ++p) {
    EXPECT_EQ(max_abs(canonical[p].row(0)), 0);
    EXPECT_LT(max_abs(canonical[p].colwise().sum()), 1e-13);
  }
}

}  // namespace
}  // namespace superpose
