#include <cmath>
#include <complex>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/io.h"
#include "heddle/jit.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/single_element.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/io/input_file.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/transfers.h"

namespace heddle::python {
namespace {

/// Computes the elements and copies them in C order, with the GIL released.
void read_bytes(const Array& array, const char* what, const SourceLocation& where, void* out) {
  if (frontend::read_single_element(array, what, where, out)) return;
  // The variable may change while other threads run.
  const Array value = array;  // NOLINT(performance-unnecessary-copy-initialization)
  std::optional<SharedOrder> order;
  if (take_pinned_read() && !frontend::tracing()) order.emplace(device_of(value));
  {
    const ReleaseGil release;
    frontend::download_to(*frontend::evaluated_node(value, what, where), out);
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Copies elements to the device without the GIL: the copy may wait for a Python function that the
/// stream calls.
Array uploaded(const void* data, std::size_t count, DType dtype, const Shape& shape,
               const SourceLocation& where) {
  const ReleaseGil release;
  return from_memory(data, count, dtype, shape, where);
}

template <class T>
T loaded(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

nb::object number(const std::byte* bytes, DType dtype) {
  if (is_boolean(dtype)) return nb::bool_(loaded<std::uint8_t>(bytes) != 0);
  if (is_signed_integer(dtype)) {
    std::int64_t value = 0;
    frontend::convert(bytes, dtype, &value, DType::i64, 1);
    return nb::int_(value);
  }
  if (is_integer(dtype)) {
    std::uint64_t value = 0;
    frontend::convert(bytes, dtype, &value, DType::u64, 1);
    return nb::int_(value);
  }
  if (is_complex(dtype)) {
    std::complex<double> value;
    frontend::convert(bytes, dtype, &value, DType::c128, 1);
    return nb::steal(PyComplex_FromDoubles(value.real(), value.imag()));
  }
  double value = 0;
  frontend::convert(bytes, dtype, &value, DType::f64, 1);
  return nb::float_(value);
}

nb::object nested(const std::byte*& bytes, DType dtype, const Shape& shape, std::size_t axis) {
  if (axis == shape.size()) {
    nb::object value = number(bytes, dtype);
    bytes += size_of(dtype);
    return value;
  }
  nb::list list;
  for (std::int64_t i = 0; i < shape[axis]; ++i) list.append(nested(bytes, dtype, shape, axis + 1));
  return list;
}

/// Flattens nested sequences of Python numbers.
class Sequence {
 public:
  explicit Sequence(const SourceLocation& where) : where_(where) {}

  /// Returns false if the value contains anything but numbers.
  bool read(nb::handle value) { return read(value, 0); }

  Array finish(std::optional<DType> wanted) const {
    const DType dtype = wanted.value_or(natural_dtype());
    std::vector<std::byte> bytes(leaves_.size() * size_of(dtype));
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      store(leaves_[i], dtype, &bytes[i * size_of(dtype)]);
    return uploaded(bytes.data(), leaves_.size(), dtype, shape_, where_);
  }

 private:
  bool read(nb::handle value, std::size_t depth) {
    if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
      const auto length = PySequence_Fast_GET_SIZE(value.ptr());
      extent(depth, length);
      PyObject** items = PySequence_Fast_ITEMS(value.ptr());
      for (Py_ssize_t i = 0; i < length; ++i) {
        if (!read(items[i], depth + 1)) return false;
      }
      return true;
    }
    const auto scalar = as_scalar(value);
    if (!scalar) return false;
    if (!leaf_depth_) leaf_depth_ = depth;
    if (*leaf_depth_ != depth || depth != shape_.size()) ragged();
    leaves_.push_back(*scalar);
    return true;
  }

  void extent(std::size_t depth, std::int64_t length) {
    if (leaf_depth_ && depth >= *leaf_depth_) ragged();
    if (depth == shape_.size()) {
      shape_.push_back(length);
    } else if (shape_[depth] != length) {
      ragged();
    }
  }

  [[noreturn]] void ragged() const {
    throw ShapeError(fmt::format("asarray: the nested sequences differ in length or depth ({}:{})",
                                 where_.file_name(), where_.line()));
  }

  DType natural_dtype() const {
    bool complexes = false, floats = false, integers = false, large = false, small = false;
    for (const Scalar& leaf : leaves_) {
      complexes |= leaf.kind == Scalar::Kind::complex;
      floats |= leaf.kind == Scalar::Kind::floating;
      integers |= leaf.kind != Scalar::Kind::boolean;
      large |= leaf.kind == Scalar::Kind::unsigned_integer && leaf.unsigned_integer > INT64_MAX;
      small |= leaf.kind == Scalar::Kind::integer;
    }
    if (complexes) return DType::c128;
    // Integers beyond int64 are uint64 and others int64; their common dtype is float64.
    if (floats || leaves_.empty() || (large && small)) return DType::f64;
    if (!integers) return DType::boolean;
    return large ? DType::u64 : DType::i64;
  }

  /// Stores one element of a sequence as NumPy does: a number must fit an integer dtype after
  /// truncation.
  static void store(const Scalar& leaf, DType dtype, std::byte* out) {
    if (is_complex(dtype)) {
      const double parts[] = {finite_value(leaf), leaf.imaginary};
      frontend::convert(parts, DType::c128, out, dtype, 1);
    } else if (is_boolean(dtype)) {
      *out = std::byte{frontend::value_of(leaf) != 0 || leaf.imaginary != 0};
    } else if (leaf.kind == Scalar::Kind::complex) {
      raise(PyExc_TypeError,
            fmt::format("asarray: complex numbers do not fit {}; use their real parts",
                        numpy_name_of(dtype)));
    } else if (is_floating(dtype)) {
      const double value = finite_value(leaf);
      frontend::convert(&value, DType::f64, out, dtype, 1);
    } else {
      check_fit(leaf, dtype);
      const auto whole =
          leaf.is_inexact() ? frontend::bits_of(dtype, leaf.floating).low : leaf.unsigned_integer;
      std::memcpy(out, &whole, size_of(dtype));
    }
  }

  static double finite_value(const Scalar& leaf) {
    const double value = frontend::value_of(leaf);
    if (leaf.kind == Scalar::Kind::large_integer && std::isinf(value))
      raise(PyExc_OverflowError, "asarray: a Python integer is out of range for float64");
    return value;
  }

  static void check_fit(const Scalar& leaf, DType dtype) {
    if (frontend::compare_with_range(leaf, dtype) == 0) return;
    if (leaf.is_inexact() && std::isnan(leaf.floating)) {
      raise(PyExc_ValueError,
            fmt::format("asarray: NaN cannot be converted to {}", numpy_name_of(dtype)));
    }
    raise(PyExc_OverflowError, fmt::format("asarray: the Python {} {} does not fit {}",
                                           leaf.is_inexact() ? "float" : "integer",
                                           frontend::text_of(leaf), numpy_name_of(dtype)));
  }

  SourceLocation where_;
  Shape shape_;
  std::optional<std::size_t> leaf_depth_;
  std::vector<Scalar> leaves_;
};

/// Copies a NumPy array of any layout and byte order.
Array from_numpy(nb::object array, const SourceLocation& where) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object foreign = array.attr("dtype");
  const auto dtype = as_dtype(foreign);
  if (!dtype) refuse_numpy_dtype("asarray", foreign);
  Shape shape;
  for (nb::handle extent : array.attr("shape")) shape.push_back(to_integer(extent));
  const nb::object ordered =
      numpy.attr("ascontiguousarray")(array, nb::arg("dtype") = numpy_dtype(*dtype));
  const auto count = static_cast<std::size_t>(to_integer(ordered.attr("size")));
  const auto address =
      static_cast<std::uintptr_t>(nb::cast<std::uintptr_t>(ordered.attr("ctypes").attr("data")));
  return uploaded(reinterpret_cast<const void*>(address), count, *dtype, shape, where);
}

/// Stacks a sequence that contains Arrays. With a dtype, each entry is cast before it is combined
/// with the others.
Array from_arrays(nb::handle sequence, std::optional<DType> dtype, const SourceLocation& where) {
  std::vector<Array> parts;
  for (nb::handle each : nb::borrow(sequence)) {
    const ArrayObject* array = as_array(each);
    if (array == nullptr) {
      parts.push_back(from_python(each, dtype, where));
    } else {
      const Array& part = array->read(where);
      parts.push_back(dtype ? astype({part, where}, *dtype) : part);
    }
  }
  return stack(parts, 0, where);
}

bool contains_array(nb::handle value) {
  if (as_array(value) != nullptr) return true;
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return false;
  for (nb::handle each : nb::borrow(value)) {
    if (contains_array(each)) return true;
  }
  return false;
}

}  // namespace

Array from_python(nb::handle value, std::optional<DType> dtype, const SourceLocation& where) {
  Sequence sequence(where);
  if (sequence.read(value)) return sequence.finish(dtype);
  const auto cast = [&](const Array& array) {
    return dtype && *dtype != array.dtype() ? astype({array, where}, *dtype) : array;
  };
  if (contains_array(value)) return from_arrays(value, dtype, where);
  // NumPy itself converts its arrays, since it knows more dtypes and byte orders.
  const std::string library = nb::str(nb::handle(value.type()).attr("__module__")).c_str();
  if (!library.starts_with("numpy")) {
    if (const auto shared = from_exchange(value, nb::bool_(true), where)) {
      return cast(as_array(*shared)->read(where));
    }
  }
  const bool exchanges = nb::hasattr(value, "__array__") || PyObject_CheckBuffer(value.ptr()) ||
                         PySequence_Check(value.ptr());
  if (nb::isinstance<nb::str>(value)) {
    raise(PyExc_TypeError,
          "asarray: heddle has no dtype for text (str); convert it to a number first, for example "
          "with float(x)");
  }
  if (!exchanges) {
    raise(PyExc_TypeError, "asarray: cannot make an Array of " + describe_foreign(value));
  }
  const nb::object as_array = nb::module_::import_("numpy").attr("asarray");
  // In a sequence with NumPy scalars, NumPy stores each element separately.
  const bool sequence_of_scalars = PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
  if (dtype && sequence_of_scalars) return from_numpy(as_array(value, numpy_dtype(*dtype)), where);
  return cast(from_numpy(as_array(value), where));
}

bool truth(const Array& array, const SourceLocation& where) {
  if (array.size() != 1) {
    throw ValueError(
        fmt::format("the truth value of an array of {} elements is ambiguous; use any() "
                    "or all() ({}:{})",
                    array.size(), where.file_name(), where.line()));
  }
  return PyObject_IsTrue(item(array, where).ptr()) == 1;
}

nb::object item(const Array& array, const SourceLocation& where) {
  if (!frontend::tracing() && array.size() != 1) {
    throw ValueError(fmt::format("item: the array has {} elements, not 1; index it first ({}:{})",
                                 array.size(), where.file_name(), where.line()));
  }
  std::byte element[16]{};
  read_bytes(array, "item", where, element);
  return number(element, array.dtype());
}

nb::object to_list(const Array& array, const SourceLocation& where) {
  const Shape shape = array.shape();
  std::vector<std::byte> bytes(static_cast<std::size_t>(array.nbytes()) + 1);
  read_bytes(array, "tolist", where, bytes.data());
  const std::byte* next = bytes.data();
  return nested(next, array.dtype(), shape, 0);
}

nb::object to_numpy(const Array& array, const SourceLocation& where) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const DType dtype = array.dtype();
  nb::list shape;
  for (std::int64_t extent : array.shape()) shape.append(extent);
  const nb::object result = numpy.attr("empty")(nb::tuple(shape), numpy_dtype(dtype));
  const auto address = nb::cast<std::uintptr_t>(result.attr("ctypes").attr("data"));
  read_bytes(array, "asnumpy", where, reinterpret_cast<void*>(address));
  return result;
}

void bind_host(Functions& functions) {
  functions.def(
      "asnumpy(a: Any, stream: Any = None, order: str = 'C', out: numpy.ndarray | None = None, "
      "blocking: bool = True) -> numpy.ndarray",
      "A NumPy array with a copy of the elements, as Array.get; for any other object, "
      "numpy.asarray(a, order=order).\n\n"
      "Evaluates and waits. Raises TraceError inside a trace.\n\n"
      "Example: hd.asnumpy(hd.ones(3))",
      [](const Arguments& a) {
        if (as_array(a[0]) != nullptr)
          return download(a.object(0), a.where(), {a[1], a.order(2), a[3], a.flag(4)});
        const nb::module_ numpy = nb::module_::import_("numpy");
        const nb::object array = numpy.attr("asarray")(a[0], nb::arg("order") = a[2]);
        if (a.is_none(3)) return array;
        numpy.attr("copyto")(a[3], array);
        return nb::borrow(a[3]);
      });
  functions.def_method(
      "__array__(self, dtype: numpy.dtype | None = None, *, copy: bool | None = None) -> "
      "numpy.ndarray",
      "A NumPy array with a copy of the elements, for numpy.asarray.", [](const Arguments& a) {
        if (!a.is_none(2) && !a.flag(2)) {
          raise(PyExc_ValueError,
                "__array__: copy=False, but a heddle.Array needs a copy to become a NumPy array");
        }
        const nb::object array = to_numpy(a.array(0), a.where());
        return a.is_none(1) ? array
                            : nb::object(array.attr("astype")(a[1], nb::arg("copy") = false));
      });
  functions.def_method("__bytes__(self) -> bytes",
                       "The bytes of the elements in C order: bytes(x). Evaluates and waits.",
                       [](const Arguments& a) {
                         return nb::object(to_numpy(a.array(0), a.where()).attr("tobytes")());
                       });
  functions.def_method(
      "tolist(self) -> Any",
      "All elements as nested lists of Python numbers: numpy.ndarray.tolist. Evaluates and waits.",
      [](const Arguments& a) { return to_list(a.array(0), a.where()); });
}

}  // namespace heddle::python
