#include "training/parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/sinusoidal.h"
#include "numeric/random.h"

namespace superpose {

ParameterLayout::ParameterLayout(const ModelOptions& options) {
  const int d = options.d_model(), d_position = options.d_position(), d_mlp = options.d_mlp();
  const auto add = [this](const std::string& name, int rows, int columns, double spread, std::uint32_t stream,
                          bool trained = true, bool decays = true) {
    all_.push_back({name, rows, columns, size_, trained, decays, spread, stream});
    size_ += (all_.back().size() + kAlignment - 1) / kAlignment * kAlignment;
  };
  const auto add_gain = [&](const std::string& name) {
    if (options.layer_norm) add(name, 1, d, 0, 0, true, false);
  };

  add("E", options.vocabulary, options.d_token(), options.sigma_tokens, 0, options.trains_tokens());
  if (options.has_table()) {
    add("P", options.rows, d_position, options.sigma_positions, 1, options.trains_positions());
  }
  const auto fusing = [&](const std::string& name, int rows, int columns, std::uint32_t stream) {
    add(name, rows, columns, 1 / std::sqrt(rows), stream);
  };
  switch (options.scheme) {
    case TrainingScheme::project:
      add("W_f", 2 * d, d, 1 / std::sqrt(d), 2);
      break;
    case TrainingScheme::gate:
      fusing("W_g", 2 * d, d, 2);
      break;
    case TrainingScheme::row_gate:
      fusing("W_g", 2 * d, 1, 2);
      break;
    case TrainingScheme::film:
      fusing("W_gamma", d, d, 2);
      fusing("W_beta", d, d, 3);
      break;
    default:
      break;
  }
  if (options.scheme == TrainingScheme::untied) {
    const double spread =
        std::min(1.0, 0.5 / std::min(1.0, 2 * options.sigma_positions)) / std::sqrt(d_position);
    add("U_q", d_position, d, spread, 2);
    add("U_k", d_position, d, spread, 3);
  }
  if (options.scheme == TrainingScheme::t5) add("T5", options.heads, 2 * options.rows - 1, 0, 0);
  // The spread of weights that write into the stream; 2 because a layer may have two of them.
  const auto writing = [&](int in) { return 1 / std::sqrt(2.0 * in * options.layers); };
  for (int l = 0; l < options.layers; ++l) {
    const std::string layer = "layers." + std::to_string(l) + ".";
    const std::uint32_t stream = 5 + 4 * l;
    add_gain(layer + "g1");
    add(layer + "W_qkv", d, 3 * d, 1 / std::sqrt(d), stream);
    add(layer + "W_o", d, d, writing(d), stream + 1);
    if (!options.mlp) continue;
    add_gain(layer + "g2");
    add(layer + "W_1", d, d_mlp, 1 / std::sqrt(d), stream + 2);
    add(layer + "W_2", d_mlp, d, writing(d_mlp), stream + 3);
  }
  add_gain("gf");
  if (!options.tied) add("W_u", d, options.classes, 0.02, 4);
}

const Parameter* ParameterLayout::find(const std::string& name) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const Parameter& p) { return p.name == name; });
  return found == all_.end() ? nullptr : &*found;
}

template <typename Scalar>
void initialize(const ModelOptions& options, const ParameterLayout& layout, std::uint32_t seed,
                Scalar* parameters) {
  std::fill(parameters, parameters + layout.size(), Scalar(0));
  for (const Parameter& parameter : layout.all()) {
    MatrixMap<Scalar> values(parameters + parameter.offset, parameter.rows, parameter.columns);
    if (!parameter.decays) {
      values.setOnes();
    } else if (parameter.name == "P" && options.table == Table::sinusoid) {
      values = (options.sigma_positions * std::numbers::sqrt2 *
                sinusoidal({.positions = parameter.rows, .d_model = parameter.columns}))
                   .template cast<Scalar>();
    } else if (parameter.spread > 0) {
      values =
          random_normal<Scalar>(parameter.rows, parameter.columns, parameter.spread, seed, parameter.stream);
    }
  }
}

template void initialize(const ModelOptions&, const ParameterLayout&, std::uint32_t, float*);
template void initialize(const ModelOptions&, const ParameterLayout&, std::uint32_t, double*);

}  // namespace superpose
