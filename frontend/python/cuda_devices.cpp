#include <memory>
#include <string>
#include <vector>

#include "heddle/device.h"
#include "heddle/profile.h"

#include "frontend/python/bindings.h"
#include "frontend/python/gil.h"
#include "frontend/streams/recorded.h"
#include "runtime/base/per_thread.h"

namespace heddle::python {

namespace {

nb::str text(const std::string& value) { return nb::str(value.data(), value.size()); }

nb::dict properties(const char* of) {
  const DeviceProperties found = [&] {
    const ReleaseGil release;
    return device_properties(of);
  }();
  nb::dict attributes;
  for (const auto& [name, value] : found.attributes) attributes[text(name)] = value;
  nb::dict result;
  result["name"] = text(found.name);
  result["compute_capability"] = text(found.compute_capability);
  result["pci_bus_id"] = text(found.pci_bus_id);
  result["attributes"] = attributes;
  return result;
}

/// What was recorded runs on the device before.
void use_device(const char* name) {
  const ReleaseGil release;
  if (device() == name) return;
  frontend::evaluate_recorded("a change of the device");
  set_device(name);
}

/// Makes `before` the current device again, also if what was recorded meanwhile fails.
void leave_device(const char* before) {
  const ReleaseGil release;
  if (device() == before) return;
  try {
    frontend::evaluate_recorded("the end of a with statement of a device");
  } catch (...) {
    set_device(before);
    throw;
  }
  set_device(before);
}

/// The ranges that this thread has begun, the innermost last.
std::vector<std::unique_ptr<TimeRange>>& ranges() {
  return runtime::per_thread<std::vector<std::unique_ptr<TimeRange>>>();
}

}  // namespace

void bind_cuda_devices(nb::module_& module) {
  module.def("device_count", [] { return device_count(); });
  module.def("driver_version", [] { return driver_version(); });
  module.def("properties", properties);
  module.def("memory", [](const char* of) {
    const DeviceMemory memory = [&] {
      const ReleaseGil release;
      return device_memory(of);
    }();
    return nb::make_tuple(memory.free, memory.total);
  });
  module.def("device_at", [](const char* bus_id) { return text(device_at(bus_id)); });
  module.def("can_access_peer",
             [](const char* of, const char* peer) { return can_access_peer(of, peer); });
  module.def("enable_peer_access", [](const char* of, const char* peer) {
    const ReleaseGil release;
    return enable_peer_access(of, peer);
  });
  module.def("disable_peer_access", [](const char* of, const char* peer) {
    const ReleaseGil release;
    disable_peer_access(of, peer);
  });
  module.def("use_device", use_device);
  module.def("leave_device", leave_device);
  module.def("synchronize", [](const char* of) {
    {
      const ReleaseGil release;
      synchronize(of);
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  module.def("set_profiling", [](bool on) {
    const ReleaseGil release;
    set_profiling(on);
  });
  module.def("push_range",
             [](const char* message) { ranges().push_back(std::make_unique<TimeRange>(message)); });
  module.def("pop_range", [] {
    if (!ranges().empty()) ranges().pop_back();
  });
}

}  // namespace heddle::python
