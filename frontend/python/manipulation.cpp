#include "heddle/manipulation.h"

#include "heddle/creation.h"

#include "frontend/array/promote.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

/// The result of a function that only views its first argument, as an array that writes through.
ArrayObject view(const Arguments& a, const Array& result) {
  return a.object(0).view_of(result, a.where());
}

/// Arrays joined along an axis, flattened where it is None.
Array joined(const Arguments& a) {
  std::vector<Array> arrays = a.arrays(0);
  if (a.is_none(1)) {
    for (Array& array : arrays) array = array.ravel(a.where());
  }
  return concatenate(arrays, a.optional_integer(1).value_or(0), a.where());
}

/// Views that write through where an array has the common shape already, and are read-only
/// elsewhere.
nb::object broadcast_views(const Arguments& a) {
  const std::vector<Array> results = broadcast_arrays(a.arrays(0));
  nb::list list;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const nb::object array = nb::borrow<nb::sequence>(a[0])[i];
    list.append(nb::cast(as_array(array)->view_of(results[i], a.where())));
  }
  return list;
}

ArrayObject fresh(const Array& value) { return ArrayObject(value); }

/// (*integers), or one tuple of them, or None for none.
std::vector<std::int64_t> variadic_integers(const Arguments& a, std::size_t i) {
  const nb::tuple given = nb::borrow<nb::tuple>(a[i]);
  if (given.size() == 1 && (PyTuple_Check(given[0].ptr()) || PyList_Check(given[0].ptr()))) {
    std::vector<std::int64_t> result;
    for (nb::handle each : given[0]) result.push_back(to_integer(each));
    return result;
  }
  if (given.size() == 1 && given[0].is_none()) return {};
  return a.integers(i);
}

ArrayObject reshaped(const Arguments& a, const Shape& shape, nb::handle copy) {
  ArrayObject result = view(a, reshape(a.operand(0), shape));
  if (copy.is_none()) return result;
  if (PyObject_IsTrue(copy.ptr()) == 1) return fresh(result.read(a.where()));
  if (&result.base() != &a.object(0).base()) {
    raise(PyExc_ValueError, "reshape: copy=False, but this shape needs a copy");
  }
  return result;
}

void bind_shapes(Functions& functions) {
  functions.def(
      "reshape(x: Array, /, shape: int | tuple[int, ...], *, copy: bool | None = None) -> Array",
      "x in another shape, in C order; one extent may be -1: numpy.reshape.\n\nA view that writes "
      "through where NumPy makes one. With copy=True never, with copy=False ValueError where it "
      "is none. Raises ShapeError when the sizes differ.\n\nExample: hd.reshape(x, (2, -1))",
      [](const Arguments& a) { return reshaped(a, a.shape(1), a[2]); });
  functions.def_method(
      "reshape(self, *shape: int | tuple[int, ...], copy: bool | None = None) -> Array",
      "As heddle.reshape; the extents may be given one by one.", [](const Arguments& a) {
        check_extents(a[1]);
        return reshaped(a, variadic_integers(a, 1), a[2]);
      });
  functions.def_with_method("ravel(x: Array, /) -> Array",
                            "All elements along one axis: numpy.ravel. A view where possible.",
                            [](const Arguments& a) { return view(a, ravel(a.operand(0))); });
  functions.def_method("flatten(self) -> Array", "A copy of all elements along one axis.",
                       [](const Arguments& a) { return fresh(ravel(a.operand(0))); });
  functions.def("expand_dims(x: Array, /, axis: int | tuple[int, ...] = 0) -> Array",
                "A view with axes of extent 1 at the places that `axis` names in the result: "
                "numpy.expand_dims. Raises IndexError.",
                [](const Arguments& a) { return view(a, expand_dims(a.operand(0), a.axes(1))); });
  functions.def_with_method(
      "squeeze(x: Array, /, axis: int | tuple[int, ...] | None = None) -> Array",
      "A view without the axes of extent 1 that `axis` names, all by default: numpy.squeeze. "
      "Raises ShapeError for another extent.",
      [](const Arguments& a) { return view(a, squeeze(a.operand(0), a.axes(1))); });
  functions.def("broadcast_to(x: Array, /, shape: int | tuple[int, ...]) -> Array",
                "A read-only view of x in a shape that it broadcasts to: numpy.broadcast_to. "
                "Raises ShapeError.",
                [](const Arguments& a) {
                  return view(a, broadcast_to(a.operand(0), a.shape(1))).as_read_only();
                });
  functions.def(
      "broadcast_arrays(*arrays: Array) -> list[Array]",
      "The arrays broadcast against each other, as views: numpy.broadcast_arrays. Those that have "
      "another shape than they had are read-only. Raises ShapeError.",
      [](const Arguments& a) { return broadcast_views(a); });
}

/// atleast_nd(*arrays): one array for one, a tuple for several.
template <Array (*grow)(const Operand&)>
nb::object grown(const Arguments& a) {
  nb::list result;
  for (nb::handle each : nb::borrow<nb::tuple>(a[0])) {
    if (const ArrayObject* array = as_array(each)) {
      const Array value = grow({array->read(a.where()), a.where()});
      result.append(to_result(array->view_of(value, a.where())));
    } else if (const auto scalar = as_scalar(each)) {
      result.append(wrap(grow({*scalar, a.where()})));
    } else {
      a.mistyped(0, "Arrays or numbers");
    }
  }
  return nb::len(result) == 1 ? nb::object(result[0]) : nb::object(nb::tuple(result));
}

void bind_ranks(Functions& functions) {
  functions.def("atleast_1d(*arrays: Operand) -> Array | tuple[Array, ...]",
                "Views with at least one axis: numpy.atleast_1d.",
                [](const Arguments& a) { return grown<atleast_1d>(a); });
  functions.def("atleast_2d(*arrays: Operand) -> Array | tuple[Array, ...]",
                "Views with at least two axes, new ones first: numpy.atleast_2d.",
                [](const Arguments& a) { return grown<atleast_2d>(a); });
  functions.def("atleast_3d(*arrays: Operand) -> Array | tuple[Array, ...]",
                "Views with at least three axes, new ones around: numpy.atleast_3d.",
                [](const Arguments& a) { return grown<atleast_3d>(a); });
  functions.def("broadcast_shapes(*shapes: int | tuple[int, ...]) -> tuple[int, ...]",
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
  functions.def(
      "permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array",
      "A view whose axis k is axis axes[k] of x. Raises IndexError, ValueError.",
      [](const Arguments& a) { return view(a, permute_dims(a.operand(0), a.integers(1))); });
  functions.def("transpose(x: Array, /, axes: tuple[int, ...] | None = None) -> Array",
                "A view with axes permuted, reversed by default: numpy.transpose.",
                [](const Arguments& a) {
                  if (a.is_none(1)) return view(a, transpose(a.operand(0)));
                  return view(a, permute_dims(a.operand(0), a.integers(1)));
                });
  functions.def_method(
      "transpose(self, *axes: int | tuple[int, ...] | None) -> Array",
      "A view with axes permuted, reversed by default: numpy.ndarray.transpose.",
      [](const Arguments& a) { return view(a, transpose(a.operand(0), variadic_integers(a, 1))); });
  functions.def("matrix_transpose(x: Array, /) -> Array",
                "A view with the last two axes exchanged: numpy.matrix_transpose. Raises "
                "ShapeError for fewer than two.",
                [](const Arguments& a) { return view(a, matrix_transpose(a.operand(0))); });
  functions.def("rollaxis(x: Array, axis: int, /, start: int = 0) -> Array",
                "A view whose axis `axis` moved before axis `start`: numpy.rollaxis.",
                [](const Arguments& a) {
                  return view(a, rollaxis(a.operand(0), a.integer(1), a.integer(2)));
                });
  functions.def_with_method("swapaxes(x: Array, axis1: int, axis2: int, /) -> Array",
                            "A view with two axes exchanged: numpy.swapaxes.",
                            [](const Arguments& a) {
                              return view(a, swapaxes(a.operand(0), a.integer(1), a.integer(2)));
                            });
  functions.def(
      "moveaxis(x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) "
      "-> Array",
      "A view with axes at other places: numpy.moveaxis. Raises IndexError, ValueError.",
      [](const Arguments& a) {
        return view(a, moveaxis(a.operand(0), a.integers(1), a.integers(2)));
      });
  functions.def("flip(x: Array, /, axis: int | tuple[int, ...] | None = None) -> Array",
                "A view with the order reversed along the axes, all by default: numpy.flip.",
                [](const Arguments& a) { return view(a, flip(a.operand(0), a.axes(1))); });
}

void bind_joins(Functions& functions) {
  functions.def(
      "concat(arrays: Sequence[Array], /, axis: int | None = 0) -> Array",
      "The arrays joined along an axis, or flattened where it is None: numpy.concat. dtypes "
      "promote. Raises ShapeError when other extents differ.",
      [](const Arguments& a) { return joined(a); });
  functions.def("concatenate(arrays: Sequence[Array], /, axis: int | None = 0) -> Array",
                "As concat: numpy.concatenate.", [](const Arguments& a) { return joined(a); });
  functions.def("stack(arrays: Sequence[Array], /, axis: int = 0) -> Array",
                "The arrays joined along a new axis: numpy.stack. Raises ShapeError when shapes "
                "differ.",
                [](const Arguments& a) { return stack(a.arrays(0), a.integer(1), a.where()); });
}

}  // namespace

void bind_manipulation(Functions& functions) {
  bind_shapes(functions);
  bind_ranks(functions);
  bind_axes(functions);
  bind_joins(functions);
  functions.def(
      "astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: Device | None = None) "
      "-> Array",
      "x in another dtype: numpy.astype. With copy=False x itself where it has that dtype.\n\nA "
      "float beyond an integer dtype gives what NumPy gives on x86-64.",
      [](const Arguments& a) {
        if (!a.flag(2) && a.array(0).dtype() == *a.dtype(1)) return nb::borrow(a[0]);
        return wrap(astype(a.operand(0), *a.dtype(1)));
      });
  functions.def_method("astype(self, dtype: DTypeLike, /, *, copy: bool = True) -> Array",
                       "As heddle.astype.", [](const Arguments& a) {
                         if (!a.flag(2) && a.array(0).dtype() == *a.dtype(1)) {
                           return nb::borrow(a[0]);
                         }
                         return wrap(astype(a.operand(0), *a.dtype(1)));
                       });
}

}  // namespace heddle::python
