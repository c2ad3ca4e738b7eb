#include "encodings/channels.h"

#include "numeric/centred.h"
#include "numeric/orthogonal.h"

namespace superpose {

Vector<double> channel_ranges(const Matrix<double>& table) {
  if (table.rows() == 0) return Vector<double>::Zero(table.cols());
  return table.colwise().maxCoeff() - table.colwise().minCoeff();
}

Ranks ranks(const Matrix<double>& table, bool centred, double share) {
  Ranks result{singular_values(centred ? column_centred(table) : table)};
  const Vector<double>& values = result.singular_values;
  if (values.size() == 0) return result;
  const double tolerance = rank_tolerance(table);
  for (const double value : values) result.numerical += value > tolerance * values[0];
  if (values[0] == 0) return result;
  // s_k^2 / s_1^2, so that no square overflows.
  const Vector<double> squares = (values / values[0]).cwiseAbs2();
  result.stable = squares.sum();
  double energy = 0;
  while (result.energy < squares.size()) {
    energy += squares[result.energy++];
    if (energy >= share * result.stable) break;
  }
  result.participation_ratio = result.stable * result.stable / squares.squaredNorm();
  return result;
}

}  // namespace superpose
