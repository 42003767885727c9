#include "heddle/linear_algebra.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

Array tensor_product(const Arguments& a) {
  if (PyIndex_Check(a[2].ptr()) != 0) return tensordot(a.operand(0), a.operand(1), a.integer(2));
  const nb::object pair = nb::steal(PySequence_Fast(a[2].ptr(), ""));
  if (!pair.is_valid() || nb::len(pair) != 2) {
    PyErr_Clear();
    a.mistyped(2, "an integer or a pair of sequences of integers");
  }
  const auto axes = [&](std::size_t i) {
    PyObject* side = PySequence_Fast_ITEMS(pair.ptr())[i];
    std::vector<std::int64_t> result;
    if (PyIndex_Check(side) != 0) return std::vector{to_integer(side)};
    for (nb::handle each : nb::borrow(side)) result.push_back(to_integer(each));
    return result;
  };
  return tensordot(a.operand(0), a.operand(1), axes(0), axes(1));
}

/// einsum("ij,jk", x, y)
Array summed(const Arguments& a) {
  std::vector<Array> operands;
  for (nb::handle each : nb::borrow<nb::tuple>(a[1])) {
    const ArrayObject* array = as_array(each);
    if (array == nullptr) a.mistyped(1, "Arrays");
    operands.push_back(array->read(a.where()));
  }
  return einsum(a.text(0), operands, a.where());
}

}  // namespace

void bind_linear_algebra(Functions& functions) {
  const auto def = [&](const char* name, const char* text, auto implement) {
    functions.def(std::string(name) + "(x1: Array, x2: Array, /) -> Array", text, implement);
  };
  functions.def("matmul(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array",
                "The matrix product x1 @ x2: numpy.matmul. Leading axes broadcast; a vector counts "
                "as a row on the left and a column on the right.\n\nRaises ShapeError when inner "
                "extents differ or an operand is 0-d.",
                [](const Arguments& a) { return matmul(a.operand(0), a.operand(1)); });
  functions.def_with_method("dot(x1: Operand, x2: Operand, /, out: Array | None = None) -> Array",
                            "The product of vectors, or of matrices: numpy.dot. Raises ShapeError.",
                            [](const Arguments& a) { return dot(a.operand(0), a.operand(1)); });
  def("matvec", "Matrices times vectors: numpy.matvec. Raises ShapeError.",
      [](const Arguments& a) { return matvec(a.operand(0), a.operand(1)); });
  def("vecmat", "Vectors times matrices: numpy.vecmat. Raises ShapeError.",
      [](const Arguments& a) { return vecmat(a.operand(0), a.operand(1)); });
  def("vdot", "The product of the flattened operands: numpy.vdot. Raises ShapeError.",
      [](const Arguments& a) { return vdot(a.operand(0), a.operand(1)); });
  def("inner", "Sums of products over both last axes: numpy.inner. Raises ShapeError.",
      [](const Arguments& a) { return inner(a.operand(0), a.operand(1)); });
  def("outer", "The products of all pairs of the flattened operands: numpy.outer.",
      [](const Arguments& a) { return outer(a.operand(0), a.operand(1)); });
  def("kron", "x2 times each element of x1: numpy.kron.",
      [](const Arguments& a) { return kron(a.operand(0), a.operand(1)); });
  functions.def(
      "vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array",
      "Sums of products along an axis; other axes broadcast: numpy.vecdot. Raises "
      "ShapeError.",
      [](const Arguments& a) { return vecdot(a.operand(0), a.operand(1), a.integer(2)); });
  functions.def(
      "tensordot(x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) "
      "-> Array",
      "Sums of products over pairs of axes, or over the last axes of x1 with the first of x2: "
      "numpy.tensordot. Raises ShapeError, ValueError.",
      [](const Arguments& a) { return tensor_product(a); });
  functions.def("cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array",
                "The cross product of vectors along an axis: numpy.cross. Raises ShapeError.",
                [](const Arguments& a) {
                  const std::int64_t axis = a.integer(2);
                  return cross(a.operand(0), a.operand(1), axis, axis, axis);
                });
  functions.def("einsum(subscripts: str, /, *operands: Array) -> Array",
                "Sums of products by Einstein's convention: numpy.einsum. Raises ValueError, "
                "ShapeError.\n\nExample: hd.einsum('ij,jk->ik', x, y)",
                [](const Arguments& a) { return summed(a); });
}

}  // namespace heddle::python
