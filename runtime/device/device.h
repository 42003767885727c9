#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/types/target.h"

namespace heddle::runtime {

enum class DeviceKind : std::uint8_t { cpu, cuda };

/// Where arrays live and programs run: the host's processor, or one of the GPUs.
struct Device {
  DeviceKind kind{};  ///< the CPU where nothing else is said
  int ordinal = 0;

  friend bool operator==(const Device&, const Device&) = default;
};

/// "cpu" or "cuda:1".
std::string to_string(Device device);
/// Inverse of to_string; "cuda" is "cuda:0". Throws ValueError for anything else.
Device parse_device(std::string_view text);

/// How many devices of a kind this process can use: 1 for the CPU.
int device_count(DeviceKind kind);
/// Of all kinds.
int device_count();
/// All devices that this process can use, the CPU last.
std::vector<Device> all_devices();
/// Throws DeviceError that says which devices there are, when `device` is not one.
void require_device(Device device);

/// The calling thread's device: what it set last, else HEDDLE_DEVICE, else the first GPU, else the
/// CPU. Throws DeviceError where HEDDLE_DEVICE names a device that is not there.
Device current_device();
/// Sets the calling thread's device. Throws DeviceError where it is not there.
void set_current_device(Device device);

/// Makes a device current for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(Device device) : before_(current_device()) { set_current_device(device); }
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  Device before_;
};

/// What enters at launch and in reports, never in a plan or a key.
struct DeviceFacts {
  std::string name;
  std::size_t total_bytes = 0;
  int multiprocessors = 0;             ///< on the CPU: the threads that run kernels
  int threads_per_multiprocessor = 0;  ///< 0 on the CPU
  int shared_bytes_per_multiprocessor = 0;
  double peak_bytes_per_second = 0;  ///< from the memory clock and bus; 0 where unknown
};

/// Both are detected once and live for ever. The target is the built-in row of such a device where
/// there is one (ir::nearest_built_in). Throw DeviceError for a device that is not there.
const ir::Target& target_of(Device device);
const DeviceFacts& facts_of(Device device);

/// The target that kernels of a backend, "cuda" for instance, are shown for: that of the current
/// device where it is one of these, else a usual one. Throws ValueError for other names.
ir::Target shown_target(std::string_view backend);

/// The target of this machine's processor, found without asking for any device.
const ir::Target& host_target();

}  // namespace heddle::runtime
