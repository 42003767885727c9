#pragma once

#include "runtime/cuda/driver.h"
#include "runtime/device/device.h"

/// The GPUs of this process and their contexts.
namespace heddle::runtime::cuda {

/// 0 where there is no driver.
int device_count();
/// Both are detected once. Throw DeviceError for a GPU that is not there.
const ir::Target& target_of(int ordinal);
const DeviceFacts& facts_of(int ordinal);

/// The GPU's primary context, retained when first asked for and never released. Throws DeviceError.
ContextHandle primary_context(int ordinal);

/// Makes a GPU's primary context current. True where leave_context() has to put back what was
/// current before. Where that was none, GPU 0's stays: it is what CUDA's runtime would make
/// current, and a thread's next calls find it there.
bool enter_context(int ordinal);
void leave_context() noexcept;

/// A context that is current for a scope.
class ContextScope {
 public:
  explicit ContextScope(int ordinal) : entered_(enter_context(ordinal)) {}
  ~ContextScope() {
    if (entered_) leave_context();
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  bool entered_;
};

}  // namespace heddle::runtime::cuda
