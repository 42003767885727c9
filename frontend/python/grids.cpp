#include "heddle/grids.h"

#include "frontend/python/bindings.h"
#include "frontend/python/device.h"

namespace heddle::python {
namespace {

void bind_spaces(Functions& functions) {
  functions.def(
      "logspace(start: float, stop: float, /, num: int = 50, endpoint: bool = True, base: float = "
      "10.0, dtype: DTypeLike | None = None) -> Array",
      "Powers of the base, whose exponents are evenly spaced from start to stop: numpy.logspace. "
      "Raises ValueError for a negative number.",
      [](const Arguments& a) {
        return logspace(a.number(0), a.number(1), a.integer(2), a.flag(3), a.number(4),
                        a.dtype(5, DType::f64), a.where());
      });
  functions.def(
      "geomspace(start: complex, stop: complex, /, num: int = 50, endpoint: bool = True, dtype: "
      "DTypeLike | None = None) -> Array",
      "`num` values from start to stop, evenly spaced in their logarithms, complex ones on a "
      "spiral: numpy.geomspace. Raises ValueError for a start or stop of 0.",
      [](const Arguments& a) {
        const Scalar start = a.scalar(0), stop = a.scalar(1);
        const bool complex =
            start.kind == Scalar::Kind::complex || stop.kind == Scalar::Kind::complex;
        const DType natural = complex ? DType::c128 : DType::f64;
        return geomspace(start, stop, a.integer(2), a.flag(3), a.dtype(4, natural), a.where());
      });
}

/// function(*indices), for what the function makes of arrays.
nb::object from_function(const Arguments& a) {
  const std::vector<std::int64_t> shape = a.integers(1);
  nb::list places;
  for (const Array& along : sparse_indices(shape, a.dtype(2, DType::f64), a.where())) {
    places.append(wrap(broadcast_to({along, a.where()}, shape)));
  }
  return nb::borrow(a[0])(*nb::tuple(places));
}

void bind_indices_of_shapes(Functions& functions) {
  functions.def(
      "meshgrid(*arrays: Array, copy: bool = True, sparse: bool = False, indexing: str = 'xy') -> "
      "tuple[Array, ...]",
      "Coordinates of a grid from vectors: numpy.meshgrid. With \"xy\" the first vector goes along "
      "the second axis, with \"ij\" along the first; sparse ones have extent 1 along the "
      "others.\n\n"
      "Raises ValueError for another indexing.\n\nExample: x, y = hd.meshgrid(a, b)",
      [](const Arguments& a) {
        const std::vector<Array> grids = meshgrid(a.arrays(0), a.text(3), a.flag(2), a.where());
        if (a.flag(1)) return nb::object(nb::tuple(to_result(grids)));
        nb::list views;
        for (std::size_t i = 0; i < grids.size(); ++i) {
          const nb::object vector = nb::borrow<nb::sequence>(a[0])[i];
          views.append(nb::cast(as_array(vector)->view_of(grids[i], a.where())));
        }
        return nb::object(nb::tuple(views));
      });
  functions.def(
      "indices(dimensions: tuple[int, ...], /, dtype: DTypeLike | None = None, sparse: bool = "
      "False) -> Array | tuple[Array, ...]",
      "The indices along each axis of an array of that shape, stacked, or with `sparse` one by one "
      "with extent 1 along the other axes: numpy.indices.",
      [](const Arguments& a) {
        const DType dtype = a.dtype(1, DType::i64);
        if (!a.flag(2)) return wrap(indices(a.shape(0), dtype, a.where()));
        const std::vector<Array> along = sparse_indices(a.shape(0), dtype, a.where());
        return nb::object(nb::tuple(to_result(along)));
      });
  functions.def(
      "fromfunction(function: Callable, shape: tuple[int, ...], /, *, dtype: DTypeLike | None = "
      "None) -> Any",
      "What a function makes of the indices along each axis, one array each: numpy.fromfunction."
      "\n\nExample: hd.fromfunction(lambda i, j: i + j, (3, 3))",
      [](const Arguments& a) { return from_function(a); });
}

}  // namespace

void bind_grids(Functions& functions) {
  bind_spaces(functions);
  bind_indices_of_shapes(functions);
}

}  // namespace heddle::python
