// Random tables, summaries of numbers, lengths and cosines of rows.
#include "bound.h"
#include "geometry/directions.h"
#include "numeric/random.h"
#include "numeric/summary.h"

namespace superpose {

SUPERPOSE_MEMBERS(Summary, mean, meanSize, least, median, largest, largestSize, standardDeviation);

EMSCRIPTEN_BINDINGS(numeric) {
  bind<&random_normal<double>>("randomNormal");
  bind<&random_uniform<double>>("randomUniform");
  bind<&summary>("summary");
  bind<&largest_difference>("largestDifference");
  bind<&difference>("difference");
  bind<&list_sum>("sum");
  bind<&row_lengths>("rowLengths");
  bind<&row_cosines>("rowCosines");
}

}  // namespace superpose
