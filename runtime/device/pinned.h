#pragma once

#include <cstddef>
#include <memory>

#include "runtime/device/device.h"

namespace heddle::runtime {

/// A block of page-locked host memory, which GPUs read and write without the host; on the CPU it is
/// ordinary memory. The last holder returns it to a pool that keeps it for the next request of its
/// size. Whoever enqueues a copy from or to it holds it until the copy is done.
class PinnedBlock {
 public:
  void* pointer() const { return pointer_; }
  std::size_t bytes() const { return bytes_; }

  ~PinnedBlock();
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;

 private:
  friend std::shared_ptr<PinnedBlock> allocate_pinned(std::size_t, Device);
  PinnedBlock(void* pointer, std::size_t bytes, Device device)
      : pointer_(pointer), bytes_(bytes), device_(device) {}
  void* pointer_;
  std::size_t bytes_;  ///< a power of two, at least 512
  Device device_;
};

/// The block has at least `bytes`. Throws OutOfMemory, DeviceError.
std::shared_ptr<PinnedBlock> allocate_pinned(std::size_t bytes, Device device);
/// The held block in which the pointer lies; null if it lies in none.
std::shared_ptr<PinnedBlock> pinned_block_at(const void* pointer, Device device);
/// The number of blocks that the pool keeps.
std::size_t free_pinned_blocks(Device device);
/// Returns the kept blocks to the system.
void trim_pinned(Device device);

}  // namespace heddle::runtime
