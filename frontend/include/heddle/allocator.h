#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "heddle/memory.h"

/// \file
/// Allocators that replace the default pools, and hooks that are told of memory: what CuPy has in
/// cupy.cuda. A change of the allocator or of the hooks first evaluates what the calling thread has
/// recorded, so that its memory comes from where it was recorded.

namespace heddle {

namespace runtime {
class Allocator;
}

/// Where an allocator's memory comes from: a class of the user. Its functions are called by all
/// threads, and must not lock what a thread holds that calls Heddle.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// At least `bytes` > 0 of memory of a device, such as "cuda:0"; null if there is not enough.
  /// What it throws, the call throws that allocates. Memory that is not aligned to 512 bytes is
  /// returned, and asked for again with 512 bytes more.
  virtual void* reserve(const std::string& device, std::size_t bytes) = 0;
  /// Takes memory back that no work uses any more.
  virtual void release(const std::string& device, void* pointer, std::size_t bytes) noexcept = 0;
};

/// The kinds of memory that drivers have. On the CPU all are ordinary memory.
enum class MemoryKind : std::uint8_t {
  device,   ///< of the device alone: cuMemAlloc
  managed,  ///< moves between host and device, never more than the device has free:
            ///< cuMemAllocManaged
  ordered   ///< of the driver's own pool, which other libraries of the process share:
            ///< cuMemAllocAsync
};

/// Gives memory for arrays and temporaries. Copies refer to the same allocator, which lives as long
/// as its blocks. Functions with the name of a device throw ValueError for other texts, and
/// DeviceError for a device that is not present.
class MemoryAllocator {
 public:
  /// A pool of its own for each device: cupy.cuda.MemoryPool. It keeps freed memory for later
  /// blocks, and reserves in units of 2 MiB.
  static MemoryAllocator pool(MemoryKind kind = MemoryKind::device);
  static MemoryAllocator pool(std::shared_ptr<MemorySource> source);
  /// No pool: each block is asked for, and released when the work is done that uses it.
  static MemoryAllocator direct(MemoryKind kind);
  static MemoryAllocator direct(std::shared_ptr<MemorySource> source);

  /// Without a pool, `free_blocks` and `largest_free` are 0.
  MemoryStatistics statistics(const std::string& of = device()) const;
  /// Sets the most bytes that the pool may reserve; 0 for no limit. Returns the previous limit.
  /// Throws ValueError for an allocator without a pool.
  std::size_t set_limit(std::size_t bytes, const std::string& of = device()) const;
  /// Returns free memory to the source. Waits for work that uses freed blocks. Returns the bytes.
  std::size_t trim(const std::string& of = device()) const;

 private:
  friend struct AllocatorAccess;
  explicit MemoryAllocator(std::shared_ptr<runtime::Allocator> allocator);
  std::shared_ptr<runtime::Allocator> allocator_;
};

/// All threads allocate by it from now on: cupy.cuda.set_allocator. Arrays that are there keep
/// their memory. Throws TraceError inside a trace.
void set_allocator(const MemoryAllocator& allocator);
/// Makes the default pools the allocator of all threads again.
void reset_allocator();

/// The calling thread allocates by it, for a scope: cupy.cuda.using_allocator. Evaluates what the
/// thread has recorded, at its start and at its end; what cannot be evaluated at the end stays
/// recorded. Scopes nest.
class AllocatorScope {
 public:
  explicit AllocatorScope(const MemoryAllocator& allocator);
  ~AllocatorScope();
  AllocatorScope(const AllocatorScope&) = delete;
  AllocatorScope& operator=(const AllocatorScope&) = delete;

 private:
  struct Scope;
  std::unique_ptr<Scope> scope_;
};

/// Memory that a hook is told of.
struct MemoryEvent {
  std::string device;
  std::size_t requested = 0;      ///< bytes that were asked for; 0 for the freeing of a block
  std::size_t bytes = 0;          ///< the same, rounded up
  const void* pointer = nullptr;  ///< null before the memory is there, and if there is none
  std::uintptr_t block = 0;       ///< a number that no other held block has; 0 for reservations
  std::string label;              ///< as in "float32[8,1024] of softmax"
  std::string file;               ///< of the user's program; empty if unknown
  std::uint32_t line = 0;
};

/// Functions that are called for each block of memory: cupy.cuda.MemoryHook. They are called by
/// whichever thread evaluates. What the functions for allocations and reservations throw, the call
/// throws that allocates; what the functions for freed blocks throw is logged. Memory that a hook
/// allocates is not reported.
class MemoryHook {
 public:
  virtual ~MemoryHook() = default;
  virtual void before_allocate(const MemoryEvent&) {}  ///< CuPy's malloc_preprocess
  virtual void after_allocate(const MemoryEvent&) {}   ///< malloc_postprocess; also after a failure
  virtual void before_reserve(const MemoryEvent&) {}   ///< alloc_preprocess
  virtual void after_reserve(const MemoryEvent&) {}    ///< alloc_postprocess
  /// free_preprocess. Blocks that are freed while a program is being launched are reported after
  /// that.
  virtual void before_free(const MemoryEvent&) {}
  virtual void after_free(const MemoryEvent&) {}  ///< free_postprocess
};

/// Calls a hook for the memory of all threads, for a scope. Evaluates what the calling thread has
/// recorded, at its start and at its end. Throws TraceError inside a trace.
class MemoryHookScope {
 public:
  explicit MemoryHookScope(std::shared_ptr<MemoryHook> hook);
  ~MemoryHookScope();
  MemoryHookScope(const MemoryHookScope&) = delete;
  MemoryHookScope& operator=(const MemoryHookScope&) = delete;

 private:
  int number_;
};

}  // namespace heddle
