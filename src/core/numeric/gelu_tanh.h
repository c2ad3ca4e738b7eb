// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks and Gimpel (arXiv 1606.08415), called gelu_new in GPT-2's
// and similar files. It is x s with s = 1 / (1 + e^-2u), u the argument of tanh.
#pragma once

#include "numeric/lanes.h"

namespace superpose {

template <typename Value>
struct GeluTanh {
  Value value, slope;
};

// Of one number, or of each in a vector.
template <typename Scalar, typename Value>
inline GeluTanh<Value> gelu_tanh(Value x) {
  constexpr Scalar kTwice = Scalar(1.5957691216057308), kCube = Scalar(0.044715);
  const Value square = x * x;
  const Value twice_u = kTwice * x * (1 + kCube * square);
  Value e;
  if constexpr (sizeof(Value) == sizeof(Scalar))
    e = exponential_of<Scalar>(-twice_u);
  else
    e = exponential(-twice_u);
  const Value sigmoid = 1 / (1 + e);
  return {x * sigmoid, sigmoid + x * sigmoid * (1 - sigmoid) * kTwice * (1 + 3 * kCube * square)};
}

}  // namespace superpose
