// Tensors of model files.
#include <string>
#include <vector>

#include "convert.h"
#include "model/safetensors.h"

namespace superpose {
namespace {

Value safetensors_header_out(const Value& bytes, double file_size) {
  std::vector<std::uint8_t> buffer(bytes.length());
  copy_in(bytes, buffer.data(), buffer.size());
  const SafetensorsHeader header =
      parse_safetensors_header(buffer.data(), buffer.size(), static_cast<std::uint64_t>(file_size));

  Value entries = Value::array();
  for (const SafetensorsEntry& entry : header.entries) {
    Value shape = Value::array();
    for (std::uint64_t extent : entry.shape) shape.push(static_cast<double>(extent));
    Value out = Value::object();
    out.set("name", entry.name);
    out.set("dtype", entry.dtype);
    out.set("shape", shape);
    out.set("begin", static_cast<double>(entry.begin));
    out.set("end", static_cast<double>(entry.end));
    entries.push(out);
  }
  Value result = Value::object();
  result.set("entries", entries);
  result.set("error", header.error);
  return result;
}

template <typename Scalar>
Value decode_safetensors_out(const std::string& dtype, const Value& bytes) {
  std::vector<std::uint8_t> buffer(bytes.length());
  copy_in(bytes, buffer.data(), buffer.size());
  Vector<Scalar> values(buffer.size() / safetensors_float_width(dtype));
  decode_safetensors(dtype, buffer.data(), values.size(), values.data());
  return copy_out(values.data(), values.size());
}

EMSCRIPTEN_BINDINGS(first_model) {
  using emscripten::function;
  function("safetensorsHeader", &safetensors_header_out);
  function("decodeSafetensorsF32", &decode_safetensors_out<float>);
  function("decodeSafetensorsF64", &decode_safetensors_out<double>);
}

}  // namespace
}  // namespace superpose
