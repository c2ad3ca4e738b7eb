// Replaces Emscripten's code for wide strings, which no binding takes or returns.
addToLibrary({
  _embind_register_std_wstring: () => {},
});
