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

/// What a pool's memory is made of; pool.h says how.
namespace heddle::runtime {

/// Memory that was reserved at once.
struct Segment {
  char* pointer = nullptr;
  std::size_t bytes = 0;
  Arena* arena = nullptr;
  bool small = false;  ///< serves small requests only, so that they do not cut up large chunks
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
  std::vector<std::unique_ptr<PoolMarker>> markers;
};

/// The memory of one stream.
struct Arena {
  static constexpr std::size_t most_recent = 16;

  StreamState* stream = nullptr;
  ir::Mutex mutex;
  std::set<Chunk*, BySize> free;
  std::vector<std::unique_ptr<Segment>> segments;
  std::list<Pending> pending;
  /// The blocks freed last, the latest behind. They look held to their neighbours, so that a
  /// request of just their size, as the next turn of a loop makes it, cuts and merges nothing.
  std::vector<Chunk*> recent;
  std::uint64_t blocks = 0;       ///< held by somebody
  std::uint64_t allocations = 0;  ///< ever

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

  /// Merges them all with what is free around them.
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

  /// Gives somebody what they ask for of a chunk that has left `free`.
  void hold(Chunk* chunk, const BlockRequest& request) {
    chunk->held = true;
    cut(chunk, request.bytes);
    describe(*chunk, request.label, request.line);
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

}  // namespace heddle::runtime
