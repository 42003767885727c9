#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/base/fork_gate.h"
#include "ir/graph/graph.h"

/// The algorithm of the memory pools, over any kind of memory.
///
/// Every stream has an arena. An arena is made of segments that were reserved from the device and
/// are split into chunks of whole 512-byte units; a free chunk merges with its free neighbours. A
/// request takes the smallest free chunk of its stream's arena that holds it; what was freed last
/// waits unmerged for a request of its size. Since a stream works in order, a chunk that was used
/// on its own stream only is free for that stream at once.
namespace heddle::runtime {

struct StreamState;
using Label = std::shared_ptr<const std::string>;  ///< what a block is for, in OutOfMemory's text

/// A request for a block, and what OutOfMemory's text says of whoever holds it.
struct BlockRequest {
  std::size_t bytes;
  const Label& label;
  ir::Location line;  ///< of the user's program; no file where that is not known
};

/// "f32[8,1024] of softmax (model.cpp:12)"
std::string purpose(const Label& label, ir::Location line);

/// All work that some stream held at some time.
class PoolMarker {
 public:
  virtual ~PoolMarker() = default;
  virtual bool passed() = 0;
  /// Waits where that can be: afterwards it has passed, unless a graph is being captured from the
  /// stream.
  virtual void wait() = 0;
};

/// Where a pool gets memory, and how it asks about streams.
class PoolBackend {
 public:
  virtual ~PoolBackend() = default;
  /// nullptr when there is not that much memory. At least 512-byte aligned.
  virtual void* reserve(std::size_t bytes) = 0;
  virtual void release(void* pointer, std::size_t bytes) noexcept = 0;
  /// What could be reserved now, as far as can be told; SIZE_MAX where it cannot.
  virtual std::size_t free_bytes() = 0;
  /// True when nothing is pending on the stream.
  virtual bool idle(StreamState* stream) = 0;
  virtual std::unique_ptr<PoolMarker> mark(StreamState* stream) = 0;
};

struct MemoryStatistics {
  std::size_t in_use = 0;       ///< bytes of blocks that are held, in whole units
  std::size_t reserved = 0;     ///< bytes taken from the device
  std::size_t peak_in_use = 0;  ///< since reset_peak
  std::size_t peak_reserved = 0;
  std::uint64_t blocks = 0;       ///< held now
  std::uint64_t allocations = 0;  ///< ever
  std::uint64_t reservations = 0;
};

struct Arena;
struct Segment;

/// A piece of a segment; also the handle of a held block.
struct Chunk {
  char* pointer = nullptr;
  std::size_t bytes = 0;
  Segment* segment = nullptr;
  Chunk* before = nullptr;  ///< the neighbours in the segment
  Chunk* after = nullptr;
  bool held = false;
  bool recent = false;             ///< held by the pool itself, among those freed last
  StreamState* lent_to = nullptr;  ///< whose work uses it, where that is not its arena's stream
  Label label;  ///< the last holder's, as the next; the arena's mutex guards both
  ir::Location line;
};

/// Thread-safe. Throws only what its backend throws.
class MemoryPool {
 public:
  static constexpr std::size_t unit = 512;

  explicit MemoryPool(PoolBackend& backend);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// A block of at least `bytes` > 0 that work on `stream` may use at once, or nullptr when there
  /// is no memory for it (trim and try again).
  Chunk* allocate(const BlockRequest& request, StreamState* stream);
  /// The same for when there is none: a block of another stream's arena, whose work is waited for.
  Chunk* borrow(const BlockRequest& request, StreamState* stream);
  /// Whoever holds the block uses it for something else from now on.
  void describe(Chunk* chunk, const Label& label, ir::Location line);
  /// Takes a block back. `users` are streams other than its own that work with it: it is free
  /// again when what they hold now is done.
  void free(Chunk* chunk, std::span<StreamState* const> users) noexcept;

  /// Gives every wholly free segment back to the device; `wait` also waits for blocks that other
  /// streams still use. Returns the bytes given back.
  std::size_t trim(bool wait);

  /// Most bytes to reserve; 0 for as much as there is. Returns what was set before.
  std::size_t set_limit(std::size_t bytes);
  std::size_t limit() const;

  /// Bytes that can still be had: what is free in here, and what the device had left when something
  /// was last reserved or given back, under the limit.
  std::size_t available() const;

  MemoryStatistics statistics() const;
  void reset_peak();
  std::size_t largest_free() const;
  /// The largest held blocks, a line each: bytes, label, and the user's line where it is known.
  std::string describe_largest(std::size_t count) const;

  /// For tests: throws std::logic_error where an invariant does not hold.
  void verify() const;

 private:
  Arena& arena_of(StreamState* stream);
  std::vector<Arena*> arenas() const;
  Chunk* take_recent(Arena& arena, const BlockRequest& request);
  Chunk* take_fitting(Arena& arena, const BlockRequest& request, bool spare_large);
  Chunk* take_from_idle(Arena& arena, const BlockRequest& request);
  Chunk* reserve_and_take(Arena& arena, const BlockRequest& request);
  void collect_pending(Arena& arena, bool wait);
  void count(const Chunk& chunk);

  struct Counters;
  PoolBackend& backend_;
  std::uint64_t number_;  ///< no other pool of the process has or had it
  std::unique_ptr<Counters> counters_;
  mutable ir::Mutex mutex_;  ///< guards arenas_; never held together with an arena's
  std::vector<std::unique_ptr<Arena>> arenas_;
};

}  // namespace heddle::runtime
