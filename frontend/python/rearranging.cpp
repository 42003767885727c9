#include "heddle/rearranging.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "heddle/axis_error.h"
#include "heddle/creation.h"
#include "heddle/take.h"

#include "frontend/graph/record.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

ArrayObject view(const Arguments& a, const Array& result) {
  return a.object(0).view_of(result, a.where());
}

bool is_sequence(nb::handle value) {
  return PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
}

/// Converts Arrays and NumPy arrays to nested lists; returns other values unchanged.
nb::object listed(nb::handle value, const Arguments& a) {
  if (const ArrayObject* array = as_array(value)) return to_list(array->read(a.where()), a.where());
  return is_numpy_array(value) ? nb::object(value.attr("tolist")()) : nb::borrow(value);
}

/// Parses NumPy's pairs: a number for all; (before, after) for all axes; or one pair for each axis.
template <class T, class Convert>
std::vector<std::array<T, 2>> pairs(nb::handle value, const Arguments& a, Convert convert) {
  const auto pair = [&](nb::handle one) -> std::array<T, 2> {
    if (!is_sequence(one)) return {convert(one), convert(one)};
    const nb::object both = nb::borrow(one);
    const std::size_t count = nb::len(both);
    if (count != 1 && count != 2) {
      raise(PyExc_ValueError, fmt::format("pad: {} values instead of two", count));
    }
    return {convert(both[0]), convert(both[count - 1])};
  };
  std::vector<std::array<T, 2>> result;
  if (value.is_none()) return result;
  const nb::object given = listed(value, a);
  const bool nested = is_sequence(given) && nb::len(given) > 0 && is_sequence(given[0]);
  if (!nested) return {pair(given)};
  for (nb::handle each : given) result.push_back(pair(each));
  return result;
}

Scalar to_scalar(nb::handle value) {
  if (const auto scalar = as_scalar(value)) return *scalar;
  raise(PyExc_TypeError, "pad: a value is not a number");
}

/// The pairs for each axis: of a dict, which names axes, zeros for the others.
std::vector<std::array<std::int64_t, 2>> widths(const Arguments& a) {
  if (!PyDict_Check(a[1].ptr())) return pairs<std::int64_t>(a[1], a, to_integer);
  const std::int64_t rank = asarray(a.operand(0)).ndim();
  std::vector<std::array<std::int64_t, 2>> result(static_cast<std::size_t>(rank));
  for (const auto [key, value] : nb::borrow<nb::dict>(a[1])) {
    std::int64_t axis = to_integer(key);
    if (axis < -rank || axis >= rank)
      throw AxisError(
          frontend::at(
              fmt::format("pad: axis {} is out of bounds for an array of {} axes", axis, rank),
              a.where()),
          axis, rank);
    axis = axis < 0 ? axis + rank : axis;
    const auto width = pairs<std::int64_t>(value, a, to_integer);
    if (width.size() != 1) {
      raise(PyExc_TypeError, "pad: the dict's values must be integers or pairs of integers");
    }
    result[static_cast<std::size_t>(axis)] = width[0];
  }
  return result;
}

/// mode is a function of NumPy's, which writes to vectors on the host.
nb::object padded_on_host(const Arguments& a) {
  const nb::object numpy = nb::module_::import_("numpy");
  const nb::object result = numpy.attr("pad")(to_numpy(a.array(0), a.where()), listed(a[1], a),
                                              a[2], **nb::borrow<nb::dict>(a[7]));
  return wrap(from_python(result, std::nullopt, a.where()));
}

Array pad_elements(const Arguments& a) {
  for (const auto [key, value] : nb::borrow<nb::dict>(a[7]))
    raise(PyExc_TypeError, fmt::format("pad: has no parameter {}", nb::str(key).c_str()));
  const std::string kind = a.text(6);
  if (kind != "even" && kind != "odd") {
    raise(PyExc_ValueError,
          fmt::format("pad: reflect_type must be 'even' or 'odd', not '{}'", kind));
  }
  PadOptions options;
  options.constant_values = pairs<Scalar>(a[3], a, to_scalar);
  options.end_values = pairs<Scalar>(a[4], a, to_scalar);
  options.stat_length = pairs<std::int64_t>(a[5], a, to_integer);
  options.odd = kind == "odd";
  return pad(a.operand(0), widths(a), a.text(2), options);
}

nb::object padded(const Arguments& a) {
  return PyCallable_Check(a[2].ptr()) != 0 ? padded_on_host(a) : wrap(pad_elements(a));
}

/// The shifts. A shift beyond 64 bits is reduced modulo the number of elements, which is a multiple
/// of every extent.
std::vector<std::int64_t> shifts(const Arguments& a, std::size_t i) {
  const ArrayObject* array = as_array(a[i]);
  const nb::object given = is_integer(a[i])   ? nb::object(nb::make_tuple(a[i]))
                           : array != nullptr ? to_list(array->read(a.where()), a.where())
                                              : nb::borrow(a[i]);
  if (PySequence_Check(given.ptr()) == 0) a.mistyped(i, "an integer or a tuple of integers");
  std::vector<std::int64_t> result;
  for (nb::handle each : given) {
    nb::object shift = nb::steal(PyNumber_Index(each.ptr()));
    if (!shift.is_valid()) throw nb::python_error();
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(shift.ptr(), &overflow);
    if (overflow != 0) {
      const nb::int_ around(std::max<std::int64_t>(asarray(a.operand(0)).size(), 1));
      shift = nb::steal(PyNumber_Remainder(shift.ptr(), around.ptr()));
    }
    result.push_back(to_integer(shift));
  }
  return result;
}

void bind_turns(Functions& functions) {
  functions.def(
      "roll(a: Array, shift: int | tuple[int, ...], axis: Axis = None) -> Array",
      "The elements shifted along axes; those beyond the end reappear at the start: numpy.roll. If "
      "axis is None, of the flattened array, in a's shape. Several shifts need several axes.\n\n"
      "Example: hd.roll(x, (1, -1), axis=(0, 1))",
      [](const Arguments& a) { return roll(a.operand(0), shifts(a, 1), a.axes(2)); });
  functions.def("fliplr(m: Array) -> Array",
                "A view with the elements reversed along the second axis: numpy.fliplr. Raises "
                "ShapeError for fewer than two axes.",
                [](const Arguments& a) { return view(a, fliplr(a.operand(0))); });
  functions.def("flipud(m: Array) -> Array",
                "A view with the elements reversed along the first axis: numpy.flipud. Raises "
                "ShapeError for a 0-d array.",
                [](const Arguments& a) { return view(a, flipud(a.operand(0))); });
  functions.def(
      "rot90(m: Array, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array",
      "A view rotated k times by 90 degrees, from the first of the axes toward the second: "
      "numpy.rot90.",
      [](const Arguments& a) { return view(a, rot90(a.operand(0), a.integer(1), a.axes(2))); });
}

void bind_repetitions(Functions& functions) {
  functions.def_with_method(
      "repeat(a: Array, repeats: int | Sequence[int] | Array, axis: int | None = None) -> Array",
      "Each element repeated `repeats` times along an axis; of the flattened array if axis is "
      "None: numpy.repeat. Raises ValueError for a negative count.",
      [](const Arguments& a) {
        if (!is_integer(a[1])) return repeat(a.operand(0), a.array(1), a.optional_integer(2));
        return repeat(a.operand(0), a.integer(1), a.optional_integer(2));
      });
  functions.def("tile(A: Array, reps: int | tuple[int, ...]) -> Array",
                "The array repeated reps[k] times along each axis k: numpy.tile.",
                [](const Arguments& a) { return tile(a.operand(0), a.integers(1)); });
  functions.def("resize(a: Array, new_shape: int | tuple[int, ...]) -> Array",
                "An array of the new shape, filled with repetitions of the elements: numpy.resize.",
                [](const Arguments& a) { return resize(a.operand(0), a.shape(1)); });
  functions.def(
      "pad(array: Array, pad_width: int | Sequence | dict, mode: str | Callable = 'constant', *, "
      "constant_values: "
      "float | Sequence | None = None, end_values: float | Sequence | None = None, stat_length: "
      "int "
      "| Sequence | None = None, reflect_type: str = 'even', **kwargs: Any) -> Array",
      "The array with elements added before and after each axis: numpy.pad. `mode` is 'constant', "
      "'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'reflect', 'symmetric', "
      "'wrap' or 'empty' (zeros), or a function that is called as by numpy.pad, with kwargs; for a "
      "function the elements are copied to the host. A dict gives widths for the axes in it. "
      "Raises ValueError "
      "for a negative width, an unknown mode, and an option of another mode.\n\n"
      "Example: hd.pad(x, ((1, 1), (0, 2)), mode='edge')",
      [](const Arguments& a) { return padded(a); });
}

}  // namespace

void bind_rearranging(Functions& functions) {
  bind_turns(functions);
  bind_repetitions(functions);
}

}  // namespace heddle::python
