// All numbers of a model, as matrices with names. What a model lacks is empty. D is the stream's width.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numeric/matrix.h"
#include "training/options.h"

namespace superpose {

struct LayerParameters {
  Matrix<float> g1;     // [1, D]
  Matrix<float> W_qkv;  // [D, 3D]: queries, keys and values, each with head h in the columns from h d_h
  Matrix<float> W_o;    // [D, D]
};

struct Parameters {
  Matrix<float> E;         // [V, d_token]
  Matrix<float> P;         // [L, d_position]
  Matrix<float> W_f;       // [2D, D]
  Matrix<float> U_q, U_k;  // [d_position, D]
  Matrix<float> T5;        // [H, 2L - 1], offset j - i in column j - i + L - 1
  std::vector<LayerParameters> layers;
  Matrix<float> gf;   // [1, D]
  Matrix<float> W_u;  // [D, V_out]

  // All zeros, in a model's sizes.
  explicit Parameters(const ModelOptions& options);
};

// A parameter as callers know it.
struct NamedParameter {
  std::string name;  // layers.0.g1 and so on
  Matrix<float>* values;
  bool trained;
  bool decays;           // all except gains
  double spread;         // drawn from N(0, spread^2); gains are 1, a sinusoid is not drawn
  std::uint32_t stream;  // of the seed; the same in every model that has the parameter
};

// Those that a model has, in order.
std::vector<NamedParameter> named_parameters(const ModelOptions& options, Parameters& parameters);

// Tables and weights drawn, U scaled to keep the first scores about as large as those of content, gains 1, T5 0. With
// equal seeds, models of any scheme draw the same numbers for what they share.
Parameters initial_parameters(const ModelOptions& options, std::uint32_t seed);

}  // namespace superpose
