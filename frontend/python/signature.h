#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// A parameter of a function that is called from Python.
struct Parameter {
  enum class Kind : std::uint8_t { positional_only, plain, variadic, keyword_only, keywords };
  std::string name;
  Kind kind = Kind::plain;
  PyObject* key = nullptr;       ///< the name, interned
  PyObject* alias = nullptr;     ///< another accepted keyword, interned; null: none
  PyObject* fallback = nullptr;  ///< the default value; null if the argument is required
};

/// A function's declaration in Python syntax: "sum(a: Array, axis: int | None = None) -> Array". It
/// is the only source for matching arguments, for inspect.signature and for the stubs. "min|a_min:
/// float" declares a parameter min that may also be passed as a_min, where the array API standard
/// and NumPy use different names; only min is shown.
struct Signature {
  std::string name;
  std::string declaration;  ///< as given, without aliases
  std::string text;         ///< "(x, /, axis=None)", for __text_signature__
  std::vector<Parameter> parameters;
  std::size_t positional = 0;  ///< number of leading positional parameters
  int out = -1;                ///< index of the Array parameter `out`; -1: none
};

/// Throws std::invalid_argument for an invalid declaration, which is an error in a binding.
Signature parse_signature(std::string_view declaration);

}  // namespace heddle::python
