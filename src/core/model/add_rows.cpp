#include "model/add_rows.h"

#include "numeric/lanes.h"

namespace superpose {

using Eigen::Index;

void add_rows(const Matrix<float>& added, const Vector<float>& bias, Matrix<float>& x) {
  using S = Simd<float>;
  const Index d = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    float* const row = x.data() + i * d;
    const auto add = [&](const float* from) {
      along<float>(
          d, [&](Index c) { S::store(row + c, S::load(row + c) + S::load(from + c)); },
          [&](Index c) { row[c] += from[c]; });
    };
    if (added.size()) add(added.data() + i * d);
    if (bias.size()) add(bias.data());
  }
}

}  // namespace superpose
