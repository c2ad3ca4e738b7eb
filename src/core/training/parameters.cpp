#include "training/parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/sinusoidal.h"
#include "numeric/random.h"

namespace superpose {

Parameters::Parameters(const ModelOptions& options) : layers(options.layers) {
  const int d = options.stream(), d_position = options.position_channels(),
            gains = options.layer_norm ? d : 0;
  E.setZero(options.vocabulary, options.d_token());
  if (options.has_table()) P.setZero(options.positions, d_position);
  if (options.scheme == TrainingScheme::project) W_f.setZero(2 * d, d);
  if (options.scheme == TrainingScheme::tupe) {
    U_q.setZero(d_position, d);
    U_k.setZero(d_position, d);
  }
  if (options.scheme == TrainingScheme::t5) T5.setZero(options.heads, 2 * options.positions - 1);
  for (LayerParameters& layer : layers) {
    layer.g1.setZero(1, gains);
    layer.W_qkv.setZero(d, 3 * d);
    layer.W_o.setZero(d, d);
  }
  gf.setZero(1, gains);
  W_u.setZero(d, options.classes);
}

std::vector<NamedParameter> named_parameters(const ModelOptions& options, Parameters& parameters) {
  std::vector<NamedParameter> all;
  const auto add = [&all](const std::string& name, Matrix<float>& values, double spread, std::uint32_t stream,
                          bool trained = true) {
    if (values.size() > 0) all.push_back({name, &values, trained, true, spread, stream});
  };
  const auto add_gain = [&all](const std::string& name, Matrix<float>& values) {
    if (values.size() > 0) all.push_back({name, &values, true, false, 0, 0});
  };
  const double d = options.stream();
  add("E", parameters.E, options.sigma_tokens, 0, options.trains_tokens());
  add("P", parameters.P, options.sigma_positions, 1, options.trains_positions());
  add("W_f", parameters.W_f, 1 / std::sqrt(d), 2);
  const double spread = std::min(1.0, 0.5 / std::min(1.0, 2 * options.sigma_positions)) /
                        std::sqrt(options.position_channels());
  add("U_q", parameters.U_q, spread, 2);
  add("U_k", parameters.U_k, spread, 3);
  add("T5", parameters.T5, 0, 0);
  for (int l = 0; l < options.layers; ++l) {
    const std::string layer = "layers." + std::to_string(l) + ".";
    const std::uint32_t stream = 5 + 4 * l;
    add_gain(layer + "g1", parameters.layers[l].g1);
    add(layer + "W_qkv", parameters.layers[l].W_qkv, 1 / std::sqrt(d), stream);
    // Weights that write into the stream begin smaller.
    add(layer + "W_o", parameters.layers[l].W_o, 1 / std::sqrt(2 * d * options.layers), stream + 1);
  }
  add_gain("gf", parameters.gf);
  add("W_u", parameters.W_u, 0.02, 4);
  return all;
}

Parameters initial_parameters(const ModelOptions& options, std::uint32_t seed) {
  Parameters parameters(options);
  for (const auto& [name, values, trained, decays, spread, stream] : named_parameters(options, parameters)) {
    const int rows = static_cast<int>(values->rows()), columns = static_cast<int>(values->cols());
    if (!decays)
      values->setOnes();
    else if (name == "P" && options.table == Table::sinusoid)
      *values = (options.sigma_positions * std::numbers::sqrt2 *
                 sinusoidal({.positions = rows, .d_model = columns}))
                    .cast<float>();
    else if (spread > 0)
      *values = random_normal<float>(rows, columns, spread, seed, stream);
  }
  return parameters;
}

}  // namespace superpose
