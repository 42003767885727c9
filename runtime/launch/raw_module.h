#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/base/inline_vector.h"
#include "runtime/device/stream.h"

/// Kernels of a user's own code, which are launched as they are: RawKernel and RawModule.
namespace heddle::runtime {

/// The extents of a launch.
struct LaunchShape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1};   ///< blocks
  std::array<std::uint32_t, 3> block = {1, 1, 1};  ///< threads of a block
  std::uint32_t shared_bytes = 0;                  ///< dynamic shared memory of a block
};

/// The value of a kernel's parameter.
struct LaunchValue {
  std::string_view bytes;
  bool integer = false;  ///< a parameter of fewer bytes takes it if the number fits
};

/// The values of a kernel's parameters, in order. Few small ones need no memory of their own.
class LaunchValues {
 public:
  void add(const void* value, std::size_t bytes, bool integer = false);
  std::size_t size() const { return slots_.size(); }
  /// Valid until another one is added.
  LaunchValue operator[](std::size_t i) const;
  /// Where each value is, as the driver takes them. A driver that does not tell how large the
  /// parameters are may read 16 bytes of each: zeros follow shorter values. Valid until another
  /// value is added.
  ir::InlineVector<void*, 16> pointers() const;

 private:
  struct Slot {
    std::uint32_t offset = 0, bytes = 0;
    bool integer = false;
  };
  ir::InlineVector<Slot, 16> slots_;
  ir::InlineVector<char, 256> bytes_;
};

/// A number that the driver knows of a kernel. The values are CUfunction_attribute's.
enum class KernelAttribute : std::uint8_t {
  max_threads_per_block = 0,
  shared_size_bytes = 1,
  const_size_bytes = 2,
  local_size_bytes = 3,
  num_regs = 4,
  ptx_version = 5,
  binary_version = 6,
  cache_mode_ca = 7,
  max_dynamic_shared_size_bytes = 8,     ///< settable
  preferred_shared_memory_carveout = 9,  ///< settable
};

/// A kernel of a loaded module. Thread-safe. The device must have been entered.
class RawFunction {
 public:
  virtual ~RawFunction() = default;
  /// ValueError for extents that the device does not allow and, where the driver knows the
  /// parameters, for values that do not fit them; DeviceError.
  virtual void launch(const LaunchShape& shape, const LaunchValues& values,
                      const Stream& stream) const = 0;
  /// Throws DeviceError.
  virtual int attribute(KernelAttribute attribute) const = 0;
  /// Throws DeviceError, also for attributes that cannot be set.
  virtual void set_attribute(KernelAttribute attribute, int value) const = 0;
};

/// A variable in a device's memory.
struct DeviceVariable {
  void* pointer = nullptr;
  std::size_t bytes = 0;
};

/// A module with a user's kernels, loaded on one device. Thread-safe.
class RawModule {
 public:
  virtual ~RawModule() = default;
  /// The kernel of this name, or of this name expression. It lives as long as the module. Throws
  /// DeviceError if there is none.
  virtual const RawFunction& function(const std::string& name) = 0;
  /// The __device__ or __constant__ variable of this name or name expression. Throws DeviceError if
  /// there is none.
  virtual DeviceVariable variable(const std::string& name) const = 0;
};

}  // namespace heddle::runtime
