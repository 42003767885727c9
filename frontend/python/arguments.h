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

/// The arguments of one call, in the order of the function's declaration, with its defaults. Each
/// accessor converts one, and raises TypeError or ValueError that names function and parameter.
class Arguments {
 public:
  Arguments(const Signature& signature, PyObject* const* values, SourceLocation where)
      : signature_(signature), values_(values), where_(where) {}

  nb::handle operator[](std::size_t i) const { return values_[i]; }
  bool is_none(std::size_t i) const { return values_[i] == Py_None; }
  const SourceLocation& where() const { return where_; }
  /// The function's.
  const std::string& name() const { return signature_.name; }

  /// An Array, a Python number, which is weak, or what foreign_operand() takes.
  Operand operand(std::size_t i) const;
  /// A number, or what foreign_operand() takes, becomes an Array of the call's own.
  ArrayObject& object(std::size_t i) const;
  /// An Array that the function writes to.
  ArrayObject& target(std::size_t i) const;
  const Array& array(std::size_t i) const { return object(i).read(where_); }
  /// A sequence of array_likes. An Array stands for its slices along the first axis.
  std::vector<Array> arrays(std::size_t i) const;
  /// None, an integer or several.
  Axes axes(std::size_t i) const;
  /// The axes of a reduction: as axes(), but bools are none, as in NumPy.
  Axes reduced_axes(std::size_t i) const;
  /// An integer or several: of a sequence, or the elements of an Array or of NumPy's array.
  std::vector<std::int64_t> integers(std::size_t i) const;
  /// What a *parameter takes: integers, one sequence of them, or None for none.
  std::vector<std::int64_t> variadic_integers(std::size_t i) const;
  /// The extents of a shape: as integers(), but bools are none, as in NumPy.
  Shape shape(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  std::optional<std::int64_t> optional_integer(std::size_t i) const;
  double number(std::size_t i) const;
  /// A number, also the only element of an Array, for which it waits.
  Scalar scalar(std::size_t i) const;
  bool flag(std::size_t i) const;
  std::string text(std::size_t i) const;
  /// NumPy's `order`: 'C', 'F', 'A' or 'K', in either case; `fallback` for None. ValueError for
  /// another.
  char order(std::size_t i, char fallback = 'C') const;
  /// NumPy's `like`: None or an Array, neither of which changes anything. TypeError for others.
  void check_like(std::size_t i) const;
  /// An Array; without value for None.
  Array optional_array(std::size_t i) const;
  /// An Array or a number, which becomes 0-d; without value for None.
  Array optional_values(std::size_t i) const;
  std::optional<Scalar> optional_scalar(std::size_t i) const;
  /// NumPy's `where`: an Array, or a bool; without value for True, which is all elements.
  Array mask(std::size_t i) const;
  /// An integer, or several as integers() takes them.
  Places places(std::size_t i) const;
  std::optional<DType> dtype(std::size_t i) const;
  /// 'ieee', 'tf32' or 'bf16', ValueError for another name; nullopt for None.
  std::optional<Precision> precision(std::size_t i) const;
  DType dtype(std::size_t i, DType fallback) const { return dtype(i).value_or(fallback); }

  /// Raises TypeError: "name: parameter must be `wanted`, not ...".
  [[noreturn]] void mistyped(std::size_t i, const char* wanted) const;

 private:
  const Signature& signature_;
  PyObject* const* values_;
  SourceLocation where_;
  /// Makes an Array of a value that is none, once a call.
  ArrayObject* converted(std::size_t i, bool numbers) const;
  mutable std::list<std::pair<std::size_t, ArrayObject>> converted_;  ///< by parameter
};

/// The ArrayObject behind heddle.Array; null for anything else.
ArrayObject* as_array(nb::handle value);
/// A Python number; nullopt for anything else.
std::optional<Scalar> as_scalar(nb::handle value);
/// A str as UTF-8, with whatever characters it has; UnicodeEncodeError for halves of them.
std::string utf8_of(nb::handle value);
/// TypeError for a shape that is a bool, or a sequence with one in it, which NumPy refuses as well.
void check_extents(nb::handle shape);
/// Whether it is a single integer. Arrays with axes have __index__ too.
bool is_integer(nb::handle value);
/// An integer by __index__; TypeError for anything else.
std::int64_t to_integer(nb::handle value);
/// "numpy.ndarray": the value's type.
std::string describe_type(nb::handle value);
/// What to say about a value that is no operand; names asarray where that helps.
std::string describe_foreign(nb::handle value);

}  // namespace heddle::python
