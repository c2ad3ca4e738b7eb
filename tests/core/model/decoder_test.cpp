// What decoders and their relatives have beside BERT: groups of heads, widths of heads, rotation, norms of heads,
// windows, gates, biases by offset, parallel layers.
#include <gtest/gtest.h>

#include "any_encoder.h"
#include "encodings/rotary.h"
#include "model/encoder.h"

namespace superpose {
namespace {

template <typename Scalar>
Forward<Scalar> traced(const Encoder<Scalar>& encoder, const Matrix<double>& rows) {
  ForwardOptions<Scalar> asked;
  asked.scores = asked.trace = true;
  return encoder.forward(rows.cast<Scalar>(), asked);
}

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
    const AnyEncoder made = any_encoder(shapes, 2, n);
    const Matrix<double> rows = shapes.matrix(n, made.d);
    const PlainForward wanted = plain_forward(made, rows);
    EXPECT_LT(difference(traced(made.encoder(), rows), wanted), 1e-11);
    EXPECT_LT(difference(traced(made.single(), rows), wanted), 2e-4);
  }
}

TEST(Decoder, RotationByNoAngleIsNone) {
  Shapes shapes(32);
  for (int trial = 0; trial < 20; ++trial) {
    AnyEncoder made = any_encoder(shapes, 2, 7), still = made;
    for (auto& layer : made.layers) {
      layer.rotary = {std::vector<double>(made.width() / 2, 0.0), 1};
    }
    for (auto& layer : still.layers) layer.rotary = {};
    const Matrix<double> rows = shapes.matrix(7, made.d);
    EXPECT_EQ(difference(traced(made.encoder(), rows), traced(still.encoder(), rows)), 0);
  }
}

Vector<double> reordered(const Vector<double>& of, const std::vector<int>& order) {
  Vector<double> found = of;
  for (Eigen::Index row = 0; row < of.size(); ++row) {
    const Eigen::Index width = static_cast<Eigen::Index>(order.size());
    found[row] = of[row / width * width + order[row % width]];
  }
  return found;
}

// Neighbours as halves, once rows of weights, biases and gains are reordered.
TEST(Decoder, HalvesAreNeighboursInAnotherOrder) {
  Shapes shapes(33);
  for (int trial = 0; trial < 20; ++trial) {
    AnyEncoder made = any_encoder(shapes, 2, 6);
    const int pairs = made.width() / 2;
    for (auto& layer : made.layers) {
      layer.rotary = {std::vector<double>(pairs), 1.1};
      for (int m = 0; m < pairs; ++m) layer.rotary.frequencies[m] = 1.0 / (1 + m);
    }
    // The channel that is not turned, of an odd width, stays where it is.
    std::vector<int> order = rotary_permutation(2 * pairs);
    if (made.width() % 2 == 1) order.push_back(made.width() - 1);
    AnyEncoder halves = made;
    for (auto& layer : halves.layers) {
      for (Linear<double>* one : {&layer.query, &layer.key}) {
        for (Eigen::Index c = 0; c < made.d; ++c)
          one->weight.col(c) = reordered(Vector<double>(one->weight.col(c)), order);
        one->bias = reordered(one->bias, order);
      }
      for (Normalization<double>* one : {&layer.query_norm, &layer.key_norm}) {
        one->gamma = reordered(one->gamma, order);
        one->beta = reordered(one->beta, order);
      }
    }
    const Matrix<double> rows = shapes.matrix(6, made.d);
    EXPECT_LT(difference(traced(halves.encoder(), rows), plain_forward(made, rows, true)), 1e-11);
  }
}

TEST(Decoder, GroupsAreKeyHeadsThatAreRepeated) {
  Shapes shapes(34);
  for (int trial = 0; trial < 30; ++trial) {
    const AnyEncoder made = any_encoder(shapes, 2, 5);
    AnyEncoder full = made;
    const int heads = made.options.heads, groups = heads / made.key_heads(), width = made.width();
    full.options.key_heads = heads;
    for (auto& layer : full.layers) {
      for (Linear<double>* one : {&layer.key, &layer.value}) {
        const Linear<double> was = *one;
        one->weight.resize(heads * width, made.d);
        if (was.bias.size()) one->bias.resize(heads * width);
        for (int h = 0; h < heads; ++h) {
          one->weight.middleRows(h * width, width) = was.weight.middleRows(h / groups * width, width);
          if (was.bias.size())
            one->bias.segment(h * width, width) = was.bias.segment(h / groups * width, width);
        }
      }
    }
    const Matrix<double> rows = shapes.matrix(5, made.d);
    EXPECT_LT(difference(traced(made.encoder(), rows), traced(full.encoder(), rows)), 1e-13);
  }
}

// Heads of d / H channels and nothing else are the encoders that were there before: one without its new members.
TEST(Decoder, WhatIsNotGivenChangesNothing) {
  Shapes shapes(35);
  for (int trial = 0; trial < 10; ++trial) {
    AnyEncoder made = any_encoder(shapes, 2, 6);
    for (auto& layer : made.layers) {
      layer.rotary = {};
      layer.query_norm = layer.key_norm = {};
      layer.window = 6;
    }
    made.options.slopes = Vector<double>::Zero(made.options.heads);
    AnyEncoder bare = made;
    bare.options.slopes = {};
    for (auto& layer : bare.layers) layer.window = kEverywhere;
    const Matrix<double> rows = shapes.matrix(6, made.d);
    EXPECT_EQ(difference(traced(made.encoder(), rows), traced(bare.encoder(), rows)), 0);
  }
}

}  // namespace
}  // namespace superpose
