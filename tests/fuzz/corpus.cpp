// Runs the inputs that libFuzzer has kept in WebAssembly, as users do. `npm run fuzz -- corpus`.
#include <filesystem>
#include <fstream>

#include "fuzz/targets.h"

int main(int count, char** folders) {
  int inputs = 0;
  for (int k = 1; k < count; ++k) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folders[k])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      superpose::fuzz_core(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::printf("%d inputs\n", inputs);
  return inputs == 0;
}
