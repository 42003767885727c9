#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "passes/program.h"
#include "runtime/cuda_driver.h"
#include "runtime/image.h"
#include "runtime/stream.h"

namespace heddle::runtime {

/// Kernel arguments, each at the start of a slot, in the order of the step's parameters.
struct KernelArguments {
  std::span<const ir::ElementBits> slots;
  void** pointers = nullptr;  ///< to each
};

/// Runs the kernels of one program.
class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;
  /// `blocks` is at least 1; of a GPU the context is current. Throws DeviceError.
  virtual void launch(const passes::KernelStep& step, std::int64_t blocks,
                      const KernelArguments& arguments, const Stream& stream) = 0;
  /// The launch as a node of a CUDA graph, but for its arguments. Throws DeviceError.
  virtual cuda::KernelNodeParams node_params(const passes::KernelStep& step,
                                             std::int64_t blocks) const = 0;
};

/// Loads a program's modules on a device. Throws DeviceError when they are refused.
std::unique_ptr<KernelLauncher> load_kernels(const ProgramImage& image, Device device);

}  // namespace heddle::runtime
