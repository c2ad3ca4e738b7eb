// Random tables and summaries of numbers.
#include "convert.h"
#include "numeric/random.h"
#include "numeric/summary.h"

namespace superpose {
namespace {

Typed<"Float64Array"> random_normal_out(int rows, int columns, double standard_deviation, std::uint32_t seed,
                                        std::uint32_t stream) {
  return copy_out(random_normal<double>(rows, columns, standard_deviation, seed, stream));
}

Typed<"Float64Array"> random_uniform_out(int rows, int columns, std::uint32_t seed, std::uint32_t stream) {
  return copy_out(random_uniform<double>(rows, columns, seed, stream));
}

Typed<"Summary"> summary_out(const Typed<"List">& values) {
  const Summary found = summary(vector_in<double>(values));
  return Value::object()
      .set("mean", found.mean)
      .set("meanSize", found.mean_size)
      .set("least", found.least)
      .set("median", found.median)
      .set("largest", found.largest)
      .set("largestSize", found.largest_size)
      .set("standardDeviation", found.standard_deviation);
}

double largest_difference_out(const Typed<"List">& a, const Typed<"List">& b) {
  return largest_difference(vector_in<double>(a), vector_in<double>(b));
}

Typed<"Float64Array"> difference_out(const Typed<"List">& a, const Typed<"List">& b) {
  return copy_out(difference(vector_in<double>(a), vector_in<double>(b)));
}

EMSCRIPTEN_BINDINGS(numeric) {
  using emscripten::function;
  function("randomNormal", &random_normal_out);
  function("randomUniform", &random_uniform_out);
  function("summary", &summary_out);
  function("largestDifference", &largest_difference_out);
  function("difference", &difference_out);
}

}  // namespace
}  // namespace superpose
