#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/types/target.h"

namespace heddle::runtime {

enum class DeviceKind : std::uint8_t { cpu, cuda };

/// Where arrays live and programs run: the host's processor, or one of the GPUs.
struct Device {
  DeviceKind kind{};  ///< the CPU by default
  int ordinal = 0;

  friend bool operator==(const Device&, const Device&) = default;
};

/// "cpu" or "cuda:1".
std::string to_string(Device device);
/// Inverse of to_string; "cuda" is "cuda:0". Throws ValueError for anything else.
Device parse_device(std::string_view text);

/// Number of devices of a kind that this process can use; 1 for the CPU.
int device_count(DeviceKind kind);
/// Number of devices of all kinds.
int device_count();
/// All devices that this process can use, the CPU last.
std::vector<Device> all_devices();
/// Throws DeviceError that lists the available devices if `device` does not exist.
void require_device(Device device);

/// The calling thread's device: the one set last, else HEDDLE_DEVICE, else the first GPU, else the
/// CPU. Throws DeviceError if HEDDLE_DEVICE names a device that does not exist.
Device current_device();
/// Sets the calling thread's device. Throws DeviceError if it does not exist.
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

/// Device properties used at launch and in reports, but never in a plan or a cache key.
struct DeviceFacts {
  std::string name;
  std::size_t total_bytes = 0;
  int multiprocessors = 0;             ///< on the CPU: number of threads that run kernels
  int threads_per_multiprocessor = 0;  ///< 0 on the CPU
  int shared_bytes_per_multiprocessor = 0;
  double peak_bytes_per_second = 0;  ///< from the memory clock and bus width; 0 if unknown
};

/// What the driver says of a device.
struct DeviceDetails {
  std::string name;
  std::string compute_capability;                       ///< "90"; empty on the CPU
  std::string pci_bus_id;                               ///< "0000:3B:00.0"; empty on the CPU
  std::vector<std::pair<const char*, int>> attributes;  ///< by CUDA's names; none on the CPU
};
struct DeviceMemory {
  std::size_t free = 0, total = 0;  ///< bytes
};
/// Throw DeviceError for a device that does not exist.
DeviceDetails details_of(Device device);
DeviceMemory memory_of(Device device);

/// Both are detected once and never destroyed. The target is the matching row of the built-in table
/// if there is one (ir::nearest_built_in). Throw DeviceError for a device that does not exist.
const ir::Target& target_of(Device device);
const DeviceFacts& facts_of(Device device);

/// The target for which kernels of a backend, "cuda" for instance, are displayed: the target of the
/// current device if it belongs to that backend, else a typical one. Throws ValueError for unknown
/// names.
ir::Target shown_target(std::string_view backend);

/// The target of this machine's processor. Found without enumerating devices.
const ir::Target& host_target();

}  // namespace heddle::runtime
