#pragma once

#include <map>
#include <memory>
#include <string>

#include "ir/base/fork_gate.h"
#include "runtime/compile/raw_source.h"
#include "runtime/cuda/driver.h"
#include "runtime/launch/raw_module.h"

namespace heddle::runtime::cuda {

struct LoadedCode;

/// A user's kernels on a GPU.
class CudaRawModule final : public RawModule {
 public:
  /// Compiles and loads, unless the same code is loaded. Throws CompileError, DeviceError,
  /// FileError.
  CudaRawModule(const RawSource& source, int ordinal);

  const RawFunction& function(const std::string& name) override;
  DeviceVariable variable(const std::string& name) const override;

 private:
  const std::string& symbol_of(const std::string& name) const;
  FunctionHandle handle_of(const std::string& name) const;

  std::string name_;
  bool cooperative_;
  std::shared_ptr<const LoadedCode> code_;
  ir::Mutex mutex_;  ///< guards functions_
  std::map<std::string, std::unique_ptr<RawFunction>> functions_;
};

}  // namespace heddle::runtime::cuda
