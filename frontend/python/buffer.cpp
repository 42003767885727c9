#include "frontend/python/buffer.h"

#include <cstddef>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "frontend/python/arguments.h"
#include "frontend/python/device.h"
#include "frontend/python/errors.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/gil.h"
#include "runtime/device/backend.h"

namespace heddle::python {
namespace {

/// The value that a Py_buffer exposes. It never changes: writing to the Array gives the Array a new
/// value.
struct Exported {
  frontend::NodeRef node;
  Strides shape, strides;  ///< strides in bytes
  std::string format;
};

/// The format code of module `struct`, with NumPy's extension for complex numbers; empty if there
/// is none.
std::string format_of(DType dtype) {
  if (dtype == DType::bf16) return "";
  if (is_boolean(dtype)) return "?";
  if (is_complex(dtype)) return dtype == DType::c64 ? "Zf" : "Zd";
  if (is_floating(dtype)) return size_of(dtype) == 2 ? "e" : size_of(dtype) == 4 ? "f" : "d";
  const std::string_view codes = is_signed_integer(dtype) ? "bhiq" : "BHIQ";
  const std::size_t size = size_of(dtype);
  return std::string(1, codes[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3]);
}

[[noreturn]] void refuse(const std::string& why) {
  raise(PyExc_BufferError, "the buffer of an Array: " + why);
}

void check_exportable(const ArrayObject& array, int flags) {
  const Array& value = array.read();
  const runtime::Device device = device_of(value);
  if (!runtime::capabilities_of(device).host_memory) {
    refuse(fmt::format("its elements are on {}; copy them with heddle.asnumpy",
                       runtime::to_string(device)));
  }
  if (format_of(value.dtype()).empty()) refuse("Python has no format for bfloat16");
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE)
    refuse("it is read-only; write to the Array, or to a copy from heddle.asnumpy");
}

/// Computes the value of the array's base. NumPy takes an exception here for a refusal and then
/// calls __array__, so a failure is kept and thrown there.
frontend::NodeRef computed_base(const ArrayObject& array) {
  while (true) {
    // Other threads may write while the GIL is released; then the node is no longer this array's
    // value.
    const frontend::NodeRef node = frontend::Access::raw(array.base().value);
    bool failed = false;
    {
      const ReleaseGil released;
      frontend::evaluate_with_statuses(node);
      failed = frontend::has_failures(node);
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (failed) refuse("its computation failed; heddle.asnumpy raises the error");
    if (node == frontend::Access::raw(array.base().value)) return node;
  }
}

void check_layout(Py_buffer& view, int flags) {
  const bool in_c_order = PyBuffer_IsContiguous(&view, 'C') == 1;
  const auto asks = [&](int flag) { return (flags & flag) == flag; };
  const bool strided = asks(PyBUF_STRIDES);
  const bool fits = asks(PyBUF_C_CONTIGUOUS)     ? in_c_order
                    : asks(PyBUF_F_CONTIGUOUS)   ? PyBuffer_IsContiguous(&view, 'F') == 1
                    : asks(PyBUF_ANY_CONTIGUOUS) ? PyBuffer_IsContiguous(&view, 'A') == 1
                                                 : strided || in_c_order;
  if (!fits) refuse("its elements are not contiguous; use a copy()");
  if (!strided) view.strides = nullptr;
  if (!asks(PyBUF_ND)) view.shape = nullptr;
  if (!asks(PyBUF_FORMAT)) view.format = nullptr;
}

static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));

void fill(ArrayObject& array, Py_buffer& view, int flags, PyObject* self) {
  const SourceLocation where = python_location();
  if (frontend::tracing()) frontend::value_in_trace("the buffer protocol", where);
  check_exportable(array, flags);
  const frontend::NodeRef node = computed_base(array);
  const Array& value = array.read(where);
  const auto size = static_cast<std::int64_t>(size_of(value.dtype()));
  const Layout layout = array.layout();
  auto exported = std::make_unique<Exported>(
      Exported{node, value.shape(), layout.strides, format_of(value.dtype())});
  for (std::int64_t& stride : exported->strides) stride *= size;
  static std::byte nothing{};  // address of an empty array
  auto* const start = static_cast<std::byte*>(node->value.buffer->pointer());
  view.buf = start == nullptr ? &nothing : start + node->value.offset + layout.offset * size;
  view.len = static_cast<Py_ssize_t>(value.nbytes());
  view.itemsize = static_cast<Py_ssize_t>(size);
  view.readonly = 1;
  view.ndim = value.ndim();
  view.format = exported->format.data();
  view.shape = reinterpret_cast<Py_ssize_t*>(exported->shape.data());
  view.strides = reinterpret_cast<Py_ssize_t*>(exported->strides.data());
  view.suboffsets = nullptr;
  take_pinned_read();
  check_layout(view, flags);
  view.internal = exported.release();
  view.obj = Py_NewRef(self);
}

}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    fill(*as_array(self), *view, flags, self);
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

}  // namespace heddle::python
