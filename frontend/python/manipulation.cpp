#include "heddle/manipulation.h"

#include "heddle/creation.h"

#include "frontend/array/promote.h"
#include "frontend/python/bindings.h"
#include "frontend/python/orders.h"

namespace heddle::python {
namespace {

/// The result of a function that views its first argument, as a writable view.
ArrayObject view(const Arguments& a, const Array& result) {
  return a.object(0).view_of(result, a.where());
}

/// Views that are writable if an array already has the common shape, and read-only otherwise.
nb::object broadcast_views(const Arguments& a) {
  const std::vector<Array> arrays = a.arrays(0), results = broadcast_arrays(arrays, a.where());
  nb::list views;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const nb::object given = nb::borrow<nb::sequence>(a[0])[i];
    const ArrayObject* array = as_array(given);
    const ArrayObject own(array == nullptr ? arrays[i] : Array());
    views.append(nb::cast((array == nullptr ? own : *array).view_of(results[i], a.where())));
  }
  return nb::tuple(views);
}

void bind_shapes(Functions& functions) {
  functions.def(
      "reshape(a: Array, /, shape: int | tuple[int, ...], order: str = 'C', *, copy: bool | None = "
      "None) -> Array",
      "a in another shape; one extent may be -1: numpy.reshape. Elements are read and written in C "
      "order, with 'F' in Fortran order, and with 'A' in the order of a in memory.\n\n"
      "The result is a view that writes through where NumPy makes one. With copy=True it is a "
      "copy; copy=False raises ValueError if it cannot be a view. Raises ShapeError if the sizes "
      "differ.\n\n"
      "Example: hd.reshape(x, (2, -1))",
      [](const Arguments& a) {
        return reshaped(a.object(0), a.shape(1), a.order(2), a[3], a.where());
      });
  functions.def("ravel(a: Array, order: str = 'C') -> Array",
                "All elements as a 1-d array, a view if possible: numpy.ravel. The order is C "
                "order; with 'F' Fortran order, with 'A' whichever of the two a has in memory, and "
                "with 'K' the order of a in memory.",
                [](const Arguments& a) { return raveled(a.object(0), a.order(1), a.where()); });
  functions.def("expand_dims(a: Array, axis: int | tuple[int, ...] = 0) -> Array",
                "A view with new axes of extent 1; `axis` gives their positions in the result: "
                "numpy.expand_dims. Raises AxisError.",
                [](const Arguments& a) { return view(a, expand_dims(a.operand(0), a.axes(1))); });
  functions.def_with_method(
      "squeeze(a: Array, axis: int | tuple[int, ...] | None = None) -> Array",
      "A view without the given axes of extent 1, by default without all of them: numpy.squeeze. "
      "Raises ShapeError if an axis has another extent.",
      [](const Arguments& a) { return view(a, squeeze(a.operand(0), a.axes(1))); });
  functions.def(
      "broadcast_to(array: Array, shape: int | tuple[int, ...], subok: bool = False) -> Array",
      "A read-only view of the array, broadcast to the shape: numpy.broadcast_to. Raises "
      "ShapeError.",
      [](const Arguments& a) {
        return view(a, broadcast_to(a.operand(0), a.shape(1))).as_read_only();
      });
  functions.def(
      "broadcast_arrays(*args: Operand, subok: bool = False) -> tuple[Array, ...]",
      "A tuple of views of the arrays, broadcast against each other: numpy.broadcast_arrays. A "
      "view whose shape differs from its array is read-only. Raises ShapeError.",
      [](const Arguments& a) { return broadcast_views(a); });
}

/// atleast_nd(*arrays): returns one array for one argument, a tuple for several.
template <Array (*grow)(const Operand&)>
nb::object grown(const Arguments& a) {
  nb::list result;
  for (nb::handle each : nb::borrow<nb::tuple>(a[0])) {
    if (const ArrayObject* array = as_array(each)) {
      const Array value = grow({array->read(a.where()), a.where()});
      result.append(to_result(array->view_of(value, a.where())));
    } else {
      const Array value = from_python(each, std::nullopt, a.where());
      result.append(wrap(grow({value, a.where()})));
    }
  }
  return nb::len(result) == 1 ? nb::object(result[0]) : nb::object(nb::tuple(result));
}

void bind_ranks(Functions& functions) {
  functions.def("atleast_1d(*arys: Operand) -> Array | tuple[Array, ...]",
                "Views with at least one axis; a tuple for several arrays: numpy.atleast_1d.",
                [](const Arguments& a) { return grown<atleast_1d>(a); });
  functions.def("atleast_2d(*arys: Operand) -> Array | tuple[Array, ...]",
                "Views with at least two axes, with new axes first; a tuple for several arrays: "
                "numpy.atleast_2d.",
                [](const Arguments& a) { return grown<atleast_2d>(a); });
  functions.def("atleast_3d(*arys: Operand) -> Array | tuple[Array, ...]",
                "Views with at least three axes; a tuple for several arrays: numpy.atleast_3d. A "
                "1-d array of extent n gets shape (1, n, 1), a matrix gets a new last axis.",
                [](const Arguments& a) { return grown<atleast_3d>(a); });
  functions.def(
      "broadcast_shapes(*args: int | tuple[int, ...]) -> tuple[int, ...]",
      "The shape to which the given shapes broadcast: numpy.broadcast_shapes. Raises ShapeError.",
      [](const Arguments& a) {
        std::vector<Shape> shapes;
        for (nb::handle each : nb::borrow<nb::tuple>(a[0])) {
          Shape shape;
          if (PyIndex_Check(each.ptr()) != 0) {
            shape.push_back(to_integer(each));
          } else {
            for (nb::handle extent : each) shape.push_back(to_integer(extent));
          }
          shapes.push_back(shape);
        }
        nb::list result;
        for (std::int64_t extent : broadcast_shapes(shapes, a.where())) {
          result.append(extent);
        }
        return nb::object(nb::tuple(result));
      });
}

void bind_axes(Functions& functions) {
  functions.def("transpose(a: Array, axes: tuple[int, ...] | None = None) -> Array",
                "A view whose axis k is axis axes[k] of a: numpy.transpose. By default the axes "
                "are reversed. Raises AxisError for an axis out of range, ValueError unless `axes` "
                "is a permutation.",
                [](const Arguments& a) {
                  if (a.is_none(1)) return view(a, transpose(a.operand(0)));
                  return view(a, permute_dims(a.operand(0), a.integers(1)));
                });
  functions.alias("permute_dims", "transpose");
  functions.def_method(
      "transpose(self, *axes: int | tuple[int, ...] | None) -> Array",
      "A view with permuted axes, by default reversed: numpy.ndarray.transpose.",
      [](const Arguments& a) { return view(a, transpose(a.operand(0), a.variadic_integers(1))); });
  functions.def("matrix_transpose(x: Array, /) -> Array",
                "A view with the last two axes swapped: numpy.matrix_transpose. Raises ShapeError "
                "for fewer than two axes.",
                [](const Arguments& a) { return view(a, matrix_transpose(a.operand(0))); });
  functions.def("rollaxis(a: Array, axis: int, start: int = 0) -> Array",
                "A view with axis `axis` moved before axis `start`: numpy.rollaxis.",
                [](const Arguments& a) {
                  return view(a, rollaxis(a.operand(0), a.integer(1), a.integer(2)));
                });
  functions.def_with_method("swapaxes(a: Array, axis1: int, axis2: int) -> Array",
                            "A view with two axes swapped: numpy.swapaxes.",
                            [](const Arguments& a) {
                              return view(a, swapaxes(a.operand(0), a.integer(1), a.integer(2)));
                            });
  functions.def(
      "moveaxis(a: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...]) "
      "-> Array",
      "A view with the axes `source` moved to the positions `destination`: numpy.moveaxis. Raises "
      "AxisError for an axis out of range, ValueError for repeated axes or different numbers of "
      "them.",
      [](const Arguments& a) {
        return view(a, moveaxis(a.operand(0), a.integers(1), a.integers(2)));
      });
  functions.def(
      "flip(m: Array, axis: int | tuple[int, ...] | None = None) -> Array",
      "A view with the elements reversed along the given axes, by default along all: numpy.flip.",
      [](const Arguments& a) { return view(a, flip(a.operand(0), a.axes(1))); });
}

}  // namespace

void bind_manipulation(Functions& functions) {
  bind_shapes(functions);
  bind_ranks(functions);
  bind_axes(functions);
  functions.def(
      "astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: Device | None = None) "
      "-> Array",
      "x in another dtype: numpy.astype. With copy=False, x itself if it already has that "
      "dtype.\n\n"
      "A float out of range for an integer dtype gives the value that NumPy gives on x86-64.",
      [](const Arguments& a) {
        if (!a.flag(2) && a.array(0).dtype() == *a.dtype(1)) return nb::borrow(a[0]);
        return wrap(astype(a.operand(0), *a.dtype(1)));
      });
}

}  // namespace heddle::python
