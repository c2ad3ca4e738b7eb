// The entry points that libFuzzer calls, under AddressSanitizer and UndefinedBehaviorSanitizer: `npm run
// fuzz`. With SUPERPOSE_FUZZ set, all inputs are of that kind; SUPERPOSE_FUZZ=list prints every kind and its
// share of the inputs.
#include <cstdlib>
#include <cstring>

#include "fuzz/targets.h"

using superpose::fuzz_kinds;

namespace {

int chosen = -1;

}  // namespace

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

int LLVMFuzzerInitialize(int*, char***) {
  const char* wanted = std::getenv("SUPERPOSE_FUZZ");
  if (!wanted) return 0;
  for (std::size_t kind = 0; kind < std::size(fuzz_kinds); ++kind) {
    if (std::strcmp(wanted, "list") == 0)
      std::printf("%s %d\n", fuzz_kinds[kind].name, fuzz_kinds[kind].share);
    if (std::strcmp(wanted, fuzz_kinds[kind].name) == 0) chosen = static_cast<int>(kind);
  }
  if (chosen < 0) std::exit(std::strcmp(wanted, "list") == 0 ? 0 : 2);
  return 0;
}

// Like the default mutator, but it keeps the first byte, which chooses the kind.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int) {
  size = LLVMFuzzerMutate(data, size, most);
  if (chosen >= 0 && size > 0) data[0] = static_cast<std::uint8_t>(chosen);
  return size;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (chosen < 0 || (size > 0 && data[0] == chosen)) superpose::fuzz_core(data, size);
  return 0;
}

}  // extern "C"
