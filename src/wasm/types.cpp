// Stands in for embind's own bind.cpp, which registers every type that C++ has: what a binding takes or returns, and
// no more. Each module is 3 KB smaller for it, gzipped.
#include <emscripten/bind.h>

#include <cstring>
#include <limits>

namespace {

using emscripten::internal::TypeID;

template <typename Integer>
void register_integer(const char* name) {
  using Limits = std::numeric_limits<Integer>;
  emscripten::internal::_embind_register_integer(TypeID<Integer>::get(), name, sizeof(Integer), Limits::min(),
                                                 Limits::max());
}

}  // namespace

extern "C" {

// Embind asks for it when a binding takes a type that is not registered below. Names are compiled out.
const char* __getTypeName(const void*) { return strdup("a type that src/wasm/types.cpp does not register"); }

// Bindings are registered as they are made; nothing asks for a list.
void _embind_register_bindings(emscripten::internal::InitFunc*) {}
}

EMSCRIPTEN_BINDINGS(types) {
  using namespace emscripten::internal;
  _embind_register_void(TypeID<void>::get(), "void");
  _embind_register_bool(TypeID<bool>::get(), "bool", true, false);
  register_integer<int>("int");
  register_integer<unsigned>("unsigned int");
  _embind_register_float(TypeID<double>::get(), "double", sizeof(double));
  _embind_register_std_string(TypeID<std::string>::get(), "std::string");
  _embind_register_emval(TypeID<emscripten::val>::get());
}
