#include "runtime/pool.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "runtime/log.h"

namespace heddle::runtime {

struct Segment {
  char* pointer = nullptr;
  std::size_t bytes = 0;
  Arena* arena = nullptr;
  bool small = false;  ///< serves small requests only, so that they do not cut up large chunks
  Chunk* first = nullptr;
};

namespace {

constexpr std::size_t small_request = std::size_t{1} << 20;
constexpr std::size_t segment_unit = std::size_t{2} << 20;
/// A wholly free segment of at least this size is not split for a request of under a quarter of it
/// while there is other memory: the next request of its own size finds it whole.
constexpr std::size_t large_segment = std::size_t{32} << 20;
constexpr std::size_t most_recent = 16;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

struct BySize {
  using is_transparent = void;
  static auto key(const Chunk* c) { return std::tuple(c->segment->small, c->bytes, c->pointer); }
  bool operator()(const Chunk* a, const Chunk* b) const { return key(a) < key(b); }
  bool operator()(const Chunk* a, std::pair<bool, std::size_t> b) const {
    return std::tuple(a->segment->small, a->bytes) < std::tuple(b.first, b.second);
  }
};

/// A freed block that other streams still use.
struct Pending {
  Chunk* chunk;
  std::vector<std::unique_ptr<PoolMarker>> markers;
};

}  // namespace

struct Arena {
  StreamState* stream = nullptr;
  std::mutex mutex;
  std::set<Chunk*, BySize> free;
  std::vector<std::unique_ptr<Segment>> segments;
  std::list<Pending> pending;
  /// The blocks freed last, the latest behind. They look held to their neighbours, so that a
  /// request of just their size, as the next turn of a loop makes it, cuts and merges nothing.
  std::vector<Chunk*> recent;
  std::uint64_t blocks = 0;       ///< held by somebody
  std::uint64_t allocations = 0;  ///< ever

  Chunk* take_recent(std::size_t bytes) {
    for (std::size_t i = recent.size(); i-- > 0;) {
      Chunk* const chunk = recent[i];
      if (chunk->bytes != bytes) continue;
      recent.erase(recent.begin() + static_cast<std::ptrdiff_t>(i));
      chunk->recent = false;
      return chunk;
    }
    return nullptr;
  }

  void put_recent(Chunk* chunk) {
    if (recent.size() == most_recent) {
      insert_free(recent.front());
      recent.erase(recent.begin());
    }
    chunk->recent = true;
    recent.push_back(chunk);
  }

  /// Merges them all with what is free around them.
  void settle() {
    for (Chunk* const chunk : recent) insert_free(chunk);
    recent.clear();
  }

  bool whole(const Chunk* c) const { return c->before == nullptr && c->after == nullptr; }

  void insert_free(Chunk* chunk) {
    chunk->held = chunk->recent = false;
    chunk->label.reset();
    if (Chunk* after = chunk->after; after != nullptr && !after->held) {
      free.erase(after);
      absorb_after(chunk);
    }
    if (Chunk* before = chunk->before; before != nullptr && !before->held) {
      free.erase(before);
      absorb_after(before);
      chunk = before;
    }
    free.insert(chunk);
  }

  /// Gives somebody `bytes` of a chunk that has left `free`.
  void hold(Chunk* chunk, std::size_t bytes) {
    chunk->held = true;
    cut(chunk, bytes);
    ++blocks;
    ++allocations;
  }

  /// Cuts a chunk that has left `free` down to `bytes`; the rest is free.
  void cut(Chunk* chunk, std::size_t bytes) {
    if (chunk->bytes == bytes) return;
    auto* rest = new Chunk;
    rest->pointer = chunk->pointer + bytes;
    rest->bytes = chunk->bytes - bytes;
    rest->segment = chunk->segment;
    rest->before = chunk;
    rest->after = chunk->after;
    if (rest->after != nullptr) rest->after->before = rest;
    chunk->after = rest;
    chunk->bytes = bytes;
    free.insert(rest);
  }

  /// Adds a segment that is one free chunk.
  void adopt(std::unique_ptr<Segment> segment) {
    segment->arena = this;
    free.insert(segment->first);
    segments.push_back(std::move(segment));
  }

  /// Removes a wholly free segment.
  std::unique_ptr<Segment> give_up(Segment* segment) {
    free.erase(segment->first);
    const auto at = std::find_if(segments.begin(), segments.end(),
                                 [&](const auto& each) { return each.get() == segment; });
    std::unique_ptr<Segment> out = std::move(*at);
    segments.erase(at);
    return out;
  }

 private:
  static void absorb_after(Chunk* chunk) {
    Chunk* after = chunk->after;
    chunk->bytes += after->bytes;
    chunk->after = after->after;
    if (chunk->after != nullptr) chunk->after->before = chunk;
    delete after;
  }
};

struct MemoryPool::Counters {
  std::atomic<std::size_t> in_use{0}, reserved{0}, peak_in_use{0}, peak_reserved{0}, limit{0};
  std::atomic<std::uint64_t> reservations{0};

  static void raise(std::atomic<std::size_t>& peak, std::size_t value) {
    std::size_t seen = peak.load(std::memory_order_relaxed);
    while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
};

namespace {

std::uint64_t next_pool_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

MemoryPool::MemoryPool(PoolBackend& backend)
    : backend_(backend), number_(next_pool_number()), counters_(std::make_unique<Counters>()) {}

MemoryPool::~MemoryPool() {
  for (const auto& arena : arenas_) {
    for (const auto& segment : arena->segments) {
      for (Chunk* chunk = segment->first; chunk != nullptr;)
        delete std::exchange(chunk, chunk->after);
      backend_.release(segment->pointer, segment->bytes);
    }
  }
}

Arena& MemoryPool::arena_of(StreamState* stream) {
  // A thread nearly always asks for the same again.
  struct Last {
    std::uint64_t pool = 0;
    StreamState* stream = nullptr;
    Arena* arena = nullptr;
  };
  thread_local Last last;
  if (last.pool == number_ && last.stream == stream) return *last.arena;
  std::lock_guard lock(mutex_);
  auto found = std::find_if(arenas_.begin(), arenas_.end(),
                            [&](const auto& arena) { return arena->stream == stream; });
  if (found == arenas_.end()) {
    arenas_.push_back(std::make_unique<Arena>());
    arenas_.back()->stream = stream;
    arenas_.back()->recent.reserve(most_recent);
    found = std::prev(arenas_.end());
  }
  last = {number_, stream, found->get()};
  return **found;
}

std::vector<Arena*> MemoryPool::arenas() const {
  std::lock_guard lock(mutex_);
  std::vector<Arena*> out;
  for (const auto& arena : arenas_) out.push_back(arena.get());
  return out;
}

Chunk* MemoryPool::allocate(std::size_t bytes, StreamState* stream, const Label& label) {
  // A request that rounding would wrap around cannot be met by any device.
  if (bytes > SIZE_MAX / 2) return nullptr;
  bytes = round_up(bytes, unit);
  Arena& arena = arena_of(stream);
  Chunk* chunk = take_recent(arena, bytes);
  if (chunk == nullptr) chunk = take_fitting(arena, bytes, true);
  if (chunk == nullptr) chunk = take_from_idle(arena, bytes);
  if (chunk == nullptr) chunk = reserve_and_take(arena, bytes);
  if (chunk == nullptr) chunk = take_fitting(arena, bytes, false);
  if (chunk == nullptr) return nullptr;
  if (chunk->label != label) chunk->label = label;
  const std::size_t now =
      counters_->in_use.fetch_add(chunk->bytes, std::memory_order_relaxed) + chunk->bytes;
  Counters::raise(counters_->peak_in_use, now);
  return chunk;
}

/// When there is none, everything that is free is put in order for the search.
Chunk* MemoryPool::take_recent(Arena& arena, std::size_t bytes) {
  {
    const std::lock_guard lock(arena.mutex);
    if (Chunk* const chunk = arena.take_recent(bytes)) {
      ++arena.blocks;
      ++arena.allocations;
      return chunk;
    }
    arena.settle();
  }
  collect_pending(arena, false);
  return nullptr;
}

Chunk* MemoryPool::take_fitting(Arena& arena, std::size_t bytes, bool spare_large) {
  std::lock_guard lock(arena.mutex);
  const bool small = bytes <= small_request;
  auto at = arena.free.lower_bound(std::pair(small, bytes));
  if (at == arena.free.end() || (*at)->segment->small != small) return nullptr;
  Chunk* chunk = *at;
  if (spare_large && arena.whole(chunk) && chunk->bytes >= large_segment &&
      bytes < chunk->bytes / 4) {
    return nullptr;
  }
  arena.free.erase(at);
  arena.hold(chunk, bytes);
  return chunk;
}

/// Moves a wholly free segment that fits from the arena of a stream with nothing pending.
Chunk* MemoryPool::take_from_idle(Arena& arena, std::size_t bytes) {
  const bool small = bytes <= small_request;
  for (Arena* other : arenas()) {
    if (other == &arena) continue;
    std::unique_ptr<Segment> moved;
    {
      std::lock_guard lock(other->mutex);
      other->settle();
      auto at = other->free.lower_bound(std::pair(small, bytes));
      while (at != other->free.end() && (*at)->segment->small == small && !other->whole(*at)) ++at;
      if (at == other->free.end() || (*at)->segment->small != small) continue;
      if ((*at)->bytes / 4 > std::max(bytes, segment_unit)) continue;
      if (!backend_.idle(other->stream)) continue;
      moved = other->give_up((*at)->segment);
    }
    std::lock_guard lock(arena.mutex);
    Chunk* chunk = moved->first;
    arena.adopt(std::move(moved));
    arena.free.erase(chunk);
    arena.hold(chunk, bytes);
    return chunk;
  }
  return nullptr;
}

Chunk* MemoryPool::reserve_and_take(Arena& arena, std::size_t bytes) {
  const bool small = bytes <= small_request;
  const std::size_t size = small ? segment_unit : round_up(bytes, segment_unit);
  const std::size_t limit = counters_->limit.load();
  const std::size_t now = counters_->reserved.fetch_add(size) + size;
  void* pointer = nullptr;
  try {
    if (limit == 0 || now <= limit) pointer = backend_.reserve(size);
  } catch (...) {
    counters_->reserved.fetch_sub(size);
    throw;
  }
  if (pointer == nullptr) {
    counters_->reserved.fetch_sub(size);
    return nullptr;
  }
  Counters::raise(counters_->peak_reserved, now);
  counters_->reservations.fetch_add(1);

  auto segment = std::make_unique<Segment>();
  segment->pointer = static_cast<char*>(pointer);
  segment->bytes = size;
  segment->small = small;
  auto* chunk = new Chunk;
  chunk->pointer = segment->pointer;
  chunk->bytes = size;
  chunk->segment = segment.get();
  segment->first = chunk;
  std::lock_guard lock(arena.mutex);
  arena.adopt(std::move(segment));
  arena.free.erase(chunk);
  arena.hold(chunk, bytes);
  return chunk;
}

void MemoryPool::free(Chunk* chunk, std::span<StreamState* const> users) noexcept {
  counters_->in_use.fetch_sub(chunk->bytes, std::memory_order_relaxed);
  Arena& arena = *chunk->segment->arena;
  try {
    Pending pending{chunk, {}};
    for (StreamState* user : users) pending.markers.push_back(backend_.mark(user));
    const std::lock_guard lock(arena.mutex);
    --arena.blocks;
    if (pending.markers.empty()) {
      arena.put_recent(chunk);
    } else {
      arena.pending.push_back(std::move(pending));
    }
  } catch (const std::exception& failure) {
    // The device failed for good. Nobody may use the block again, so it stays where it is.
    log().error("a block of {} bytes is lost: {}", chunk->bytes, failure.what());
  }
}

void MemoryPool::collect_pending(Arena& arena, bool wait) {
  const std::lock_guard lock(arena.mutex);
  for (auto it = arena.pending.begin(); it != arena.pending.end();) {
    bool all = true;
    for (const auto& marker : it->markers) {
      if (wait) marker->wait();
      all = all && marker->passed();
    }
    if (all) {
      arena.insert_free(it->chunk);
      it = arena.pending.erase(it);
    } else {
      ++it;
    }
  }
}

std::size_t MemoryPool::trim(bool wait) {
  std::size_t given_back = 0;
  for (Arena* arena : arenas()) {
    collect_pending(*arena, wait);
    std::vector<std::unique_ptr<Segment>> gone;
    {
      std::lock_guard lock(arena->mutex);
      arena->settle();
      for (std::size_t i = arena->segments.size(); i-- > 0;) {
        Segment* segment = arena->segments[i].get();
        if (!segment->first->held && arena->whole(segment->first)) {
          gone.push_back(arena->give_up(segment));
        }
      }
    }
    for (const auto& segment : gone) {
      backend_.release(segment->pointer, segment->bytes);
      counters_->reserved.fetch_sub(segment->bytes);
      given_back += segment->bytes;
      delete segment->first;
    }
  }
  return given_back;
}

void MemoryPool::set_limit(std::size_t bytes) { counters_->limit.store(bytes); }

std::size_t MemoryPool::limit() const { return counters_->limit.load(); }

MemoryStatistics MemoryPool::statistics() const {
  MemoryStatistics out{.in_use = counters_->in_use.load(),
                       .reserved = counters_->reserved.load(),
                       .peak_in_use = counters_->peak_in_use.load(),
                       .peak_reserved = counters_->peak_reserved.load(),
                       .reservations = counters_->reservations.load()};
  for (Arena* arena : arenas()) {
    const std::lock_guard lock(arena->mutex);
    out.blocks += arena->blocks;
    out.allocations += arena->allocations;
  }
  return out;
}

void MemoryPool::reset_peak() {
  counters_->peak_in_use.store(counters_->in_use.load());
  counters_->peak_reserved.store(counters_->reserved.load());
}

std::size_t MemoryPool::largest_free() const {
  std::size_t out = 0;
  for (Arena* arena : arenas()) {
    std::lock_guard lock(arena->mutex);
    arena->settle();
    for (const Chunk* chunk : arena->free) out = std::max(out, chunk->bytes);
  }
  return out;
}

std::string MemoryPool::describe_largest(std::size_t count) const {
  std::vector<std::pair<std::size_t, std::string>> held;
  for (Arena* arena : arenas()) {
    std::lock_guard lock(arena->mutex);
    for (const auto& segment : arena->segments) {
      for (const Chunk* c = segment->first; c != nullptr; c = c->after) {
        if (c->held && !c->recent) held.emplace_back(c->bytes, c->label ? *c->label : "no label");
      }
    }
  }
  std::stable_sort(held.begin(), held.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  for (std::size_t i = 0; i < std::min(count, held.size()); ++i) {
    out += fmt::format("  {} bytes: {}\n", held[i].first, held[i].second);
  }
  return out;
}

void MemoryPool::verify() const {
  auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  };
  for (Arena* arena : arenas()) {
    std::lock_guard lock(arena->mutex);
    std::size_t free_chunks = 0, recent = 0;
    for (const auto& segment : arena->segments) {
      require(segment->arena == arena, "a segment knows another arena");
      char* at = segment->pointer;
      const Chunk* before = nullptr;
      for (const Chunk* c = segment->first; c != nullptr; before = c, c = c->after) {
        require(c->pointer == at && c->bytes % unit == 0 && c->bytes > 0, "chunks leave a gap");
        require(c->before == before && c->segment == segment.get(), "a chunk's links are wrong");
        require(before == nullptr || before->held || c->held, "two free neighbours");
        require(c->held || arena->free.count(const_cast<Chunk*>(c)) == 1, "a free chunk is lost");
        require(c->held || !c->recent, "a free chunk is among the recent");
        free_chunks += c->held ? 0 : 1;
        recent += c->recent ? 1 : 0;
        at += c->bytes;
      }
      require(at == segment->pointer + segment->bytes, "chunks do not fill the segment");
    }
    require(free_chunks == arena->free.size(), "the free list has strangers");
    require(recent == arena->recent.size(), "the recent have strangers");
  }
}

}  // namespace heddle::runtime
