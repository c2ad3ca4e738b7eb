// The limit of training: the same kernels in native code. Reads lines: `shape n d heads sequences batches
// steps FILE` takes parameters and batches from the file and prints the losses of that many steps; `round`
// prints the milliseconds of a step, and the number of allocations in it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <optional>
#include <string>

#include "training/trainer.h"

namespace {
long allocations = 0;
}

// Counts every allocation of this program.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const held = std::malloc(size ? size : 1)) return held;
  std::abort();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto align = static_cast<std::size_t>(alignment);
  if (void* const held = std::aligned_alloc(align, (size + align - 1) / align * align)) return held;
  std::abort();
}
void operator delete(void* held) noexcept { std::free(held); }
void operator delete(void* held, std::size_t) noexcept { std::free(held); }
void operator delete(void* held, std::align_val_t) noexcept { std::free(held); }
void operator delete(void* held, std::size_t, std::align_val_t) noexcept { std::free(held); }

using namespace superpose;

namespace {

template <typename Element>
void read(std::ifstream& file, Element* to, std::size_t count) {
  file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(Element)));
}

struct Run {
  Trainer<float> trainer;
  int n, sequences;
  std::vector<int> ids;
  int next = 0;

  double step() {
    const int places = sequences * n, batches = static_cast<int>(ids.size()) / (2 * places);
    const int* const tokens = ids.data() + 2 * (next++ % batches) * places;
    return trainer.step({sequences, n, tokens, tokens + places});
  }
};

}  // namespace

int main() {
  std::optional<Run> run;
  std::string order;
  while (std::cin >> order) {
    if (order == "shape") {
      int n, d, heads, sequences, batches, steps;
      std::string path;
      std::cin >> n >> d >> heads >> sequences >> batches >> steps >> path;
      ModelOptions options;
      options.vocabulary = options.classes = options.rows = n;
      options.width = d;
      options.heads = heads;
      run.emplace(Run{Trainer<float>(options, {}, 1), n, sequences, {}});
      run->ids.resize(2 * static_cast<std::size_t>(batches) * sequences * n);
      std::ifstream file(path, std::ios::binary);
      for (const Parameter& parameter : run->trainer.layout().all())
        read(file, run->trainer.parameters() + parameter.offset, parameter.size());
      read(file, run->ids.data(), run->ids.size());
      for (int s = 0; s < steps; ++s) std::printf("%.9g ", run->step());
      std::puts(file ? "" : "failed");
    } else {
      using Clock = std::chrono::steady_clock;
      const long before = allocations;
      const auto start = Clock::now();
      int calls = 0;
      double passed = 0;
      do {
        run->step();
        ++calls;
        passed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      } while (passed < 3);
      std::printf("%g %ld\n", passed / calls, allocations - before);
    }
    std::fflush(stdout);
  }
}
