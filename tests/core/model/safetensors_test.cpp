#include "model/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace superpose {
namespace {

std::vector<std::uint8_t> file_of(const std::string& header, std::size_t data_bytes,
                                  std::uint64_t claimed_length) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(claimed_length >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (std::size_t i = 0; i < data_bytes; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  return bytes;
}

SafetensorsHeader parse(const std::string& header, std::size_t data_bytes) {
  const auto bytes = file_of(header, data_bytes, header.size());
  return parse_safetensors_header(bytes.data(), bytes.size(), bytes.size());
}

const char* const kSound =
    R"({"__metadata__":{"format":"pt"},"ids":{"dtype":"I64","shape":[1,2],"data_offsets":[8,24]},)"
    R"("w":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},)"
    R"("odd":{"dtype":"E2M1","shape":[3],"data_offsets":[24,25]}})";

TEST(Safetensors, ListsEveryTensorInTheOrderOfItsData) {
  const auto header = parse(kSound, 25);
  ASSERT_EQ(header.error, "");
  ASSERT_EQ(header.entries.size(), 3u);
  const std::uint64_t start = 8 + std::strlen(kSound);
  EXPECT_EQ(header.entries[0].name, "w");
  EXPECT_EQ(header.entries[0].shape, (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(header.entries[0].begin, start);
  EXPECT_EQ(header.entries[0].end, start + 8);
  EXPECT_EQ(header.entries[1].dtype, "I64");
  EXPECT_EQ(header.entries[2].dtype, "E2M1");
}

TEST(Safetensors, HeaderAloneIsEnoughOfALargeFile) {
  const auto bytes = file_of(kSound, 0, std::strlen(kSound));
  EXPECT_EQ(parse_safetensors_header(bytes.data(), bytes.size(), bytes.size() + 25).error, "");
}

TEST(Safetensors, EmptyFilesOfTensorsAreSound) {
  EXPECT_EQ(parse("{}", 0).error, "");
  EXPECT_EQ(parse(R"({"a":{"dtype":"F32","shape":[0,9],"data_offsets":[0,0]}}  )", 0).error, "");
}

// Each line lies in one way; none may crash or be believed.
TEST(Safetensors, RefusesWhatIsNotSound) {
  const auto tensor = [](const std::string& fields) { return R"({"a":{)" + fields + "}}"; };
  const std::string dtype = R"("dtype":"F32",)", shape = R"("shape":[2],)",
                    offsets = R"("data_offsets":[0,8])";
  const std::string hostile[] = {
      "",
      "[]",
      "5",
      "null",
      "{",
      R"({"a":)",
      R"({"a":1})",
      R"({"a":[]})",
      "\xff\xfe",
      "{} {}",
      tensor(""),
      tensor(dtype + shape.substr(0, shape.size() - 1)),
      tensor(dtype + offsets),
      tensor(shape + offsets),
      tensor(dtype + dtype + shape + offsets),
      tensor(dtype + shape + R"("extra":1,)" + offsets),
      tensor(R"("dtype":7,)" + shape + offsets),
      tensor(R"("dtype":["F32"],)" + shape + offsets),
      tensor(dtype + R"("shape":2,)" + offsets),
      tensor(dtype + R"("shape":[2.0],)" + offsets),
      tensor(dtype + R"("shape":[-2],)" + offsets),
      tensor(dtype + R"("shape":[[2]],)" + offsets),
      tensor(dtype + R"("shape":["2"],)" + offsets),
      tensor(dtype + R"("shape":[3],)" + offsets),
      tensor(dtype + R"("shape":[4294967296,4294967296],)" + offsets),
      tensor(dtype + R"("shape":[18446744073709551615,2],)" + offsets),
      tensor(dtype + R"("shape":[18446744073709551616],)" + offsets),
      tensor(dtype + shape + R"("data_offsets":[8,0])"),
      tensor(dtype + shape + R"("data_offsets":[0,9])"),
      tensor(dtype + shape + R"("data_offsets":[0,4,8])"),
      tensor(dtype + shape + R"("data_offsets":[0,18446744073709551615])"),
      tensor(dtype + shape + R"("data_offsets":{"begin":0})"),
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[3],"data_offsets":[5,8]}})",
      R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
      R"({"__metadata__":{"a":1},"b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
      R"({"__metadata__":"x","b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
      std::string(200'000, '['),
      R"({"a":)" + std::string(200'000, '{')};
  for (const std::string& header : hostile) {
    const auto result = parse(header, 8);
    EXPECT_NE(result.error, "") << header.substr(0, 120);
    EXPECT_TRUE(result.entries.empty());
    EXPECT_LT(result.error.size(), 300u);
  }
}

TEST(Safetensors, RefusesATruncatedOrLyingLength) {
  const std::uint8_t nothing[1] = {0};
  EXPECT_NE(parse_safetensors_header(nothing, 0, 0).error, "");
  const auto whole = file_of(kSound, 25, std::strlen(kSound));
  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + kept);
    EXPECT_NE(parse_safetensors_header(cut.data(), cut.size(), cut.size()).error, "") << kept;
  }
  for (std::uint64_t claim : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0},
                              ~std::uint64_t{0} - 7, std::uint64_t{100'000'001}}) {
    const auto lying = file_of(kSound, 25, claim);
    EXPECT_NE(parse_safetensors_header(lying.data(), lying.size(), lying.size()).error, "") << claim;
    // A file size that agrees with the lie must not lead the reader past its buffer.
    EXPECT_NE(parse_safetensors_header(lying.data(), lying.size(), ~std::uint64_t{0}).error, "");
  }
}

// Every byte of a sound header changed at random: the parser may accept or refuse, but what it
// accepts lies inside the file, and AddressSanitizer watches the reads.
TEST(Safetensors, MutatedHeadersNeverPointOutsideTheFile) {
  std::mt19937 engine(5);
  const auto sound = file_of(kSound, 25, std::strlen(kSound));
  for (int trial = 0; trial < 20'000; ++trial) {
    auto bytes = sound;
    for (int change = engine() % 4; change >= 0; --change) {
      bytes[engine() % bytes.size()] = static_cast<std::uint8_t>(engine());
    }
    const auto header = parse_safetensors_header(bytes.data(), bytes.size(), bytes.size());
    for (const auto& entry : header.entries) {
      ASSERT_LE(entry.begin, entry.end);
      ASSERT_LE(entry.end, bytes.size());
    }
  }
}

TEST(Safetensors, DecodesEachFloatAtAnyAlignment) {
  // 1.5, -2, infinity and the smallest subnormal of each type, behind one byte that misaligns them.
  const std::uint8_t f16[] = {0, 0x00, 0x3e, 0x00, 0xc0, 0x00, 0x7c, 0x01, 0x00};
  const std::uint8_t bf16[] = {0, 0xc0, 0x3f, 0x00, 0xc0, 0x80, 0x7f, 0x01, 0x00};
  const std::uint8_t f32[] = {0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0x80, 0x7f, 1, 0, 0, 0};
  const auto check = [](const std::string& dtype, const std::uint8_t* bytes, double smallest) {
    double out[4];
    decode_safetensors(dtype, bytes + 1, 4, out);
    EXPECT_EQ(out[0], 1.5) << dtype;
    EXPECT_EQ(out[1], -2) << dtype;
    EXPECT_TRUE(std::isinf(out[2])) << dtype;
    EXPECT_EQ(out[3], smallest) << dtype;
  };
  check("F16", f16, 0x1p-24);
  check("BF16", bf16, 0x1p-133);
  check("F32", f32, 0x1p-149);
  EXPECT_EQ(safetensors_float_width("F32"), 4u);
  EXPECT_EQ(safetensors_float_width("BF16"), 2u);
  EXPECT_EQ(safetensors_float_width("I64"), 0u);
}

}  // namespace
}  // namespace superpose
