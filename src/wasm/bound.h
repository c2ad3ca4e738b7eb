// Binds functions of the core so that JavaScript can call them. The types of a function's parameters and
// result say everything that a binding needs: how values are converted, and what embind writes into
// TypeScript's declarations. Arrays are copied in and results are copied out, so callers never hold pointers
// into the module's memory. Floats come out as Float64Array.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "numeric/product.h"
#include "value.h"

namespace superpose {

template <std::size_t size>
struct Text {
  char text[size] = {};
};

// A member's name in JavaScript: its name in C++ in camelCase, except that widths such as d_model keep their
// underscores.
template <std::size_t size>
constexpr Text<size> in_camel_case(const char (&name)[size]) {
  Text<size> camel;
  const bool is_width = name[0] == 'd' && name[1] == '_';
  std::size_t length = 0;
  for (std::size_t at = 0; at < size; ++at) {
    if (name[at] != '_' || is_width)
      camel.text[length++] = name[at];
    else
      camel.text[length++] = static_cast<char>(name[++at] - 'a' + 'A');
  }
  return camel;
}

template <typename Struct, typename Type, std::size_t size>
struct Member {
  Text<size> name;
  Type Struct::*pointer;
};

template <typename Struct, typename Type, std::size_t size>
constexpr Member<Struct, Type, size> member(const char (&name)[size], Type Struct::*pointer) {
  return {in_camel_case(name), pointer};
}

// In JavaScript, a struct is an object with these members. An argument may leave members out, which then keep
// their defaults. Members that are functions stay in C++.
template <typename Struct>
struct Members {};

// Lists all members by their names in C++. A list with a name too many or too few does not compile.
#define SUPERPOSE_MEMBERS(Struct, ...)                                                              \
  template <>                                                                                       \
  struct Members<Struct> {                                                                          \
    static constexpr auto kAll = std::tuple{SUPERPOSE_EACH(SUPERPOSE_MEMBER, Struct, __VA_ARGS__)}; \
    static void none_is_missing(Struct& value) { [[maybe_unused]] auto& [__VA_ARGS__] = value; }    \
  }
#define SUPERPOSE_MEMBER(Struct, name) member(#name, &Struct::name)

// Expands to macro(context, argument) for each argument. The preprocessor has no loops, so this rescans
// instead.
#define SUPERPOSE_EACH(macro, context, ...) SUPERPOSE_EXPAND(SUPERPOSE_NEXT(macro, context, __VA_ARGS__))
#define SUPERPOSE_NEXT(macro, context, first, ...) \
  macro(context, first) __VA_OPT__(, SUPERPOSE_AGAIN SUPERPOSE_PARENS(macro, context, __VA_ARGS__))
#define SUPERPOSE_PARENS ()
#define SUPERPOSE_AGAIN() SUPERPOSE_NEXT
#define SUPERPOSE_EXPAND(...) SUPERPOSE_EXPAND_16(SUPERPOSE_EXPAND_16(__VA_ARGS__))
#define SUPERPOSE_EXPAND_16(...) \
  SUPERPOSE_EXPAND_4(SUPERPOSE_EXPAND_4(SUPERPOSE_EXPAND_4(SUPERPOSE_EXPAND_4(__VA_ARGS__))))
#define SUPERPOSE_EXPAND_4(...) \
  SUPERPOSE_EXPAND_1(SUPERPOSE_EXPAND_1(SUPERPOSE_EXPAND_1(SUPERPOSE_EXPAND_1(__VA_ARGS__))))
#define SUPERPOSE_EXPAND_1(...) __VA_ARGS__

template <typename T>
concept HasMembers = requires {
  Members<T>::kAll;
};

// Calls visit(name, pointer) for each member of a struct.
template <typename Struct, typename Visit>
constexpr void each_member(const Visit& visit) {
  std::apply([&](const auto&... member) { (visit(member.name.text, member.pointer), ...); },
             Members<Struct>::kAll);
}

// 2 for matrices, 1 for lists of numbers, 0 for anything else.
template <typename T>
constexpr int kDimensions = 0;
template <typename Scalar>
constexpr int kDimensions<Matrix<Scalar>> = 2;
template <typename Scalar>
constexpr int kDimensions<Vector<Scalar>> = 1;
template <typename Number>
requires std::is_arithmetic_v<Number>
constexpr int kDimensions<std::vector<Number>> = 1;
template <typename Number, std::size_t size>
constexpr int kDimensions<std::array<Number, size>> = 1;
template <typename T>
using Element = std::decay_t<decltype(*std::declval<T>().data())>;

template <typename T>
concept TextLike = std::is_convertible_v<T, std::string>;
// An enumeration, which JavaScript knows by the names of its values.
template <typename T>
concept Enumeration = std::is_enum_v<T>;
template <typename T>
concept ListLike =
    !kDimensions<T> && !TextLike<T> && !std::is_base_of_v<emscripten::val, T> && requires(const T& all) {
  all.begin();
};
template <typename T>
concept Function = std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>;
// An object that outlives a call.
template <typename T>
concept Resident = std::is_class_v<T> && !HasMembers<T> && !kDimensions<T> && !TextLike<T> && !ListLike<T> &&
                   !std::is_base_of_v<emscripten::val, T>;

// The type of an argument or a result in TypeScript.
template <typename T>
constexpr std::string in_script(bool is_argument);

template <typename Struct>
constexpr std::string members_in_script(bool is_argument) {
  std::string text = "{ ";
  each_member<Struct>([&]<typename Type>(const char* name, Type Struct::*) {
    const std::string type = in_script<Type>(is_argument);
    if (!type.empty())
      text += name + std::string(is_argument ? "?: " : ": ") + type + (is_argument ? " | undefined; " : "; ");
  });
  return text + "}";
}

template <Enumeration T>
constexpr std::string names_in_script() {
  std::string text;
  for (const char* name : names(T())) text += (text.empty() ? "'" : " | '") + std::string(name) + "'";
  return text;
}

template <typename T>
constexpr std::string in_script(bool is_argument) {
  if constexpr (Function<T>) {
    return "";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (Enumeration<T>) {
    return names_in_script<T>();
  } else if constexpr (TextLike<T>) {
    return "string";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return "number";
  } else if constexpr (kDimensions<T>) {
    if (is_argument) return kDimensions<T> == 2 ? "Table" : "ArrayLike<number>";
    return std::is_integral_v<Element<T>> ? "Int32Array" : "Float64Array";
  } else if constexpr (std::is_same_v<T, Value>) {
    return "Float32Array";
  } else if constexpr (ListLike<T>) {
    using Item = std::decay_t<decltype(*std::declval<T>().begin())>;
    return (is_argument ? "readonly (" : "(") + in_script<Item>(is_argument) + ")[]";
  } else {
    return members_in_script<T>(is_argument);
  }
}

// A JavaScript value that embind declares with the TypeScript type of T.
template <typename T, bool is_argument>
struct Scripted : Value {
  Scripted(const emscripten::val& value) : Value(value) { (void)registered; }

  static constexpr auto text = [] {
    Text<in_script<T>(is_argument).size() + 1> copy;
    const std::string type = in_script<T>(is_argument);
    for (std::size_t at = 0; at < type.size(); ++at) copy.text[at] = type[at];
    return copy;
  }();
  static inline const bool registered = (emscripten::register_type<Scripted>(text.text), true);
};

// Converts a Table to a matrix. A table without rows keeps its width.
template <typename Scalar>
Matrix<Scalar> matrix_in(const Value& table) {
  Matrix<Scalar> matrix(table.count("rows"), table.count("columns"));
  table["data"].copy_to(matrix.data(), matrix.size());
  return matrix;
}

template <typename T>
T value_in(const Value& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value.number());
  } else if constexpr (Enumeration<T>) {
    static constexpr auto all = names(T());
    return static_cast<T>(value.place_in(all.data(), all.size()));
  } else {
    T result{};
    if (value.isUndefined()) return result;
    if constexpr (std::is_same_v<T, Linear<double>>) {
      // A table stands for a weight without a bias.
      if (value["weight"].isUndefined()) return {matrix_in<double>(value), {}};
    }
    if constexpr (kDimensions<T> == 2) {
      result = matrix_in<Element<T>>(value);
    } else if constexpr (kDimensions<T> == 1) {
      result.resize(value.count("length"));
      if (result.size()) value.copy_to(result.data(), result.size());
    } else if constexpr (HasMembers<T>) {
      each_member<T>([&]<typename Type>(const char* name, Type T::*member) {
        const Value item = value[name];
        if (!item.isUndefined()) result.*member = value_in<Type>(item);
      });
    } else {
      for (int k = 0, count = value.count("length"); k < count; ++k)
        result.push_back(value_in<typename T::value_type>(value[k]));
    }
    return result;
  }
}

template <typename T>
auto value_out(const T& value) {
  if constexpr (std::is_same_v<T, Value>) {
    return value;
  } else if constexpr (Enumeration<T>) {
    return std::string(names(value)[static_cast<std::size_t>(value)]);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (TextLike<T>) {
    return std::string(value);
  } else if constexpr (kDimensions<T>) {
    return Value::copy_of(value.data(), value.size());
  } else if constexpr (HasMembers<T>) {
    Value result = Value::object();
    each_member<T>([&]<typename Type>(const char* name, Type T::*member) {
      if constexpr (!Function<Type>) result.set(name, value_out(value.*member));
    });
    return result;
  } else {
    Value list = Value::array();
    for (const auto& item : value) list.push(value_out(item));
    return list;
  }
}

// JavaScript refers to an object that outlives a call by its address. The typed API frees it with its delete
// function and never uses the address afterwards.
template <typename Object>
Object& at_address(std::uint32_t address) {
  return *reinterpret_cast<Object*>(static_cast<std::uintptr_t>(address));
}

// The type in which embind passes a parameter: numbers, booleans and strings as they are, a resident object
// as its address, and anything else as a JavaScript value.
template <typename T>
auto argument_type() {
  if constexpr (std::is_arithmetic_v<T> || TextLike<T>)
    return std::type_identity<T>();
  else if constexpr (Resident<T>)
    return std::type_identity<std::uint32_t>();
  else
    return std::type_identity<const Scripted<T, true>&>();
}

template <typename T, typename Argument>
decltype(auto) argument_in(const Argument& argument) {
  if constexpr (Resident<T>)
    return at_address<T>(argument);
  else if constexpr (TextLike<T>)
    return argument;
  else if constexpr (std::is_base_of_v<Value, Argument>)
    return value_in<T>(argument);
  else
    return static_cast<T>(argument);
}

template <typename T>
auto result_out(T result) {
  if constexpr (std::is_arithmetic_v<T>)
    return result;
  else
    return Scripted<T, false>(value_out(result));
}
template <typename T>
std::uint32_t result_out(std::unique_ptr<T> object) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object.release()));
}

template <auto core>
struct Bound;
template <typename Result, typename... Parameters, Result (*core)(Parameters...)>
struct Bound<core> {
  static auto call(typename decltype(argument_type<std::decay_t<Parameters>>())::type... arguments) {
    if constexpr (std::is_void_v<Result>)
      core(argument_in<std::decay_t<Parameters>>(arguments)...);
    else
      return result_out(core(argument_in<std::decay_t<Parameters>>(arguments)...));
  }
};

// Binds a function under a name.
template <auto core>
void bind(const char* name) {
  emscripten::function(name, &Bound<core>::call);
}

// Binds the function that frees an object of this type.
template <typename T>
void bind_delete(const char* name) {
  bind<+[](T& object) { delete &object; }>(name);
}

}  // namespace superpose
