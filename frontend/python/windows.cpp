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
                "The modified Bessel function of the first kind and order 0, elementwise: "
                "numpy.i0. Raises DTypeError for complex numbers.\n\n"
                "Example: hd.i0(x)",
                [](const Arguments& a) { return i0(a.operand(0)); });
  functions.give_variables(false);
  functions.def("bartlett(M: int) -> Array",
                "The Bartlett (triangular) window of M points, as float64: numpy.bartlett.",
                [](const Arguments& a) { return window_of<bartlett>(a); });
  functions.def("blackman(M: int) -> Array",
                "The Blackman window of M points, as float64: numpy.blackman.",
                [](const Arguments& a) { return window_of<blackman>(a); });
  functions.def("hamming(M: int) -> Array",
                "The Hamming window of M points, as float64: numpy.hamming.",
                [](const Arguments& a) { return window_of<hamming>(a); });
  functions.def("hanning(M: int) -> Array",
                "The Hann window of M points, as float64: numpy.hanning.",
                [](const Arguments& a) { return window_of<hanning>(a); });
  functions.def("kaiser(M: int, beta: float) -> Array",
                "The Kaiser window of M points, as float64; a smaller beta gives a wider window: "
                "numpy.kaiser.\n\n"
                "Example: hd.kaiser(51, 14.0)",
                [](const Arguments& a) { return kaiser(points_of(a), a.operand(1)); });
}

}  // namespace heddle::python
