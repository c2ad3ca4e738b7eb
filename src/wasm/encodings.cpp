// Sinusoids.
#include "bound.h"
#include "encodings/sinusoidal.h"

namespace superpose {

EMSCRIPTEN_BINDINGS(encodings) {
  bind<&sinusoidal>("sinusoidal");
  bind<&sinusoidal_frequencies>("sinusoidalFrequencies");
}

}  // namespace superpose
