#include "frontend/python/cuda_interface.h"

#include <fmt/format.h>

#include "frontend/exchange/device_names.h"
#include "frontend/python/arguments.h"
#include "frontend/python/errors.h"
#include "runtime/device/backend.h"
#include "runtime/device/stream.h"

namespace heddle::python {

std::optional<nb::object> attribute_of(nb::handle value, const char* name) {
  PyObject* const found = PyObject_GetAttrString(value.ptr(), name);
  if (found != nullptr) return nb::steal(found);
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nb::python_error();
  PyErr_Clear();
  return std::nullopt;
}

bool has_cuda_interface(const runtime::Device& device) {
  return dlpack::name_of(device).type == dlpack::cuda;
}

runtime::Device device_of_cuda_pointer(std::string_view function, const void* data) {
  const runtime::Device own = runtime::current_device();
  if (data == nullptr && has_cuda_interface(own)) return own;
  const std::optional<runtime::Device> device =
      data == nullptr ? dlpack::find_device({dlpack::cuda, 0}) : runtime::device_of_pointer(data);
  if (!device || !has_cuda_interface(*device)) {
    raise(PyExc_ValueError,
          fmt::format("{}: the pointer of the CUDA array does not point to GPU memory", function));
  }
  return *device;
}

void wait_for_producer(const nb::object& interface, const runtime::Device& device) {
  const nb::object stream = interface.attr("get")("stream");
  if (stream.is_none()) return;
  const runtime::ContextScope scope(device);  // for the default streams
  const auto handle = reinterpret_cast<runtime::StreamHandle>(to_integer(stream));
  runtime::Stream::current(device).wait(runtime::Event(runtime::Stream::borrow(device, handle)));
}

}  // namespace heddle::python
