#include "value.h"

namespace superpose {

using emscripten::typed_memory_view;
using emscripten::val;

Value::Value(const val& other) : val(other) {}
Value::Value(val&& other) : val(std::move(other)) {}
Value::Value(const Value& other) : val(other) {}
Value::Value(Value&& other) : val(std::move(other)) {}
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

void Value::set(const char* name, const val& value) { val::set(name, value); }
void Value::set(const char* name, const std::string& value) { set(name, val(value)); }
void Value::set(const char* name, double value) { set(name, val(value)); }
void Value::set(const char* name, bool value) { set(name, val(value)); }
void Value::set(int index, double value) { val::set(index, val(value)); }
void Value::push(const val& value) { call<void>("push", value); }
void Value::push(double value) { push(val(value)); }
void Value::push(const std::string& value) { push(val(value)); }

template <typename Element>
Value Value::zeros(std::size_t count) {
  const char* name = sizeof(Element) == 8                    ? "Float64Array"
                     : std::is_floating_point_v<Element> ? "Float32Array"
                                                             : "Int32Array";
  return val::global(name).new_(val(static_cast<double>(count)));
}

template <typename Element>
Value Value::copy_of(const Element* from, std::size_t count) {
  return val(typed_memory_view(count, from)).call<val>("slice");
}

template <typename Element>
void Value::copy_to(Element* to, std::size_t count) const {
  val(typed_memory_view(count, to)).call<void>("set", static_cast<const val&>(*this));
}

template <typename Element>
void Value::copy_from(const Element* from, std::size_t count, std::size_t at) {
  call<void>("set", val(typed_memory_view(count, from)), val(static_cast<double>(at)));
}

#define SUPERPOSE_INSTANTIATE(Element)                                                  \
  template Value Value::zeros<Element>(std::size_t);                                    \
  template Value Value::copy_of(const Element*, std::size_t);                           \
  template void Value::copy_to(Element*, std::size_t) const;                            \
  template void Value::copy_from(const Element*, std::size_t, std::size_t);
SUPERPOSE_INSTANTIATE(float)
SUPERPOSE_INSTANTIATE(double)
SUPERPOSE_INSTANTIATE(int)
SUPERPOSE_INSTANTIATE(std::uint8_t)
#undef SUPERPOSE_INSTANTIATE

}  // namespace superpose
