#include "heddle/joining.h"

#include "frontend/python/bindings.h"

namespace heddle::python {
namespace {

/// One number, or several.
Places places(const Arguments& a, std::size_t i) {
  if (PyIndex_Check(a[i].ptr()) != 0) return a.integer(i);
  return a.integers(i);
}

/// Parts of the first argument, as views of it.
nb::object views(const Arguments& a, const std::vector<Array>& parts, bool tuple) {
  nb::list result;
  for (const Array& part : parts) result.append(nb::cast(a.object(0).view_of(part, a.where())));
  return tuple ? nb::object(nb::tuple(result)) : result;
}

void bind_parts(Functions& functions) {
  functions.def(
      "split(x: Array, indices_or_sections: int | tuple[int, ...], /, axis: int = 0) -> "
      "list[Array]",
      "Views of equal sections, or of what lies between indices: numpy.split. ValueError where the "
      "extent does not divide.",
      [](const Arguments& a) {
        return views(a, split(a.operand(0), places(a, 1), a.integer(2)), false);
      });
  functions.def(
      "array_split(x: Array, indices_or_sections: int | tuple[int, ...], /, axis: int = 0) -> "
      "list[Array]",
      "As split; the first sections are one longer where the extent does not divide: "
      "numpy.array_split.",
      [](const Arguments& a) {
        return views(a, array_split(a.operand(0), places(a, 1), a.integer(2)), false);
      });
  const char* rest = "(x: Array, indices_or_sections: int | tuple[int, ...], /) -> list[Array]";
  functions.def(
      std::string("hsplit") + rest, "split along the second axis: numpy.hsplit.",
      [](const Arguments& a) { return views(a, hsplit(a.operand(0), places(a, 1)), false); });
  functions.def(
      std::string("vsplit") + rest, "split along the first axis: numpy.vsplit.",
      [](const Arguments& a) { return views(a, vsplit(a.operand(0), places(a, 1)), false); });
  functions.def(
      std::string("dsplit") + rest, "split along the third axis: numpy.dsplit.",
      [](const Arguments& a) { return views(a, dsplit(a.operand(0), places(a, 1)), false); });
  functions.def(
      "unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]",
      "A view for each index of an axis, without it: numpy.unstack.",
      [](const Arguments& a) { return views(a, unstack(a.operand(0), a.integer(1)), true); });
}

}  // namespace

void bind_joining(Functions& functions) {
  functions.def("hstack(arrays: Sequence[Array], /) -> Array",
                "Joined along the second axis, vectors along their only one: numpy.hstack.",
                [](const Arguments& a) { return hstack(a.arrays(0), a.where()); });
  functions.def("vstack(arrays: Sequence[Array], /) -> Array",
                "Joined along the first axis, vectors as rows: numpy.vstack.",
                [](const Arguments& a) { return vstack(a.arrays(0), a.where()); });
  functions.def("dstack(arrays: Sequence[Array], /) -> Array",
                "Joined along the third axis: numpy.dstack.",
                [](const Arguments& a) { return dstack(a.arrays(0), a.where()); });
  functions.def("column_stack(arrays: Sequence[Array], /) -> Array",
                "Joined as columns: numpy.column_stack.",
                [](const Arguments& a) { return column_stack(a.arrays(0), a.where()); });
  functions.def(
      "append(x: Array, values: Operand, /, axis: int | None = None) -> Array",
      "values behind x along an axis; both flattened where there is none: numpy.append.",
      [](const Arguments& a) { return append(a.operand(0), a.operand(1), a.optional_integer(2)); });
  functions.def("delete(x: Array, obj: int | tuple[int, ...], /, axis: int | None = None) -> Array",
                "x without the indices along an axis; of the flattened array where there is none: "
                "numpy.delete. Raises IndexError.",
                [](const Arguments& a) {
                  return delete_(a.operand(0), places(a, 1), a.optional_integer(2));
                });
  functions.def(
      "insert(x: Array, obj: int | tuple[int, ...], values: Operand, /, axis: int | None "
      "= None) -> Array",
      "x with values before the indices along an axis: numpy.insert. Raises IndexError.",
      [](const Arguments& a) {
        return insert(a.operand(0), places(a, 1), a.operand(2), a.optional_integer(3));
      });
  bind_parts(functions);
}

}  // namespace heddle::python
