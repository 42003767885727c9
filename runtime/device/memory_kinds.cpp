#include <cstddef>
#include <memory>

#include "runtime/device/allocator.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

namespace {

class BackendMemory final : public MemorySource {
 public:
  explicit BackendMemory(MemoryKind kind) : kind_(kind) {}

  void* reserve(Device device, std::size_t bytes, const Stream&) override {
    const Backend& backend = backend_of(device);
    switch (kind_) {
      case MemoryKind::managed:
        return backend.reserve_managed(device.ordinal, bytes);
      case MemoryKind::ordered:
        return backend.reserve_ordered(device.ordinal, bytes);
      case MemoryKind::device:
        break;
    }
    return backend.reserve(device.ordinal, bytes);
  }
  void release(Device device, void* pointer, std::size_t bytes) noexcept override {
    const Backend& backend = backend_of(device);
    switch (kind_) {
      case MemoryKind::managed:
        return backend.release_managed(device.ordinal, pointer, bytes);
      case MemoryKind::ordered:
        return backend.release_ordered(device.ordinal, pointer);
      case MemoryKind::device:
        return backend.release(device.ordinal, pointer);
    }
  }

 private:
  MemoryKind kind_;
};

}  // namespace

std::shared_ptr<MemorySource> source_of(MemoryKind kind) {
  return std::make_shared<BackendMemory>(kind);
}

}  // namespace heddle::runtime
