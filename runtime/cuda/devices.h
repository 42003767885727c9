#pragma once

#include "runtime/cuda/driver.h"
#include "runtime/device/device.h"

/// The GPUs of this process and their contexts.
namespace heddle::runtime::cuda {

/// 0 if there is no driver.
int device_count();
/// Both are detected once. Throw DeviceError for a GPU that does not exist.
const ir::Target& target_of(int ordinal);
const DeviceFacts& facts_of(int ordinal);

/// The GPU's primary context, retained on first use and never released. Throws DeviceError.
ContextHandle primary_context(int ordinal);

/// Makes a GPU's primary context current. Returns true if leave_context() must restore the previous
/// one. If there was none, the context of GPU 0 stays current: the CUDA runtime would choose it
/// too, and the thread's next calls find it.
bool enter_context(int ordinal);
void leave_context() noexcept;

/// Makes a GPU's context current for a scope.
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
