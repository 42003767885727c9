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
      "order, or with \"F\" in Fortran's; \"A\" is that of a in memory.\n\nA view that writes "
      "through where NumPy makes one. With copy=True never, with copy=False ValueError where it "
      "is none. Raises ShapeError when the sizes differ.\n\nExample: hd.reshape(x, (2, -1))",
      [](const Arguments& a) {
        return reshaped(a.object(0), a.shape(1), a.order(2), a[3], a.where());
      });
  functions.def(
      "ravel(a: Array, order: str = 'C') -> Array",
      "All elements along one axis: numpy.ravel. A view where possible. The order is C's, with "
      "\"F\" Fortran's, with \"A\" that of the two which a has in memory, with \"K\" that of a in "
      "memory.",
      [](const Arguments& a) { return raveled(a.object(0), a.order(1), a.where()); });
  functions.def("expand_dims(a: Array, axis: int | tuple[int, ...] = 0) -> Array",
                "A view with axes of extent 1 at the places that `axis` names in the result: "
                "numpy.expand_dims. Raises AxisError.",
                [](const Arguments& a) { return view(a, expand_dims(a.operand(0), a.axes(1))); });
  functions.def_with_method(
      "squeeze(a: Array, axis: int | tuple[int, ...] | None = None) -> Array",
      "A view without the axes of extent 1 that `axis` names, all by default: numpy.squeeze. "
      "Raises ShapeError for another extent.",
      [](const Arguments& a) { return view(a, squeeze(a.operand(0), a.axes(1))); });
  functions.def(
      "broadcast_to(array: Array, shape: int | tuple[int, ...], subok: bool = False) -> Array",
      "A read-only view of an array in a shape that it broadcasts to: numpy.broadcast_to. "
      "Raises ShapeError.",
      [](const Arguments& a) {
        return view(a, broadcast_to(a.operand(0), a.shape(1))).as_read_only();
      });
  functions.def(
      "broadcast_arrays(*args: Operand, subok: bool = False) -> tuple[Array, ...]",
      "The arrays broadcast against each other, as views: numpy.broadcast_arrays. Those that have "
      "another shape than they had are read-only. Raises ShapeError.",
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
                "Views with at least one axis: numpy.atleast_1d.",
                [](const Arguments& a) { return grown<atleast_1d>(a); });
  functions.def("atleast_2d(*arys: Operand) -> Array | tuple[Array, ...]",
                "Views with at least two axes, new ones first: numpy.atleast_2d.",
                [](const Arguments& a) { return grown<atleast_2d>(a); });
  functions.def("atleast_3d(*arys: Operand) -> Array | tuple[Array, ...]",
                "Views with at least three axes, new ones around: numpy.atleast_3d.",
                [](const Arguments& a) { return grown<atleast_3d>(a); });
  functions.def("broadcast_shapes(*args: int | tuple[int, ...]) -> tuple[int, ...]",
                "The shape that shapes broadcast to: numpy.broadcast_shapes. Raises ShapeError.",
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
                "A view whose axis k is axis axes[k] of a, with the axes reversed by default: "
                "numpy.transpose. Raises AxisError, ValueError.",
                [](const Arguments& a) {
                  if (a.is_none(1)) return view(a, transpose(a.operand(0)));
                  return view(a, permute_dims(a.operand(0), a.integers(1)));
                });
  functions.alias("permute_dims", "transpose");
  functions.def_method(
      "transpose(self, *axes: int | tuple[int, ...] | None) -> Array",
      "A view with axes permuted, reversed by default: numpy.ndarray.transpose.",
      [](const Arguments& a) { return view(a, transpose(a.operand(0), a.variadic_integers(1))); });
  functions.def("matrix_transpose(x: Array, /) -> Array",
                "A view with the last two axes exchanged: numpy.matrix_transpose. Raises "
                "ShapeError for fewer than two.",
                [](const Arguments& a) { return view(a, matrix_transpose(a.operand(0))); });
  functions.def("rollaxis(a: Array, axis: int, start: int = 0) -> Array",
                "A view whose axis `axis` moved before axis `start`: numpy.rollaxis.",
                [](const Arguments& a) {
                  return view(a, rollaxis(a.operand(0), a.integer(1), a.integer(2)));
                });
  functions.def_with_method("swapaxes(a: Array, axis1: int, axis2: int) -> Array",
                            "A view with two axes exchanged: numpy.swapaxes.",
                            [](const Arguments& a) {
                              return view(a, swapaxes(a.operand(0), a.integer(1), a.integer(2)));
                            });
  functions.def(
      "moveaxis(a: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...]) "
      "-> Array",
      "A view with axes at other places: numpy.moveaxis. Raises AxisError, ValueError.",
      [](const Arguments& a) {
        return view(a, moveaxis(a.operand(0), a.integers(1), a.integers(2)));
      });
  functions.def("flip(m: Array, axis: int | tuple[int, ...] | None = None) -> Array",
                "A view with the order reversed along the axes, all by default: numpy.flip.",
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
      "x in another dtype: numpy.astype. With copy=False x itself where it has that dtype.\n\nA "
      "float beyond an integer dtype gives what NumPy gives on x86-64.",
      [](const Arguments& a) {
        if (!a.flag(2) && a.array(0).dtype() == *a.dtype(1)) return nb::borrow(a[0]);
        return wrap(astype(a.operand(0), *a.dtype(1)));
      });
}

}  // namespace heddle::python
