#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "heddle/error.h"

#include "runtime/cuda_driver.h"
#include "runtime/device.h"

namespace heddle::runtime {

/// A host kernel: see codegen for what it does with its arguments.
using HostFunction = void (*)(void* const* buffers, const std::int64_t* scalars, std::int64_t begin,
                              std::int64_t end);

/// Bytes that are no code for the device: damaged, or made for another device or a newer driver.
class BadImage final : public DeviceError {
 public:
  BadImage(const std::string& what, bool damaged) : DeviceError(what), damaged(damaged) {}
  bool damaged;
};

/// Loaded machine code. Unloaded with the object, which must outlive all work that uses it.
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 protected:
  Module() = default;
};

/// A cubin or PTX in a GPU's primary context.
class CudaModule final : public Module {
 public:
  /// Throws BadImage when the driver refuses the bytes, with its log; DeviceError when they are not
  /// to blame.
  CudaModule(std::string_view bytes, int ordinal);
  ~CudaModule() override;

  /// Throws DeviceError where there is no such kernel.
  cuda::FunctionHandle function(const std::string& name) const;
  int ordinal() const { return ordinal_; }

 private:
  int ordinal_;
  cuda::ModuleHandle handle_ = nullptr;
};

/// A shared object of host kernels, loaded from memory.
class HostModule final : public Module {
 public:
  /// Throws BadImage when it does not load, with the loader's words.
  explicit HostModule(std::string_view bytes);
  ~HostModule() override;

  /// Throws DeviceError where there is no such kernel.
  HostFunction function(const std::string& name) const;

 private:
  void* handle_ = nullptr;
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
