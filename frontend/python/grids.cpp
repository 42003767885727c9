#include "heddle/grids.h"

#include "frontend/python/bindings.h"
#include "frontend/python/device.h"

namespace heddle::python {

void bind_grids(Functions& functions) {
  functions.def(
      "linspace(start: float, stop: float, /, num: int = 50, *, dtype: DTypeLike | None = None, "
      "device: Device | None = None, endpoint: bool = True) -> Array",
      "`num` evenly spaced values from start to stop, in float64 by default: numpy.linspace. "
      "Raises ValueError for a negative number.\n\nExample: hd.linspace(0, 1, 5)",
      [](const Arguments& a) {
        return on_device(linspace(a.scalar(0), a.scalar(1), a.integer(2), a.flag(5),
                                  a.dtype(3, DType::f64), a.where()),
                         a[4]);
      });
  functions.def(
      "logspace(start: float, stop: float, /, num: int = 50, *, endpoint: bool = True, "
      "base: float = 10.0, dtype: DTypeLike | None = None) -> Array",
      "Powers of the base, their exponents as linspace: numpy.logspace.", [](const Arguments& a) {
        return logspace(a.scalar(0), a.scalar(1), a.integer(2), a.flag(3), a.number(4),
                        a.dtype(5, DType::f64), a.where());
      });
  functions.def(
      "geomspace(start: float, stop: float, /, num: int = 50, *, endpoint: bool = True, "
      "dtype: DTypeLike | None = None) -> Array",
      "Values evenly spaced in their logarithms: numpy.geomspace. Raises ValueError for "
      "a start or stop of 0.",
      [](const Arguments& a) {
        return geomspace(a.scalar(0), a.scalar(1), a.integer(2), a.flag(3), a.dtype(4, DType::f64),
                         a.where());
      });
  functions.def(
      "meshgrid(*arrays: Array, indexing: str = \"xy\", sparse: bool = False) -> list[Array]",
      "Arrays of coordinates from vectors; \"xy\" puts the first along the second axis, \"ij\" "
      "along the first: numpy.meshgrid. Raises ValueError, ShapeError.",
      [](const Arguments& a) {
        return nb::list(to_result(meshgrid(a.arrays(0), a.text(1), a.flag(2), a.where())));
      });
  functions.def(
      "indices(dimensions: tuple[int, ...], dtype: DTypeLike | None = None, sparse: bool "
      "= False) -> Array | tuple[Array, ...]",
      "The indices along each axis of an array of that shape, stacked: numpy.indices.",
      [](const Arguments& a) {
        const DType dtype = a.dtype(1, DType::i64);
        return a.flag(2) ? to_result(sparse_indices(a.integers(0), dtype, a.where()))
                         : wrap(indices(a.integers(0), dtype, a.where()));
      });
}

}  // namespace heddle::python
