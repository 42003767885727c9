#include "heddle/rearranging.h"

#include <fmt/format.h>

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

ArrayObject view(const Arguments& a, const Array& result) {
  return a.object(0).view_of(result, a.where());
}

bool is_sequence(nb::handle value) {
  return PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
}

/// What pad takes for each axis: a number, a pair, or a pair for each axis.
template <class Number, class Convert>
std::vector<std::array<Number, 2>> pairs(nb::handle value, Convert convert) {
  if (!is_sequence(value)) return {{convert(value), convert(value)}};
  const nb::tuple given = nb::steal<nb::tuple>(PySequence_Tuple(value.ptr()));
  if (given.size() > 0 && is_sequence(given[0])) {
    std::vector<std::array<Number, 2>> result;
    for (nb::handle each : given) result.push_back(pairs<Number>(each, convert).front());
    return result;
  }
  if (given.size() == 1) return {{convert(given[0]), convert(given[0])}};
  if (given.size() != 2) raise(PyExc_ValueError, "pad: widths and values are numbers or pairs");
  return {{convert(given[0]), convert(given[1])}};
}

Scalar number(nb::handle value) {
  const auto scalar = as_scalar(value);
  if (!scalar)
    raise(PyExc_TypeError, "pad: a value must be a number, not " + describe_foreign(value));
  return *scalar;
}

Array padded(const Arguments& a) {
  PadOptions options;
  const std::string mode = a.text(2);
  if (!a.is_none(3)) options.constant_values = pairs<Scalar>(a[3], number);
  if (!a.is_none(4)) options.end_values = pairs<Scalar>(a[4], number);
  if (!a.is_none(5)) options.stat_length = pairs<std::int64_t>(a[5], to_integer);
  if (!a.is_none(6)) options.odd = a.text(6) == "odd";
  return pad(a.operand(0), pairs<std::int64_t>(a[1], to_integer), mode, options);
}

}  // namespace

void bind_rearranging(Functions& functions) {
  functions.def(
      "roll(x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = "
      "None) -> Array",
      "Element i at i + shift, around the end; of the flattened array where there is no axis: "
      "numpy.roll. Raises IndexError, ValueError.",
      [](const Arguments& a) { return roll(a.operand(0), a.integers(1), a.axes(2)); });
  functions.def("fliplr(x: Array, /) -> Array",
                "A view with the second axis reversed: numpy.fliplr.",
                [](const Arguments& a) { return view(a, fliplr(a.operand(0))); });
  functions.def("flipud(x: Array, /) -> Array",
                "A view with the first axis reversed: numpy.flipud.",
                [](const Arguments& a) { return view(a, flipud(a.operand(0))); });
  functions.def(
      "rot90(x: Array, /, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array",
      "A view turned by k quarters from the first of two axes to the second: "
      "numpy.rot90.",
      [](const Arguments& a) { return view(a, rot90(a.operand(0), a.integer(1), a.axes(2))); });
  functions.def(
      "repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array",
      "Each element `repeats` times along an axis; of the flattened array where there is none: "
      "numpy.repeat. Raises ValueError for a negative number.",
      [](const Arguments& a) { return repeat(a.operand(0), a.integer(1), a.optional_integer(2)); });
  functions.def("tile(x: Array, repetitions: int | tuple[int, ...], /) -> Array",
                "The array side by side, that often along each axis: numpy.tile.",
                [](const Arguments& a) { return tile(a.operand(0), a.integers(1)); });
  functions.def("resize(x: Array, new_shape: int | tuple[int, ...], /) -> Array",
                "The elements over and over, in a new shape: numpy.resize.",
                [](const Arguments& a) { return resize(a.operand(0), a.integers(1)); });
  functions.def(
      "pad(x: Array, pad_width: Any, /, mode: str = \"constant\", *, constant_values: Any = None, "
      "end_values: Any = None, stat_length: Any = None, reflect_type: str | None = None) -> Array",
      "x with more elements before and behind each axis: numpy.pad, with its modes.\n\nRaises "
      "ValueError for a negative width, another mode, or an option of another mode.",
      [](const Arguments& a) { return padded(a); });
}

}  // namespace heddle::python
