#include "training/parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/sinusoidal.h"
#include "numeric/random.h"

namespace superpose {

ParameterLayout::ParameterLayout(const ModelOptions& options) {
  const int d = options.d_model(), d_position = options.d_position();
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
  if (options.scheme == TrainingScheme::project) add("W_f", 2 * d, d, 1 / std::sqrt(d), 2);
  if (options.scheme == TrainingScheme::untied) {
    const double spread =
        std::min(1.0, 0.5 / std::min(1.0, 2 * options.sigma_positions)) / std::sqrt(d_position);
    add("U_q", d_position, d, spread, 2);
    add("U_k", d_position, d, spread, 3);
  }
  if (options.scheme == TrainingScheme::t5) add("T5", options.heads, 2 * options.rows - 1, 0, 0);
  for (int l = 0; l < options.layers; ++l) {
    const std::string layer = "layers." + std::to_string(l) + ".";
    const std::uint32_t stream = 5 + 4 * l;
    add_gain(layer + "g1");
    add(layer + "W_qkv", d, 3 * d, 1 / std::sqrt(d), stream);
    // What writes into the stream begins smaller.
    add(layer + "W_o", d, d, 1 / std::sqrt(2.0 * d * options.layers), stream + 1);
  }
  add_gain("gf");
  add("W_u", d, options.classes, 0.02, 4);
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
