#pragma once

#include <memory>
#include <utility>

#include "heddle/allocator.h"

#include "runtime/device/allocator.h"

namespace heddle {

/// Internal access to a MemoryAllocator.
struct AllocatorAccess {
  static const std::shared_ptr<runtime::Allocator>& of(const MemoryAllocator& allocator) {
    return allocator.allocator_;
  }
  static MemoryAllocator make(std::shared_ptr<runtime::Allocator> allocator) {
    return MemoryAllocator(std::move(allocator));
  }
};

}  // namespace heddle
