// Lengths and cosines of rows.
#include "geometry/directions.h"
#include "convert.h"

namespace superpose {
namespace {

Typed<"Float64Array"> row_lengths_out(const Typed<"Table">& table) {
  return copy_out(row_lengths(matrix_in<double>(table)));
}

Typed<"Float64Array"> row_cosines_out(const Typed<"Table">& a, const Typed<"Table">& b) {
  return copy_out(row_cosines(matrix_in<double>(a), matrix_in<double>(b)));
}

EMSCRIPTEN_BINDINGS(directions) {
  using emscripten::function;
  function("rowLengths", &row_lengths_out);
  function("rowCosines", &row_cosines_out);
}

}  // namespace
}  // namespace superpose
