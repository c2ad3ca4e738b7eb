// Sinusoids and the named tables.
#include "encodings/encodings.h"
#include "bound.h"

namespace superpose {

SUPERPOSE_MEMBERS(BertSummands, position, token_type, sum);

EMSCRIPTEN_BINDINGS(encodings) {
  bind<&sinusoidal>("sinusoidal");
  bind<&sinusoidal_frequencies>("sinusoidalFrequencies");
  bind<&bert_embeddings>("bertEmbeddings");
}

}  // namespace superpose
