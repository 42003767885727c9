#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "heddle/settings.h"

// The memory pool of a device, in bytes, like CuPy's MemoryPool. Every function throws ValueError
// for a text that is not a device name, and DeviceError for a device that is not present.

namespace heddle {

namespace runtime {
class PinnedBlock;
}

/// Counts the blocks of arrays, of programs that keep their temporaries, and of unfinished work.
struct MemoryStatistics {
  std::size_t in_use = 0;          ///< bytes of held blocks, in units of 512 bytes
  std::size_t reserved = 0;        ///< bytes taken from the device
  std::size_t peak_in_use = 0;     ///< since the start or the last reset_memory_peak
  std::size_t peak_reserved = 0;   ///< since the start or the last reset_memory_peak
  std::size_t largest_free = 0;    ///< largest block that is available without asking the device
  std::size_t limit = 0;           ///< maximum of `reserved`; 0: no limit
  std::uint64_t blocks = 0;        ///< number held now
  std::uint64_t free_blocks = 0;   ///< number that are available without asking the device
  std::uint64_t allocations = 0;   ///< number of blocks allocated since the start
  std::uint64_t reservations = 0;  ///< number of requests to the device since the start
};
MemoryStatistics memory_statistics(const std::string& of = device());

/// Restarts the peaks from what is held now.
void reset_memory_peak(const std::string& of = device());

/// The largest held blocks, one per line: bytes, dtype, shape, the op that computed it, and the
/// user's line if known. "" if nothing is held.
std::string describe_memory(std::size_t most_blocks = 10, const std::string& of = device());

/// Sets the maximum number of bytes that the pool may reserve, for all threads; 0 means no limit.
/// Memory that is already reserved stays. HEDDLE_MEMORY_LIMIT sets the initial limit. Returns the
/// previous limit.
std::size_t set_memory_limit(std::size_t bytes, const std::string& of = device());

/// Returns the pool's free segments to the device, as CuPy's free_all_blocks. Waits for work of
/// other streams that still uses freed blocks. Returns the number of bytes.
std::size_t trim_memory(const std::string& of = device());

/// Page-locked memory of the host, from which and to which a GPU copies without the host; ordinary
/// memory on the CPU. Copies refer to the same block. The last one returns it to a pool, so it is
/// kept until enqueued copies are done.
class PinnedMemory {
 public:
  /// At least so many bytes, not initialised. Throws OutOfMemory.
  explicit PinnedMemory(std::size_t bytes, const std::string& of = device());
  void* data() const;
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<runtime::PinnedBlock> block_;
  std::size_t bytes_;
};
/// The number of free blocks in the pool of pinned memory.
std::size_t free_pinned_blocks(const std::string& of = device());
/// Returns free pinned memory to the system.
void trim_pinned_memory(const std::string& of = device());

}  // namespace heddle
