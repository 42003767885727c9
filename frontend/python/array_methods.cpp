#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/manipulation.h"
#include "heddle/searching.h"
#include "heddle/selection.h"
#include "heddle/sorting.h"
#include "heddle/take.h"

#include "frontend/graph/record.h"
#include "frontend/python/bindings.h"
#include "frontend/python/casting.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/orders.h"

// Methods of Array that numpy.ndarray has and that differ from the module's functions: they write
// to the array, use its memory order, or have other parameters.

namespace heddle::python {
namespace {

void no_fields(const Arguments& a, std::size_t i) {
  if (!a.is_none(i)) raise(PyExc_ValueError, "there are no fields here for `order` to name");
}

/// The kth argument, an integer or several. Sorting puts all elements in place, so the first
/// represents all of them.
std::int64_t kth_of(const Arguments& a, std::size_t i, std::int64_t extent) {
  const std::vector<std::int64_t> all = a.integers(i);
  for (const std::int64_t kth : all) {
    if (kth >= extent || kth < -extent) {
      raise(PyExc_ValueError,
            fmt::format("partition: kth {} is out of range for {} elements", kth, extent));
    }
  }
  return all.empty() ? 0 : all.front();
}

std::int64_t extent_along(const Arguments& a, std::int64_t axis) {
  const Array& x = a.array(0);
  return x.ndim() == 0 ? 1 : x.shape(static_cast<int>(axis), a.where());
}

void bind_sorts(Functions& functions) {
  functions.def_method(
      "sort(self, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | "
      "None = None) -> None",
      "Sorts the elements along an axis where they are: numpy.ndarray.sort. Equal elements keep "
      "their order, whatever `kind` and `stable` say. Raises IndexError, ValueError for a "
      "read-only array.",
      [](const Arguments& a) {
        no_fields(a, 3);
        a.target(0).write(sort(a.operand(0), Axes(a.integer(1))), a.where());
        return nb::none();
      });
  functions.def_method(
      "partition(self, kth: int | tuple[int, ...], axis: int = -1, kind: str = 'introselect', "
      "order: None = None) -> None",
      "Brings element kth along an axis where sorting would put it, none greater before and none "
      "less behind: numpy.ndarray.partition. Raises IndexError, ValueError for a kth out of range "
      "and a read-only array.",
      [](const Arguments& a) {
        no_fields(a, 4);
        const std::int64_t axis = a.integer(2);
        const std::int64_t kth = kth_of(a, 1, extent_along(a, axis));
        a.target(0).write(partition(a.operand(0), kth, Axes(axis)), a.where());
        return nb::none();
      });
  functions.def_method(
      "argpartition(self, kth: int | tuple[int, ...], axis: int | None = -1, kind: str = "
      "'introselect', order: None = None) -> Array",
      "Where the elements of the partition are, as int64: numpy.ndarray.argpartition.",
      [](const Arguments& a) {
        no_fields(a, 4);
        const std::int64_t extent =
            a.is_none(2) ? a.array(0).size() : extent_along(a, a.integer(2));
        return argpartition(a.operand(0), kth_of(a, 1, extent), a.axes(2));
      });
  functions.def_method(
      "searchsorted(self, v: Operand, side: str = 'left', sorter: Array | None = None) -> Array",
      "Where each of v would go into the array: numpy.ndarray.searchsorted.",
      [](const Arguments& a) {
        const Array sorter = a.is_none(3) ? Array() : a.array(3);
        return searchsorted(a.operand(0), a.operand(1), a.text(2), sorter);
      });
}

void bind_picks(Functions& functions) {
  functions.def_method(
      "take(self, indices: Operand, axis: int | None = None, out: Array | None = None, mode: str = "
      "'raise') -> Array",
      "The elements at `indices` along an axis, of the flattened array without one: "
      "numpy.ndarray.take.",
      [](const Arguments& a) {
        return take(a.operand(0), a.operand(1), a.optional_integer(2), a.text(4));
      });
  functions.def_method(
      "put(self, indices: Operand, values: Operand, mode: str = 'raise') -> None",
      "Writes values, which repeat, at places of the flattened array: numpy.ndarray.put.",
      [](const Arguments& a) {
        Array result = a.array(0);
        put(result, a.operand(1), a.operand(2), a.text(3));
        a.target(0).write(result, a.where());
        return nb::none();
      });
  functions.def_method(
      "choose(self, choices: Sequence[Array], out: Array | None = None, mode: str = 'raise') -> "
      "Array",
      "choices[self] elementwise: numpy.ndarray.choose.",
      [](const Arguments& a) { return choose(a.operand(0), a.arrays(1), a.text(3)); });
  functions.def_method(
      "compress(self, condition: Array, axis: int | None = None, out: Array | None = None) -> "
      "Array",
      "The slices whose condition holds: numpy.ndarray.compress. Evaluates and waits.",
      [](const Arguments& a) {
        return compress(a.operand(1), a.operand(0), a.optional_integer(2));
      });
  functions.def_method(
      "fill(self, value: Operand) -> None",
      "Writes one value to all elements: numpy.ndarray.fill. Raises ValueError for a value of more "
      "than 0 dimensions.",
      [](const Arguments& a) {
        if (a.operand(1).array() != nullptr && a.operand(1).array()->ndim() != 0) {
          raise(PyExc_ValueError, "fill: the value must be a number, not an array of dimensions");
        }
        set_item(a.target(0), nb::ellipsis(), a[1], a.where());
        return nb::none();
      });
}

nb::object resized(const Arguments& a) {
  if (nb::len(a[1]) == 0) return nb::none();
  check_extents(a[1]);
  const Shape shape = a.variadic_integers(1);
  const Array flat = ravel(a.operand(0));
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) raise(PyExc_ValueError, "resize: a negative extent");
    size *= extent;
  }
  Array elements;
  if (size <= flat.size()) {
    elements = flat.index({IndexItem(slice(size), a.where())}, a.where());
  } else {
    const Array more = zeros({size - flat.size()}, flat.dtype(), a.where());
    elements = concatenate({flat, more}, 0, a.where());
  }
  a.target(0).replace(reshape({elements, a.where()}, shape), a.where());
  return nb::none();
}

void bind_shapes(Functions& functions) {
  functions.def_method(
      "__reversed__(self) -> Any", "Goes along the first axis backwards.", [](const Arguments& a) {
        const nb::object backwards =
            nb::borrow(a[0])[nb::slice(nb::none(), nb::none(), nb::int_(-1))];
        return nb::object(nb::module_::import_("builtins").attr("iter")(backwards));
      });
  functions.def_method(
      "reshape(self, *shape: int | tuple[int, ...], order: str = 'C', copy: bool | None = None) -> "
      "Array",
      "As heddle.reshape; the extents may be given one by one: numpy.ndarray.reshape.",
      [](const Arguments& a) {
        check_extents(a[1]);
        return reshaped(a.object(0), a.variadic_integers(1), a.order(2), a[3], a.where());
      });
  functions.def_method(
      "ravel(self, order: str = 'C') -> Array",
      "All elements along one axis, a view where they lie so in memory: numpy.ndarray.ravel.",
      [](const Arguments& a) { return raveled(a.object(0), a.order(1), a.where()); });
  functions.def_method(
      "flatten(self, order: str = 'C') -> Array",
      "A copy of all elements along one axis: numpy.ndarray.flatten.", [](const Arguments& a) {
        return ArrayObject(raveled(a.object(0), a.order(1), a.where()).read(a.where()));
      });
  functions.def_method(
      "resize(self, *new_shape: int | tuple[int, ...], refcheck: bool = True) -> None",
      "Gives the array another shape; what is missing is 0: numpy.ndarray.resize. Raises "
      "ValueError, whatever `refcheck` says, for an array that shares its elements with others.",
      [](const Arguments& a) { return resized(a); });
}

nb::object cast_to(const Arguments& a) {
  const DType dtype = *a.dtype(1), own = a.array(0).dtype();
  if (!can_cast(own, dtype, to_casting("astype", a[3]))) {
    throw DTypeError(frontend::at(fmt::format("astype: {} cannot be cast to {} under casting='{}'",
                                              numpy_name_of(own), numpy_name_of(dtype), a.text(3)),
                                  a.where()));
  }
  if (!a.flag(5) && own == dtype) return nb::borrow(a[0]);
  warn_if_complex(own, dtype);
  const nb::object result = wrap(astype(a.operand(0), dtype));
  if (!a.object(0).is_scalar()) as_array(result)->base().is_scalar = false;
  return result;
}

/// x[index] for one index into the flattened array, or for one index per axis.
nb::object item_at(const Arguments& a) {
  const std::vector<std::int64_t> places = a.variadic_integers(1);
  const Array& x = a.array(0);
  if (places.empty()) return item(x, a.where());
  std::vector<IndexItem> items;
  for (const std::int64_t place : places) items.emplace_back(place, a.where());
  if (places.size() == 1) return item(ravel(a.operand(0)).index(items, a.where()), a.where());
  if (static_cast<int>(places.size()) != x.ndim()) {
    raise(PyExc_ValueError,
          fmt::format("item: {} indices for an array of {} dimensions", places.size(), x.ndim()));
  }
  return item(x.index(items, a.where()), a.where());
}

void bind_values(Functions& functions) {
  functions.def_method("conjugate(self) -> Array",
                       "The complex conjugate: numpy.ndarray.conjugate.",
                       [](const Arguments& a) { return a.array(0).conj(a.where()); });
  functions.def_method(
      "astype(self, dtype: DTypeLike, order: str = 'K', casting: str = 'unsafe', subok: bool = "
      "True, copy: bool = True) -> Array",
      "In another dtype: numpy.ndarray.astype. With copy=False the array itself where it has that "
      "dtype. Raises DTypeError where `casting` does not allow it.",
      [](const Arguments& a) { return cast_to(a); });
  functions.def_method(
      "item(self, *args: int | tuple[int, ...]) -> bool | int | float | complex",
      "The only element, the one that an index into the flattened array names, or one index for "
      "each axis, as a Python number: numpy.ndarray.item. Evaluates and waits. Raises ValueError "
      "without an index unless the size is 1, IndexError, TraceError inside a trace.",
      [](const Arguments& a) { return item_at(a); });
  functions.def_method(
      "view(self, dtype: DTypeLike | None = None, type: Any = None) -> Array",
      "The same elements, or their bytes in another dtype, which write through: "
      "numpy.ndarray.view.\n\nA dtype of another size needs an array in C order without gaps. "
      "Memory that is seen in two dtypes is computed at once, not lazily. As bool all bytes but 0 "
      "are "
      "True. Raises ValueError, "
      "TraceError for another dtype inside a trace.",
      [](const Arguments& a) {
        return a.object(0).reinterpreted(a.dtype(1, a.array(0).dtype()), a.where());
      });
  functions.def_method(
      "setflags(self, *, write: bool | None = None, align: bool | None = None, uic: bool | None = "
      "None) -> None",
      "Whether the array may be written: numpy.ndarray.setflags. Raises ValueError where the "
      "elements are read-only.",
      [](const Arguments& a) {
        if (!a.is_none(1)) a.target(0).set_writable(a.flag(1), a.where());
        return nb::none();
      });
}

/// Copies the elements to a NumPy array, whose methods write them.
nb::object on_host(const Arguments& a) { return to_numpy(a.array(0), a.where()); }

void check_set(const Arguments& a, const Array& value) {
  const Array& x = a.array(0);
  if (value.shape() != x.shape()) {
    raise(PyExc_ValueError, fmt::format("set: the shape [{}] is not the array's, [{}]",
                                        fmt::join(value.shape(), ","), fmt::join(x.shape(), ",")));
  }
  if (value.dtype() != x.dtype()) {
    raise(PyExc_TypeError, fmt::format("set: {} is not the array's dtype, {}",
                                       numpy_name_of(value.dtype()), numpy_name_of(x.dtype())));
  }
}

void bind_transfers(Functions& functions) {
  functions.def_method(
      "tobytes(self, order: str = 'C') -> bytes",
      "The elements' bytes in an order: numpy.ndarray.tobytes. Evaluates and waits.",
      [](const Arguments& a) {
        const char order = a.order(1);  // "K" is "C" here
        const ArrayObject flat = raveled(a.object(0), order == 'K' ? 'C' : order, a.where());
        return nb::object(to_numpy(flat.read(a.where()), a.where()).attr("tobytes")());
      });
  functions.def_method("tofile(self, fid: Any, sep: str = '', format: str = '%s') -> None",
                       "Writes the elements to a file, as bytes or as text with `sep` between: "
                       "numpy.ndarray.tofile. Evaluates and waits.",
                       [](const Arguments& a) {
                         on_host(a).attr("tofile")(a[1], a[2], a[3]);
                         return nb::none();
                       });
  functions.def_method("dump(self, file: Any) -> None",
                       "Pickles the array into a file, or a path: numpy.ndarray.dump.",
                       [](const Arguments& a) {
                         nb::module_::import_("heddle._conversions").attr("dump")(a[0], a[1]);
                         return nb::none();
                       });
  functions.def_method("dumps(self) -> bytes", "The array pickled: numpy.ndarray.dumps.",
                       [](const Arguments& a) {
                         return nb::object(nb::module_::import_("pickle").attr("dumps")(a[0]));
                       });
  functions.def_method(
      "get(self, stream: Any = None, order: str = 'C', out: numpy.ndarray | None = None, blocking: "
      "bool = True) -> numpy.ndarray",
      "A NumPy array with a copy of the elements: cupy.ndarray.get. Evaluates and waits, so that "
      "`stream` and `blocking` say nothing.",
      [](const Arguments& a) {
        const nb::object copy = on_host(a);
        const nb::module_ numpy = nb::module_::import_("numpy");
        if (a.is_none(3)) return nb::object(numpy.attr("asarray")(copy, nb::arg("order") = a[2]));
        numpy.attr("copyto")(a[3], copy, "no");
        return nb::borrow(a[3]);
      });
  functions.def_method(
      "set(self, arr: numpy.ndarray, stream: Any = None) -> None",
      "Writes the elements of a NumPy array of equal shape and dtype: cupy.ndarray.set. Raises "
      "ValueError for another shape, TypeError for another dtype.",
      [](const Arguments& a) {
        check_set(a, a.array(1));
        a.target(0).write(a.array(1), a.where());
        return nb::none();
      });
}

}  // namespace

void bind_numpy_methods(Functions& functions) {
  bind_sorts(functions);
  bind_picks(functions);
  bind_shapes(functions);
  bind_values(functions);
  bind_transfers(functions);
}

}  // namespace heddle::python
