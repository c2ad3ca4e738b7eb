// The oracles of tests/reference, for native tests.
#pragma once

#include <rapidjson/document.h>

#include <string>

#include "numeric/matrix.h"

namespace superpose {

// A file of that folder; null if it cannot be read.
rapidjson::Document reference(const std::string& name);

// A list of rows.
inline Matrix<double> matrix_of(const rapidjson::Value& rows) {
  Matrix<double> matrix(rows.Size(), rows.Empty() ? 0 : rows[0].Size());
  for (rapidjson::SizeType i = 0; i < rows.Size(); ++i) {
    for (rapidjson::SizeType c = 0; c < rows[i].Size(); ++c) matrix(i, c) = rows[i][c].GetDouble();
  }
  return matrix;
}

}  // namespace superpose
