// All numbers of a model in one list, with names:
//
//   E [V, d_token], P [L, d_position]; W_f [2D, D]; U_q and U_k [d_position, D], T5 [H, 2L - 1] with offset j - i in
//   column j - i + L - 1; of layer l: layers.l.g1 [1, D], layers.l.W_qkv [D, 3D] (queries, keys and values, each with
//   head h in the columns from h d_h), layers.l.W_o [D, D]; gf [1, D], W_u [D, V_out].
//
// D is the stream's width. The list holds only what a model has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numeric/matrix.h"
#include "training/options.h"

namespace superpose {

struct Parameter {
  std::string name;
  int rows = 0, columns = 0;
  Eigen::Index offset = 0;  // in the list; a multiple of kAlignment
  bool trained = true;
  bool decays = true;        // all except gains
  double spread = 0;         // drawn from N(0, spread^2); gains are 1, a sinusoid is not drawn
  std::uint32_t stream = 0;  // of the seed; the same in every model that has the parameter

  Eigen::Index size() const { return static_cast<Eigen::Index>(rows) * columns; }
};

class ParameterLayout {
 public:
  static constexpr Eigen::Index kAlignment = 4;

  explicit ParameterLayout(const ModelOptions& options);

  const std::vector<Parameter>& all() const { return all_; }
  // Entries of the whole list, including the zeros that align its parts.
  Eigen::Index size() const { return size_; }
  // Null when no parameter has this name.
  const Parameter* find(const std::string& name) const;

 private:
  std::vector<Parameter> all_;
  Eigen::Index size_ = 0;
};

// A list of the layout's size: tables and weights drawn, U scaled to keep the first scores about as large as
// those of content, gains 1, T5 0. With equal seeds, models of any scheme draw the same numbers for what they
// share.
template <typename Scalar>
void initialize(const ModelOptions& options, const ParameterLayout& layout, std::uint32_t seed,
                Scalar* parameters);

}  // namespace superpose
