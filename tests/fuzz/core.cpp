// The entry point that libFuzzer calls, under AddressSanitizer and UndefinedBehaviorSanitizer: `npm run
// fuzz`.
#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  superpose::fuzz_core(data, size);
  return 0;
}
