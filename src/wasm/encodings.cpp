// Sinusoids and the named tables.
#include <vector>

#include "convert.h"
#include "encodings/encodings.h"
#include "encodings/sinusoidal.h"
#include "sinusoid_in.h"

namespace superpose {
namespace {

Typed<"Float64Array"> sinusoidal_out(int positions, int d_model, int layout, int spacing, double base,
                                     double first_position) {
  return copy_out(sinusoidal(encoding_of(positions, d_model, layout, spacing, base, first_position)));
}

Typed<"Float64Array"> sinusoidal_frequencies_out(int d_model, int layout, int spacing, double base) {
  return copy_out(sinusoidal_frequencies(encoding_of(0, d_model, layout, spacing, base, 0)));
}

Typed<"{ position: Float64Array; token_type: Float64Array; sum: Float64Array }"> bert_embeddings_out(
    const Typed<"Table">& token, const Typed<"Table">& position, const Typed<"Table">& token_type,
    const Typed<"Integers">& ids, double position_scale) {
  const BertSummands summands =
      bert_embeddings(matrix_in<double>(token), matrix_in<double>(position), matrix_in<double>(token_type),
                      integers_in(ids), position_scale);
  return Value::object()
      .set("position", copy_out(summands.position))
      .set("token_type", copy_out(summands.token_type))
      .set("sum", copy_out(summands.sum));
}

EMSCRIPTEN_BINDINGS(encodings) {
  using emscripten::function;
  function("sinusoidal", &sinusoidal_out);
  function("sinusoidalFrequencies", &sinusoidal_frequencies_out);
  function("bertEmbeddings", &bert_embeddings_out);
}

}  // namespace
}  // namespace superpose
