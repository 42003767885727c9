#include "frontend/python/sharing.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/stream.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/gil.h"
#include "frontend/streams/access.h"
#include "frontend/streams/ipc_handle.h"
#include "frontend/streams/recorded.h"
#include "runtime/device/backend.h"
#include "runtime/device/process_sharing.h"

// Memory and events of several processes: addresses and handles, as CUDA's runtime has them.

namespace heddle::python {

namespace {

runtime::Device named(const char* of) {
  const runtime::Device device = runtime::parse_device(of);
  runtime::require_device(device);
  return device;
}

std::string_view bytes_of(const nb::bytes& handle) { return {handle.c_str(), handle.size()}; }

nb::bytes to_bytes(const runtime::IpcHandle& handle) {
  return nb::bytes(handle.data(), handle.size());
}

void* pointer_of(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

runtime::EventHandle event_of(std::uintptr_t address) {
  return reinterpret_cast<runtime::EventHandle>(address);
}

void bind_memory_handles(nb::module_& module) {
  module.def("memory_handle", [](const char* of, std::uintptr_t address) {
    const runtime::Device device = named(of);
    return to_bytes(runtime::process_sharing_of(device, "memory")
                        .memory_handle(device.ordinal, pointer_of(address)));
  });
  module.def("allocation_at", [](const char* of, std::uintptr_t address) {
    const runtime::Device device = named(of);
    const runtime::Allocation found = runtime::process_sharing_of(device, "memory")
                                          .allocation_at(device.ordinal, pointer_of(address));
    return nb::make_tuple(address_of(found.base), found.bytes);
  });
  module.def("open_memory", [](const char* of, const nb::bytes& handle) {
    const runtime::Device device = named(of);
    const runtime::IpcHandle known = frontend::ipc_handle_of("ipcOpenMemHandle", bytes_of(handle));
    const ReleaseGil release;
    return address_of(
        runtime::process_sharing_of(device, "memory").open_memory(device.ordinal, known));
  });
  module.def("close_memory", [](const char* of, std::uintptr_t address) {
    const runtime::Device device = named(of);
    const ReleaseGil release;
    runtime::process_sharing_of(device, "memory").close_memory(device.ordinal, pointer_of(address));
  });
}

/// Events by their handles.
void bind_event_handles(nb::module_& module) {
  module.def("event_handle", [](const char* of, std::uintptr_t event) {
    const runtime::Device device = named(of);
    const runtime::ContextScope context(device);
    return to_bytes(runtime::process_sharing_of(device, "events").event_handle(event_of(event)));
  });
  module.def("open_event", [](const char* of, const nb::bytes& handle) {
    const runtime::Device device = named(of);
    const runtime::IpcHandle known =
        frontend::ipc_handle_of("ipcOpenEventHandle", bytes_of(handle));
    const runtime::ContextScope context(device);
    return address_of(runtime::process_sharing_of(device, "events").open_event(known));
  });
  module.def("record_event", [](std::uintptr_t event, const Stream& stream) {
    const ReleaseGil release;
    frontend::evaluate_recorded("eventRecord");
    const runtime::Stream& queue = frontend::StreamAccess::of(stream);
    const runtime::ContextScope context(queue.device());
    runtime::backend_of(queue.device()).record(event_of(event), queue.handle());
  });
  module.def("wait_for_event", [](const Stream& stream, std::uintptr_t event) {
    const ReleaseGil release;
    frontend::evaluate_recorded("streamWaitEvent");
    const runtime::Stream& queue = frontend::StreamAccess::of(stream);
    const runtime::ContextScope context(queue.device());
    runtime::backend_of(queue.device()).wait(queue.handle(), event_of(event));
  });
  module.def("synchronize_event", [](const char* of, std::uintptr_t event) {
    const runtime::Device device = named(of);
    const ReleaseGil release;
    const runtime::ContextScope context(device);
    runtime::backend_of(device).synchronize(event_of(event), device.ordinal);
  });
  module.def("event_done", [](const char* of, std::uintptr_t event) {
    const runtime::Device device = named(of);
    const runtime::ContextScope context(device);
    return runtime::backend_of(device).is_done(event_of(event), device.ordinal);
  });
  module.def("destroy_event", [](const char* of, std::uintptr_t event) {
    const runtime::Device device = named(of);
    const runtime::ContextScope context(device);
    runtime::backend_of(device).destroy(event_of(event));
  });
}

}  // namespace

void bind_sharing(nb::module_& module) {
  bind_memory_handles(module);
  bind_event_handles(module);
  module.def("share_memory", [](nb::handle array) {
    ArrayObject* const object = as_array(array);
    if (object == nullptr)
      raise(PyExc_TypeError, "share_memory: takes an Array, not " + describe_type(array));
    const std::string handle = shared_handle(*object, python_location());
    return nb::str(handle.data(), handle.size());
  });
  module.def("open_shared_memory", [](nb::handle handle) {
    if (!nb::isinstance<nb::str>(handle))
      raise(PyExc_TypeError, "open_shared_memory: takes a str, not " + describe_type(handle));
    return open_shared(nb::cast<nb::str>(handle).c_str(), python_location());
  });
}

}  // namespace heddle::python
