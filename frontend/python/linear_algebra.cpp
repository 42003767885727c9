#include "heddle/linear_algebra.h"

#include "frontend/python/bindings.h"

namespace heddle::python {

namespace {

void bind_vector_products(Functions& functions) {
  functions.def("matvec(x1: Array, x2: Array, /) -> Array",
                "Matrices times vectors, leading axes broadcast: numpy.matvec. Raises ShapeError.",
                [](const Arguments& a) { return matvec(a.operand(0), a.operand(1)); });
  functions.def("vecmat(x1: Array, x2: Array, /) -> Array",
                "Vectors times matrices, leading axes broadcast: numpy.vecmat. Raises ShapeError.",
                [](const Arguments& a) { return vecmat(a.operand(0), a.operand(1)); });
  functions.def(
      "vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array",
      "Products of vectors along an axis, other axes broadcast: numpy.vecdot. Raises "
      "ShapeError when the extents differ.",
      [](const Arguments& a) { return vecdot(a.operand(0), a.operand(1), a.integer(2)); });
  functions.def("vdot(x1: Array, x2: Array, /) -> Array",
                "The product of the flattened operands: numpy.vdot. Raises ShapeError.",
                [](const Arguments& a) { return vdot(a.operand(0), a.operand(1)); });
  functions.def("inner(x1: Operand, x2: Operand, /) -> Array",
                "Sums of products over both last axes: numpy.inner. Raises ShapeError.",
                [](const Arguments& a) { return inner(a.operand(0), a.operand(1)); });
  functions.def(
      "cross(x1: Array, x2: Array, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int "
      "| None = None) -> Array",
      "The cross product of vectors of 3 elements, or 2: numpy.cross. `axis` is all three of the "
      "others. Raises ShapeError for other extents.",
      [](const Arguments& a) {
        const auto axis = [&](std::size_t i) { return a.integer(a.is_none(5) ? i : 5); };
        return cross(a.operand(0), a.operand(1), axis(2), axis(3), axis(4));
      });
}

/// tensordot's axes: a number of them, or a pair of lists.
Array contracted(const Arguments& a) {
  if (PyIndex_Check(a[2].ptr()) != 0) {
    return tensordot(a.operand(0), a.operand(1), a.integer(2));
  }
  const nb::object both = nb::borrow(a[2]);
  if (nb::len(both) != 2) a.mistyped(2, "an integer or two tuples of axes");
  const auto axes = [](const nb::object& given) {
    std::vector<std::int64_t> result;
    if (PyIndex_Check(given.ptr()) != 0) return std::vector{to_integer(given)};
    for (nb::handle each : given) result.push_back(to_integer(each));
    return result;
  };
  return tensordot(a.operand(0), a.operand(1), axes(both[0]), axes(both[1]));
}

void bind_sums_of_products(Functions& functions) {
  functions.def(
      "tensordot(x1: Array, x2: Array, /, axes: int | tuple[Sequence[int], Sequence[int]] = 2) "
      "-> Array",
      "Sums of products over pairs of axes, or over the last axes of x1 with the first of x2: "
      "numpy.tensordot. Raises ShapeError when their extents differ.\n\nExample: "
      "hd.tensordot(x, y, axes=((1,), (0,)))",
      [](const Arguments& a) { return contracted(a); });
  functions.def("kron(x1: Array, x2: Array, /) -> Array",
                "The array x2 times each element of x1: numpy.kron.",
                [](const Arguments& a) { return kron(a.operand(0), a.operand(1)); });
  functions.def(
      "einsum(subscripts: str, /, *operands: Array, out: Array | None = None) -> Array",
      "Sums of products as the subscripts say: numpy.einsum. Sums over two operands are matrix "
      "products; several are multiplied pair by pair, smallest results first.\n\nRaises "
      "ValueError for subscripts that do not fit, ShapeError when extents differ.\n\nExample: "
      "hd.einsum(\"bij,bjk->bik\", x, y)",
      [](const Arguments& a) { return einsum(a.text(0), a.arrays(1), a.where()); });
}

}  // namespace

void bind_linear_algebra(Functions& functions) {
  functions.def(
      "matmul(x1: Array, x2: Array, /, out: Array | None = None, *, precision: str | None = None) "
      "-> Array",
      "The matrix product x1 @ x2: numpy.matmul. Leading axes broadcast; a vector counts "
      "as a row on the left and a column on the right. `precision` is how exactly float32 and "
      "complex64 are multiplied: 'ieee', or 'tf32' or 'bf16', which let a GPU round the elements; "
      "by default what set_matmul_precision says.\n\nRaises ShapeError when inner "
      "extents differ or an operand is 0-d, ValueError for another precision.",
      [](const Arguments& a) {
        return matmul(a.operand(0), a.operand(1), {.precision = a.precision(3)});
      });
  functions.def_with_method("dot(x1: Operand, x2: Operand, /, out: Array | None = None) -> Array",
                            "The product of vectors, or of matrices: numpy.dot. Raises ShapeError.",
                            [](const Arguments& a) { return dot(a.operand(0), a.operand(1)); });
  functions.def("outer(x1: Array, x2: Array, /) -> Array",
                "The products of all pairs of the flattened operands: numpy.outer.",
                [](const Arguments& a) { return outer(a.operand(0), a.operand(1)); });
  bind_vector_products(functions);
  bind_sums_of_products(functions);
}

}  // namespace heddle::python
