// Bindings of the sinusoidal encodings.
#include "sinusoidal_options.h"

namespace superpose {

EMSCRIPTEN_BINDINGS(encodings) {
  bind<&sinusoidal>("sinusoidal");
  bind<&sinusoidal_frequencies>("sinusoidalFrequencies");
}

}  // namespace superpose
