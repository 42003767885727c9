#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heddle/settings.h"

// What a device's memory pool holds, in bytes, as CuPy's MemoryPool tells it. Every function throws
// ValueError for a text that names no device, and DeviceError for a device that is not there.

namespace heddle {

/// The blocks of arrays, of programs that keep their temporaries, and of work that is not done.
struct MemoryStatistics {
  std::size_t in_use = 0;          ///< of blocks that are held, in units of 512 bytes
  std::size_t reserved = 0;        ///< taken from the device
  std::size_t peak_in_use = 0;     ///< since the start, or the last reset_memory_peak
  std::size_t peak_reserved = 0;   ///< the same
  std::size_t largest_free = 0;    ///< block that could be had without asking the device
  std::size_t limit = 0;           ///< most that may be reserved; 0: as much as there is
  std::uint64_t blocks = 0;        ///< held now
  std::uint64_t allocations = 0;   ///< of blocks, since the start
  std::uint64_t reservations = 0;  ///< asked of the device, since the start
};
MemoryStatistics memory_statistics(const std::string& of = device());

/// From now on the peaks are of what is held from here on.
void reset_memory_peak(const std::string& of = device());

/// The largest blocks that are held, a line each: bytes, dtype, shape, what computed them, and the
/// user's line where it is known. "" where nothing is held.
std::string describe_memory(std::size_t most_blocks = 10, const std::string& of = device());

/// Most bytes that the pool may reserve from now on, for all threads; 0 for as much as there is.
/// What is held already stays. HEDDLE_MEMORY_LIMIT sets it from the start. Returns what was set
/// before.
std::size_t set_memory_limit(std::size_t bytes, const std::string& of = device());

/// Gives the device back what the pool has free in whole segments; waits for work of other streams
/// that still uses freed blocks. Returns how many bytes. CuPy's free_all_blocks.
std::size_t trim_memory(const std::string& of = device());

}  // namespace heddle
