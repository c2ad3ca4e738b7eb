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

#include "encodings/sinusoidal.h"
#include "numeric/product.h"
#include "value.h"

namespace superpose {

template <std::size_t size>
struct Text {
  char text[size] = {};
};

// What JavaScript calls the members of a struct, in the order of their declarations. In a message a struct is an object
// with these members, going in and coming out; what is left out going in stays as it begins. Functions stay here.
template <typename Struct>
struct Members {};

#define SUPERPOSE_MEMBERS(Struct, ...)                       \
  template <>                                                \
  struct Members<Struct> {                                   \
    static constexpr Text kNames = one_by_one(#__VA_ARGS__); \
    template <typename Of, typename With>                    \
    static constexpr auto each(Of& self, const With& with) { \
      auto& [__VA_ARGS__] = self;                            \
      return with(__VA_ARGS__);                              \
    }                                                        \
  }

// "first, second" as texts that end one after another.
template <std::size_t size>
constexpr auto one_by_one(const char (&list)[size]) {
  Text<size + 1> names;
  for (std::size_t at = 0; at < size; ++at) names.text[at] = list[at] == ',' ? '\0' : list[at];
  return names;
}
constexpr const char* next_name(const char* name) {
  return name + std::char_traits<char>::length(name) + std::char_traits<char>::length(", ");
}

template <typename T>
concept HasMembers = requires {
  Members<T>::kNames;
};

// Bindings of both modules take it.
SUPERPOSE_MEMBERS(SinusoidalOptions, positions, d_model, layout, spacing, base, firstPosition);

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
// An enumeration whose values have names; those of others go as numbers.
template <typename T>
concept Spelled = requires(T value) {
  name_of(value);
};
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

template <typename T>
using MemberTypes = decltype(Members<T>::each(std::declval<T&>(), [](auto&... member) {
  return std::type_identity<std::tuple<std::decay_t<decltype(member)>...>>();
}));

// The type in TypeScript of what is given, or of what comes back.
template <typename T>
constexpr std::string in_script(bool given);

template <typename... Types>
constexpr std::string members_in_script(std::type_identity<std::tuple<Types...>>, const char* name,
                                        bool given) {
  std::string text = "{ ";
  const auto add = [&](const std::string& type) {
    if (!type.empty())
      text += name + std::string(given ? "?: " : ": ") + type + (given ? " | undefined; " : "; ");
    name = next_name(name);
  };
  (add(in_script<Types>(given)), ...);
  return text + "}";
}

template <typename T>
constexpr std::string in_script(bool given) {
  if constexpr (Function<T>) {
    return "";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (Written<T> || Spelled<T>) {
    return "string";
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return "number";
  } else if constexpr (kDimensions<T>) {
    if (given) return kDimensions<T> == 2 ? "Table" : "ArrayLike<number>";
    return std::is_integral_v<Element<T>> ? "Int32Array" : "Float64Array";
  } else if constexpr (std::is_same_v<T, Value>) {
    return "Float32Array";
  } else if constexpr (Listed<T>) {
    return (given ? "readonly " : "") + in_script<std::decay_t<decltype(*std::declval<T>().begin())>>(given) +
           "[]";
  } else {
    return members_in_script(MemberTypes<T>(), Members<T>::kNames.text, given);
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
  if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
    return static_cast<T>(given.number());
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
      const char* name = Members<T>::kNames.text;
      const auto read = [&](auto& member) {
        const Value own = given[name];
        if (!own.isUndefined()) member = value_in<std::decay_t<decltype(member)>>(own);
        name = next_name(name);
      };
      Members<T>::each(result, [&](auto&... member) { (read(member), ...); });
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
  } else if constexpr (Spelled<T>) {
    return std::string(name_of(found));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(found);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return found;
  } else if constexpr (Written<T>) {
    return std::string(found);
  } else if constexpr (kDimensions<T>) {
    return Value::copy_of(found.data(), found.size());
  } else if constexpr (HasMembers<T>) {
    Value result = Value::object();
    const char* name = Members<T>::kNames.text;
    const auto write = [&](const auto& member) {
      if constexpr (!Function<std::decay_t<decltype(member)>>) result.set(name, value_out(member));
      name = next_name(name);
    };
    Members<T>::each(found, [&](const auto&... member) { (write(member), ...); });
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
  else if constexpr (std::is_enum_v<T>)
    return std::type_identity<int>();
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
