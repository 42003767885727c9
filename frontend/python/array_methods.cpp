#include <string>
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

#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "frontend/python/bindings.h"
#include "frontend/python/casting.h"
#include "frontend/python/device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/gil.h"
#include "frontend/python/orders.h"
#include "frontend/python/streams.h"
#include "frontend/python/transfers.h"
#include "frontend/streams/access.h"
#include "frontend/streams/recorded.h"

// Methods of Array that numpy.ndarray has and that differ from the module's functions: they write
// to the array, use its memory order, or have other parameters.

namespace heddle::python {
namespace {

void no_fields(const Arguments& a, std::size_t i) {
  if (!a.is_none(i)) raise(PyExc_ValueError, "`order` must be None, since no dtype has fields");
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
  const Shape shape = a.array(0).shape();
  if (shape.empty()) return 1;
  const std::int64_t place =
      frontend::axis_of(a.name(), axis, static_cast<int>(shape.size()), a.where());
  return shape[static_cast<std::size_t>(place)];
}

void bind_sorts(Functions& functions) {
  functions.def_method(
      "sort(self, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | "
      "None = None) -> None",
      "Sorts the elements along an axis in place: numpy.ndarray.sort. Equal elements keep their "
      "order for every `kind` and `stable`. Raises IndexError for an axis out of range, ValueError "
      "for a read-only array.",
      [](const Arguments& a) {
        no_fields(a, 3);
        a.target(0).write(sort(a.operand(0), Axes(a.integer(1))), a.where());
        return nb::none();
      });
  functions.def_method(
      "partition(self, kth: int | tuple[int, ...], axis: int = -1, kind: str = 'introselect', "
      "order: None = None) -> None",
      "Partitions the elements along an axis in place: numpy.ndarray.partition. Element kth moves "
      "to its sorted position; no element before it is greater and none after it is smaller. "
      "Raises IndexError for an axis out of range, ValueError for a kth out of range and for a "
      "read-only array.",
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
      "The indices that partition the array, as int64: numpy.ndarray.argpartition.",
      [](const Arguments& a) {
        no_fields(a, 4);
        const std::int64_t extent =
            a.is_none(2) ? a.array(0).size() : extent_along(a, a.integer(2));
        return argpartition(a.operand(0), kth_of(a, 1, extent), a.axes(2));
      });
  functions.def_method(
      "searchsorted(self, v: Operand, side: str = 'left', sorter: Array | None = None) -> Array",
      "The index in the sorted array before which each element of v would be inserted, as int64: "
      "numpy.ndarray.searchsorted.",
      [](const Arguments& a) {
        const Array sorter = a.is_none(3) ? Array() : a.array(3);
        return searchsorted(a.operand(0), a.operand(1), a.text(2), sorter);
      });
}

void bind_picks(Functions& functions) {
  functions.def_method(
      "choose(self, choices: Sequence[Array], out: Array | None = None, mode: str = 'raise') -> "
      "Array",
      "The elements choices[self[i]][i], with self as the index of the choice: "
      "numpy.ndarray.choose.",
      [](const Arguments& a) { return choose(a.operand(0), a.arrays(1), a.text(3)); });
  functions.def_method(
      "compress(self, condition: Array, axis: int | None = None, out: Array | None = None) -> "
      "Array",
      "The slices along an axis for which the condition is true: numpy.ndarray.compress. Evaluates "
      "and waits.",
      [](const Arguments& a) {
        return compress(a.operand(1), a.operand(0), a.optional_integer(2));
      });
  functions.def_method("fill(self, value: Operand) -> None",
                       "Writes one value to all elements: numpy.ndarray.fill. Raises ValueError "
                       "unless the value is a number or a 0-d array.",
                       [](const Arguments& a) {
                         if (a.operand(1).array() != nullptr && a.operand(1).array()->ndim() != 0) {
                           raise(PyExc_ValueError,
                                 "fill: the value must be a number or a 0-d array");
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
      "__reversed__(self) -> Any",
      "An iterator over the first axis, from the last index to the first.", [](const Arguments& a) {
        const nb::object backwards =
            nb::borrow(a[0])[nb::slice(nb::none(), nb::none(), nb::int_(-1))];
        return nb::object(nb::module_::import_("builtins").attr("iter")(backwards));
      });
  functions.def_method(
      "reshape(self, *shape: int | tuple[int, ...], order: str = 'C', copy: bool | None = None) -> "
      "Array",
      "The array in another shape: numpy.ndarray.reshape. Like heddle.reshape; the extents may "
      "also be separate arguments.",
      [](const Arguments& a) {
        check_extents(a[1]);
        return reshaped(a.object(0), a.variadic_integers(1), a.order(2), a[3], a.where());
      });
  functions.def_method(
      "ravel(self, order: str = 'C') -> Array",
      "All elements in one axis; a view if the memory layout allows it: numpy.ndarray.ravel.",
      [](const Arguments& a) { return raveled(a.object(0), a.order(1), a.where()); });
  functions.def_method(
      "flatten(self, order: str = 'C') -> Array",
      "A 1-d copy of all elements: numpy.ndarray.flatten.", [](const Arguments& a) {
        return ArrayObject(raveled(a.object(0), a.order(1), a.where()).read(a.where()));
      });
  functions.def_method(
      "resize(self, *new_shape: int | tuple[int, ...], refcheck: bool = True) -> None",
      "Changes the shape in place; added elements are 0: numpy.ndarray.resize. Raises ValueError "
      "for an array that shares its elements with others, for every `refcheck`.",
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
                       [](const Arguments& a) { return conjugated(a); });
  functions.def_method(
      "astype(self, dtype: DTypeLike, order: str = 'K', casting: str = 'unsafe', subok: bool = "
      "True, copy: bool = True) -> Array",
      "The array in another dtype: numpy.ndarray.astype. With copy=False, the array itself if it "
      "already has that dtype. Raises DTypeError if `casting` does not allow the cast.",
      [](const Arguments& a) { return cast_to(a); });
  functions.def_method(
      "item(self, *args: int | tuple[int, ...]) -> bool | int | float | complex",
      "One element as a Python number: numpy.ndarray.item. Without arguments, the only element; "
      "with one index, that element of the flattened array; or one index for each axis. Evaluates "
      "and waits. Raises ValueError without an index unless the size is 1, IndexError for an index "
      "out of range, TraceError inside a trace.",
      [](const Arguments& a) { return item_at(a); });
  functions.def_method("view(self, dtype: DTypeLike | None = None, type: Any = None) -> Array",
                       "A view of the same elements, or of their bytes in another dtype: "
                       "numpy.ndarray.view. Writes go through.\n\n"
                       "A dtype of another size needs a C-contiguous array. Another dtype "
                       "evaluates immediately; the memory is then shared by both dtypes. As bool, "
                       "every nonzero byte is True. Raises ValueError for a size or layout that "
                       "does not fit, TraceError for another dtype inside a trace.",
                       [](const Arguments& a) {
                         return a.object(0).reinterpreted(a.dtype(1, a.array(0).dtype()),
                                                          a.where());
                       });
  functions.def_method(
      "setflags(self, *, write: bool | None = None, align: bool | None = None, uic: bool | None = "
      "None) -> None",
      "Sets whether the array may be written: numpy.ndarray.setflags. Raises ValueError if the "
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
    raise(PyExc_ValueError, fmt::format("set: the shape [{}] differs from the array's shape [{}]",
                                        fmt::join(value.shape(), ","), fmt::join(x.shape(), ",")));
  }
  if (value.dtype() != x.dtype()) {
    raise(PyExc_TypeError, fmt::format("set: the dtype {} differs from the array's dtype {}",
                                       numpy_name_of(value.dtype()), numpy_name_of(x.dtype())));
  }
}

/// NumPy's arrays are what set() is for: they are not announced like operands of NumPy.
void set_elements(const Arguments& a) {
  const Array value =
      is_numpy_array(a[1]) ? from_python(a[1], std::nullopt, a.where()) : a.array(1);
  check_set(a, value);
  a.target(0).write(value, a.where());
}

void set_on_stream(const Arguments& a, const Stream& stream) {
  const std::string device = to_string(device_of(a.array(0)));
  if (stream.device() != device) {
    throw ValueError(fmt::format("set: the array is on {}, and the stream is one of {}", device,
                                 stream.device()));
  }
  {
    const ReleaseGil release;
    frontend::evaluate_recorded("set on a stream");
  }
  const runtime::StreamScope scope(frontend::StreamAccess::of(stream));
  set_elements(a);
  compute(a.array(0));
}

void bind_transfers(Functions& functions) {
  functions.def_method(
      "tobytes(self, order: str = 'C') -> bytes",
      "The bytes of the elements in the given order: numpy.ndarray.tobytes. Evaluates and waits.",
      [](const Arguments& a) {
        const char order = a.order(1);  // "K" is "C" here
        const ArrayObject flat = raveled(a.object(0), order == 'K' ? 'C' : order, a.where());
        return nb::object(to_numpy(flat.read(a.where()), a.where()).attr("tobytes")());
      });
  functions.def_method("tofile(self, fid: Any, sep: str = '', format: str = '%s') -> None",
                       "Writes the elements to a file, as bytes, or as text separated by `sep`: "
                       "numpy.ndarray.tofile. Evaluates and waits.",
                       [](const Arguments& a) {
                         on_host(a).attr("tofile")(a[1], a[2], a[3]);
                         return nb::none();
                       });
  functions.def_method("dump(self, file: Any) -> None",
                       "Pickles the array to a path or an open file: numpy.ndarray.dump.",
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
      "A NumPy array with a copy of the elements, in C or Fortran order: cupy.ndarray.get. The "
      "copy "
      "is enqueued on `stream`, by default the current one. With `blocking`, waits for it. Else it "
      "is done when the stream is: until then nothing reads the result, nor changes `out`, which "
      "is memory of heddle.cuda.alloc_pinned_memory to be copied while other work runs. Raises "
      "ValueError for an `out` of another shape or that is read-only, TypeError for another dtype.",
      [](const Arguments& a) {
        return download(a.object(0), a.where(), {a[1], a.order(2), a[3], a.flag(4)});
      });
  functions.def_method(
      "set(self, arr: numpy.ndarray, stream: Any = None) -> None",
      "Writes the elements of a NumPy array of the same shape and dtype: cupy.ndarray.set. The "
      "copy is enqueued on `stream`, by default the current one. Raises ValueError for another "
      "shape and for a stream of another device, TypeError for another dtype.",
      [](const Arguments& a) {
        if (a.is_none(2)) {
          set_elements(a);
        } else {
          set_on_stream(a, to_stream(a[2], to_string(device_of(a.array(0)))));
        }
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
