#pragma once

#include <string>
#include <string_view>

#include "runtime/cuda/driver.h"

namespace heddle::runtime {

/// A cubin or PTX module in a GPU's primary context. The destructor unloads it, so the object must
/// outlive all work that uses it.
class CudaModule {
 public:
  /// Throws BadImage with the driver's log if the driver rejects the bytes; DeviceError if it fails
  /// for another reason.
  CudaModule(std::string_view bytes, int ordinal);
  ~CudaModule();
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  /// Throws DeviceError if there is no such kernel.
  cuda::FunctionHandle function(const std::string& name) const;
  cuda::ModuleHandle handle() const { return handle_; }
  int ordinal() const { return ordinal_; }

 private:
  int ordinal_;
  cuda::ModuleHandle handle_ = nullptr;
};

/// The driver's information on a kernel.
struct KernelFacts {
  int registers = 0;
  int local_bytes = 0;   ///< spilled bytes per thread
  int shared_bytes = 0;  ///< static bytes per block
  int max_threads_per_block = 0;
};
/// Throws DeviceError.
KernelFacts facts_of(cuda::FunctionHandle function);

}  // namespace heddle::runtime
