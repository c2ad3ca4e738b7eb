#include "value.h"

#include <emscripten/em_js.h>

using emscripten::EM_VAL;

// Copies an array in a single call. emscripten::val would make a view and look up its method by name, which
// takes as long as a small product. `kind` is kind_of() below.
EM_JS_DEPS(superpose_arrays, "$Emval");
EM_JS(void, superpose_copy_to, (EM_VAL array, void* to, int count, int kind), {
  const heap = [ HEAPF32, HEAPF64, HEAP32 ][kind];
  to /= heap.BYTES_PER_ELEMENT;
  heap.subarray(to, to + count).set(Emval.toValue(array));
});
EM_JS(void, superpose_copy_from, (EM_VAL array, const float* from, int count, int at),
      { Emval.toValue(array).set(HEAPF32.subarray(from / 4, from / 4 + count), at); });
EM_JS(EM_VAL, superpose_copy_of, (const void* from, int count, int kind), {
  const heap = [ HEAPF32, HEAPF64, HEAP32 ][kind];
  from /= heap.BYTES_PER_ELEMENT;
  const own = heap.subarray(from, from + count);
  return Emval.toHandle(kind == 2 ? own.slice() : new Float64Array(own));
});

namespace superpose {
namespace {

template <typename Element>
constexpr int kind_of() {
  if (!std::is_floating_point_v<Element>) return 2;
  return sizeof(Element) == 4 ? 0 : 1;
}

}  // namespace

using emscripten::val;

Value::Value(const val& other) : val(other) {}
Value::Value(val&& other) : val(std::move(other)) {}
Value::Value(const Value& other) : val(other) {}
Value::Value(Value&& other) : val(std::move(other)) {}
Value::Value(const std::string& text) : val(text) {}
Value::Value(double number) : val(number) {}
Value::Value(bool truth) : val(truth) {}
Value::~Value() = default;

Value Value::object() { return val::object(); }
Value Value::array() { return val::array(); }

Value Value::operator[](const char* name) const { return val::operator[](name); }
Value Value::operator[](int index) const { return val::operator[](index); }

template <typename Type>
Type Value::as() const {
  return val::as<Type>();
}
template int Value::as<int>() const;
template std::uint32_t Value::as<std::uint32_t>() const;
template double Value::as<double>() const;
template bool Value::as<bool>() const;

Value& Value::set(const char* name, const Value& value) {
  val::set(name, value);
  return *this;
}
void Value::push(const Value& value) { call<void>("push", value); }

Value Value::singles(std::size_t count) {
  return val::global("Float32Array").new_(val(static_cast<double>(count)));
}

template <typename Element>
Value Value::copy_of(const Element* from, std::size_t count) {
  return val::take_ownership(superpose_copy_of(from, count, kind_of<Element>()));
}

template <typename Element>
void Value::copy_to(Element* to, std::size_t count) const {
  superpose_copy_to(as_handle(), to, count, kind_of<Element>());
}

void Value::copy_from(const float* from, std::size_t count, std::size_t at) {
  superpose_copy_from(as_handle(), from, count, at);
}

#define SUPERPOSE_INSTANTIATE(Element)                        \
  template Value Value::copy_of(const Element*, std::size_t); \
  template void Value::copy_to(Element*, std::size_t) const;
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
SUPERPOSE_INSTANTIATE(int)
#undef SUPERPOSE_INSTANTIATE

EMSCRIPTEN_BINDINGS(value) { emscripten::register_type<Value>("any"); }

}  // namespace superpose
