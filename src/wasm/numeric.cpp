// Bindings of random tables, summaries of numbers, and lengths and cosines of rows.
#include "bound.h"
#include "geometry/directions.h"
#include "numeric/random.h"
#include "numeric/summary.h"

namespace superpose {

SUPERPOSE_MEMBERS(Summary, mean, mean_size, least, median, largest, largest_size, standard_deviation);

EMSCRIPTEN_BINDINGS(numeric) {
  bind<&random_normal<double>>("randomNormal");
  bind<&random_uniform<double>>("randomUniform");
  bind<&summary>("summary");
  bind<&largest_difference>("largestDifference");
  bind<&difference>("difference");
  bind<&list_sum>("sum");
  bind<&row_lengths>("rowLengths");
  bind<&row_lengths_bytes>("rowLengthsBytes");
  bind<&row_cosines>("rowCosines");
  bind<&row_cosines_bytes>("rowCosinesBytes");
}

}  // namespace superpose
