#include "heddle/device.h"

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/evaluate/checks.h"
#include "frontend/streams/recorded.h"
#include "runtime/device/backend.h"
#include "runtime/device/stream.h"
#include "runtime/libraries/communicator.h"

namespace heddle {

namespace {

runtime::Device named(const std::string& name) {
  const runtime::Device device = runtime::parse_device(name);
  runtime::require_device(device);
  return device;
}

}  // namespace

int device_count(const std::string& kind) {
  return runtime::device_count(runtime::parse_device(kind).kind);
}

std::vector<std::string> devices() {
  std::vector<std::string> names;
  for (const runtime::Device device : runtime::all_devices()) names.push_back(to_string(device));
  return names;
}

DeviceProperties device_properties(const std::string& of) {
  runtime::DeviceDetails details = runtime::details_of(named(of));
  DeviceProperties properties{std::move(details.name),
                              std::move(details.compute_capability),
                              std::move(details.pci_bus_id),
                              {}};
  for (const auto& [name, value] : details.attributes) properties.attributes.emplace(name, value);
  return properties;
}

DeviceMemory device_memory(const std::string& of) {
  const runtime::DeviceMemory memory = runtime::memory_of(named(of));
  return {memory.free, memory.total};
}

std::string device_at(const std::string& pci_bus_id) {
  for (const runtime::DeviceKind kind : runtime::preferred_kinds) {
    if (const std::optional<int> ordinal = runtime::backend_of(kind).at_bus_id(pci_bus_id))
      return to_string(runtime::Device{kind, *ordinal});
  }
  throw DeviceError(fmt::format("no device of this process has the PCI bus id '{}'", pci_bus_id));
}

bool can_access_peer(const std::string& of, const std::string& peer) {
  const runtime::Device first = named(of), second = named(peer);
  if (first == second) return true;
  if (first.kind != second.kind) return false;
  return runtime::backend_of(first).can_access(first.ordinal, second.ordinal);
}

bool enable_peer_access(const std::string& of, const std::string& peer) {
  if (!can_access_peer(of, peer)) return false;
  const runtime::Device first = named(of), second = named(peer);
  return runtime::backend_of(first).enable_access(first.ordinal, second.ordinal);
}

void disable_peer_access(const std::string& of, const std::string& peer) {
  const runtime::Device first = named(of), second = named(peer);
  if (first.kind == second.kind)
    runtime::backend_of(first).disable_access(first.ordinal, second.ordinal);
}

int driver_version(const std::string& kind) {
  return runtime::backend_of(runtime::parse_device(kind)).driver_version();
}

void synchronize(const std::string& of) {
  const runtime::Device device = named(of);
  frontend::evaluate_recorded("synchronize");
  runtime::settle_communication();
  runtime::synchronize(device);
  frontend::raise_failures();
}

DeviceScope::DeviceScope(const std::string& name) : before_(device()) {
  if (name == before_) return;
  frontend::evaluate_recorded("a change of the device");
  set_device(name);
}

DeviceScope::~DeviceScope() {
  const runtime::Device before = runtime::parse_device(before_);
  if (before == runtime::current_device()) return;
  frontend::try_evaluate_recorded();
  runtime::set_current_device(before);
}

}  // namespace heddle
