// Adds rows in place, with vector instructions.
#pragma once

#include "numeric/matrix.h"

namespace superpose {

// x += added + bias for rows [n, d] and a bias [d]; either may be empty.
void add_rows(const Matrix<float>& added, const Vector<float>& bias, Matrix<float>& x);

}  // namespace superpose
