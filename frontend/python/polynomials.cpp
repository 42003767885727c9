#include "heddle/polynomials.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "heddle/creation.h"

#include "frontend/graph/axes.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

/// Windows along one axis after the other; each adds an axis for the window's elements.
Array windows_of(const Arguments& a) {
  const std::vector<std::int64_t> extents = a.integers(1);
  const int rank = a.array(0).ndim();
  const auto axes = a.is_none(2) ? frontend::all_axes(rank) : a.integers(2);
  if (extents.size() != axes.size()) {
    raise(PyExc_ValueError,
          fmt::format("sliding_window_view: the window has {} extents, but there are {} axes",
                      extents.size(), axes.size()));
  }
  if (a.flag(4)) raise(PyExc_ValueError, "sliding_window_view: the windows are read-only");
  Array windows = a.array(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = frontend::axis_of(a.name(), axes[i], rank, a.where());
    windows = sliding_window_view({windows, a.where()}, extents[i], axis);
  }
  return windows;
}

/// The mode of convolve and correlate, by its name or by NumPy's number.
std::string mode_of(const Arguments& a, std::size_t i) {
  if (!is_integer(a[i])) return a.text(i);
  constexpr std::array names{"valid", "same", "full"};
  const std::int64_t number = a.integer(i);
  if (number >= 0 && number < 3) return names[static_cast<std::size_t>(number)];
  raise(PyExc_ValueError,
        fmt::format("{}: mode must be 'full', 'same' or 'valid' (2, 1 or 0), not {}", a.name(),
                    number));
}

}  // namespace

void bind_polynomials(Functions& functions) {
  functions.def("polyval(p: Array, x: Operand) -> Array",
                "The polynomial with coefficients p, highest power first, evaluated at x: "
                "numpy.polyval. Raises ShapeError unless p is 1-d.",
                [](const Arguments& a) { return polyval(a.array(0), a.operand(1)); });
  functions.def(
      "convolve(a: Array, v: Array, mode: str | int = 'full') -> Array",
      "The convolution of two vectors: numpy.convolve. `mode` is 'full', 'same' or "
      "'valid'. Raises ValueError for empty vectors and other modes.",
      [](const Arguments& a) { return convolve(a.operand(0), a.operand(1), mode_of(a, 2)); });
  functions.def(
      "correlate(a: Array, v: Array, mode: str | int = 'valid') -> Array",
      "The cross-correlation of two vectors: numpy.correlate. `mode` is 'full', 'same' or 'valid'.",
      [](const Arguments& a) { return correlate(a.operand(0), a.operand(1), mode_of(a, 2)); });
  functions.def(
      "sliding_window_view(x: Array, window_shape: int | tuple[int, ...], axis: int | tuple[int, "
      "...] | None = None, *, subok: bool = False, writeable: bool = False) -> Array",
      "A read-only view of all windows of the given shape along the axes, along all if axis is "
      "None: numpy.lib.stride_tricks.sliding_window_view. The elements of a window are along new "
      "last axes. Raises ValueError for a window longer than its axis, unless there is one axis "
      "for each extent of the window, and for writeable=True.",
      [](const Arguments& a) { return ArrayObject(windows_of(a)).as_read_only(); });
}

}  // namespace heddle::python
