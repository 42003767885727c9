#include "heddle/grids.h"

#include <limits>

#include "heddle/elementwise.h"

#include "frontend/graph/axes.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

bool is_real_number(const Arguments& a, std::size_t i) {
  const auto scalar = as_scalar(a[i]);
  return scalar && scalar->kind != Scalar::Kind::complex && !is_numpy_scalar(a[i]);
}

/// True if the first `count` arguments are real numbers; the result is then 1-d, and `axis` is
/// checked.
bool are_real_numbers(const Arguments& a, std::size_t count, std::size_t axis) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_real_number(a, i)) return false;
  }
  frontend::axis_of(a.name(), a.integer(axis), 1, a.where());
  return true;
}

/// linspace; with `retstep` also the distance between neighbours.
nb::object lines(const Arguments& a) {
  const std::int64_t count = a.integer(2);
  const bool endpoint = a.flag(3), numbers = are_real_numbers(a, 2, 6);
  const Array values =
      numbers
          ? linspace(a.number(0), a.number(1), count, endpoint, a.dtype(5, DType::f64), a.where())
          : linspace(a.operand(0), a.operand(1), count, endpoint, a.dtype(5), a.integer(6));
  const nb::object result = on_device(values, a[7]);
  if (!a.flag(4)) return result;
  const std::int64_t intervals = endpoint ? count - 1 : count;
  const double divisor =
      intervals > 0 ? static_cast<double>(intervals) : std::numeric_limits<double>::quiet_NaN();
  if (intervals <= 0) return nb::make_tuple(result, divisor);
  if (numbers) {
    const double step = (a.number(1) - a.number(0)) / divisor;
    return nb::make_tuple(result, wrap(full({}, {step, a.where()}, DType::f64)));
  }
  const Array distance = subtract(a.operand(1), a.operand(0));
  const Array step = divide({distance, a.where()}, {Scalar(divisor), a.where()});
  return nb::make_tuple(result, wrap(step));
}

void bind_spaces(Functions& functions) {
  functions.def(
      "linspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True, retstep: bool "
      "= "
      "False, dtype: DTypeLike | None = None, axis: int = 0, *, device: Device | None = None) -> "
      "Array | tuple[Array, Operand]",
      "`num` evenly spaced values from start to stop, float64 by default: numpy.linspace. If start "
      "or stop is an array, both broadcast and the values are along a new axis `axis`. With "
      "retstep=True, a tuple of the values and the step. Raises ValueError for a negative num.\n\n"
      "Example: hd.linspace(0, 1, 5)",
      [](const Arguments& a) { return lines(a); });
  functions.def(
      "logspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True, base: Operand "
      "= 10.0, dtype: DTypeLike | None = None, axis: int = 0) -> Array",
      "Powers of the base with `num` evenly spaced exponents from start to stop: numpy.logspace. "
      "If start or stop is an array, both broadcast and the values are along a new axis `axis`. "
      "Raises ValueError for a negative num.",
      [](const Arguments& a) {
        if (is_real_number(a, 4) && are_real_numbers(a, 2, 6)) {
          return logspace(a.number(0), a.number(1), a.integer(2), a.flag(3), a.number(4),
                          a.dtype(5, DType::f64), a.where());
        }
        return logspace(a.operand(0), a.operand(1), a.integer(2), a.flag(3), a.operand(4),
                        a.dtype(5), a.integer(6));
      });
  functions.def(
      "geomspace(start: Operand, stop: Operand, num: int = 50, endpoint: bool = True, dtype: "
      "DTypeLike | None = None, axis: int = 0) -> Array",
      "`num` values from start to stop with evenly spaced logarithms: numpy.geomspace. Complex "
      "values lie on a spiral. If start or stop is an array, both broadcast and the values are "
      "along a new axis `axis`. Raises ValueError if start or stop is the number 0.",
      [](const Arguments& a) {
        if (!as_scalar(a[0]) || !as_scalar(a[1])) {
          return geomspace(a.operand(0), a.operand(1), a.integer(2), a.flag(3), a.dtype(4),
                           a.integer(5));
        }
        const Scalar start = a.scalar(0), stop = a.scalar(1);
        const bool complex =
            start.kind == Scalar::Kind::complex || stop.kind == Scalar::Kind::complex;
        const DType natural = complex ? DType::c128 : DType::f64;
        return geomspace(start, stop, a.integer(2), a.flag(3), a.dtype(4, natural), a.where());
      });
}

/// function(*indices), where the function takes index arrays.
nb::object from_function(const Arguments& a) {
  a.check_like(3);
  const std::vector<std::int64_t> shape = a.integers(1);
  nb::list places;
  for (const Array& along : sparse_indices(shape, a.dtype(2, DType::f64), a.where())) {
    places.append(wrap(broadcast_to({along, a.where()}, shape)));
  }
  return nb::borrow(a[0])(*nb::tuple(places), **nb::borrow<nb::dict>(a[4]));
}

void bind_indices_of_shapes(Functions& functions) {
  functions.def(
      "meshgrid(*xi: Array, copy: bool = True, sparse: bool = False, indexing: str = 'xy') -> "
      "tuple[Array, ...]",
      "Coordinate arrays of a grid, one for each vector: numpy.meshgrid. With indexing='xy' the "
      "first vector varies along the second axis, with 'ij' along the first. Sparse arrays have "
      "extent 1 along all other axes.\n\n"
      "Raises ValueError for another indexing.\n\n"
      "Example: x, y = hd.meshgrid(a, b)",
      [](const Arguments& a) {
        const std::vector<Array> vectors = a.arrays(0);
        const std::vector<Array> grids = meshgrid(vectors, a.text(3), a.flag(2), a.where());
        if (a.flag(1)) return nb::object(nb::tuple(to_result(grids)));
        nb::list views;
        for (std::size_t i = 0; i < grids.size(); ++i) {
          const nb::object given = nb::borrow<nb::sequence>(a[0])[i];
          const ArrayObject own(vectors[i]);
          const ArrayObject* vector = as_array(given);
          views.append(nb::cast((vector ? *vector : own).view_of(grids[i], a.where())));
        }
        return nb::object(nb::tuple(views));
      });
  functions.def(
      "indices(dimensions: tuple[int, ...], dtype: DTypeLike | None = None, sparse: bool = "
      "False) -> Array | tuple[Array, ...]",
      "The index of each element along each axis, for an array of that shape: numpy.indices. They "
      "are stacked along a new first axis; with `sparse`, a tuple of arrays with extent 1 along "
      "all other axes.",
      [](const Arguments& a) {
        const DType dtype = a.dtype(1, DType::i64);
        if (!a.flag(2)) return wrap(indices(a.shape(0), dtype, a.where()));
        const std::vector<Array> along = sparse_indices(a.shape(0), dtype, a.where());
        return nb::object(nb::tuple(to_result(along)));
      });
  functions.def(
      "fromfunction(function: Callable, shape: tuple[int, ...], *, dtype: DTypeLike | None = None, "
      "like: Any = None, **kwargs: Any) -> Any",
      "function(i, j, ..., **kwargs), where each argument is the array of indices along one axis "
      "of the shape: numpy.fromfunction.\n\n"
      "Example: hd.fromfunction(lambda i, j: i + j, (3, 3))",
      [](const Arguments& a) { return from_function(a); });
}

}  // namespace

void bind_grids(Functions& functions) {
  bind_spaces(functions);
  bind_indices_of_shapes(functions);
}

}  // namespace heddle::python
