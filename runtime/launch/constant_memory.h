#pragma once

#include <cstddef>

#include "runtime/device/memory.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// The memory of a schedule's constant actions while they run.
class ConstantMemory {
 public:
  /// Allocates on the stream. Keeps a reference to the actions. Throws OutOfMemory, DeviceError.
  ConstantMemory(const ConstantActions& constants, const Stream& stream);

  std::byte* address(const passes::BufferRef& reference) const;
  /// Throws InternalError: they read no scalar.
  const ir::ElementBits& scalar(std::uint32_t input) const;
  /// Of the results, which outlives the actions.
  const BufferRef& held() const { return held_; }
  /// Of the other temporaries.
  const BufferRef& scratch() const { return scratch_; }

 private:
  const ConstantActions& constants_;
  BufferRef held_, scratch_;
};

}  // namespace heddle::runtime
