#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "heddle/settings.h"

// Facts about devices. A device is named "cpu" or "cuda:1". Every function throws ValueError for a
// text that is not such a name, and DeviceError for a device that is not present.

namespace heddle {

/// The number of devices of a kind, "cuda" or "cpu", that this process can use.
int device_count(const std::string& kind = "cuda");
/// All devices that this process can use, the CPU last.
std::vector<std::string> devices();

/// What the driver says of a device.
struct DeviceProperties {
  std::string name;
  std::string compute_capability;         ///< "90"; empty for the CPU
  std::string pci_bus_id;                 ///< "0000:3B:00.0"; empty for the CPU
  std::map<std::string, int> attributes;  ///< CUDA's names and values; empty for the CPU
};
DeviceProperties device_properties(const std::string& of = device());

/// Bytes of memory that the device has, and that no process uses.
struct DeviceMemory {
  std::size_t free = 0, total = 0;
};
DeviceMemory device_memory(const std::string& of = device());

/// The device at a PCI bus id, "0000:3B:00.0" for instance. Throws DeviceError if there is none.
std::string device_at(const std::string& pci_bus_id);
/// Whether kernels of the first device can read memory of the second.
bool can_access_peer(const std::string& of, const std::string& peer);
/// Lets kernels and copies of the first device use memory of the second, if they can: then it
/// returns true. Copies between devices do this themselves. Calling it again has no effect.
bool enable_peer_access(const std::string& of, const std::string& peer);
/// Undoes enable_peer_access(). No work that uses the access may be pending.
void disable_peer_access(const std::string& of, const std::string& peer);

/// The newest CUDA version that the driver supports: 12040 for 12.4. 0 if there is no driver.
int driver_version(const std::string& kind = "cuda");

/// Evaluates what the calling thread has recorded, and waits for all work on the device, of all
/// threads. Throws the errors of that work.
void synchronize(const std::string& of);

/// Makes a device the calling thread's current one for a scope. A scope that changes the device
/// evaluates what the thread has recorded, so that it runs on the device before, and at its end
/// what was recorded inside. TraceError inside a trace.
class DeviceScope {
 public:
  explicit DeviceScope(const std::string& name);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  std::string before_;
};

}  // namespace heddle
