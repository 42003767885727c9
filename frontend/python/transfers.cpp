#include "frontend/python/transfers.h"

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/jit.h"
#include "heddle/memory.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/dropped.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/gil.h"
#include "frontend/python/pinned_memory.h"
#include "frontend/python/streams.h"
#include "frontend/streams/access.h"

namespace heddle::python {

using frontend::Access;

namespace {

nb::tuple extents(const Array& value) {
  nb::list shape;
  for (const std::int64_t extent : value.shape()) shape.append(extent);
  return nb::tuple(shape);
}

/// An array for the elements. Copies that are not waited for need pinned memory.
nb::object new_target(const Array& value, bool blocking) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object dtype = numpy_dtype(value.dtype());
  if (blocking || value.nbytes() == 0) return numpy.attr("empty")(extents(value), dtype);
  const auto bytes = static_cast<std::size_t>(value.nbytes());
  const PinnedMemory memory = [&] {
    const ReleaseGil release;
    return PinnedMemory(bytes);
  }();
  const nb::object flat = numpy.attr("frombuffer")(pinned_object(memory), dtype);
  return flat.attr("reshape")(extents(value));
}

/// Checks that `out` can receive the elements without a cast.
void check_out(nb::handle out, const Array& value) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  if (!nb::isinstance(out, numpy.attr("ndarray")))
    raise(PyExc_TypeError, "get: out must be a numpy.ndarray, not " + describe_type(out));
  if (!nb::cast<bool>(out.attr("flags")["WRITEABLE"]))
    raise(PyExc_ValueError, "get: out is read-only");
  if (!out.attr("dtype").equal(numpy_dtype(value.dtype()))) {
    raise(PyExc_TypeError, fmt::format("get: out is {}, but the array is {}",
                                       nb::str(nb::object(out.attr("dtype"))).c_str(),
                                       numpy_name_of(value.dtype())));
  }
  if (!out.attr("shape").equal(extents(value))) {
    raise(PyExc_ValueError, fmt::format("get: out has the shape {}, but the array has [{}]",
                                        nb::str(nb::object(out.attr("shape"))).c_str(),
                                        fmt::join(value.shape(), ",")));
  }
}

/// Enqueues the copy, and keeps the target until it is done. If that fails, waits for what is
/// enqueued.
void copy_later(const frontend::Node& node, void* out, const runtime::Stream& queue,
                const Held& target) {
  try {
    frontend::download_later(node, out, queue);
    queue.call_on_host([target] {});
  } catch (const Error&) {
    if (!queue.capturing()) queue.synchronize();
    throw;
  }
}

/// Computes the elements and enqueues their copy to an array in C order.
void enqueue(const Array& array, const nb::object& target, const Download& how,
             const SourceLocation& where) {
  // The variable may change while other threads run.
  const Array value = array;  // NOLINT(performance-unnecessary-copy-initialization)
  if (frontend::tracing()) frontend::value_in_trace("get", where);
  const std::string device = to_string(device_of(value));
  const Stream stream = to_stream(how.stream, device);
  if (stream.device() != device) {
    throw ValueError(fmt::format("get: the array is on {}, and the stream is one of {}", device,
                                 stream.device()));
  }
  const auto address = nb::cast<std::uintptr_t>(target.attr("ctypes").attr("data"));
  std::optional<SharedOrder> order;
  if (take_pinned_read()) order.emplace(device_of(value));
  const Held kept = how.blocking ? nullptr : hold_for_driver(target);
  {
    const ReleaseGil release;
    const runtime::Stream& queue = frontend::StreamAccess::of(stream);
    auto* const out = reinterpret_cast<void*>(address);
    if (how.blocking) {
      frontend::download_to(*frontend::evaluated_node(value, "get", where), out, queue);
    } else {
      value.eval();
      const frontend::NodeRef node = Access::raw(value);
      copy_later(*node, out, queue, kept);
    }
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

bool is_contiguous(nb::handle array, const char* order) {
  return nb::cast<bool>(array.attr("flags")[order]);
}

}  // namespace

nb::object download(const ArrayObject& array, const SourceLocation& where, const Download& how) {
  const Array& value = array.read(where);
  if (how.out.is_none()) {
    const bool transposed = how.order == 'F' && value.ndim() > 1;
    if (how.blocking && how.stream.is_none() && !transposed) return to_numpy(value, where);
    const Array elements = transposed ? value.transpose({}, where) : value;
    const nb::object target = new_target(elements, how.blocking);
    enqueue(elements, target, how, where);
    return transposed ? nb::object(target.attr("T")) : target;
  }
  check_out(how.out, value);
  if (is_contiguous(how.out, "C_CONTIGUOUS")) {
    enqueue(value, nb::borrow(how.out), how, where);
  } else if (is_contiguous(how.out, "F_CONTIGUOUS")) {
    enqueue(value.transpose({}, where), how.out.attr("T"), how, where);
  } else {
    const nb::object whole = new_target(value, true);
    enqueue(value, whole, {how.stream, how.order, how.out, true}, where);
    nb::module_::import_("numpy").attr("copyto")(how.out, whole);
  }
  return nb::borrow(how.out);
}

}  // namespace heddle::python
