// The core's functions as JavaScript calls them, by the types of what they take and return alone. Of the same types
// embind makes TypeScript's declarations, so no binding says anything twice. Arrays are copied in and results copied out,
// so that callers never hold pointers into the module's memory; those of floats come out as Float64Array.
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

// A member's name in JavaScript: that in C++ in camelCase, except that widths keep their underscores, as in d_model.
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

// The members of a struct that JavaScript sees. In a message a struct is an object with these members, going in and coming
// out; a member that is left out going in keeps its default. Functions stay in C++.
template <typename Struct>
struct Members {};

// Lists all members by their names in C++. One that does not exist, or that is missing, does not compile.
#define SUPERPOSE_MEMBERS(Struct, ...)                                                              \
  template <>                                                                                       \
  struct Members<Struct> {                                                                          \
    static constexpr auto kAll = std::tuple{SUPERPOSE_EACH(SUPERPOSE_MEMBER, Struct, __VA_ARGS__)}; \
    static void none_is_missing(Struct& value) { [[maybe_unused]] auto& [__VA_ARGS__] = value; }    \
  }
#define SUPERPOSE_MEMBER(Struct, name) member(#name, &Struct::name)

// macro(context, argument), for each argument; the preprocessor's way to repeat.
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
concept Written = std::is_convertible_v<T, std::string>;
// An enumeration, which JavaScript knows by the names of its values.
template <typename T>
concept Enumeration = std::is_enum_v<T>;
template <typename T>
concept Listed =
    !kDimensions<T> && !Written<T> && !std::is_base_of_v<emscripten::val, T> && requires(const T& all) {
  all.begin();
};
template <typename T>
concept Function = std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>;
// An object that outlives a call.
template <typename T>
concept Held = std::is_class_v<T> && !HasMembers<T> && !kDimensions<T> && !Written<T> && !Listed<T> &&
               !std::is_base_of_v<emscripten::val, T>;

// The type in TypeScript of what is given, or of what comes back.
template <typename T>
constexpr std::string in_script(bool given);

template <typename Struct>
constexpr std::string members_in_script(bool given) {
  std::string text = "{ ";
  each_member<Struct>([&]<typename Type>(const char* name, Type Struct::*) {
    const std::string type = in_script<Type>(given);
    if (!type.empty())
      text += name + std::string(given ? "?: " : ": ") + type + (given ? " | undefined; " : "; ");
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
constexpr std::string in_script(bool given) {
  if constexpr (Function<T>) {
    return "";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (Enumeration<T>) {
    return names_in_script<T>();
  } else if constexpr (Written<T>) {
    return "string";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return "number";
  } else if constexpr (kDimensions<T>) {
    if (given) return kDimensions<T> == 2 ? "Table" : "ArrayLike<number>";
    return std::is_integral_v<Element<T>> ? "Int32Array" : "Float64Array";
  } else if constexpr (std::is_same_v<T, Value>) {
    return "Float32Array";
  } else if constexpr (Listed<T>) {
    using Item = std::decay_t<decltype(*std::declval<T>().begin())>;
    return (given ? "readonly (" : "(") + in_script<Item>(given) + ")[]";
  } else {
    return members_in_script<T>(given);
  }
}

// A value of that type.
template <typename T, bool given>
struct Scripted : Value {
  Scripted(const emscripten::val& value) : Value(value) { (void)registered; }

  static constexpr auto text = [] {
    Text<in_script<T>(given).size() + 1> copy;
    const std::string type = in_script<T>(given);
    for (std::size_t at = 0; at < type.size(); ++at) copy.text[at] = type[at];
    return copy;
  }();
  static inline const bool registered = (emscripten::register_type<Scripted>(text.text), true);
};

// A Table; one without rows keeps its width.
template <typename Scalar>
Matrix<Scalar> matrix_in(const Value& table) {
  Matrix<Scalar> matrix(table.count("rows"), table.count("columns"));
  table["data"].copy_to(matrix.data(), matrix.size());
  return matrix;
}

template <typename T>
T value_in(const Value& given) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(given.number());
  } else if constexpr (Enumeration<T>) {
    static constexpr auto all = names(T());
    return static_cast<T>(given.place_in(all.data(), all.size()));
  } else {
    T result{};
    if (given.isUndefined()) return result;
    if constexpr (std::is_same_v<T, Linear<double>>) {
      // A table stands for a weight without a bias.
      if (given["weight"].isUndefined()) return {matrix_in<double>(given), {}};
    }
    if constexpr (kDimensions<T> == 2) {
      result = matrix_in<Element<T>>(given);
    } else if constexpr (kDimensions<T> == 1) {
      result.resize(given.count("length"));
      if (result.size()) given.copy_to(result.data(), result.size());
    } else if constexpr (HasMembers<T>) {
      each_member<T>([&]<typename Type>(const char* name, Type T::*member) {
        const Value value = given[name];
        if (!value.isUndefined()) result.*member = value_in<Type>(value);
      });
    } else {
      for (int k = 0, count = given.count("length"); k < count; ++k)
        result.push_back(value_in<typename T::value_type>(given[k]));
    }
    return result;
  }
}

template <typename T>
auto value_out(const T& found) {
  if constexpr (std::is_same_v<T, Value>) {
    return found;
  } else if constexpr (Enumeration<T>) {
    return std::string(names(found)[static_cast<std::size_t>(found)]);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return found;
  } else if constexpr (Written<T>) {
    return std::string(found);
  } else if constexpr (kDimensions<T>) {
    return Value::copy_of(found.data(), found.size());
  } else if constexpr (HasMembers<T>) {
    Value result = Value::object();
    each_member<T>([&]<typename Type>(const char* name, Type T::*member) {
      if constexpr (!Function<Type>) result.set(name, value_out(found.*member));
    });
    return result;
  } else {
    Value list = Value::array();
    for (const auto& one : found) list.push(value_out(one));
    return list;
  }
}

// An object that outlives a call is handed out as its address. The typed API frees it with its own delete function, and
// never uses the address afterwards.
template <typename Object>
Object& at_address(std::uint32_t address) {
  return *reinterpret_cast<Object*>(static_cast<std::uintptr_t>(address));
}

// What embind hands over for a parameter: numbers, truths and texts as they are, a held object's address.
template <typename T>
auto given_as() {
  if constexpr (std::is_arithmetic_v<T> || Written<T>)
    return std::type_identity<T>();
  else if constexpr (Held<T>)
    return std::type_identity<std::uint32_t>();
  else
    return std::type_identity<const Scripted<T, true>&>();
}

template <typename T, typename Given>
decltype(auto) one_in(const Given& given) {
  if constexpr (Held<T>)
    return at_address<T>(given);
  else if constexpr (Written<T>)
    return given;
  else if constexpr (std::is_base_of_v<Value, Given>)
    return value_in<T>(given);
  else
    return static_cast<T>(given);
}

template <typename T>
auto one_out(T found) {
  if constexpr (std::is_arithmetic_v<T>)
    return found;
  else
    return Scripted<T, false>(value_out(found));
}
template <typename T>
std::uint32_t one_out(std::unique_ptr<T> made) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(made.release()));
}

template <auto core>
struct Bound;
template <typename Result, typename... Takes, Result (*core)(Takes...)>
struct Bound<core> {
  static auto call(typename decltype(given_as<std::decay_t<Takes>>())::type... given) {
    if constexpr (std::is_void_v<Result>)
      core(one_in<std::decay_t<Takes>>(given)...);
    else
      return one_out(core(one_in<std::decay_t<Takes>>(given)...));
  }
};

// Registers a function as it is.
template <auto core>
void bind(const char* name) {
  emscripten::function(name, &Bound<core>::call);
}

// Registers what frees an object that a function made.
template <typename T>
void bind_delete(const char* name) {
  bind<+[](T& held) { delete &held; }>(name);
}

}  // namespace superpose
