#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/device/device.h"
#include "runtime/device/pool.h"
#include "runtime/device/stream.h"

/// Allocators that replace the default pool of a device: pools with memory of another source, and
/// sources without a pool.
namespace heddle::runtime {

/// Where an allocator's memory comes from. Thread-safe.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// At least `bytes` > 0 of the device's memory, which work on the stream may use; null if there
  /// is not enough. Called outside of fork sections, with no lock held. What it throws, the call
  /// throws that allocates.
  virtual void* reserve(Device device, std::size_t bytes, const Stream& stream) = 0;
  /// Takes memory back that no work uses any more. May be called in a fork section.
  virtual void release(Device device, void* pointer, std::size_t bytes) noexcept = 0;
};

/// The kinds of memory that drivers have. On the CPU all are the same.
enum class MemoryKind : std::uint8_t {
  device,   ///< of the device alone
  managed,  ///< moved between the host and the device when one of them touches it
  ordered   ///< of the driver's own pool, which all libraries of the process share
};
/// The source of a kind of memory.
std::shared_ptr<MemorySource> source_of(MemoryKind kind);

/// Gives blocks of memory. Chunk is the handle of a held block. An allocator lives as long as
/// something refers to it, and as its blocks. Thread-safe.
class Allocator : public std::enable_shared_from_this<Allocator> {
 public:
  /// A pool for each device, which keeps freed memory for later blocks.
  static std::shared_ptr<Allocator> pooled(std::shared_ptr<MemorySource> source);
  /// Each block is memory of its own. It is released when the work that used it is done: at once
  /// if it is done when the block is freed, else when such an allocator is called the next time.
  static std::shared_ptr<Allocator> direct(std::shared_ptr<MemorySource> source);

  virtual ~Allocator() = default;
  /// Null if there is no memory for it.
  virtual Chunk* allocate(const BlockRequest& request, const Stream& stream) = 0;
  /// Null, or a block of another stream, after waiting for that stream's work.
  virtual Chunk* borrow(const BlockRequest& request, const Stream& stream) = 0;
  virtual void free(Chunk* chunk, Device device, std::span<StreamState* const> users) noexcept = 0;
  virtual void describe(Chunk* chunk, const Label& label, ir::Location line) = 0;
  /// Returns free memory to the source. With `wait`, first waits for work that uses freed blocks.
  virtual std::size_t trim(Device device, bool wait) = 0;
  virtual MemoryStatistics statistics(Device device) const = 0;
  /// The pool of a device; null if there are no pools.
  virtual MemoryPool* pool(Device device) = 0;
};

/// Makes all threads allocate by it; null for the default pools.
void set_allocator(std::shared_ptr<Allocator> allocator);
/// The allocator that was set for all threads; null if it is the default pools.
std::shared_ptr<Allocator> global_allocator();

/// Makes the calling thread allocate by it, for a scope; null for the default pools. Scopes nest.
class AllocatorScope {
 public:
  explicit AllocatorScope(std::shared_ptr<Allocator> allocator);
  ~AllocatorScope();
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;
};
/// Whether the calling thread is in an AllocatorScope.
bool in_allocator_scope();

/// The calling thread's allocator; null for the default pools. One relaxed load if no allocator was
/// ever set. Null inside a source, so that its own arrays have memory.
std::shared_ptr<Allocator> current_allocator();

}  // namespace heddle::runtime
