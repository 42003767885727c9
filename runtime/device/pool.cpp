#include "runtime/device/pool.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "ir/base/span.h"
#include "runtime/base/log.h"
#include "runtime/device/pool_arena.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t small_request = std::size_t{1} << 20;
constexpr std::size_t segment_unit = std::size_t{2} << 20;
/// A wholly free segment of at least this size is not split for a request of less than a quarter of
/// it while there is other memory. So the next request of the segment's own size can use it whole.
constexpr std::size_t large_segment = std::size_t{32} << 20;

/// Larger requests fail at once: rounding them up could overflow, and no device has that much
/// memory.
constexpr std::size_t most_bytes = SIZE_MAX / 2;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

struct MemoryPool::Counters {
  std::atomic<std::size_t> in_use{0}, reserved{0}, peak_in_use{0}, peak_reserved{0}, limit{0};
  std::atomic<std::uint64_t> reservations{0};
  std::atomic<std::size_t> outside{0};  ///< bytes that the device has left, if known
  std::atomic<bool> outside_known{false};

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

/// Waits without the lock: the awaited work may include a function of the user that frees memory.
void wait_for_pending(Arena& arena) {
  std::vector<std::shared_ptr<PoolMarker>> markers;
  {
    const std::lock_guard lock(arena.mutex);
    for (const Pending& pending : arena.pending)
      markers.insert(markers.end(), pending.markers.begin(), pending.markers.end());
  }
  for (const auto& marker : markers) marker->wait();
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
  // Cache of the last lookup: a thread nearly always asks for the same arena again.
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
    arenas_.back()->backend = &backend_;
    arenas_.back()->borrowed = stream->borrowed;
    arenas_.back()->recent.reserve(Arena::most_recent);
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

Chunk* MemoryPool::allocate(const BlockRequest& wanted, StreamState* stream) {
  if (wanted.bytes > most_bytes) return nullptr;
  const BlockRequest request{round_up(wanted.bytes, unit), wanted.label, wanted.line};
  Arena& arena = arena_of(stream);
  Chunk* chunk = take_recent(arena, request);
  if (chunk == nullptr) chunk = take_fitting(arena, request, true);
  if (chunk == nullptr) chunk = take_from_idle(arena, request);
  if (chunk == nullptr) chunk = reserve_and_take(arena, request);
  if (chunk == nullptr) chunk = take_fitting(arena, request, false);
  if (chunk != nullptr) count(*chunk);
  return chunk;
}

void MemoryPool::count(const Chunk& chunk) {
  const std::size_t now =
      counters_->in_use.fetch_add(chunk.bytes, std::memory_order_relaxed) + chunk.bytes;
  Counters::raise(counters_->peak_in_use, now);
}

/// The block stays in its arena, so that free() treats the borrowing stream as an additional user.
Chunk* MemoryPool::borrow(const BlockRequest& wanted, StreamState* stream) {
  if (wanted.bytes > most_bytes) return nullptr;
  const BlockRequest request{round_up(wanted.bytes, unit), wanted.label, wanted.line};
  for (Arena* other : arenas()) {
    if (other->stream == stream || other->borrowed) continue;
    const std::unique_ptr<PoolMarker> marker = backend_.mark(other->stream);
    marker->wait();
    // Blocks freed there after the marker are not covered by the wait.
    const std::lock_guard lock(other->mutex);
    if (!marker->passed() || !backend_.idle(other->stream)) continue;
    other->settle();
    const bool small = request.bytes <= small_request;
    const auto at = other->free.lower_bound(std::pair(small, request.bytes));
    if (at == other->free.end() || (*at)->segment->small != small) continue;
    Chunk* const chunk = *at;
    other->free.erase(at);
    other->hold(chunk, request);
    chunk->lent_to = stream;
    count(*chunk);
    return chunk;
  }
  return nullptr;
}

/// If there is none, settles the recently freed blocks of the arena, so that the search sees all
/// free memory.
Chunk* MemoryPool::take_recent(Arena& arena, const BlockRequest& request) {
  {
    const std::lock_guard lock(arena.mutex);
    if (Chunk* const chunk = arena.take_recent(request)) return chunk;
    arena.settle();
  }
  collect_pending(arena, false);
  return nullptr;
}

Chunk* MemoryPool::take_fitting(Arena& arena, const BlockRequest& request, bool spare_large) {
  std::lock_guard lock(arena.mutex);
  const bool small = request.bytes <= small_request;
  auto at = arena.free.lower_bound(std::pair(small, request.bytes));
  if (at == arena.free.end() || (*at)->segment->small != small) return nullptr;
  Chunk* chunk = *at;
  if (spare_large && arena.whole(chunk) && chunk->bytes >= large_segment &&
      request.bytes < chunk->bytes / 4) {
    return nullptr;
  }
  arena.free.erase(at);
  arena.hold(chunk, request);
  return chunk;
}

/// Moves a wholly free segment that fits from the arena of an idle stream.
Chunk* MemoryPool::take_from_idle(Arena& arena, const BlockRequest& request) {
  const bool small = request.bytes <= small_request;
  for (Arena* other : arenas()) {
    if (other == &arena || other->borrowed) continue;
    std::unique_ptr<Segment> moved;
    {
      std::lock_guard lock(other->mutex);
      other->settle();
      auto at = other->free.lower_bound(std::pair(small, request.bytes));
      while (at != other->free.end() && (*at)->segment->small == small && !other->whole(*at)) ++at;
      if (at == other->free.end() || (*at)->segment->small != small) continue;
      if ((*at)->bytes / 4 > std::max(request.bytes, segment_unit)) continue;
      if (!backend_.idle(other->stream)) continue;
      moved = other->give_up((*at)->segment);
    }
    std::lock_guard lock(arena.mutex);
    Chunk* chunk = moved->first;
    arena.adopt(std::move(moved));
    arena.free.erase(chunk);
    arena.hold(chunk, request);
    return chunk;
  }
  return nullptr;
}

Chunk* MemoryPool::reserve_and_take(Arena& arena, const BlockRequest& request) {
  const bool small = request.bytes <= small_request;
  const std::size_t size = small ? segment_unit : round_up(request.bytes, segment_unit);
  const std::size_t limit = counters_->limit.load();
  const std::size_t now = counters_->reserved.fetch_add(size) + size;
  void* pointer = nullptr;
  try {
    if (limit == 0 || now <= limit) {
      const ir::Span span(ir::Phase::allocate, "growth of a pool");
      if (span.data() != nullptr) span.data()->bytes = size;
      pointer = backend_.reserve(size);
    }
  } catch (...) {
    counters_->reserved.fetch_sub(size);
    throw;
  }
  if (pointer == nullptr) {
    counters_->reserved.fetch_sub(size);
    return nullptr;
  }
  counters_->outside_known.store(false);
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
  arena.hold(chunk, request);
  return chunk;
}

// Only the holder of the block writes these fields, so that reading them needs no lock.
void MemoryPool::describe(Chunk* chunk, const Label& label, ir::Location line) {
  if (chunk->label == label && chunk->line.file == line.file && chunk->line.line == line.line)
    return;
  const std::lock_guard lock(chunk->segment->arena->mutex);
  Arena::describe(*chunk, label, line);
}

void MemoryPool::free(Chunk* chunk, std::span<StreamState* const> users) noexcept {
  counters_->in_use.fetch_sub(chunk->bytes, std::memory_order_relaxed);
  Arena& arena = *chunk->segment->arena;
  try {
    Pending pending{chunk, {}};
    for (StreamState* user : users) pending.markers.push_back(backend_.mark(user));
    if (chunk->lent_to != nullptr) pending.markers.push_back(backend_.mark(chunk->lent_to));
    const std::lock_guard lock(arena.mutex);
    --arena.blocks;
    if (pending.markers.empty()) {
      arena.put_recent(chunk);
    } else {
      arena.pending.push_back(std::move(pending));
    }
  } catch (const std::exception& failure) {
    // The device failed for good. The block may not be used again, so it is never returned.
    log().error("a block of {} bytes cannot be reused: {}", chunk->bytes, failure.what());
  }
}

void MemoryPool::collect_pending(Arena& arena, bool wait) {
  if (wait) wait_for_pending(arena);
  const std::lock_guard lock(arena.mutex);
  for (auto it = arena.pending.begin(); it != arena.pending.end();) {
    if (std::ranges::all_of(it->markers, [](const auto& marker) { return marker->passed(); })) {
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
      counters_->outside_known.store(false);
      counters_->reserved.fetch_sub(segment->bytes);
      given_back += segment->bytes;
      delete segment->first;
    }
  }
  return given_back;
}

std::size_t MemoryPool::set_limit(std::size_t bytes) { return counters_->limit.exchange(bytes); }

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

std::size_t MemoryPool::available() const {
  if (!counters_->outside_known.load()) {
    counters_->outside.store(backend_.free_bytes());
    counters_->outside_known.store(true);
  }
  std::size_t outside = counters_->outside.load();
  const std::size_t reserved = counters_->reserved.load(), in_use = counters_->in_use.load();
  if (const std::size_t most = limit(); most != 0)
    outside = std::min(outside, most - std::min(most, reserved));
  const std::size_t inside = reserved - std::min(reserved, in_use);
  return outside > SIZE_MAX - inside ? SIZE_MAX : outside + inside;
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

std::size_t MemoryPool::free_blocks() const {
  std::size_t count = 0;
  for (Arena* arena : arenas()) {
    const std::lock_guard lock(arena->mutex);
    arena->settle();
    count += arena->free.size();
  }
  return count;
}

std::string MemoryPool::describe_largest(std::size_t count) const {
  struct Block {
    std::size_t bytes;
    Label label;
    ir::Location line;
  };
  std::vector<Block> held;
  for (Arena* arena : arenas()) {
    std::lock_guard lock(arena->mutex);
    for (const auto& segment : arena->segments) {
      for (const Chunk* c = segment->first; c != nullptr; c = c->after) {
        if (c->held && !c->recent) held.push_back({c->bytes, c->label, c->line});
      }
    }
  }
  std::stable_sort(held.begin(), held.end(),
                   [](const Block& a, const Block& b) { return a.bytes > b.bytes; });
  std::string out;
  for (std::size_t i = 0; i < std::min(count, held.size()); ++i) {
    out += fmt::format("  {} bytes: {}\n", held[i].bytes, purpose(held[i].label, held[i].line));
  }
  return out;
}

std::string purpose(const Label& label, ir::Location line) {
  const std::string what = label ? *label : "no label", where = line.to_string();
  return where.empty() ? what : fmt::format("{} ({})", what, where);
}

void MemoryPool::verify() const {
  auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  };
  for (Arena* arena : arenas()) {
    std::lock_guard lock(arena->mutex);
    std::size_t free_chunks = 0, recent = 0;
    for (const auto& segment : arena->segments) {
      require(segment->arena == arena, "a segment belongs to another arena");
      char* at = segment->pointer;
      const Chunk* before = nullptr;
      for (const Chunk* c = segment->first; c != nullptr; before = c, c = c->after) {
        require(c->pointer == at && c->bytes % unit == 0 && c->bytes > 0, "chunks leave a gap");
        require(c->before == before && c->segment == segment.get(), "a chunk's links are wrong");
        require(before == nullptr || before->held || c->held, "two free neighbours");
        require(c->held || arena->free.count(const_cast<Chunk*>(c)) == 1,
                "a free chunk is not in the free list");
        require(c->held || !c->recent, "a free chunk is in the list of recent chunks");
        free_chunks += c->held ? 0 : 1;
        recent += c->recent ? 1 : 0;
        at += c->bytes;
      }
      require(at == segment->pointer + segment->bytes, "chunks do not fill the segment");
    }
    require(free_chunks == arena->free.size(), "the free list has chunks of no segment");
    require(recent == arena->recent.size(), "the list of recent chunks has chunks of no segment");
  }
}

}  // namespace heddle::runtime
