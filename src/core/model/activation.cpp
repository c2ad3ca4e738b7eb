#include "model/activation.h"

#include <cmath>

#include "numeric/lanes.h"

namespace superpose {
namespace {

using Eigen::Index;

// erf(y) in float: y P(y^2) / Q(y^2) on |y| <= 3.92, beyond which |erf(y)| is 1 to half a unit in the last
// place. The coefficients are a minimax fit to the definition, with a relative error of 2e-8 before rounding.
template <typename V>
V error_function(V y) {
  constexpr float kEnd = 3.92f;
  const V end = y - y + kEnd;
  y = y > end ? end : y;
  y = y < -end ? -end : y;
  const V u = y * y;
  const V p = ((((2.050084958682419e-06f * u + 0.0002848838339559734f) * u + 0.0037656533531844616f) * u +
                0.05274883657693863f) *
                   u +
               0.19040727615356445f) *
                  u +
              1.1283791065216064f;
  const V q = ((((3.809174813795835e-05f * u + 0.001162544940598309f) * u + 0.014969289302825928f) * u +
                0.11410944908857346f) *
                   u +
               0.5020768046379089f) *
                  u +
              1.0f;
  return y * p / q;
}

constexpr float kRootOfHalf = 0.70710678118654752440f;

// Each template is for a vector of floats and for a single float.
template <typename V>
V gelu_of(V x) {
  return 0.5f * x * (1.0f + error_function(x * kRootOfHalf));
}

// 1 / (1 + e^(-x))
template <typename V>
V sigmoid(V x) {
  if constexpr (sizeof(V) == sizeof(float)) {
    return 1 / (1 + exponential_of<float>(-x));
  } else {
    return 1 / (1 + exponential(-x));
  }
}

// x/2 (1 + tanh u) is x sigmoid(2 u), where u = sqrt(2/pi) (x + 0.044715 x^3).
template <typename V>
V gelu_tanh(V x) {
  constexpr float kTwice = 1.5957691216057308f, kCube = 0.044715f;
  return x * sigmoid(kTwice * x * (1 + kCube * (x * x)));
}

template <typename V>
V silu(V x) {
  return x * sigmoid(x);
}

}  // namespace

void activate(Activation activation, const Vector<float>& bias, Matrix<float>& rows) {
  using S = Simd<float>;
  const Index width = rows.cols();
  for (Index i = 0; i < rows.rows(); ++i) {
    float* const row = rows.data() + i * width;
    for (Index c = 0; c < bias.size(); ++c) row[c] += bias[c];
    if (activation == Activation::relu) {
      for (Index c = 0; c < width; ++c) row[c] = row[c] > 0 ? row[c] : 0;
      continue;
    }
    if (activation == Activation::silu) {
      along<float>(
          width, [&](Index c) { S::store(row + c, silu(S::load(row + c))); },
          [&](Index c) { row[c] = silu(row[c]); });
      continue;
    }
    if (activation == Activation::gelu_tanh) {
      along<float>(
          width, [&](Index c) { S::store(row + c, gelu_tanh(S::load(row + c))); },
          [&](Index c) { row[c] = gelu_tanh(row[c]); });
      continue;
    }
    along<float>(
        width, [&](Index c) { S::store(row + c, gelu_of(S::load(row + c))); },
        [&](Index c) { row[c] = gelu_of(row[c]); });
  }
}

void activate_gated(Activation activation, const Vector<float>& gate_bias, Matrix<float>& gate,
                    const Vector<float>& bias, Matrix<float>& rows) {
  using S = Simd<float>;
  activate(activation, gate_bias, gate);
  const Index width = rows.cols();
  for (Index i = 0; i < rows.rows(); ++i) {
    float* const row = rows.data() + i * width;
    const float* const gates = gate.data() + i * width;
    for (Index c = 0; c < bias.size(); ++c) row[c] += bias[c];
    along<float>(
        width, [&](Index c) { S::store(row + c, S::load(row + c) * S::load(gates + c)); },
        [&](Index c) { row[c] *= gates[c]; });
  }
}

}  // namespace superpose
