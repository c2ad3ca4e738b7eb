// Reading safetensors files: the header, and rows of floating-point tensors.
//
// A file is an unsigned little-endian 64-bit length, a JSON object of that many bytes, and the data
// that the object's offsets point into (format of the safetensors project). Nothing in a header is
// believed before it is checked: a truncated, lying or hostile one is an error, never a read outside
// the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace superpose {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as written: "F32", "F16", "BF16", "I64", ...
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // byte offsets from the start of the file; begin <= end <= file size
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the file's order of data
  std::string error;                      // a sentence, when the header is not sound; then no entries
};

// bytes holds the first `available` bytes of a file of `file_size` bytes, at least its header.
// Refused: a length beyond the file, beyond `available` or above 100 MB (the format's own limit);
// anything that is not the JSON of such a header; a name twice; offsets outside the data, in the
// wrong order, overlapping or with holes; a shape whose product overflows or disagrees with the
// bytes. A dtype that is not known is listed like any other: only its shape cannot be checked.
SafetensorsHeader parse_safetensors_header(const std::uint8_t* bytes, std::size_t available,
                                           std::uint64_t file_size);

// Bytes per value of the dtypes that can be decoded (F32, F16, BF16); 0 for any other.
std::size_t safetensors_float_width(const std::string& dtype);

// Decodes count values, little-endian and at any alignment, from bytes to out. The dtype is one that
// can be decoded. Infinities and NaNs pass through.
template <typename Scalar>
void decode_safetensors(const std::string& dtype, const std::uint8_t* bytes, std::size_t count, Scalar* out);

}  // namespace superpose
