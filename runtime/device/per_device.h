#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

/// One T for each device, created on first use and never destroyed. For static variables: `static
/// constinit PerDevice<T> value;`.
template <class T>
class PerDevice {
 public:
  /// `make` returns a new T. Throws DeviceError for a device that does not exist.
  template <class Make>
  T& of(Device device, const Make& make) {
    std::atomic<T*>& slot = slot_of(device);
    if (T* const made = slot.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (slot.load() == nullptr) slot.store(make());
    return *slot.load();
  }

 private:
  using Slots = std::vector<std::atomic<T*>>;

  std::atomic<T*>& slot_of(Device device) {
    Slots& slots = kinds_[static_cast<std::size_t>(device.kind)].get(
        [&] { return Slots(static_cast<std::size_t>(device_count(device.kind))); });
    const auto index = static_cast<std::size_t>(device.ordinal);
    if (index >= slots.size()) require_device(device);
    return slots[index];
  }

  std::array<ir::LazyStatic<Slots>, backend_count> kinds_;
  ir::Mutex mutex_;
};

}  // namespace heddle::runtime
