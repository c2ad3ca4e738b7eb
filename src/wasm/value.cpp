#include "value.h"

#include <emscripten/em_js.h>

using emscripten::EM_VAL;

// Direct calls: emscripten::val's marshalling would cost a tenth of a small decomposition's time. It looks
// types up in tables, and makes a string for each name and an array for each number.
EM_JS_DEPS(superpose_values, "$Emval,$UTF8ToString,$emval_symbols");
EM_JS(EM_VAL, superpose_of_number, (double number), { return Emval.toHandle(number); });
EM_JS(EM_VAL, superpose_of_text, (const char* text, int length),
      { return Emval.toHandle(UTF8ToString(text, length)); });
EM_JS(EM_VAL, superpose_singles, (int count), { return Emval.toHandle(new Float32Array(count)); });
EM_JS(double, superpose_number, (EM_VAL value), { return Emval.toValue(value); });
EM_JS(EM_VAL, superpose_entry, (EM_VAL list, int at), { return Emval.toHandle(Emval.toValue(list)[at]); });
// Names are literals, so the string of each is cached by its address.
EM_JS(EM_VAL, superpose_member, (EM_VAL object, const char* name), {
  return Emval.toHandle(
      Emval.toValue(object)[emval_symbols[name] = emval_symbols[name] || UTF8ToString(name)]);
});
EM_JS(int, superpose_place, (EM_VAL value, const char* const* names, int count), {
  const text = Emval.toValue(value);
  for (let k = 0; k < count; ++k) {
    const name = HEAP32[names / 4 + k];
    if ((emval_symbols[name] = emval_symbols[name] || UTF8ToString(name)) == text) return k;
  }
  return -1;
});
EM_JS(void, superpose_set, (EM_VAL object, const char* name, EM_VAL value), {
  Emval.toValue(object)[emval_symbols[name] = emval_symbols[name] || UTF8ToString(name)] =
      Emval.toValue(value);
});
EM_JS(void, superpose_push, (EM_VAL list, EM_VAL value), { Emval.toValue(list).push(Emval.toValue(value)); });
// These copy arrays. `kind` is the result of kind_of() below.
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
  const view = heap.subarray(from, from + count);
  return Emval.toHandle(kind == 2 ? view.slice() : new Float64Array(view));
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
Value::Value(const Value& other) = default;
Value::Value(Value&& other) = default;
Value::Value(const std::string& text)
    : val(val::take_ownership(superpose_of_text(text.c_str(), static_cast<int>(text.size())))) {}
Value::Value(double number) : val(val::take_ownership(superpose_of_number(number))) {}
Value::Value(bool truth)
    : val(val::take_ownership(
          EM_VAL(truth ? emscripten::internal::_EMVAL_TRUE : emscripten::internal::_EMVAL_FALSE))) {}
Value::~Value() = default;

Value Value::object() { return val::object(); }
Value Value::array() { return val::array(); }

Value Value::operator[](const char* name) const {
  return val::take_ownership(superpose_member(as_handle(), name));
}
Value Value::operator[](int index) const { return val::take_ownership(superpose_entry(as_handle(), index)); }

double Value::number() const { return superpose_number(as_handle()); }

int Value::place_in(const char* const* names, std::size_t count) const {
  return superpose_place(as_handle(), names, static_cast<int>(count));
}

void Value::set(const char* name, const Value& value) { superpose_set(as_handle(), name, value.as_handle()); }
void Value::push(const Value& value) { superpose_push(as_handle(), value.as_handle()); }

Value Value::singles(std::size_t count) {
  return val::take_ownership(superpose_singles(static_cast<int>(count)));
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

}  // namespace superpose
