// The core's functions as JavaScript calls them, by the types of what they take and return alone.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "convert.h"
#include "encodings/sinusoidal.h"

namespace superpose {

// What JavaScript calls the members of a struct, in the order of their declarations, and TypeScript the whole. In a
// message a struct is an object with these members, going in and coming out.
template <typename Struct>
struct Members {};

#define SUPERPOSE_MEMBERS(Struct, ...)                       \
  template <>                                                \
  struct Members<Struct> {                                   \
    using Type = Typed<#Struct>;                             \
    static constexpr Text kNames = one_by_one(#__VA_ARGS__); \
    template <typename Of, typename With>                    \
    static void each(Of& of, const With& with) {             \
      auto& [__VA_ARGS__] = of;                              \
      with(__VA_ARGS__);                                     \
    }                                                        \
  }

// "first, second" as texts that end one after another.
template <std::size_t size>
constexpr Text<size> one_by_one(const char (&list)[size]) {
  Text<size> names(list);
  for (char& letter : names.text) letter = letter == ',' ? '\0' : letter;
  return names;
}
inline const char* next_name(const char* name) { return name + std::strlen(name) + std::strlen(", "); }

template <typename T>
concept HasMembers = requires {
  typename Members<T>::Type;
};

// Bindings of both modules take it.
SUPERPOSE_MEMBERS(SinusoidalOptions, positions, d_model, layout, spacing, base, firstPosition);

// What an argument and a result are to TypeScript; numbers and truths are themselves, and enumerations numbers.
template <typename T>
struct Script {
  static_assert(std::is_arithmetic_v<T>, "SUPERPOSE_MEMBERS says what a structure's members are called");
  using In = T;
  using Out = T;
};
template <typename T>
requires std::is_enum_v<T>
struct Script<T> {
  using In = int;
};
template <HasMembers T>
struct Script<T> {
  using In = const typename Members<T>::Type&;
  using Out = typename Members<T>::Type;
};
#define SUPERPOSE_SCRIPT(of, in, out) \
  template <>                         \
  struct Script<of> {                 \
    using In = const Typed<in>&;      \
    using Out = Typed<out>;           \
  }
SUPERPOSE_SCRIPT(Matrix<double>, "Table", "Float64Array");
SUPERPOSE_SCRIPT(Vector<double>, "List", "Float64Array");
SUPERPOSE_SCRIPT(std::vector<double>, "List", "Float64Array");
SUPERPOSE_SCRIPT(std::vector<int>, "Integers", "Int32Array");
SUPERPOSE_SCRIPT(Matrix<int>, "Table", "Int32Array");
SUPERPOSE_SCRIPT(std::vector<Matrix<double>>, "readonly Table[]", "readonly Float64Array[]");

template <typename T>
T value_in(const Value& given) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(given.as<int>());
  } else if constexpr (std::is_arithmetic_v<T>) {
    return given.as<T>();
  } else if constexpr (HasMembers<T>) {
    T result;
    const char* name = Members<T>::kNames.text;
    Members<T>::each(result, [&](auto&... member) {
      ((member = value_in<std::decay_t<decltype(member)>>(given[name]), name = next_name(name)), ...);
    });
    return result;
  } else if constexpr (std::is_same_v<T, std::vector<Matrix<double>>>) {
    T tables;
    for (int k = 0; k < given.length(); ++k) tables.push_back(matrix_in<double>(given[k]));
    return tables;
  } else if constexpr (std::is_same_v<T, Matrix<double>>) {
    return matrix_in<double>(given);
  } else if constexpr (std::is_same_v<T, Vector<double>>) {
    return vector_in<double>(given);
  } else {
    return integers_in(given);
  }
}

template <typename T>
auto value_out(const T& found) {
  if constexpr (std::is_arithmetic_v<T>) {
    return found;
  } else if constexpr (HasMembers<T>) {
    Value result = Value::object();
    const char* name = Members<T>::kNames.text;
    Members<T>::each(found, [&](const auto&... member) {
      ((result.set(name, value_out(member)), name = next_name(name)), ...);
    });
    return typename Members<T>::Type(result);
  } else if constexpr (std::is_same_v<T, std::vector<Matrix<double>>>) {
    Value list = Value::array();
    for (const Matrix<double>& one : found) list.push(copy_out(one));
    return list;
  } else {
    return copy_out(found.data(), found.size());
  }
}

template <auto core>
struct Bound;
template <typename Result, typename... Takes, Result (*core)(Takes...)>
struct Bound<core> {
  static typename Script<Result>::Out call(typename Script<std::decay_t<Takes>>::In... given) {
    return value_out(core(one_in<std::decay_t<Takes>>(given)...));
  }

  template <typename T, typename Given>
  static T one_in(const Given& given) {
    if constexpr (std::is_base_of_v<Value, Given>)
      return value_in<T>(given);
    else
      return static_cast<T>(given);
  }
};

// Registers a function of the core as it is.
template <auto core>
void bind(const char* name) {
  emscripten::function(name, &Bound<core>::call);
}

}  // namespace superpose
