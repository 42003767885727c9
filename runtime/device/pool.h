#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/base/fork_gate.h"
#include "ir/graph/graph.h"

/// The memory pool's algorithm, independent of the kind of memory.
///
/// Every stream has an arena. An arena consists of segments reserved from the device. A segment is
/// split into chunks of whole 512-byte units; a free chunk merges with its free neighbours. A
/// request takes the smallest free chunk of its stream's arena that is large enough (best fit). The
/// most recently freed chunks are kept unmerged for a request of the same size. Because a stream
/// works in order, a chunk used only on its own stream can be reused on that stream at once.
namespace heddle::runtime {

struct StreamState;
using Label = std::shared_ptr<const std::string>;  ///< purpose of a block, for the text of
                                                   ///< OutOfMemory

/// A request for a block. OutOfMemory reports the label and line of held blocks.
struct BlockRequest {
  std::size_t bytes;
  const Label& label;
  ir::Location line;  ///< in the user's program; no file if unknown
};

/// "f32[8,1024] of softmax (model.cpp:12)"
std::string purpose(const Label& label, ir::Location line);

/// A point in a stream's work: everything enqueued before it.
class PoolMarker {
 public:
  virtual ~PoolMarker() = default;
  virtual bool passed() = 0;
  /// Waits if possible. Afterwards it has passed, unless a graph is being captured from the stream.
  virtual void wait() = 0;
};

/// The source of a pool's memory, and its queries about streams.
class PoolBackend {
 public:
  virtual ~PoolBackend() = default;
  /// nullptr if there is not enough memory. At least 512-byte aligned.
  virtual void* reserve(std::size_t bytes) = 0;
  virtual void release(void* pointer, std::size_t bytes) noexcept = 0;
  /// Bytes that could be reserved now, if known; else SIZE_MAX.
  virtual std::size_t free_bytes() = 0;
  /// True when nothing is pending on the stream.
  virtual bool idle(StreamState* stream) = 0;
  virtual std::unique_ptr<PoolMarker> mark(StreamState* stream) = 0;
};

struct MemoryStatistics {
  std::size_t in_use = 0;       ///< bytes of held blocks, rounded up to whole units
  std::size_t reserved = 0;     ///< bytes taken from the device
  std::size_t peak_in_use = 0;  ///< since reset_peak
  std::size_t peak_reserved = 0;
  std::uint64_t blocks = 0;       ///< number of blocks held now
  std::uint64_t allocations = 0;  ///< total so far
  std::uint64_t reservations = 0;
};

struct Arena;
struct Segment;

/// A piece of a segment. Also the handle of a held block.
struct Chunk {
  char* pointer = nullptr;
  std::size_t bytes = 0;
  Segment* segment = nullptr;
  Chunk* before = nullptr;  ///< the neighbours in the segment
  Chunk* after = nullptr;
  bool held = false;
  bool recent = false;             ///< freed recently: marked as held so that it is not merged
  StreamState* lent_to = nullptr;  ///< the stream that uses it, if that is not its arena's stream
  Label label;  ///< of the current or last holder; the arena's mutex guards `label` and `line`
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

  /// A block of at least `bytes` > 0 that work on `stream` may use at once. nullptr if there is no
  /// memory for it; trim and try again.
  Chunk* allocate(const BlockRequest& request, StreamState* stream);
  /// The fallback if there is no memory: a block of another stream's arena, after waiting for that
  /// stream's work.
  Chunk* borrow(const BlockRequest& request, StreamState* stream);
  /// Sets the label and line of a block whose holder reuses it for another purpose.
  void describe(Chunk* chunk, const Label& label, ir::Location line);
  /// Takes a block back. `users` are streams other than its own that use it. It becomes free when
  /// the work that they hold now is done.
  void free(Chunk* chunk, std::span<StreamState* const> users) noexcept;

  /// Returns every wholly free segment to the device. With `wait`, first waits for freed blocks
  /// that other streams still use. Returns the bytes given back.
  std::size_t trim(bool wait);

  /// Maximum of bytes to reserve; 0 for no limit. Returns the previous limit.
  std::size_t set_limit(std::size_t bytes);
  std::size_t limit() const;

  /// Bytes still available, under the limit: the free bytes in the pool, plus the bytes that the
  /// device had left at the last reservation or release.
  std::size_t available() const;

  MemoryStatistics statistics() const;
  void reset_peak();
  std::size_t largest_free() const;
  /// The number of free blocks.
  std::size_t free_blocks() const;
  /// The largest held blocks, one per line: bytes, label, and the user's line if known.
  std::string describe_largest(std::size_t count) const;

  /// For tests: throws std::logic_error if an invariant does not hold.
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
  std::uint64_t number_;  ///< unique among all pools that the process ever had
  std::unique_ptr<Counters> counters_;
  mutable ir::Mutex mutex_;  ///< guards arenas_; never held together with an arena's mutex
  std::vector<std::unique_ptr<Arena>> arenas_;
};

}  // namespace heddle::runtime
