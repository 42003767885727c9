#pragma once

#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "heddle/array.h"
#include "heddle/joining.h"
#include "heddle/precision.h"

#include "frontend/python/array_object.h"
#include "frontend/python/signature.h"

namespace heddle::python {

/// The arguments of one call, in the order of the function's declaration, with defaults filled in.
/// Each accessor converts one argument. It raises TypeError or ValueError with the names of the
/// function and the parameter.
class Arguments {
 public:
  Arguments(const Signature& signature, PyObject* const* values, SourceLocation where)
      : signature_(signature), values_(values), where_(where) {}

  nb::handle operator[](std::size_t i) const { return values_[i]; }
  bool is_none(std::size_t i) const { return values_[i] == Py_None; }
  const SourceLocation& where() const { return where_; }
  /// The function's name.
  const std::string& name() const { return signature_.name; }

  /// An Array, a Python number (which is weak), an array of another library that shares its memory,
  /// or anything that foreign_operand() accepts.
  Operand operand(std::size_t i) const;
  /// The argument as an Array. A number, or anything that foreign_operand() accepts, is converted
  /// to an Array that this call owns.
  ArrayObject& object(std::size_t i) const;
  /// An Array that the function writes to.
  ArrayObject& target(std::size_t i) const;
  const Array& array(std::size_t i) const { return object(i).read(where_); }
  /// A sequence of array_likes. An Array stands for its slices along the first axis.
  std::vector<Array> arrays(std::size_t i) const;
  /// None, an integer or several integers.
  Axes axes(std::size_t i) const;
  /// The axes of a reduction. Like axes(), except that bools are rejected, as in NumPy.
  Axes reduced_axes(std::size_t i) const;
  /// An integer, or the elements of a sequence, an Array or a NumPy array.
  std::vector<std::int64_t> integers(std::size_t i) const;
  /// The value of a *parameter: integers, one sequence of integers, or None for none.
  std::vector<std::int64_t> variadic_integers(std::size_t i) const;
  /// The extents of a shape. Like integers(), except that bools are rejected, as in NumPy.
  Shape shape(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  std::optional<std::int64_t> optional_integer(std::size_t i) const;
  double number(std::size_t i) const;
  /// A number, or the only element of an Array, which waits.
  Scalar scalar(std::size_t i) const;
  bool flag(std::size_t i) const;
  std::string text(std::size_t i) const;
  /// NumPy's `order`: 'C', 'F', 'A' or 'K', upper or lower case; `fallback` for None. ValueError
  /// for anything else.
  char order(std::size_t i, char fallback = 'C') const;
  /// Checks NumPy's `like`: None or an Array. It has no effect. TypeError for anything else.
  void check_like(std::size_t i) const;
  /// An Array; holds no value for None.
  Array optional_array(std::size_t i) const;
  /// An Array or a number, which becomes 0-d; holds no value for None.
  Array optional_values(std::size_t i) const;
  std::optional<Scalar> optional_scalar(std::size_t i) const;
  /// NumPy's `where`: an Array or a bool. Holds no value for True, which selects all elements.
  Array mask(std::size_t i) const;
  /// An integer, or several integers as in integers().
  Places places(std::size_t i) const;
  std::optional<DType> dtype(std::size_t i) const;
  /// 'ieee', 'tf32' or 'bf16'; nullopt for None. ValueError for another name.
  std::optional<Precision> precision(std::size_t i) const;
  DType dtype(std::size_t i, DType fallback) const { return dtype(i).value_or(fallback); }

  /// Raises TypeError: "name: parameter must be `wanted`, not ...".
  [[noreturn]] void mistyped(std::size_t i, const char* wanted) const;

 private:
  const Signature& signature_;
  PyObject* const* values_;
  SourceLocation where_;
  /// Converts a value that is not an Array, at most once per call. Shares the memory of arrays of
  /// other libraries than NumPy.
  ArrayObject* converted(std::size_t i, bool numbers) const;
  mutable std::list<std::pair<std::size_t, ArrayObject>> converted_;  ///< by parameter index
};

/// The ArrayObject behind heddle.Array; null for anything else.
ArrayObject* as_array(nb::handle value);
/// A Python number; nullopt for anything else.
std::optional<Scalar> as_scalar(nb::handle value);
/// A str as UTF-8. UnicodeEncodeError for lone surrogates.
std::string utf8_of(nb::handle value);
/// Raises TypeError for a shape that is a bool or contains one, as NumPy does.
void check_extents(nb::handle shape);
/// True for a single integer. (Arrays with axes have __index__, too.)
bool is_integer(nb::handle value);
/// An integer by __index__; TypeError for anything else.
std::int64_t to_integer(nb::handle value);
/// The name of the value's type, such as "numpy.ndarray".
std::string describe_type(nb::handle value);
/// Describes a value that is not an operand, and mentions asarray if it would help.
std::string describe_foreign(nb::handle value);

}  // namespace heddle::python
