// The short form of `npm run fuzz`: inputs that fuzzing has found, and a few thousand drawn from a seed.
#include "fuzz/targets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace superpose {
namespace {

TEST(Fuzz, WhatWasFoundOnceStaysMended) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/core/fuzz/corpus")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    fuzz_core(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(Fuzz, WhateverTheBytes) {
  std::mt19937_64 draw(1);
  std::vector<std::uint8_t> bytes;
  for (int input = 0; input < 4000; ++input) {
    bytes.resize(draw() % 400);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(draw());
    fuzz_core(bytes.data(), bytes.size());
  }
}

}  // namespace
}  // namespace superpose
