#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/device/pool.h"

/// The data structures of a memory pool; pool.h describes them.
namespace heddle::runtime {

/// Memory reserved from the device by one call.
struct Segment {
  char* pointer = nullptr;
  std::size_t bytes = 0;
  Arena* arena = nullptr;
  bool small = false;  ///< serves only small requests, so that they do not fragment large chunks
  Chunk* first = nullptr;
};

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
  std::vector<std::shared_ptr<PoolMarker>> markers;
};

/// The memory of one stream.
struct Arena {
  static constexpr std::size_t most_recent = 16;

  StreamState* stream = nullptr;
  PoolBackend* backend = nullptr;  ///< of the pool
  /// Someone else may destroy the stream once it has no held blocks, so the pool never queries it.
  bool borrowed = false;
  ir::Mutex mutex;
  std::set<Chunk*, BySize> free;
  std::vector<std::unique_ptr<Segment>> segments;
  std::list<Pending> pending;
  /// The most recently freed blocks, the latest last. They count as held, so that neighbours do not
  /// merge with them. A request of the same size, as in the next iteration of a loop, then needs no
  /// split and no merge.
  std::vector<Chunk*> recent;
  std::uint64_t blocks = 0;       ///< held now
  std::uint64_t allocations = 0;  ///< total so far

  Chunk* take_recent(const BlockRequest& request) {
    for (std::size_t i = recent.size(); i-- > 0;) {
      Chunk* const chunk = recent[i];
      if (chunk->bytes != request.bytes) continue;
      recent.erase(recent.begin() + static_cast<std::ptrdiff_t>(i));
      chunk->recent = false;
      describe(*chunk, request.label, request.line);
      ++blocks;
      ++allocations;
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

  /// Merges all recent blocks with their free neighbours.
  void settle() {
    for (Chunk* const chunk : recent) insert_free(chunk);
    recent.clear();
  }

  static void describe(Chunk& chunk, const Label& label, ir::Location line) {
    if (chunk.label != label) chunk.label = label;
    chunk.line = line;
  }

  bool whole(const Chunk* c) const { return c->before == nullptr && c->after == nullptr; }

  void insert_free(Chunk* chunk) {
    chunk->held = chunk->recent = false;
    chunk->lent_to = nullptr;
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

  /// Allocates from a chunk that was removed from `free`.
  void hold(Chunk* chunk, const BlockRequest& request) {
    chunk->held = true;
    cut(chunk, request.bytes);
    describe(*chunk, request.label, request.line);
    ++blocks;
    ++allocations;
  }

  /// Shrinks a chunk that was removed from `free` to `bytes`; the rest becomes a free chunk.
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

}  // namespace heddle::runtime
