// Random tables and summaries of numbers.
#include "convert.h"
#include "numeric/random.h"
#include "numeric/summary.h"

namespace superpose {
namespace {

template <typename Scalar>
Typed<"Floats"> random_normal_out(int rows, int columns, double standard_deviation, std::uint32_t seed,
                                  std::uint32_t stream) {
  return copy_out(random_normal<Scalar>(rows, columns, standard_deviation, seed, stream));
}

template <typename Scalar>
Typed<"Floats"> random_uniform_out(int rows, int columns, std::uint32_t seed, std::uint32_t stream) {
  return copy_out(random_uniform<Scalar>(rows, columns, seed, stream));
}

Typed<"Summary"> summary_out(const Typed<"List">& values) {
  const Summary found = summary(vector_in<double>(values));
  Value result = Value::object();
  result.set("mean", found.mean);
  result.set("meanSize", found.mean_size);
  result.set("least", found.least);
  result.set("median", found.median);
  result.set("largest", found.largest);
  result.set("largestSize", found.largest_size);
  result.set("standardDeviation", found.standard_deviation);
  return result;
}

double largest_difference_out(const Typed<"List">& a, const Typed<"List">& b) {
  return largest_difference(vector_in<double>(a), vector_in<double>(b));
}

EMSCRIPTEN_BINDINGS(numeric) {
  using emscripten::function;
  function("randomNormalF32", &random_normal_out<float>);
  function("randomNormalF64", &random_normal_out<double>);
  function("randomUniformF32", &random_uniform_out<float>);
  function("randomUniformF64", &random_uniform_out<double>);
  function("summary", &summary_out);
  function("largestDifference", &largest_difference_out);
}

}  // namespace
}  // namespace superpose
