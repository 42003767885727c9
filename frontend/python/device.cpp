#include "frontend/python/device.h"

#include <optional>
#include <string>

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/graph/placement.h"
#include "frontend/graph/record.h"
#include "frontend/python/arguments.h"
#include "frontend/python/errors.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/gil.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

namespace heddle::python {

using frontend::Access;
using frontend::NodeRef;
using runtime::Device;

Device device_of(const Array& array) {
  return frontend::device_of(*Access::raw(array)).value_or(runtime::current_device());
}

Device to_device_name(nb::handle value) {
  if (!nb::isinstance<nb::str>(value)) {
    raise(PyExc_TypeError,
          std::string("a device must be a string such as 'cpu' or 'cuda:0', not ") +
              nb::repr(value).c_str());
  }
  const Device device = runtime::parse_device(nb::borrow<nb::str>(value).c_str());
  runtime::require_device(device);
  return device;
}

nb::object on_device(Array array, nb::handle device) {
  if (!device.is_none()) {
    const Device wanted = to_device_name(device);
    if (!(wanted == runtime::current_device())) {
      const runtime::DeviceScope scope(wanted);
      compute(array);
    }
  }
  return wrap(std::move(array));
}

nb::object to_device(nb::object array, nb::handle device, const SourceLocation& where) {
  if (device.is_none()) return array;
  const Device wanted = to_device_name(device);
  const Array& value = as_array(array)->read(where);
  if (device_of(value) == wanted) return array;
  std::optional<SharedOrder> order;
  if (take_pinned_read()) order.emplace(device_of(value));
  compute(value);
  const NodeRef node = Access::node(value, where);
  const auto bytes = static_cast<std::size_t>(frontend::bytes_of(*node));
  const runtime::DeviceArray& from = node->value;
  ReleaseGil release;
  frontend::raise_failures(node);
  const runtime::Stream stream = runtime::Stream::current(wanted);
  const Device source = from.buffer->device();
  const bool to_host = runtime::capabilities_of(wanted).host_memory;
  const runtime::Stream copying = to_host ? runtime::Stream::current(source) : stream;
  runtime::BufferRef buffer = runtime::allocate(bytes, stream, runtime::label_of(from.type),
                                                frontend::Site(where).location);
  if (bytes > 0) {
    const runtime::Stream maker = from.buffer->stream();
    if (runtime::capabilities_of(source).asynchronous && !(maker == copying))
      copying.wait(runtime::Event(maker));
    runtime::copy(buffer->pointer(), wanted,
                  static_cast<const std::byte*>(from.buffer->pointer()) + from.offset, source,
                  bytes, copying);
    if (to_host) {
      copying.synchronize();
    } else if (runtime::capabilities_of(source).asynchronous) {
      from.buffer->used_on(copying);  // the copy may run after the array is gone
    }
  }
  Array result = Access::make(frontend::array_node({from.type, std::move(buffer), 0}));
  const TakeGilBack acquire(release);
  return wrap(std::move(result));
}

}  // namespace heddle::python
