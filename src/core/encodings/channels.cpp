#include "encodings/channels.h"

#include "numeric/centred.h"
#include "numeric/orthogonal.h"

namespace superpose {

Vector<double> channel_ranges(const Matrix<double>& table) {
  if (table.rows() == 0) return Vector<double>::Zero(table.cols());
  return table.colwise().maxCoeff() - table.colwise().minCoeff();
}

Ranks ranks(const Matrix<double>& table, bool centred, double share) {
  Ranks found{singular_values(centred ? column_centred(table) : table)};
  const Vector<double>& values = found.singular_values;
  if (values.size() == 0) return found;
  const double tolerance = rank_tolerance(table);
  for (const double value : values) found.numerical += value > tolerance * values[0];
  if (values[0] == 0) return found;
  // s_k^2 / s_1^2, so that no square overflows.
  const Vector<double> squares = (values / values[0]).cwiseAbs2();
  found.stable = squares.sum();
  double held = 0;
  while (found.energy < squares.size()) {
    held += squares[found.energy++];
    if (held >= share * found.stable) break;
  }
  found.participation_ratio = found.stable * found.stable / squares.squaredNorm();
  return found;
}

}  // namespace superpose
