#include "model/encoder_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

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
        const auto projected = tiny.encoder.queries_and_keys(l, run.inputs[l], parts);
        const int terms = projected.terms();
        const CountedPairs counted{row_flags(tiny.apart, tiny.n), tiny.causal};
        for (int h = 0; h < tiny.encoder.options().heads; ++h) {
          Matrix<double> all(terms, tiny.n * tiny.n), logits(tiny.n, tiny.n);
          EXPECT_LT(head_terms(projected, h, all.data(), logits.data()), 1e-12);
          EXPECT_LT(max_abs(logits - run.logits[l].middleRows(h * tiny.n, tiny.n)), 1e-12);
          const Vector<double> shares =
              row_centred_covariances(all.data(), terms, logits.data(), tiny.n, counted).shares;
          EXPECT_LT(max_abs(shares - vector_of(wanted["shares"][l][h])), 1e-10);
        }
      }
    }
    const auto raw =
        input_parts(tiny.encoder, tiny.summands, run, 1, Way::direct, tiny.gauge(GaugeKind::raw));
    const auto projected = tiny.encoder.queries_and_keys(1, run.inputs[1], raw);
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

TEST(EncoderParts, AreTheSameInWhateverOrderLayersAreAskedFor) {
  const auto oracle = reference("encoder.json");
  for (const auto& from : oracle["cases"].GetArray()) {
    const Tiny tiny(from);
    const auto run = tiny.run(tiny.summands);
    for (const auto& [name, way] : kWays) {
      const auto gauge = tiny.gauge(GaugeKind::canonical);
      InputParts<double> walk(tiny.encoder, tiny.summands, run, way, gauge);
      for (const int l : {0, 1, 1, 0}) {
        const auto alone = input_parts(tiny.encoder, tiny.summands, run, l, way, gauge);
        const auto walked = walk.at(l);
        for (std::size_t p = 0; p < alone.size(); ++p) EXPECT_EQ(walked[p], alone[p]) << name << l << p;
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

// A norm before W_Q is one of what the state's three parts go through, and weighs its rows.
TEST(MeanParts, AddUpAndLeaveRowsApartConstant) {
  const auto oracle = reference("encoder.json");
  Shapes shapes(5);
  for (const auto& from : oracle["cases"].GetArray()) {
    SCOPED_TRACE(from["name"].GetString());
    const Tiny tiny(from);
    const auto run = tiny.run(tiny.summands);
    const int d = static_cast<int>(run.states[1].cols()), first = static_cast<int>(tiny.apart.size());
    const StateMeans<double> means{shapes.vector(d), shapes.matrix(tiny.n, d), first};
    const bool pre = tiny.encoder.options().pre_norm;
    const Vector<double> gamma = pre ? tiny.encoder.attention_norm(1).gamma : Vector<double>();
    const auto raw = mean_parts(tiny.encoder, run, 1, means, {});
    EXPECT_LT(max_abs(sum_of(raw) - run.inputs[1]), 1e-13);
    for (int i = 0; i < tiny.n; ++i) {
      Vector<double> wanted = Vector<double>::Zero(d);
      if (i >= first) wanted = means.positions.row(i - first);
      if (pre)
        wanted =
            ((wanted.array() - wanted.mean()) * gamma.array() / run.attention_sigma[1][i]).matrix().eval();
      EXPECT_LT((raw[0].row(i) - wanted.transpose()).cwiseAbs().maxCoeff(), 1e-13);
    }
    const auto canonical = mean_parts(tiny.encoder, run, 1, means, tiny.gauge(GaugeKind::canonical));
    EXPECT_LT(max_abs(sum_of(canonical) - run.inputs[1]), 1e-13);
    for (int p = 0; p < 2; ++p) {
      for (const int row : tiny.apart) EXPECT_LT(max_abs(canonical[p].row(row)), 1e-15);
      EXPECT_LT(max_abs(canonical[p].colwise().sum()), 1e-12);
      EXPECT_GT(max_abs(canonical[p]), 0.1);
    }
  }
}

// Merged before or after the projection, the terms of the groups are the same, wherever the constant's group is.
TEST(EncoderParts, GroupsMergedBeforeAreThoseMergedAfterProjection) {
  Shapes shapes(4);
  const int n = 3, d = 5, heads = 2, width = 2;
  const Linear<double> query = shapes.linear(heads * width, d, true),
                       key = shapes.linear(heads * width, d, true);
  const std::vector<Matrix<double>> parts = {shapes.matrix(n, d), shapes.matrix(n, d), shapes.matrix(n, d),
                                             shapes.matrix(n, d)};
  // As queries_and_keys() does it: biases go with the last part.
  const auto projected = [&](const std::vector<Matrix<double>>& rows) {
    const int count = static_cast<int>(rows.size());
    Matrix<double> whole = rows[0];
    for (int p = 1; p < count; ++p) whole += rows[p];
    ProjectedParts<double> result;
    result.queries = result.keys = Matrix<double>::Zero((count + 1) * n, heads * width);
    const auto put = [&](int at, const Matrix<double>& from, bool biased) {
      result.queries.middleRows(at * n, n) =
          apply<double>({query.weight, biased ? query.bias : Vector<double>()}, from);
      result.keys.middleRows(at * n, n) =
          apply<double>({key.weight, biased ? key.bias : Vector<double>()}, from);
    };
    put(0, whole, true);
    for (int p = 0; p < count; ++p) put(p + 1, rows[p], p == count - 1);
    result.tokens = n, result.parts = count, result.heads = heads, result.scale = 0.5;
    return result;
  };
  for (const std::vector<int>& group_of :
       {std::vector<int>{0, 1, 2, 3}, {0, 1, 1, 2}, {1, 2, 1, 0}, {2, 0, 0, 1}, {0, 0, 0, 0}}) {
    const int groups = 1 + *std::max_element(group_of.begin(), group_of.end());
    const auto merged = group_inputs(parts, group_of, groups);
    const auto before = in_order_of_groups(projected(merged), group_of.back());
    const auto after = merge_parts(projected(parts), group_of, groups);
    ASSERT_EQ(before.parts, groups);
    EXPECT_LT((before.queries - after.queries).cwiseAbs().maxCoeff(), 1e-14);
    EXPECT_LT((before.keys - after.keys).cwiseAbs().maxCoeff(), 1e-14);
  }
}

}  // namespace
}  // namespace superpose
