// Conversions between JavaScript's values and the core's matrices. Arrays are copied in and results copied
// out, so that callers never hold pointers into the module's memory.
#pragma once

#include <utility>
#include <vector>

#include "scores/decomposition.h"
#include "scores/gauge.h"
#include "value.h"

namespace superpose {

template <typename Element>
Value copy_out(const Element* from, std::size_t count) {
  return Value::copy_of(from, count);
}

template <typename Matrix>
Value copy_out(const Matrix& matrix) {
  return copy_out(matrix.data(), matrix.size());
}

// A Table; one without rows keeps its width.
template <typename Scalar>
Matrix<Scalar> matrix_in(const Value& table) {
  Matrix<Scalar> matrix(table["rows"].as<int>(), table["columns"].as<int>());
  table["data"].copy_to(matrix.data(), matrix.size());
  return matrix;
}

// An absent array (undefined) is an empty vector.
template <typename Scalar>
Vector<Scalar> vector_in(const Value& array) {
  Vector<Scalar> vector(array.isUndefined() ? 0 : array.length());
  if (vector.size()) array.copy_to(vector.data(), vector.size());
  return vector;
}

// An array of small integers; an absent one is empty.
inline std::vector<int> integers_in(const Value& array) {
  std::vector<int> integers(array.isUndefined() ? 0 : array.length());
  if (!integers.empty()) array.copy_to(integers.data(), integers.size());
  return integers;
}

template <typename Scalar>
Normalization<Scalar> normalization_in(const Value& norm) {
  return {static_cast<Norm>(norm["kind"].as<int>()), vector_in<Scalar>(norm["gamma"]),
          vector_in<Scalar>(norm["beta"]), static_cast<Scalar>(norm["epsilon"].as<double>())};
}

template <typename Scalar>
Gauge<Scalar> gauge_in(const Value& gauge) {
  return {static_cast<GaugeKind>(gauge["kind"].as<int>()), integers_in(gauge["apart"])};
}

template <typename Scalar>
Value new_array(std::size_t count) {
  return Value::zeros<Scalar>(count);
}

// An object that outlives a call is handed out as its address. The typed API frees it with its own delete
// function, and never uses the address afterwards.
template <typename Object>
Object& at_address(std::uint32_t address) {
  return *reinterpret_cast<Object*>(static_cast<std::uintptr_t>(address));
}

template <typename Object>
std::uint32_t address_of(Object* object) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object));
}

// Registers a function of each precision.
#define SUPERPOSE_BOTH(name, out)                \
  emscripten::function(name "F32", &out<float>); \
  emscripten::function(name "F64", &out<double>)

}  // namespace superpose
