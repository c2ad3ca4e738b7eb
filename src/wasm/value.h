// A JavaScript value whose members are compiled out of line.
//
// emscripten::val inlines every read, write and destructor where it is used, which came to a third of the
// module. This class has the operations that the bindings need; value.cpp compiles them once.
#pragma once

#include <emscripten/bind.h>
#include <emscripten/val.h>

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
  // A Float32Array of zeros.
  static Value singles(std::size_t count);
  // A copy of `count` elements in an array that JavaScript owns, a Float64Array or an Int32Array.
  template <typename Element>
  static Value copy_of(const Element* from, std::size_t count);

  Value operator[](const char* name) const;
  Value operator[](int index) const;

  double number() const;
  // The index of this string among the names, or -1. The names are literals.
  int place_in(const char* const* names, std::size_t count) const;
  int count(const char* name) const { return static_cast<int>((*this)[name].number()); }

  void set(const char* name, const Value& value);
  void push(const Value& value);

  // For an array: copies all elements out, converted to Element, or copies `count` elements in from index
  // `at` on.
  template <typename Element>
  void copy_to(Element* to, std::size_t count) const;
  void copy_from(const float* from, std::size_t count, std::size_t at);
};

}  // namespace superpose
