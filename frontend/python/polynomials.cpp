#include "heddle/polynomials.h"

#include "heddle/creation.h"

#include "frontend/python/bindings.h"

namespace heddle::python {

void bind_polynomials(Functions& functions) {
  functions.def("polyval(p: Array, x: Operand, /) -> Array",
                "The polynomial with coefficients p, the highest power's first, at x: "
                "numpy.polyval.",
                [](const Arguments& a) { return polyval(a.array(0), a.operand(1)); });
  functions.def("convolve(x: Array, v: Array, /, mode: str = 'full') -> Array",
                "The convolution of vectors: numpy.convolve. `mode` is \"full\", \"same\" or "
                "\"valid\". Raises ValueError for empty vectors and other modes.",
                [](const Arguments& a) { return convolve(a.operand(0), a.operand(1), a.text(2)); });
  functions.def("correlate(x: Array, v: Array, /, mode: str = 'valid') -> Array",
                "The cross-correlation of vectors: numpy.correlate.", [](const Arguments& a) {
                  return correlate(a.operand(0), a.operand(1), a.text(2));
                });
  functions.def(
      "sliding_window_view(x: Array, window_shape: int, /, axis: int = -1) -> Array",
      "The windows of an axis, their elements along a new last one: "
      "numpy.lib.stride_tricks.sliding_window_view along one axis. They are read-only. Raises "
      "ValueError for a window longer than the axis.",
      [](const Arguments& a) {
        const Array windows = sliding_window_view(a.operand(0), a.integer(1), a.integer(2));
        return ArrayObject(windows).as_read_only();
      });
}

}  // namespace heddle::python
