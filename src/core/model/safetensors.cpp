#include "model/safetensors.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "numeric/sorted.h"

namespace superpose {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kLengthBytes = 8;

struct DtypeWidth {
  const char* name;
  std::size_t bytes;
};
constexpr DtypeWidth kWidths[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
                                  {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
                                  {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};

std::size_t width_of(const std::string& dtype) {
  for (const DtypeWidth& known : kWidths) {
    if (dtype == known.name) return known.bytes;
  }
  return 0;
}

// Names go into error sentences; a hostile one must not fill the screen.
std::string quoted(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  return "\"" + (name.size() > kLongest ? name.substr(0, kLongest) + "..." : name) + "\"";
}

// Follows the three levels of a header: the object of tensors, one tensor, and its two arrays.
// Every method returns false, with `error` set, as soon as something is out of place.
class HeaderHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, HeaderHandler> {
 public:
  std::vector<SafetensorsEntry> entries;
  std::string error;

  bool Default() { return fail("holds a value that is not a name, a shape or an offset"); }

  bool StartObject() {
    if (place_ == Place::nothing) {
      place_ = Place::file;
    } else if (place_ == Place::file && key_ == "__metadata__") {
      place_ = Place::metadata;
    } else if (place_ == Place::file) {
      place_ = Place::tensor;
      entries.emplace_back();
      entries.back().name = key_;
      has_dtype_ = has_shape_ = has_offsets_ = false;
      offsets_.clear();
    } else {
      return fail("nests objects deeper than a safetensors header does");
    }
    return true;
  }

  bool EndObject(rapidjson::SizeType) {
    if (place_ == Place::tensor) {
      SafetensorsEntry& entry = entries.back();
      if (!has_dtype_ || !has_shape_ || !has_offsets_) {
        return fail("lacks dtype, shape or data_offsets for tensor " + quoted(entry.name));
      }
      if (offsets_.size() != 2) {
        return fail("gives tensor " + quoted(entry.name) + " " + std::to_string(offsets_.size()) +
                    " data_offsets instead of 2");
      }
      entry.begin = offsets_[0];
      entry.end = offsets_[1];
      place_ = Place::file;
    } else if (place_ == Place::metadata) {
      place_ = Place::file;
    } else {
      place_ = Place::nothing;
    }
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType length, bool) {
    key_.assign(text, length);
    if (place_ == Place::file && !names_.insert(key_).second) {
      return fail("names tensor " + quoted(key_) + " twice");
    }
    if (place_ == Place::tensor) {
      bool& seen = key_ == "dtype" ? has_dtype_ : key_ == "shape" ? has_shape_ : has_offsets_;
      if ((&seen == &has_offsets_ && key_ != "data_offsets") || seen) {
        return fail("has an unknown or repeated key " + quoted(key_) + " in tensor " +
                    quoted(entries.back().name));
      }
      seen = true;
    }
    return true;
  }

  bool String(const char* text, rapidjson::SizeType length, bool) {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::tensor || key_ != "dtype") return Default();
    entries.back().dtype.assign(text, length);
    return true;
  }

  bool StartArray() {
    if (place_ == Place::tensor && key_ == "shape") {
      place_ = Place::shape;
    } else if (place_ == Place::tensor && key_ == "data_offsets") {
      place_ = Place::offsets;
    } else {
      return Default();
    }
    return true;
  }

  bool EndArray(rapidjson::SizeType) {
    place_ = Place::tensor;
    return true;
  }

  bool Uint(unsigned value) { return Uint64(value); }
  bool Uint64(std::uint64_t value) {
    if (place_ == Place::shape) {
      entries.back().shape.push_back(value);
    } else if (place_ == Place::offsets) {
      offsets_.push_back(value);
    } else {
      return Default();
    }
    return true;
  }

 private:
  enum class Place { nothing, file, metadata, tensor, shape, offsets };

  bool fail(const std::string& what) {
    error = "the header " + what;
    return false;
  }

  Place place_ = Place::nothing;
  std::string key_;
  std::set<std::string> names_;
  std::vector<std::uint64_t> offsets_;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

// The number of bytes that a shape asks for, or false when it overflows 64 bits.
bool byte_count(const std::vector<std::uint64_t>& shape, std::uint64_t width, std::uint64_t* bytes) {
  *bytes = width;
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) {
    *bytes = 0;
    return true;
  }
  for (std::uint64_t extent : shape) {
    if (*bytes > std::numeric_limits<std::uint64_t>::max() / extent) return false;
    *bytes *= extent;
  }
  return true;
}

// Offsets are relative to the data; the format wants the tensors to cover it without gap or overlap.
std::string check_ranges(std::vector<SafetensorsEntry>& entries, std::uint64_t data_start,
                         std::uint64_t data_size) {
  for (SafetensorsEntry& entry : entries) {
    if (entry.begin > entry.end || entry.end > data_size) {
      return "tensor " + quoted(entry.name) + " claims bytes " + std::to_string(entry.begin) + " to " +
             std::to_string(entry.end) + " of " + std::to_string(data_size);
    }
    std::uint64_t bytes = 0;
    const std::size_t width = width_of(entry.dtype);
    if (width && (!byte_count(entry.shape, width, &bytes) || bytes != entry.end - entry.begin)) {
      return "the shape of tensor " + quoted(entry.name) + " does not fit its " +
             std::to_string(entry.end - entry.begin) + " bytes of " + entry.dtype;
    }
  }
  const int count = static_cast<int>(entries.size());
  const std::vector<int> order = sorted_places(count, count, [&](int left, int right) {
    const SafetensorsEntry &a = entries[left], &b = entries[right];
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t covered = 0;
  std::vector<SafetensorsEntry> in_order;
  in_order.reserve(count);
  for (int place : order) {
    SafetensorsEntry& entry = in_order.emplace_back(std::move(entries[place]));
    if (entry.begin != covered) {
      return "tensor " + quoted(entry.name) + " begins at byte " + std::to_string(entry.begin) +
             " where byte " + std::to_string(covered) + " was due: data overlap or leave a hole";
    }
    covered = entry.end;
    entry.begin += data_start;
    entry.end += data_start;
  }
  entries = std::move(in_order);
  if (covered != data_size) {
    return "the tensors cover " + std::to_string(covered) + " of " + std::to_string(data_size) +
           " bytes of data";
  }
  return {};
}

SafetensorsHeader refused(std::string why) { return {{}, std::move(why)}; }

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::uint8_t* bytes, std::size_t available,
                                           std::uint64_t file_size) {
  if (available < kLengthBytes || file_size < kLengthBytes) {
    return refused("the file has " + std::to_string(std::min<std::uint64_t>(available, file_size)) +
                   " bytes; a safetensors file begins with an 8-byte length");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  }
  if (length > kMaxHeaderBytes) {
    return refused("the header claims " + std::to_string(length) + " bytes; the format allows " +
                   std::to_string(kMaxHeaderBytes) + ", so this is something else");
  }
  if (length > file_size - kLengthBytes || length > available - kLengthBytes) {
    return refused("the header claims " + std::to_string(length) + " bytes where " +
                   std::to_string(available - kLengthBytes) +
                   " follow: not a safetensors file, or a truncated one");
  }

  HeaderHandler handler;
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream(reinterpret_cast<const char*>(bytes) + kLengthBytes, length);
  // Iterative, so that deep nesting cannot overflow the stack.
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, handler);
  if (!handler.error.empty()) return refused(handler.error);
  if (!parsed) {
    return refused("the header is not JSON from byte " + std::to_string(parsed.Offset()) + " on");
  }

  const std::uint64_t data_start = kLengthBytes + length;
  std::string error = check_ranges(handler.entries, data_start, file_size - data_start);
  if (!error.empty()) return refused(std::move(error));
  return {std::move(handler.entries), {}};
}

std::size_t safetensors_float_width(const std::string& dtype) {
  return dtype == "F32" || dtype == "F16" || dtype == "BF16" ? width_of(dtype) : 0;
}

namespace {

template <typename Stored, typename Scalar>
void decode(const std::uint8_t* bytes, std::size_t count, Scalar* out) {
  for (std::size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, bytes + i * sizeof stored, sizeof stored);
    out[i] = static_cast<Scalar>(static_cast<float>(stored));
  }
}

}  // namespace

template <typename Scalar>
void decode_safetensors(const std::string& dtype, const std::uint8_t* bytes, std::size_t count, Scalar* out) {
  if (dtype == "F32") decode<float>(bytes, count, out);
  if (dtype == "F16") decode<Eigen::half>(bytes, count, out);
  if (dtype == "BF16") decode<Eigen::bfloat16>(bytes, count, out);
}

template void decode_safetensors(const std::string&, const std::uint8_t*, std::size_t, float*);
template void decode_safetensors(const std::string&, const std::uint8_t*, std::size_t, double*);

}  // namespace superpose
