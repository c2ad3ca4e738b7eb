// A JavaScript value whose members are compiled out of line, and what it is to TypeScript.
//
// emscripten::val inlines every read, write and destructor where it is used, which came to a third of the
// module. This class has what the bindings need, compiled once, in value.cpp.
#pragma once

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <cstdint>
#include <string>

namespace superpose {

class Value : public emscripten::val {
 public:
  Value(const emscripten::val& other);
  Value(emscripten::val&& other);
  Value(const Value& other);
  Value(Value&& other);
  Value(const std::string& text);
  Value(double number);
  Value(bool truth);
  Value(int number) : Value(static_cast<double>(number)) {}
  ~Value();

  static Value object();
  static Value array();
  // A Float32Array, Float64Array or Int32Array of zeros.
  template <typename Element>
  static Value zeros(std::size_t count);
  // A copy of `count` elements in an array that JavaScript owns.
  template <typename Element>
  static Value copy_of(const Element* from, std::size_t count);

  Value operator[](const char* name) const;
  Value operator[](int index) const;

  // int, std::uint32_t, double or bool.
  template <typename Type>
  Type as() const;
  int length() const { return (*this)["length"].as<int>(); }

  // A member; for a chain.
  Value& set(const char* name, const Value& value);
  void push(const Value& value);

  // For a typed array: copies all elements out, rounded or widened to Element, or `count` in, from `at` on.
  template <typename Element>
  void copy_to(Element* to, std::size_t count) const;
  template <typename Element>
  void copy_from(const Element* from, std::size_t count, std::size_t at);
};

// Literals as template arguments.
template <std::size_t size>
struct Text {
  char text[size] = {};

  constexpr Text() = default;
  constexpr Text(const char (&from)[size]) {
    for (std::size_t at = 0; at < size; ++at) text[at] = from[at];
  }
};

// What a value is to TypeScript: Typed<"Float64Array">, a class for each, which embind names in its declarations.
template <Text type>
struct Typed : Value {
  Typed(const emscripten::val& value) : Value(value) { (void)registered; }

  static inline const bool registered = (emscripten::register_type<Typed>(type.text), true);
};

}  // namespace superpose
