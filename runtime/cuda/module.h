#pragma once

#include <string>
#include <string_view>

#include "runtime/cuda/driver.h"

namespace heddle::runtime {

/// A cubin or PTX in a GPU's primary context. Unloaded with the object, which must outlive all work
/// that uses it.
class CudaModule {
 public:
  /// Throws BadImage when the driver refuses the bytes, with its log; DeviceError when they are not
  /// to blame.
  CudaModule(std::string_view bytes, int ordinal);
  ~CudaModule();
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  /// Throws DeviceError where there is no such kernel.
  cuda::FunctionHandle function(const std::string& name) const;
  int ordinal() const { return ordinal_; }

 private:
  int ordinal_;
  cuda::ModuleHandle handle_ = nullptr;
};

/// What the driver found out about a kernel.
struct KernelFacts {
  int registers = 0;
  int local_bytes = 0;   ///< spilled, a thread
  int shared_bytes = 0;  ///< static, a block
  int max_threads_per_block = 0;
};
/// Throws DeviceError.
KernelFacts facts_of(cuda::FunctionHandle function);

}  // namespace heddle::runtime
