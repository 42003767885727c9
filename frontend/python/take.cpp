#include "heddle/take.h"

#include "heddle/manipulation.h"

#include "frontend/array/bounds.h"
#include "frontend/array/promote.h"
#include "frontend/array/region.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"
#include "frontend/python/bindings.h"
#include "frontend/python/known_bounds.h"

namespace heddle::python {

namespace {

nb::object tuple_of(const std::vector<Array>& arrays) {
  nb::list result;
  for (const Array& array : arrays) result.append(wrap(array));
  return nb::tuple(result);
}

/// Throws IndexError for an integer of a list or NumPy array of indices that is outside an axis.
/// Without an axis it is the axis of the flattened array. Elements of an Array are not known here.
void check_known(const Arguments& a, std::size_t parameter, std::optional<std::int64_t> axis) {
  const auto bounds = known_bounds(a[parameter]);
  if (!bounds) return;
  const frontend::NodeRef node = frontend::node_of(a.name().c_str(), a.operand(0));
  const frontend::NodeRef whole = axis ? node : frontend::flatten(node, a.where());
  const int rank = frontend::rank_of(whole);
  const auto checked = static_cast<std::size_t>(
      frontend::axis_of(a.name(), axis.value_or(0), rank, frontend::Site(a.where())));
  frontend::check_known(a.name().c_str(), whole, checked, bounds->first, bounds->second, a.where());
}

Array taken(const Arguments& a) {
  auto axis = a.optional_integer(2);
  if (a.array(0).ndim() == 0 && (axis == 0 || axis == -1)) axis.reset();  // as NumPy
  if (a.text(4) == "raise") check_known(a, 1, axis);
  return take(a.operand(0), a.operand(1), axis, a.text(4));
}

nb::object write_flat(const Arguments& a) {
  if (a.text(3) == "raise") check_known(a, 1, std::nullopt);
  Array result = a.array(0);
  put(result, a.operand(1), a.operand(2), a.text(3));
  a.target(0).write(result, a.where());
  return nb::none();
}

}  // namespace

void bind_take(Functions& functions) {
  functions.def(
      "take(a: Array, indices: Operand, axis: int | None = None, out: Array | None = None, mode: "
      "str "
      "= \"raise\") -> Array",
      "The elements at `indices` along an axis; of the flattened array if axis is None: "
      "numpy.take. With mode 'raise', an index out of range in a number, list or NumPy array is an "
      "IndexError; in an Array it reads the nearest element. Raises IndexError, TypeError.",
      [](const Arguments& a) { return taken(a); });
  functions.def_method(
      "take(self, indices: Operand, axis: int | None = None, out: Array | None = None, mode: str = "
      "'raise') -> Array",
      "The elements at `indices` along an axis; of the flattened array if axis is None: "
      "numpy.ndarray.take.",
      [](const Arguments& a) { return taken(a); });
  functions.def("take_along_axis(arr: Array, indices: Array, axis: int | None = -1) -> Array",
                "The elements of arr at indices along one axis, at the same position along all "
                "others: numpy.take_along_axis. Raises ValueError unless the ranks are equal.",
                [](const Arguments& a) {
                  check_known(a, 1, a.optional_integer(2));
                  if (!a.is_none(2))
                    return take_along_axis(a.operand(0), a.operand(1), a.integer(2));
                  const Array flat = ravel(a.operand(0));
                  return take_along_axis({flat, a.where()}, a.operand(1), 0);
                });
  functions.def(
      "put(a: Array, ind: Operand, v: Operand, mode: str = \"raise\") -> None",
      "Writes v, repeated as needed, to the elements `ind` of the flattened array: "
      "numpy.put. With mode 'raise', an index out of range in a number, list or NumPy array is an "
      "IndexError; in an Array it writes nothing.",
      [](const Arguments& a) { return write_flat(a); });
  functions.def_method("put(self, indices: Operand, values: Operand, mode: str = 'raise') -> None",
                       "Writes values to the given indices of the flattened array: "
                       "numpy.ndarray.put. The values are repeated as needed.",
                       [](const Arguments& a) { return write_flat(a); });
  functions.def(
      "put_along_axis(arr: Array, indices: Array, values: Operand, axis: int | None) -> None",
      "Writes values to the elements that take_along_axis would read: numpy.put_along_axis.",
      [](const Arguments& a) {
        check_known(a, 1, a.optional_integer(3));
        const Array before = a.array(0);
        Array result = a.is_none(3) ? before.ravel(a.where()) : before;
        put_along_axis(result, a.operand(1), a.operand(2), a.is_none(3) ? 0 : a.integer(3));
        if (a.is_none(3)) result = reshape({result, a.where()}, before.shape());
        a.target(0).write(result, a.where());
        return nb::none();
      });
  functions.def_with_method(
      "nonzero(a: Array) -> tuple[Array, ...]",
      "The indices of the elements that are not 0, one int64 Array for each axis: numpy.nonzero. "
      "Evaluates and waits. Raises TraceError inside a trace.",
      [](const Arguments& a) { return tuple_of(nonzero(a.operand(0))); });
  functions.def("flatnonzero(a: Array) -> Array",
                "The indices of the elements of the flattened array that are not 0, as int64: "
                "numpy.flatnonzero. Evaluates and waits.",
                [](const Arguments& a) { return flatnonzero(a.operand(0)); });
  functions.def("argwhere(a: Array) -> Array",
                "The indices of the elements that are not 0, one row for each, as int64: "
                "numpy.argwhere. Evaluates and waits.",
                [](const Arguments& a) { return argwhere(a.operand(0)); });
  functions.def(
      "compress(condition: Array, a: Array, axis: int | None = None, out: Array | None = None) -> "
      "Array",
      "The slices along an axis for which the condition is true; elements of the flattened array "
      "if axis is None: numpy.compress. Evaluates and waits.",
      [](const Arguments& a) {
        return compress(a.operand(0), a.operand(1), a.optional_integer(2));
      });
  functions.def("trim_zeros(filt: Array, trim: str = 'fb', axis: Axis = None) -> Array",
                "A view of the array without the slices of zeros at the front ('f') and the back "
                "('b') of axes: numpy.trim_zeros. Evaluates and waits. Raises TraceError inside a "
                "trace, ValueError for another `trim`.\n\n"
                "Example: hd.trim_zeros(x, 'b')",
                [](const Arguments& a) {
                  return a.object(0).view_of(trim_zeros(a.operand(0), a.text(1), a.axes(2)),
                                             a.where());
                });
  functions.def("extract(condition: Array, arr: Array) -> Array",
                "The elements where the condition is true, as a 1-d array: numpy.extract. "
                "Evaluates and waits.",
                [](const Arguments& a) { return extract(a.operand(0), a.operand(1)); });
}

}  // namespace heddle::python
