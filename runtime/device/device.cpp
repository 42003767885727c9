#include "runtime/device/device.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

namespace {

Device default_device() {
  static constinit ir::LazyStatic<Device> chosen;
  return chosen.get([] {
    ir::check_environment();
    const std::string named = ir::environment(ir::Variable::device);
    if (!named.empty()) {
      const Device device = parse_device(named);
      require_device(device);
      return device;
    }
    const auto* const kind = std::ranges::find_if(
        preferred_kinds, [](DeviceKind each) { return device_count(each) > 0; });
    return Device{*kind, 0};
  });
}

thread_local std::optional<Device> thread_device;

/// The N of ":N"; -1 if the text has another form.
int parse_number(std::string_view text) {
  if (!text.starts_with(':')) return -1;
  int number = -1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + 1, last, number);
  return error == std::errc() && end == last ? number : -1;
}

}  // namespace

std::string to_string(Device device) {
  const Backend& backend = backend_of(device);
  return backend.is_numbered() ? fmt::format("{}:{}", backend.name(), device.ordinal)
                               : std::string(backend.name());
}

Device parse_device(std::string_view text) {
  for (const DeviceKind kind : preferred_kinds) {
    const Backend& backend = backend_of(kind);
    if (text == backend.name()) return {kind, 0};
    if (!backend.is_numbered() || !text.starts_with(backend.name())) continue;
    const std::string_view rest = text.substr(backend.name().size());
    if (const int ordinal = parse_number(rest); ordinal >= 0) return {kind, ordinal};
  }
  throw ValueError(fmt::format(
      "'{}' is not a device: write 'cpu', 'cuda' or 'cuda:N', for example 'cuda:0'", text));
}

int device_count(DeviceKind kind) { return backend_of(kind).device_count(); }

int device_count() {
  int count = 0;
  for (const DeviceKind kind : preferred_kinds) count += device_count(kind);
  return count;
}

std::vector<Device> all_devices() {
  std::vector<Device> devices;
  for (const DeviceKind kind : preferred_kinds) {
    const int count = device_count(kind);
    for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back({kind, ordinal});
  }
  return devices;
}

void require_device(Device device) {
  const Backend& backend = backend_of(device);
  if (device.ordinal >= 0 && device.ordinal < backend.device_count()) return;
  throw DeviceError(fmt::format("there is no device {}: {}", to_string(device),
                                backend.describe_missing(device.ordinal)));
}

Device current_device() { return thread_device ? *thread_device : default_device(); }

void set_current_device(Device device) {
  require_device(device);
  thread_device = device;
}

DeviceScope::~DeviceScope() { thread_device = before_; }

const ir::Target& target_of(Device device) { return backend_of(device).target(device.ordinal); }

const DeviceFacts& facts_of(Device device) { return backend_of(device).facts(device.ordinal); }

DeviceDetails details_of(Device device) {
  require_device(device);
  return backend_of(device).details(device.ordinal);
}

DeviceMemory memory_of(Device device) {
  require_device(device);
  return backend_of(device).memory(device.ordinal);
}

ir::Target shown_target(std::string_view name) {
  const Device current = current_device();
  if (backend_of(current).name() == name) return target_of(current);
  for (const DeviceKind kind : preferred_kinds) {
    if (backend_of(kind).name() == name) return ir::parse_target(backend_of(kind).usual_target());
  }
  throw ValueError(fmt::format("there is no backend '{}'", name));
}

const ir::Target& host_target() { return host_backend().target(0); }

}  // namespace heddle::runtime
