#pragma once

#include <map>
#include <memory>
#include <string>

#include "ir/base/fork_gate.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/raw_image.h"
#include "runtime/launch/raw_module.h"

namespace heddle::runtime::cuda {

/// A user's kernels on a GPU.
class CudaRawModule final : public RawModule {
 public:
  /// Compiles and loads. Throws CompileError, DeviceError, FileError.
  CudaRawModule(const RawSource& source, int ordinal);

  const RawFunction& function(const std::string& name) override;
  DeviceVariable variable(const std::string& name) const override;

 private:
  const std::string& symbol_of(const std::string& name) const;

  std::string name_;
  bool cooperative_;
  std::map<std::string, std::string> symbols_;
  std::unique_ptr<CudaModule> module_;
  ir::Mutex mutex_;  ///< guards functions_
  std::map<std::string, std::unique_ptr<RawFunction>> functions_;
};

}  // namespace heddle::runtime::cuda
