// The parameters of a model, as matrices. Those that a model lacks are empty. D is the stream's width.
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

  // All zeros, in the sizes of a model.
  explicit Parameters(const ModelOptions& options);
};

// A parameter with its name, and how it is drawn and trained.
struct NamedParameter {
  std::string name;  // layers.0.g1 and so on
  Matrix<float>* values;
  bool trained;
  bool decays;           // all except gains
  double spread;         // the values are from N(0, spread^2), except gains, which are 1, and sinusoids
  std::uint32_t stream;  // of the random numbers; the same in every model that has the parameter
};

// The parameters that a model has, in order.
std::vector<NamedParameter> named_parameters(const ModelOptions& options, Parameters& parameters);

// Tables and weights are drawn, U such that the first scores of positions are about as large as those of
// content; gains are 1, and T5 is 0. With equal seeds, models of any scheme draw the same numbers for the
// parameters that they share.
Parameters initial_parameters(const ModelOptions& options, std::uint32_t seed);

}  // namespace superpose
