#include "heddle/joining.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"

#include "frontend/graph/axes.h"
#include "frontend/python/bindings.h"
#include "frontend/python/casting.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

/// Parts of the first argument, as writable views.
nb::object views(const Arguments& a, const std::vector<Array>& parts) {
  nb::list result;
  for (const Array& part : parts) result.append(to_result(a.object(0).view_of(part, a.where())));
  return result;
}

/// Nested lists of array-likes.
Block to_block(nb::handle value, const SourceLocation& where) {
  if (const ArrayObject* array = as_array(value)) return array->read(where);
  if (PyTuple_Check(value.ptr())) {
    raise(PyExc_TypeError, "block: blocks must be nested in lists, not in a tuple");
  }
  if (!PyList_Check(value.ptr())) return from_python(value, std::nullopt, where);
  std::vector<Block> blocks;
  for (nb::handle each : nb::borrow(value)) blocks.push_back(to_block(each, where));
  return blocks;
}

/// The arrays of the first parameter, cast to a dtype if one is given.
std::vector<Array> cast_arrays(const Arguments& a, std::size_t dtype, std::size_t casting) {
  std::vector<Array> arrays = a.arrays(0);
  const Casting rule = to_casting(a.name(), a[casting]);
  const std::optional<DType> wanted = a.dtype(dtype);
  if (!wanted) return arrays;
  for (Array& array : arrays) array = cast_by_rule(a.name(), array, *wanted, rule, a.where());
  return arrays;
}

/// The arrays joined by `join`, in the dtype of `out` if given.
template <class Join>
Array joined(const Arguments& a, Join join) {
  if (a.is_none(2)) return join(cast_arrays(a, 3, 4));
  if (!a.is_none(3)) {
    raise(PyExc_TypeError, fmt::format("{}: pass out or dtype, not both", a.name()));
  }
  const Casting rule = to_casting(a.name(), a[4]);
  const Array result = join(a.arrays(0));
  return cast_by_rule(a.name(), result, a.array(2).dtype(), rule, a.where());
}

/// Joins along an axis; if it is None, the arrays are flattened.
Array concatenated(const Arguments& a) {
  return joined(a, [&](std::vector<Array> arrays) {
    if (a.is_none(1)) {
      for (Array& array : arrays) array = array.ravel(a.where());
    }
    return concatenate(arrays, a.optional_integer(1).value_or(0), a.where());
  });
}

void bind_joins(Functions& functions) {
  const std::string rest =
      "out: Array | None = None, *, dtype: DTypeLike | None = None, casting: str = 'same_kind') -> "
      "Array";
  functions.def("concatenate(arrays: Sequence[Array], /, axis: int | None = 0, " + rest,
                "The arrays joined along an axis; flattened and joined if axis is None: "
                "numpy.concatenate. Dtypes promote, or are cast to that of `out` or to `dtype` by "
                "a casting rule: 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'. Raises ShapeError "
                "if other extents differ, DTypeError for a cast that the rule does not allow.\n\n"
                "Example: hd.concatenate([x, y], axis=1)",
                [](const Arguments& a) { return concatenated(a); });
  functions.alias("concat", "concatenate");
  functions.def("stack(arrays: Sequence[Array], axis: int = 0, " + rest,
                "Arrays of equal shape joined along a new axis: numpy.stack. Dtypes as for "
                "concatenate. Raises ShapeError if shapes differ.",
                [](const Arguments& a) {
                  return joined(a, [&](const std::vector<Array>& arrays) {
                    return stack(arrays, a.integer(1), a.where());
                  });
                });
}

void bind_joins_of_rank(Functions& functions) {
  const std::string parameters =
      "(tup: Sequence[Array], *, dtype: DTypeLike | None = None, casting: str = 'same_kind') -> "
      "Array";
  functions.def("hstack" + parameters,
                "The arrays joined along the second axis; 1-d arrays along their only axis: "
                "numpy.hstack. Raises ShapeError if other extents differ.",
                [](const Arguments& a) { return hstack(cast_arrays(a, 1, 2), a.where()); });
  functions.def("vstack" + parameters,
                "The arrays joined along the first axis; 1-d arrays become rows: numpy.vstack.",
                [](const Arguments& a) { return vstack(cast_arrays(a, 1, 2), a.where()); });
  functions.def("dstack(tup: Sequence[Array]) -> Array",
                "The arrays joined along the third axis, which is added if missing: numpy.dstack.",
                [](const Arguments& a) { return dstack(a.arrays(0), a.where()); });
  functions.def(
      "column_stack(tup: Sequence[Array]) -> Array",
      "A matrix with the 1-d arrays as columns; 2-d arrays keep their columns: numpy.column_stack.",
      [](const Arguments& a) { return column_stack(a.arrays(0), a.where()); });
  functions.give_variables(true);
  functions.def("block(arrays: Any) -> Array",
                "One array from nested lists of blocks: numpy.block. The innermost lists are "
                "joined along the last axis, the lists around them along the axis before, and so "
                "on. Raises ValueError for an empty list and for arrays at different depths, "
                "ShapeError if other extents differ.\n\n"
                "Example: hd.block([[a, b], [c, d]])",
                [](const Arguments& a) { return block(to_block(a[0], a.where()), a.where()); });
  functions.give_variables(false);
  functions.def(
      "append(arr: Operand, values: Operand, axis: int | None = None) -> Array",
      "arr and values joined along an axis; both flattened if axis is None: numpy.append.",
      [](const Arguments& a) { return append(a.operand(0), a.operand(1), a.optional_integer(2)); });
}

void bind_splits(Functions& functions) {
  functions.def(
      "split(ary: Array, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Array]",
      "A list of views of consecutive sections of an axis: numpy.split. An integer gives the "
      "number of equal sections; a sequence gives the indices at which sections start.\n\n"
      "Raises ValueError if the extent is not divisible.\n\n"
      "Example: hd.split(x, 3)",
      [](const Arguments& a) { return views(a, split(a.operand(0), a.places(1), a.integer(2))); });
  functions.def(
      "array_split(ary: Array, indices_or_sections: int | Sequence[int], axis: int = 0) -> "
      "list[Array]",
      "Like split, but if the extent is not divisible the first sections are one longer: "
      "numpy.array_split.",
      [](const Arguments& a) {
        return views(a, array_split(a.operand(0), a.places(1), a.integer(2)));
      });
  functions.def("hsplit(ary: Array, indices_or_sections: int | Sequence[int]) -> list[Array]",
                "split along the second axis; a 1-d array along its only axis: numpy.hsplit.",
                [](const Arguments& a) { return views(a, hsplit(a.operand(0), a.places(1))); });
  functions.def("vsplit(ary: Array, indices_or_sections: int | Sequence[int]) -> list[Array]",
                "split along the first axis, for at least two axes: numpy.vsplit.",
                [](const Arguments& a) { return views(a, vsplit(a.operand(0), a.places(1))); });
  functions.def("dsplit(ary: Array, indices_or_sections: int | Sequence[int]) -> list[Array]",
                "split along the third axis, for at least three axes: numpy.dsplit.",
                [](const Arguments& a) { return views(a, dsplit(a.operand(0), a.places(1))); });
  functions.def(
      "unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]",
      "A tuple of views of x, one for each index along an axis, without that axis: numpy.unstack.",
      [](const Arguments& a) {
        return nb::object(nb::tuple(views(a, unstack(a.operand(0), a.integer(1)))));
      });
}

/// The indices that a slice of an axis selects.
Places indices_of_slice(nb::handle slice, std::int64_t extent) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
  const Py_ssize_t count = PySlice_AdjustIndices(extent, &start, &stop, step);
  std::vector<std::int64_t> result;
  for (Py_ssize_t k = 0; k < count; ++k) result.push_back(start + k * step);
  return result;
}

bool is_mask(nb::handle value) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return false;
  const nb::object items = nb::borrow(value);
  return nb::len(value) > 0 && std::all_of(items.begin(), items.end(), [](nb::handle each) {
           return PyBool_Check(each.ptr()) != 0;
         });
}

/// The indices that an int, a sequence of ints, a mask, or a slice of an axis denotes. An `exact`
/// mask must have the axis's extent.
Places indices_of(const Arguments& a, std::size_t i, std::int64_t extent, bool exact) {
  if (PySlice_Check(a[i].ptr())) return indices_of_slice(a[i], extent);
  const auto refuse = [&] {
    raise(PyExc_ValueError,
          fmt::format("{}: a mask must be a 1-d array of bools{}", exact ? "delete" : "insert",
                      exact ? fmt::format(", here of extent {}", extent) : ""));
  };
  if (PyBool_Check(a[i].ptr())) refuse();
  if (!is_mask(a[i])) return a.places(i);
  if (exact && static_cast<std::int64_t>(nb::len(a[i])) != extent) refuse();
  std::vector<std::int64_t> result;
  std::int64_t place = 0;
  for (nb::handle each : nb::borrow(a[i])) {
    if (each.ptr() == Py_True) result.push_back(place);
    ++place;
  }
  return result;
}

/// True for an Array or a NumPy array of indices.
bool holds_array(const Arguments& a, std::size_t i) {
  return as_array(a[i]) != nullptr || is_numpy_array(a[i]);
}

/// The extent of the axis along which the indices count.
std::int64_t extent_along(const Arguments& a, std::optional<std::int64_t> axis) {
  const Array& x = a.array(0);
  if (!axis) return x.size();
  const std::int64_t place = frontend::axis_of(a.name(), *axis, x.ndim(), a.where());
  return x.shape(static_cast<int>(place), a.where());
}

void bind_edits(Functions& functions) {
  functions.def(
      "delete(arr: Array, obj: int | slice | Sequence[int] | Sequence[bool] | Array, axis: int | "
      "None = None) -> Array",
      "arr without the given indices along an axis; of the flattened array if axis is None: "
      "numpy.delete. Bools are a mask. Waits for an Array of indices. Raises IndexError for an "
      "index out of range.\n\n"
      "Example: hd.delete(x, 0, 1)",
      [](const Arguments& a) {
        const auto axis = a.optional_integer(2);
        const std::int64_t extent = extent_along(a, axis);
        if (holds_array(a, 1)) return delete_(a.operand(0), a.array(1), axis);
        return delete_(a.operand(0), indices_of(a, 1, extent, true), axis);
      });
  functions.def(
      "insert(arr: Array, obj: int | slice | Sequence[int] | Sequence[bool] | Array, values: "
      "Operand, axis: int | None = None) -> Array",
      "arr with values inserted before the given indices along an axis; of the flattened array if "
      "axis is None: numpy.insert. The values are cast to the dtype of arr. Bools are a mask. "
      "Waits for an Array of indices. Raises IndexError for an index out of range.\n\n"
      "Example: hd.insert(x, 1, 0)",
      [](const Arguments& a) {
        const auto axis = a.optional_integer(3);
        const std::int64_t extent = extent_along(a, axis);
        if (holds_array(a, 1)) return insert(a.operand(0), a.array(1), a.operand(2), axis);
        return insert(a.operand(0), indices_of(a, 1, extent, false), a.operand(2), axis);
      });
}

}  // namespace

void bind_joining(Functions& functions) {
  bind_joins(functions);
  bind_joins_of_rank(functions);
  bind_splits(functions);
  bind_edits(functions);
}

}  // namespace heddle::python
