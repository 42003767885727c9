#include "heddle/creation.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "heddle/manipulation.h"

#include "frontend/graph/record.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

DType default_dtype(const Operand& operand) {
  return operand.array() != nullptr ? operand.array()->dtype()
                                    : frontend::default_dtype(operand.scalar());
}

using Fill = Array (*)(const Shape&, DType, SourceLocation);
using FillLike = Array (*)(const Operand&, std::optional<DType>, const std::optional<Shape>&);

std::optional<Shape> optional_shape(const Arguments& a, std::size_t i) {
  return a.is_none(i) ? std::nullopt : std::optional(a.shape(i));
}

template <Fill fill>
nb::object filled(const Arguments& a) {
  static_cast<void>(a.order(2));
  a.check_like(4);
  return on_device(fill(a.shape(0), a.dtype(1, DType::f64), a.where()), a[3]);
}

template <FillLike fill>
nb::object filled_like(const Arguments& a) {
  static_cast<void>(a.order(2));
  return on_device(fill(a.operand(0), a.dtype(1), optional_shape(a, 4)), a[5]);
}

void bind_fills(Functions& functions) {
  const std::string parameters =
      "(shape: int | tuple[int, ...], dtype: DTypeLike | None = None, order: str = 'C', *, device: "
      "Device | None = None, like: Any = None) -> Array";
  const std::string like =
      "dtype: DTypeLike | None = None, order: str = 'K', subok: bool = True, shape: int | "
      "tuple[int, "
      "...] | None = None, *, device: Device | None = None) -> Array";
  const auto text = [](const char* what, const char* name) {
    return fmt::format(
        "An array of {} with the given shape, float64 by default: numpy.{}. `order` has no effect, "
        "since Arrays have no memory order of their own. Raises ShapeError for a negative "
        "extent.\n\n"
        "Example: hd.{}((2, 3), dtype=hd.float32)",
        what, name, name);
  };
  const auto like_text = [](const char* what) {
    return fmt::format(
        "An array of {} with the shape and dtype of the first argument, unless others are given. "
        "`order` has no effect, since Arrays have no memory order of their own.",
        what);
  };
  functions.def("zeros" + parameters, text("zeros", "zeros"),
                [](const Arguments& a) { return filled<zeros>(a); });
  functions.def("ones" + parameters, text("ones", "ones"),
                [](const Arguments& a) { return filled<ones>(a); });
  const std::string unset =
      "\n\nThe elements are 0, unless a RawKernel is given the array before it is in memory: that "
      "finds what the memory held.";
  functions.def("empty" + parameters, text("zeros", "empty") + unset,
                [](const Arguments& a) { return filled<empty>(a); });
  functions.def("zeros_like(a: Array, " + like, like_text("zeros"),
                [](const Arguments& a) { return filled_like<zeros_like>(a); });
  functions.def("ones_like(a: Array, " + like, like_text("ones"),
                [](const Arguments& a) { return filled_like<ones_like>(a); });
  functions.def("empty_like(prototype: Array, /, " + like, like_text("zeros") + unset,
                [](const Arguments& a) { return filled_like<empty_like>(a); });
  functions.def(
      "full(shape: int | tuple[int, ...], fill_value: Operand, dtype: DTypeLike | None = None, "
      "order: str = 'C', *, device: Device | None = None, like: Any = None) -> Array",
      "An array with every element equal to fill_value: numpy.full. The dtype is NumPy's for that "
      "value by default. Raises ShapeError for a negative extent, DTypeError for an integer that "
      "does not fit the dtype.\n\n"
      "Example: hd.full((2, 3), 0.5)",
      [](const Arguments& a) {
        static_cast<void>(a.order(3));
        a.check_like(5);
        const Operand value = a.operand(1);
        return on_device(full(a.shape(0), value, a.dtype(2, default_dtype(value))), a[4]);
      });
  functions.def(
      "full_like(a: Array, fill_value: Operand, dtype: DTypeLike | None = None, order: str = 'K', "
      "subok: bool = True, shape: int | tuple[int, ...] | None = None, *, device: Device | None = "
      "None) -> Array",
      "An array with every element equal to fill_value, with the shape and dtype of a unless "
      "others are given: numpy.full_like.",
      [](const Arguments& a) {
        static_cast<void>(a.order(3));
        const Array like = full_like(a.operand(0), a.operand(1), a.dtype(2), optional_shape(a, 5));
        return on_device(like, a[6]);
      });
}

/// arange(stop) or arange(start, stop), as in Python's range.
nb::object range(const Arguments& a) {
  a.check_like(5);
  if (a.is_none(0) && a.is_none(1)) raise(PyExc_TypeError, "arange needs a stop");
  const auto given = [&](std::size_t i, std::int64_t otherwise) {
    return a.is_none(i) ? Scalar(otherwise) : a.scalar(i);
  };
  const Scalar start = a.is_none(1) ? Scalar(std::int64_t{0}) : given(0, 0);
  const Scalar stop = a.scalar(a.is_none(1) ? 0 : 1);
  const Scalar step = given(2, 1);
  DType natural = DType::i64;
  bool large = false;
  for (const Scalar& each : {start, stop, step}) {
    natural = promote_types(natural, frontend::default_dtype(each));
    large |= each.kind == Scalar::Kind::large_integer;
  }
  if (large && a.is_none(3) && !start.is_inexact() && !stop.is_inexact() && !step.is_inexact()) {
    raise(PyExc_OverflowError,
          "arange: the values do not fit 64-bit integers; pass dtype=heddle.float64");
  }
  return on_device(arange(start, stop, step, a.dtype(3, natural), a.where()), a[4]);
}

/// The index of a diagonal, clamped to the first one outside the matrix.
std::int64_t diagonal(const Arguments& a, std::size_t i, std::int64_t rows, std::int64_t columns) {
  if (PyIndex_Check(a[i].ptr()) == 0) a.mistyped(i, "an integer");
  const nb::object index = nb::steal(PyNumber_Index(a[i].ptr()));
  if (!index.is_valid()) throw nb::python_error();
  int overflow = 0;
  const std::int64_t k = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) return overflow > 0 ? columns : -rows;
  return std::clamp(k, std::min<std::int64_t>(-rows, 0), std::max<std::int64_t>(columns, 0));
}

void bind_ranges(Functions& functions) {
  functions.def(
      "arange(start: float | None = None, stop: float | None = None, step: float | None = 1, "
      "dtype: DTypeLike | None = None, *, device: Device | None = None, like: Any = None) -> Array",
      "The values start, start + step, ... below stop, as a 1-d array: numpy.arange. With one "
      "argument, from 0 to that stop.\n\n"
      "The dtype is int64 if all arguments are integers, else float64 or complex128. Raises "
      "ValueError for a step of 0.\n\n"
      "Example: hd.arange(0, 1, 0.1)",
      [](const Arguments& a) { return range(a); });
  functions.def(
      "eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, order: str = "
      "'C', *, device: Device | None = None, like: Any = None) -> Array",
      "An N x M matrix of zeros with ones on the k-th diagonal, float64 by default: numpy.eye. M "
      "is N by default.",
      [](const Arguments& a) {
        static_cast<void>(a.order(4));
        a.check_like(6);
        const std::int64_t rows = a.integer(0), columns = a.optional_integer(1).value_or(rows);
        return on_device(
            eye(rows, columns, diagonal(a, 2, rows, columns), a.dtype(3, DType::f64), a.where()),
            a[5]);
      });
}

/// asarray(obj) for any obj.
nb::object converted(nb::handle value, std::optional<DType> dtype, nb::handle copy,
                     const SourceLocation& where) {
  const bool must = !copy.is_none() && PyObject_IsTrue(copy.ptr()) == 1;
  const bool must_not = !copy.is_none() && !must;
  if (const ArrayObject* array = as_array(value)) {
    const Array& x = array->read(where);
    const bool same = !dtype || *dtype == x.dtype();
    if (same && !must && !array->is_scalar()) return nb::borrow(value);
    if (must_not) {
      raise(PyExc_ValueError, fmt::format("asarray: copy=False, but {} as {} needs a copy",
                                          numpy_name_of(x.dtype()), numpy_name_of(*dtype)));
    }
    return wrap(same ? x : astype({x, where}, *dtype));
  }
  if (must_not) {
    raise(PyExc_ValueError,
          "asarray: copy=False is only for Arrays; use from_dlpack to share the memory of other "
          "libraries");
  }
  return wrap(from_python(value, dtype, where));
}

/// The Array, adjusted to array()'s ndmin and checked against its ndmax.
nb::object of_rank(const Arguments& a, const nb::object& made) {
  const std::int64_t least = a.integer(5), most = a.integer(6);
  const ArrayObject& object = *as_array(made);
  const int rank = object.read(a.where()).ndim();
  const bool is_array = as_array(a[0]) != nullptr || is_numpy_array(a[0]);
  if (most > 0 && rank > most && !is_array) {
    raise(PyExc_ValueError, fmt::format("array: {} axes are more than ndmax={}", rank, most));
  }
  if (least > 64) raise(PyExc_ValueError, "array: ndmin must be at most 64");
  if (rank >= least) return made;
  std::vector<std::int64_t> leading(static_cast<std::size_t>(least - rank));
  std::iota(leading.begin(), leading.end(), 0);
  const Array value = expand_dims({object.read(a.where()), a.where()}, leading);
  return nb::cast(object.view_of(value, a.where()));
}

}  // namespace

void bind_creation(Functions& functions) {
  functions.give_variables(true);
  functions.def(
      "asarray(a: Any, dtype: DTypeLike | None = None, order: str | None = None, *, device: Device "
      "| "
      "None = None, copy: bool | None = None, like: Any = None) -> Array",
      "An Array with the elements of `a`: numpy.asarray. `a` is a number, a nested sequence of "
      "numbers, a NumPy array, a buffer, or an array of another library with DLPack or the CUDA "
      "array interface.\n\n"
      "An Array that already has the dtype is returned itself, unless copy=True. The default dtype "
      "for numbers is NumPy's: bool, int64, float64 or complex128. Raises ShapeError for ragged "
      "sequences, TypeError for any other object, ValueError if copy=False needs a copy.\n\n"
      "Example: hd.asarray([[1, 2], [3, 4]], dtype=hd.float32)",
      [](const Arguments& a) {
        static_cast<void>(a.order(2));
        a.check_like(5);
        return to_device(converted(a[0], a.dtype(1), a[4], a.where()), a[3], a.where());
      });
  functions.def(
      "array(object: Any, dtype: DTypeLike | None = None, *, copy: bool | None = True, order: str "
      "= "
      "'K', subok: bool = False, ndmin: int = 0, ndmax: int = 0, like: Any = None, device: Device "
      "| "
      "None = None) -> Array",
      "Like asarray, but copies an Array by default: numpy.array. The result has at least `ndmin` "
      "axes; new axes come first. Raises ValueError for sequences nested deeper than `ndmax`, "
      "unless that is 0.",
      [](const Arguments& a) {
        static_cast<void>(a.order(3));
        a.check_like(7);
        return to_device(of_rank(a, converted(a[0], a.dtype(1), a[2], a.where())), a[8], a.where());
      });
  functions.def("copy(a: Array, order: str = 'K', subok: bool = False) -> Array",
                "A copy of a, independent of later writes to a: numpy.copy. `order` has no effect.",
                [](const Arguments& a) {
                  static_cast<void>(a.order(1));
                  return a.array(0);
                });
  functions.def_method("copy(self, order: str = 'C') -> Array",
                       "A copy of the array: numpy.ndarray.copy. Like heddle.copy.",
                       [](const Arguments& a) {
                         static_cast<void>(a.order(1));
                         return a.array(0);
                       });
  bind_fills(functions);
  bind_ranges(functions);
  functions.give_variables(false);
}

}  // namespace heddle::python
