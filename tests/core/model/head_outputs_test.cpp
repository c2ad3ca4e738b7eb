#include "model/head_outputs.h"

#include <gtest/gtest.h>

#include "encoder_reference.h"
#include "model/encoder_parts.h"
#include "random_shapes.h"

namespace superpose {
namespace {

// An encoder of two layers, its weights kept to compute with apart from it.
struct Drawn {
  int n, d, heads;
  std::vector<PlainLayer<double>> layers;
  EncoderOptions<double> options;
  std::vector<Matrix<double>> summands;
  std::vector<int> apart;

  explicit Drawn(Shapes& shapes, bool pre) {
    heads = shapes.between(1, 3);
    d = heads * shapes.between(3, 6);
    n = shapes.between(4, 9);
    if (shapes.coin()) apart = {0};
    const auto norm = [&] {
      return Normalization<double>{Norm::layer_norm, shapes.vector(d), shapes.vector(d), 1e-3};
    };
    options.heads = heads;
    options.pre_norm = pre;
    options.causal = shapes.coin();
    if (!pre || shapes.coin()) options.embedding_norm = norm();
    const int inner = shapes.between(3, 12);
    for (int l = 0; l < 2; ++l) {
      const auto square = [&] { return shapes.linear(d, d, true); };
      layers.push_back({square(), square(), square(), square(), norm(), shapes.linear(inner, d, true),
                        shapes.linear(d, inner, true), norm()});
    }
    for (int s = 0; s < 3; ++s) summands.push_back(shapes.matrix(n, d));
  }

  Encoder<double> encoder() const {
    Encoder<double> made(options);
    for (const auto& layer : layers) made.add_layer(packed(layer));
    return made;
  }
  Gauge<double> canonical() const { return {GaugeKind::canonical, {}, apart}; }
};

Forward<double> run_of(const Encoder<double>& encoder, const std::vector<Matrix<double>>& summands,
                       const std::vector<Matrix<double>>& attention = {}) {
  Matrix<double> sum = summands[0];
  for (std::size_t s = 1; s < summands.size(); ++s) sum += summands[s];
  ForwardOptions<double> asked;
  asked.scores = asked.trace = true;
  asked.attention = attention;
  return encoder.forward(sum, asked);
}

struct Split {
  Forward<double> run;
  OutputParts<double> parts;
};

// Of one head or, with -1, of all.
OutputShares output_shares(const OutputParts<double>& parts, int head) {
  return superpose::output_shares(parts).at(head < 0 ? parts.heads : head);
}

Split split_of(const Drawn& drawn, const std::vector<Matrix<double>>& summands, int layer, Way way,
               const Gauge<double>& gauge) {
  const Encoder<double> encoder = drawn.encoder();
  Forward<double> run = run_of(encoder, summands);
  const auto inputs = input_parts(encoder, summands, run, layer, way, gauge);
  auto parts = output_parts(encoder, layer, run, inputs, gauge.apart);
  return {std::move(run), std::move(parts)};
}

// tests/reference/values.py, of the encoders of encoder.json. Its contrast of rows that stand apart is zero where there
// are none.
TEST(HeadOutputs, AgreeWithTheOracle) {
  const auto encoders = reference("encoder.json"), values = reference("values.json");
  const auto made = values["made"].GetArray();
  for (rapidjson::SizeType c = 0; c < made.Size(); ++c) {
    const auto& from = encoders["cases"][c];
    SCOPED_TRACE(from["name"].GetString());
    const int n = static_cast<int>(from["states"][0].Size());
    const Encoder<double> encoder = TinyEncoder::encoder<double>(from);
    const auto summands = TinyEncoder::summands<double>(from, n);
    const std::vector<int> apart = whole_numbers_of(from["apart"]);
    const Forward<double> run = run_of(encoder, summands);
    for (const auto& named : {std::pair{"direct", Way::direct}, std::pair{"streams", Way::streams}}) {
      // Clang before C++20 captures no part of a pair.
      const char* name = named.first;
      const Way way = named.second;
      for (int l = 0; l < 2; ++l) {
        const auto inputs = input_parts(encoder, summands, run, l, way, {GaugeKind::canonical, {}, apart});
        const OutputParts<double> parts = output_parts(encoder, l, run, inputs, apart);
        const auto& wanted = made[c][name][l];
        const int heads = parts.heads;
        for (int h = 0; h <= heads; ++h) {
          const OutputShares found = output_shares(parts, h == heads ? -1 : h);
          EXPECT_LT(found.residual, 1e-12);
          const auto agree = [&](const Vector<double>& shares, double variance, const char* kind,
                                 const char* whole) {
            Vector<double> expected = vector_of(wanted[kind][h]);
            if (apart.empty()) {
              expected[expected.size() - 2] = expected[expected.size() - 1];
              expected = expected.head(expected.size() - 1).eval();
            }
            ASSERT_EQ(shares.size(), expected.size());
            EXPECT_LT((shares - expected).cwiseAbs().maxCoeff(), 1e-9) << name << l << h << kind;
            EXPECT_NEAR(variance, wanted[whole][h].GetDouble(), 1e-9 * variance);
          };
          agree(found.over_queries.shares, found.over_queries.logits, "shares", "variances");
          agree(found.from_uniform.shares, found.from_uniform.logits, "uniform_shares", "uniform_variances");
          if (h == heads) continue;
          const Matrix<double> attention = run.attention[l].middleRows(h * n, n);
          EXPECT_LT(max_abs(norm_weighted(parts, h, attention) - matrix_of(wanted["weighted"][h])), 1e-9);
        }
        // What the last head writes at the last token, part by part.
        const Matrix<double> last = matrix_of(made[c][(std::string(name) + "_outputs").c_str()][l]);
        for (int p = 0; p < parts.parts(); ++p) {
          const Eigen::Index row = p == parts.parts() - 1 ? last.rows() - 1 : p;
          EXPECT_LT(max_abs(head_output(parts, heads - 1, p).row(n - 1) - last.row(row)), 1e-9)
              << name << l << p;
        }
      }
    }
  }
}

double largest_change(const Split& was, const Split& is, int heads) {
  double most = 0;
  for (int h = 0; h < heads; ++h) {
    for (int p = 0; p < was.parts.parts(); ++p)
      most = std::max(most, max_abs(head_output(was.parts, h, p) - head_output(is.parts, h, p)));
  }
  return most;
}

double largest_change_of_shares(const Split& was, const Split& is, int heads) {
  double most = 0;
  for (int h = 0; h < heads; ++h)
    most = std::max(most, max_abs(output_shares(was.parts, h).over_queries.shares -
                                  output_shares(is.parts, h).over_queries.shares));
  return most;
}

// What cannot be seen in any state moves no canonical part; raw parts move.
TEST(HeadOutputs, AreFreeOfShiftsOfTheTablesInTheCanonicalGaugeAlone) {
  Shapes shapes(13);
  double raw_change = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Drawn drawn(shapes, trial % 2);
    drawn.apart = {0};
    auto moved = drawn.summands;
    const Vector<double> v = shapes.vector(drawn.d), first = shapes.vector(drawn.d);
    moved[0].rowwise() += v.transpose();
    moved[1].rowwise() -= v.transpose();
    moved[0].row(0) += first.transpose();
    moved[1].row(0) -= first.transpose();
    const Gauge<double> raw{GaugeKind::raw, {}, {}};
    for (const int layer : {0, 1}) {
      const auto change = [&](const Gauge<double>& gauge) {
        return largest_change(split_of(drawn, drawn.summands, layer, Way::streams, gauge),
                              split_of(drawn, moved, layer, Way::streams, gauge), drawn.heads);
      };
      EXPECT_LT(change(drawn.canonical()), 1e-10);
      raw_change = std::max(raw_change, change(raw));
    }
  }
  EXPECT_GT(raw_change, 1);
}

// b_V + v with b_O - W_O v, another basis of a head's values, W_O + 1 a': the layer's output, as the next norm
// reads it, is the same, and so are the shares. Before W_O they are not.
TEST(HeadOutputs, SharesAreFreeOfWhatTheWeightsLeaveOpen) {
  Shapes shapes(14);
  double uncentred = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const Drawn drawn(shapes, false);
    const auto was = split_of(drawn, drawn.summands, 0, Way::direct, drawn.canonical());
    const int width = drawn.d / drawn.heads;

    Drawn shifted = drawn;
    const Vector<double> v = shapes.vector(drawn.d);
    shifted.layers[0].value.bias += v;
    shifted.layers[0].output.bias -= drawn.layers[0].output.weight * v;
    EXPECT_LT(largest_change_of_shares(
                  was, split_of(shifted, drawn.summands, 0, Way::direct, drawn.canonical()), drawn.heads),
              1e-9);

    Drawn turned = drawn;
    Linear<double>&value = turned.layers[0].value, &output = turned.layers[0].output;
    for (int h = 0; h < drawn.heads; ++h) {
      // Inverted by Sherman and Morrison's formula.
      const Vector<double> u = shapes.vector(width), w = shapes.vector(width);
      const Matrix<double> identity = Matrix<double>::Identity(width, width);
      const Matrix<double> basis = identity + u * w.transpose(),
                           inverse = identity - u * w.transpose() / (1 + w.dot(u));
      value.weight.middleRows(h * width, width) = (basis * value.weight.middleRows(h * width, width)).eval();
      value.bias.segment(h * width, width) = (basis * value.bias.segment(h * width, width)).eval();
      output.weight.middleCols(h * width, width) =
          (output.weight.middleCols(h * width, width) * inverse).eval();
    }
    EXPECT_LT(largest_change_of_shares(
                  was, split_of(turned, drawn.summands, 0, Way::direct, drawn.canonical()), drawn.heads),
              1e-7);

    Drawn raised = drawn;
    raised.layers[0].output.weight.rowwise() += shapes.vector(drawn.d).transpose();
    const auto is = split_of(raised, drawn.summands, 0, Way::direct, drawn.canonical());
    EXPECT_LT(largest_change_of_shares(was, is, drawn.heads), 1e-9);
    auto uncentred_was = was, uncentred_is = is;
    uncentred_was.parts.centre_channels = uncentred_is.parts.centre_channels = false;
    uncentred = std::max(uncentred, largest_change_of_shares(uncentred_was, uncentred_is, drawn.heads));
  }
  EXPECT_GT(uncentred, 0.05);
}

// b_V joins the constant whole, and the contrast of a row that stands apart does not move with it.
TEST(HeadOutputs, TheContrastOfARowApartIsFreeOfTheValuesBias) {
  Shapes shapes(15);
  Drawn drawn(shapes, false);
  drawn.apart = {0};
  const auto was = split_of(drawn, drawn.summands, 0, Way::direct, drawn.canonical());
  Drawn shifted = drawn;
  shifted.layers[0].value.bias += shapes.vector(drawn.d);
  const auto is = split_of(shifted, drawn.summands, 0, Way::direct, drawn.canonical());
  const int contrast = was.parts.parts() - 2;
  EXPECT_LT(max_abs(head_output(was.parts, 0, contrast) - head_output(is.parts, 0, contrast)), 1e-13);
  EXPECT_LT(max_abs(norm_weighted(was.parts, 0, Matrix<double>(was.run.attention[0].topRows(drawn.n))) -
                    norm_weighted(is.parts, 0, Matrix<double>(is.run.attention[0].topRows(drawn.n)))),
            1e-13);
  EXPECT_GT(max_abs(head_output(was.parts, 0, contrast + 1) - head_output(is.parts, 0, contrast + 1)), 1e-3);
}

TEST(HeadOutputs, UniformAttentionWritesNothingOfACanonicalPart) {
  Shapes shapes(16);
  const Drawn drawn(shapes, false);
  const Encoder<double> encoder = drawn.encoder();
  const int used = drawn.n - static_cast<int>(drawn.apart.size());
  Matrix<double> uniform = Matrix<double>::Zero(drawn.heads * drawn.n, drawn.n);
  uniform.rightCols(used).setConstant(1.0 / used);
  const auto run = run_of(encoder, drawn.summands, {uniform});
  const auto inputs = input_parts(encoder, drawn.summands, run, 0, Way::direct, drawn.canonical());
  const auto parts = output_parts(encoder, 0, run, inputs, drawn.apart);
  for (int p = 0; p < 3; ++p) EXPECT_LT(max_abs(head_output(parts, -1, p)), 1e-13);
  const OutputShares none = output_shares(parts, 0);
  EXPECT_TRUE(std::isnan(none.over_queries.shares[0]));
  EXPECT_EQ(none.over_queries.logits, 0);
}

TEST(HeadOutputs, ARawPartIsWhatAFrozenForwardLosesWithoutIt) {
  Shapes shapes(17);
  Drawn drawn(shapes, true);
  drawn.apart.clear();
  // The MLP writes the same for every input, so that a state shows what attention wrote.
  drawn.layers[0].down.weight.setZero();
  const Gauge<double> raw{GaugeKind::raw, {}, {}};
  const auto [run, parts] = split_of(drawn, drawn.summands, 0, Way::streams, raw);
  const Encoder<double> encoder = drawn.encoder();
  const auto inputs = input_parts(encoder, drawn.summands, run, 0, Way::streams, raw);
  ForwardOptions<double> asked;
  asked.layers = 1;
  const Matrix<double> sum = drawn.summands[0] + drawn.summands[1] + drawn.summands[2];
  for (std::size_t p = 0; p + 1 < inputs.size(); ++p) {
    asked.uncarried = {inputs[p]};
    const auto without = encoder.forward(sum, asked);
    EXPECT_LT(max_abs(run.states[1] - without.states[1] - head_output(parts, -1, static_cast<int>(p))),
              1e-12);
  }
}

TEST(Encoder, TakesAnotherRunsAttention) {
  Shapes shapes(18);
  const Drawn drawn(shapes, false);
  const Encoder<double> encoder = drawn.encoder();
  const auto run = run_of(encoder, drawn.summands);
  auto other = drawn.summands;
  other[1].setZero();
  ForwardOptions<double> asked;
  asked.scores = true;
  asked.attention = run.attention;
  const Matrix<double> sum = other[0] + other[2];
  const auto copied = encoder.forward(sum, asked);
  for (int l = 0; l < 2; ++l) EXPECT_EQ(max_abs(copied.attention[l] - run.attention[l]), 0);
  // Its own attention, given back, changes nothing; another's does.
  asked.attention.clear();
  asked.attention = encoder.forward(sum, asked).attention;
  const auto own = encoder.forward(sum, asked);
  EXPECT_EQ(max_abs(own.states[2] - encoder.forward(sum, {}).states[2]), 0);
  EXPECT_GT(max_abs(own.states[2] - copied.states[2]), 1e-3);
}

}  // namespace
}  // namespace superpose
