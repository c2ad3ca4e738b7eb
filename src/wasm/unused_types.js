// In place of what Emscripten has for wide strings, which no binding takes or gives.
addToLibrary({
  _embind_register_std_wstring: () => {},
});
