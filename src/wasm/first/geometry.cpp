// Lengths and cosines of rows.
#include "convert.h"
#include "geometry/directions.h"

namespace superpose {
namespace {

Value row_lengths_out(const Value& table) { return copy_out(row_lengths(matrix_in<double>(table))); }

Value row_cosines_out(const Value& a, const Value& b) {
  return copy_out(row_cosines(matrix_in<double>(a), matrix_in<double>(b)));
}

EMSCRIPTEN_BINDINGS(first_geometry) {
  using emscripten::function;
  function("rowLengths", &row_lengths_out);
  function("rowCosines", &row_cosines_out);
}

}  // namespace
}  // namespace superpose
