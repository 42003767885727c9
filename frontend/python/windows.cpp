#include "heddle/windows.h"

#include <cmath>

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

/// The number of points; a float is accepted, too, as in NumPy.
std::int64_t points_of(const Arguments& a) {
  if (is_integer(a[0])) return a.integer(0);
  const double points = a.number(0);
  if (points != std::floor(points) || std::abs(points) > 0x1p53) a.mistyped(0, "a whole number");
  return static_cast<std::int64_t>(points);
}

template <Array (*function)(std::int64_t, SourceLocation)>
Array window_of(const Arguments& a) {
  return function(points_of(a), a.where());
}

}  // namespace

void bind_windows(Functions& functions) {
  functions.give_variables(true);
  functions.def("i0(x: Operand) -> Array",
                "The modified Bessel function of the first kind and order 0: numpy.i0. Raises "
                "DTypeError for complex numbers.\n\nExample: hd.i0(x)",
                [](const Arguments& a) { return i0(a.operand(0)); });
  functions.give_variables(false);
  functions.def("bartlett(M: int) -> Array", "A triangle of M points, from 0 to 0: numpy.bartlett.",
                [](const Arguments& a) { return window_of<bartlett>(a); });
  functions.def("blackman(M: int) -> Array",
                "The first three cosines, M points in float64: numpy.blackman.",
                [](const Arguments& a) { return window_of<blackman>(a); });
  functions.def("hamming(M: int) -> Array",
                "A cosine from 0.08, M points in float64: numpy.hamming.",
                [](const Arguments& a) { return window_of<hamming>(a); });
  functions.def("hanning(M: int) -> Array", "A cosine from 0, M points in float64: numpy.hanning.",
                [](const Arguments& a) { return window_of<hanning>(a); });
  functions.def("kaiser(M: int, beta: float) -> Array",
                "A window by i0, M points in float64, the wider the smaller beta is: "
                "numpy.kaiser.\n\nExample: hd.kaiser(51, 14.0)",
                [](const Arguments& a) { return kaiser(points_of(a), a.operand(1)); });
}

}  // namespace heddle::python
