#include "heddle/linear_algebra.h"

#include "frontend/python/bindings.h"

namespace heddle::python {

void bind_linear_algebra(Functions& functions) {
  functions.def("matmul(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array",
                "The matrix product x1 @ x2: numpy.matmul. Leading axes broadcast; a vector counts "
                "as a row on the left and a column on the right.\n\nRaises ShapeError when inner "
                "extents differ or an operand is 0-d.",
                [](const Arguments& a) { return matmul(a.operand(0), a.operand(1)); });
  functions.def_with_method("dot(x1: Operand, x2: Operand, /) -> Array",
                            "The product of vectors, or of matrices: numpy.dot. Raises ShapeError.",
                            [](const Arguments& a) { return dot(a.operand(0), a.operand(1)); });
  functions.def("outer(x1: Array, x2: Array, /) -> Array",
                "The products of all pairs of the flattened operands: numpy.outer.",
                [](const Arguments& a) { return outer(a.operand(0), a.operand(1)); });
}

}  // namespace heddle::python
