#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "passes/program.h"
#include "runtime/image.h"
#include "runtime/stream.h"

namespace heddle::runtime {

/// Kernel arguments, each at the start of a slot, in the order of the step's parameters.
struct KernelArguments {
  std::vector<ir::ElementBits> slots;
  std::vector<std::size_t>
      bytes;  ///< per slot of a pointer, how much memory stands behind it; else 0
};

/// Runs the kernels of one program. The GPU, the host's processor and the tests' emulator each have
/// one.
class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;
  /// `blocks` is at least 1. Throws DeviceError.
  virtual void launch(const passes::KernelStep& step, std::int64_t blocks,
                      const KernelArguments& arguments, const Stream& stream) = 0;
};

/// Loads a program's modules on a device. Throws DeviceError when they are refused.
std::unique_ptr<KernelLauncher> load_kernels(const ProgramImage& image, Device device);

}  // namespace heddle::runtime
