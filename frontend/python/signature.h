#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

namespace heddle::python {

namespace nb = nanobind;

/// A parameter of a function that Python calls.
struct Parameter {
  enum class Kind : std::uint8_t { positional_only, plain, variadic, keyword_only, keywords };
  std::string name;
  Kind kind = Kind::plain;
  PyObject* key = nullptr;       ///< the name, interned
  PyObject* alias = nullptr;     ///< another name that keywords may use, interned; null: none
  PyObject* fallback = nullptr;  ///< the default; null where an argument is needed
};

/// A function's declaration as Python writes it: "sum(a: Array, axis: int | None = None) -> Array".
/// It is what arguments are matched by, what inspect.signature shows, and what the stubs say;
/// nothing of it is written down twice. "min|a_min: float" is a parameter min that may also be
/// given as a_min, where the array API standard and NumPy name it differently; only min is shown.
struct Signature {
  std::string name;
  std::string declaration;  ///< as given, without the second names
  std::string text;         ///< "(x, /, axis=None)", for __text_signature__
  std::vector<Parameter> parameters;
  std::size_t positional = 0;  ///< leading parameters that positions fill
  int out = -1;                ///< which parameter is an Array called `out`; -1: none
};

/// Throws std::invalid_argument for text that is no declaration, which is a mistake in a binding.
Signature parse_signature(std::string_view declaration);

}  // namespace heddle::python
