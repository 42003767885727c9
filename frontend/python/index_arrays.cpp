#include "heddle/index_arrays.h"

#include <list>

#include <fmt/format.h>

#include "heddle/joining.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

nb::object tuple_of(std::vector<Array> arrays) { return nb::tuple(to_result(std::move(arrays))); }

/// One mode for all axes, or a sequence with one for each.
std::vector<std::string> modes_of(const Arguments& a, std::size_t i, std::size_t axes) {
  if (nb::isinstance<nb::str>(a[i])) return {a.text(i)};
  if (!PyTuple_Check(a[i].ptr()) && !PyList_Check(a[i].ptr())) a.mistyped(i, "strings");
  std::vector<std::string> modes;
  for (nb::handle each : nb::borrow(a[i])) {
    if (!nb::isinstance<nb::str>(each)) a.mistyped(i, "strings");
    modes.emplace_back(nb::str(each).c_str());
  }
  if (modes.size() == axes) return modes;
  raise(PyExc_ValueError,
        fmt::format("ravel_multi_index: {} modes for {} axes", modes.size(), axes));
}

/// Converts a sequence of Arrays, integers and array-likes. `made` keeps the converted values
/// alive.
std::vector<Operand> operands_of(const Arguments& a, std::size_t i, std::list<Array>& made) {
  if (!PyTuple_Check(a[i].ptr()) && !PyList_Check(a[i].ptr()))
    a.mistyped(i, "an Array or a sequence of Arrays and integers");
  std::vector<Operand> operands;
  for (nb::handle each : nb::borrow(a[i])) {
    if (const ArrayObject* array = as_array(each)) {
      operands.emplace_back(array->read(a.where()), a.where());
    } else if (const auto scalar = as_scalar(each)) {
      operands.emplace_back(*scalar, a.where());
    } else {
      operands.emplace_back(made.emplace_back(from_python(each, std::nullopt, a.where())),
                            a.where());
    }
  }
  return operands;
}

/// One coordinate for each axis, or the rows of an Array.
Array raveled(const Arguments& a) {
  const std::vector<std::int64_t> dims = a.shape(1);
  const std::vector<std::string> names = modes_of(a, 2, dims.size());
  const std::vector<std::string_view> modes(names.begin(), names.end());
  const std::string order(1, a.order(3));
  if (as_array(a[0]) != nullptr || is_numpy_array(a[0])) {
    const std::vector<Array> rows = unstack(a.operand(0), 0);
    return ravel_multi_index(rows, dims, modes, order, a.where());
  }
  std::list<Array> made;
  const std::vector<Operand> coordinates = operands_of(a, 0, made);
  return ravel_multi_index(std::span<const Operand>(coordinates), dims, modes, order, a.where());
}

void bind_raveling(Functions& functions) {
  functions.def(
      "unravel_index(indices: Operand, shape: int | tuple[int, ...], order: str | None = 'C') -> "
      "tuple[Array, ...]",
      "A tuple with one index array for each axis of a shape, from flat indices in C or Fortran "
      "order: numpy.unravel_index. In an Array, an index out of range means the nearest element; a "
      "number out of range raises ValueError. Raises DTypeError for floats.\n\n"
      "Example: hd.unravel_index(hd.argmax(x), x.shape)",
      [](const Arguments& a) {
        return tuple_of(unravel_index(a.operand(0), a.shape(1), std::string(1, a.order(2))));
      });
  functions.def(
      "ravel_multi_index(multi_index: Array | Sequence[Operand], dims: int | tuple[int, ...], "
      "mode: str | tuple[str, ...] = 'raise', order: str | None = 'C') -> Array",
      "Flat indices from one operand, or one row of an Array, for each axis of `dims`: "
      "numpy.ravel_multi_index. `mode`, one or one for each axis, handles indices out of range: "
      "'wrap' or 'clip'; with 'raise' a number raises ValueError, and in an Array the nearest "
      "element is meant. Raises DTypeError for floats.\n\n"
      "Example: hd.ravel_multi_index((i, j), x.shape)",
      [](const Arguments& a) { return raveled(a); });
}

void bind_triangles(Functions& functions) {
  functions.def(
      "tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]",
      "Row and column indices of the elements on and below the k-th diagonal of an n x m matrix: "
      "numpy.tril_indices. m is n by default.\n\n"
      "Example: x[hd.tril_indices(3)]",
      [](const Arguments& a) {
        return tuple_of(tril_indices(a.integer(0), a.integer(1), a.optional_integer(2), a.where()));
      });
  functions.def(
      "triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]",
      "Row and column indices of the elements on and above the k-th diagonal of an n x m matrix: "
      "numpy.triu_indices. m is n by default.",
      [](const Arguments& a) {
        return tuple_of(triu_indices(a.integer(0), a.integer(1), a.optional_integer(2), a.where()));
      });
  functions.def(
      "tril_indices_from(arr: Array, k: int = 0) -> tuple[Array, Array]",
      "tril_indices for the shape of a matrix: numpy.tril_indices_from. Raises ShapeError for "
      "other ranks.",
      [](const Arguments& a) { return tuple_of(tril_indices_from(a.operand(0), a.integer(1))); });
  functions.def(
      "triu_indices_from(arr: Array, k: int = 0) -> tuple[Array, Array]",
      "triu_indices for the shape of a matrix: numpy.triu_indices_from. Raises ShapeError for "
      "other ranks.",
      [](const Arguments& a) { return tuple_of(triu_indices_from(a.operand(0), a.integer(1))); });
  functions.def("diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]",
                "The indices of the main diagonal of an array with ndim axes of extent n, one "
                "Array for each axis: numpy.diag_indices.",
                [](const Arguments& a) {
                  return tuple_of(diag_indices(a.integer(0), a.integer(1), a.where()));
                });
  functions.def("diag_indices_from(arr: Array) -> tuple[Array, ...]",
                "diag_indices for the shape of an array: numpy.diag_indices_from. Raises "
                "ShapeError for fewer than two axes, or axes of different extents.",
                [](const Arguments& a) { return tuple_of(diag_indices_from(a.operand(0))); });
  functions.def(
      "fill_diagonal(a: Array, val: Operand, wrap: bool = False) -> None",
      "Writes values to the main diagonal in place, repeated as needed: numpy.fill_diagonal. With "
      "`wrap`, a matrix with more rows than columns has further diagonals, as in NumPy. Raises "
      "ShapeError for fewer than two axes, and for more than two axes of different extents.\n\n"
      "Example: hd.fill_diagonal(x, 0)",
      [](const Arguments& a) {
        Array value = a.array(0);
        fill_diagonal(value, a.operand(1), a.flag(2));
        a.target(0).write(value, a.where());
        return nb::none();
      });
}

/// A 1-d index array, or a sequence converted to one; an empty sequence has integer dtype.
Array vector_of(nb::handle value, const SourceLocation& where) {
  if (const ArrayObject* array = as_array(value)) return array->read(where);
  const bool is_empty = PySequence_Check(value.ptr()) != 0 && PySequence_Size(value.ptr()) == 0;
  return from_python(value, is_empty ? std::optional(DType::i64) : std::nullopt, where);
}

}  // namespace

void bind_index_arrays(Functions& functions) {
  bind_raveling(functions);
  bind_triangles(functions);
  functions.def(
      "ix_(*args: Array | Sequence[int]) -> tuple[Array, ...]",
      "The vectors, each along its own axis, so that together they index a grid: numpy.ix_. A bool "
      "vector stands for the indices where it is true; this evaluates and waits, and raises "
      "TraceError inside a trace. Raises ShapeError for arrays that are not 1-d.\n\n"
      "Example: x[hd.ix_([0, 2], [1, 3])]",
      [](const Arguments& a) {
        std::vector<Array> vectors;
        for (nb::handle each : nb::borrow(a[0])) vectors.push_back(vector_of(each, a.where()));
        return tuple_of(ix_(vectors, a.where()));
      });
}

}  // namespace heddle::python
