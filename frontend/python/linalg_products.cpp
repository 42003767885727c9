#include <array>

#include <fmt/format.h>

#include "heddle/linalg.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/matrices.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/linalg_functions.h"

namespace heddle::python {

namespace {

// The array API standard's forms of functions that are also in heddle itself.

Array outer_of_vectors(const Arguments& a) {
  for (const std::size_t i : {0, 1}) {
    if (a.array(i).ndim() != 1) {
      raise(PyExc_ValueError, fmt::format("linalg.outer: takes vectors, but {} has {} axes",
                                          i == 0 ? "x1" : "x2", a.array(i).ndim()));
    }
  }
  return outer(a.operand(0), a.operand(1));
}

Array cross_of_vectors(const Arguments& a) {
  const std::int64_t axis = a.integer(2);
  return cross(a.operand(0), a.operand(1), axis, axis, axis);
}

void bind_products_of_vectors(Functions& functions, nb::module_& module) {
  functions.def_in(module, "outer(x1: Array, x2: Array, /) -> Array",
                   "The outer product of two vectors: numpy.linalg.outer. Raises ValueError for "
                   "other arrays.",
                   [](const Arguments& a) { return outer_of_vectors(a); });
  functions.def_in(module, "cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array",
                   "The cross products of vectors of 3 elements along an axis: numpy.linalg.cross. "
                   "Raises ShapeError for other extents.",
                   [](const Arguments& a) { return cross_of_vectors(a); });
  functions.def_in(
      module, "vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array",
      "The dot products of vectors along an axis, with x1 conjugated: numpy.linalg.vecdot. Raises "
      "ShapeError if the extents differ.",
      [](const Arguments& a) { return vecdot(a.operand(0), a.operand(1), a.integer(2)); });
}

}  // namespace

void bind_linalg_products(Functions& functions, nb::module_& module) {
  bind_products_of_vectors(functions, module);
  functions.def_in(
      module, "matmul(x1: Array, x2: Array, /) -> Array",
      "Matrix products; leading axes broadcast: numpy.linalg.matmul. Raises ShapeError.",
      [](const Arguments& a) { return matmul(a.operand(0), a.operand(1)); });
  functions.def_in(
      module, "trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array",
      "The sums of the diagonals of matrices, [..., m, n]: numpy.linalg.trace. Raises ShapeError.",
      [](const Arguments& a) { return trace(a.operand(0), a.integer(1), -2, -1, a.dtype(2)); });
  functions.def_in(module, "diagonal(x: Array, /, *, offset: int = 0) -> Array",
                   "The diagonals of matrices, [..., m, n]: numpy.linalg.diagonal. Raises "
                   "ShapeError.",
                   [](const Arguments& a) { return diagonal(a.operand(0), a.integer(1), -2, -1); });
  functions.def_in(
      module, "matrix_power(a: Array, n: int) -> Array",
      "Powers of square matrices, of their inverses if n < 0: "
      "numpy.linalg.matrix_power. Integers stay integers if n >= 0. Raises ShapeError; "
      "LinAlgError for singular matrices if n < 0.",
      [](const Arguments& a) { return linalg::matrix_power(a.operand(0), a.integer(1)); });
  functions.def_in(
      module, "multi_dot(arrays: list[Array], *, out: Array | None = None) -> Array",
      "The product of a chain of matrices, in the order with the fewest multiplications: "
      "numpy.linalg.multi_dot. The first and the last may be vectors. Raises ValueError for fewer "
      "than two arrays, ShapeError.",
      [](const Arguments& a) { return linalg::multi_dot(a.arrays(0), a.where()); });
}

}  // namespace heddle::python
