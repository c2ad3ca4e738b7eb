// Sinusoids and the named tables.
#include <vector>

#include "convert.h"
#include "encodings/encodings.h"
#include "encodings/sinusoidal.h"
#include "sinusoid_in.h"

namespace superpose {
namespace {

template <typename Scalar>
Typed<"Floats"> sinusoidal_out(int positions, int d_model, int layout, int spacing, double base,
                               double first_position) {
  return copy_out(sinusoidal<Scalar>(encoding_of(positions, d_model, layout, spacing, base, first_position)));
}

Typed<"Float64Array"> sinusoidal_frequencies_out(int d_model, int layout, int spacing, double base) {
  const std::vector<double> frequencies =
      sinusoidal_frequencies(encoding_of(0, d_model, layout, spacing, base, 0));
  return copy_out(frequencies.data(), frequencies.size());
}

template <typename Scalar>
Typed<"Float64Array"> fairseq_sinusoidal_out(int positions, int d_model, int padding_idx) {
  return copy_out(fairseq_sinusoidal<Scalar>(positions, d_model, padding_idx));
}

template <typename Scalar>
Typed<"{ position: Float64Array; token_type: Float64Array; sum: Float64Array }"> bert_embeddings_out(
    const Typed<"Table">& token, const Typed<"Table">& position, const Typed<"Table">& token_type,
    const Typed<"Integers">& ids, double position_scale) {
  const BertSummands<Scalar> summands = bert_embeddings<Scalar>(
      matrix_in<Scalar>(token), matrix_in<Scalar>(position), matrix_in<Scalar>(token_type), integers_in(ids),
      static_cast<Scalar>(position_scale));
  Value result = Value::object();
  result.set("position", copy_out(summands.position));
  result.set("token_type", copy_out(summands.token_type));
  result.set("sum", copy_out(summands.sum));
  return result;
}

EMSCRIPTEN_BINDINGS(encodings) {
  using emscripten::function;
  function("sinusoidalF32", &sinusoidal_out<float>);
  function("sinusoidalF64", &sinusoidal_out<double>);
  function("sinusoidalFrequencies", &sinusoidal_frequencies_out);
  function("fairseqSinusoidal", &fairseq_sinusoidal_out<double>);
  function("bertEmbeddings", &bert_embeddings_out<double>);
}

}  // namespace
}  // namespace superpose
