#include "runtime/device/pool.h"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/device/stream.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::Chunk;
using runtime::MemoryPool;
using runtime::StreamState;

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

/// A device of `capacity` bytes whose streams are done when the test says so. Addresses are never
/// touched.
class FakeDevice : public runtime::PoolBackend {
 public:
  explicit FakeDevice(std::size_t capacity) : capacity_(capacity) {}
  ~FakeDevice() override { CHECK(used_ == 0); }

  void* reserve(std::size_t bytes) override {
    if (used_ + bytes > capacity_) return nullptr;
    used_ += bytes;
    next_ += bytes + 64 * mib;
    live_[next_] = bytes;
    return reinterpret_cast<void*>(next_);
  }
  void release(void* pointer, std::size_t bytes) noexcept override {
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(pointer));
    CHECK(found != live_.end());
    CHECK(found->second == bytes);
    live_.erase(found);
    used_ -= bytes;
  }
  std::size_t free_bytes() override { return capacity_ - used_; }
  bool idle(StreamState* stream) override {
    CHECK_MESSAGE(!stream->borrowed, "its owner may have destroyed it");
    return busy.count(stream) == 0;
  }
  std::unique_ptr<runtime::PoolMarker> mark(StreamState* stream) override {
    CHECK_MESSAGE(!stream->borrowed, "its owner may have destroyed it");
    struct Marker : runtime::PoolMarker {
      Marker(FakeDevice& device, StreamState* stream) : device(device), stream(stream) {}
      bool passed() override { return device.busy.count(stream) == 0; }
      void wait() override {
        device.busy.erase(stream);
        if (device.while_waiting) std::exchange(device.while_waiting, nullptr)();
      }
      FakeDevice& device;
      StreamState* stream;
    };
    return std::make_unique<Marker>(*this, stream);
  }

  std::set<StreamState*> busy;
  std::function<void()> while_waiting;  ///< called once
  std::size_t used() const { return used_; }

 private:
  std::size_t capacity_, used_ = 0;
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
  std::map<std::uintptr_t, std::size_t> live_;
};

/// So many bytes for something that has no name.
runtime::BlockRequest of(std::size_t bytes) {
  static const runtime::Label nameless;
  return {bytes, nameless, {}};
}

struct Streams {
  StreamState a, b, c;
};

}  // namespace

TEST_CASE("a freed block is used again, and neighbours merge") {
  FakeDevice device(1024 * mib);
  MemoryPool pool(device);
  Streams s;
  Chunk* blocks[4];
  for (Chunk*& block : blocks) block = pool.allocate(of(4 * mib), &s.a);
  CHECK(pool.statistics().in_use == 16 * mib);
  for (Chunk* block : blocks) pool.free(block, {});
  pool.verify();

  Chunk* first = pool.allocate(of(8 * mib), &s.a);
  REQUIRE(first != nullptr);
  Chunk* left = pool.allocate(of(2 * mib), &s.a);
  Chunk* middle = pool.allocate(of(2 * mib), &s.a);
  pool.verify();
  pool.free(middle, {});
  pool.free(left, {});
  pool.free(first, {});
  pool.verify();
  CHECK(pool.statistics().in_use == 0);
  CHECK(pool.statistics().blocks == 0);
  CHECK(pool.statistics().peak_in_use == 16 * mib);
  pool.reset_peak();
  CHECK(pool.statistics().peak_in_use == 0);
  CHECK(pool.trim(false) == pool.statistics().peak_reserved);
  CHECK(device.used() == 0);
}

TEST_CASE("small requests share segments and are cut in 512-byte units") {
  FakeDevice device(64 * mib);
  MemoryPool pool(device);
  Streams s;
  std::vector<Chunk*> blocks;
  for (std::size_t i = 0; i < 1000; ++i) blocks.push_back(pool.allocate(of(i + 1), &s.a));
  for (const Chunk* block : blocks) {
    CHECK(block->bytes % MemoryPool::unit == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(block->pointer) % MemoryPool::unit == 0);
  }
  CHECK(pool.statistics().reservations == 1);
  for (Chunk* block : blocks) pool.free(block, {});
  pool.verify();
}

TEST_CASE("the smallest chunk that fits is taken") {
  FakeDevice device(1024 * mib);
  MemoryPool pool(device);
  Streams s;
  Chunk* large = pool.allocate(of(20 * mib), &s.a);
  Chunk* small = pool.allocate(of(6 * mib), &s.a);
  const char* const where = small->pointer;
  pool.free(large, {});
  pool.free(small, {});
  Chunk* again = pool.allocate(of(5 * mib), &s.a);
  CHECK(again->pointer == where);
  pool.free(again, {});
}

TEST_CASE("a block that another stream uses waits for that stream") {
  FakeDevice device(64 * mib);
  MemoryPool pool(device);
  Streams s;
  Chunk* block = pool.allocate(of(8 * mib), &s.a);
  const char* const where = block->pointer;
  device.busy.insert(&s.b);
  StreamState* users[] = {&s.b};
  pool.free(block, users);
  CHECK(pool.statistics().in_use == 0);

  Chunk* other = pool.allocate(of(8 * mib), &s.a);
  CHECK(other->pointer != where);
  pool.free(other, {});
  CHECK(pool.trim(false) == 8 * mib);

  device.busy.clear();
  Chunk* reused = pool.allocate(of(8 * mib), &s.a);
  CHECK(reused->pointer == where);
  pool.free(reused, {});
}

TEST_CASE("a stream takes free memory of another one only when that is idle") {
  FakeDevice device(64 * mib);
  MemoryPool pool(device);
  Streams s;
  Chunk* block = pool.allocate(of(8 * mib), &s.a);
  const char* const where = block->pointer;
  pool.free(block, {});
  device.busy.insert(&s.a);
  Chunk* own = pool.allocate(of(8 * mib), &s.b);
  CHECK(own->pointer != where);
  device.busy.clear();
  Chunk* taken = pool.allocate(of(8 * mib), &s.b);
  CHECK(taken->pointer == where);
  pool.verify();
  pool.free(own, {});
  pool.free(taken, {});
  pool.verify();
}

TEST_CASE("what a trim waits for may free memory of the same stream") {
  FakeDevice device(64 * mib);
  MemoryPool pool(device);
  Streams s;
  Chunk* const read = pool.allocate(of(4 * mib), &s.a);
  Chunk* const other = pool.allocate(of(4 * mib), &s.a);
  device.busy.insert(&s.b);
  StreamState* const reader[] = {&s.b};
  pool.free(read, reader);
  device.while_waiting = [&] { pool.free(other, {}); };
  CHECK(pool.trim(true) == 8 * mib);
  pool.verify();
}

TEST_CASE("a stream of others is not asked about once its blocks are free") {
  FakeDevice device(64 * mib);
  MemoryPool pool(device);
  Streams s;
  s.a.borrowed = true;
  pool.free(pool.allocate(of(40 * mib), &s.a), {});
  CHECK(pool.allocate(of(32 * mib), &s.b) == nullptr);
  CHECK(pool.borrow(of(32 * mib), &s.b) == nullptr);
  CHECK(pool.trim(true) == 40 * mib);
  Chunk* const block = pool.allocate(of(32 * mib), &s.b);
  REQUIRE(block != nullptr);
  pool.free(block, {});
}

TEST_CASE("a limit holds, and free memory counts against it only until it is trimmed") {
  FakeDevice device(1024 * mib);
  MemoryPool pool(device);
  Streams s;
  constexpr std::size_t limit = 100 * mib;
  pool.set_limit(limit);
  Chunk* half = pool.allocate(of(limit / 2), &s.a);
  REQUIRE(half != nullptr);
  pool.free(half, {});
  CHECK(pool.allocate(of(limit / 5 * 4), &s.a) == nullptr);
  CHECK(pool.trim(true) == limit / 2);
  Chunk* most = pool.allocate(of(limit / 5 * 4), &s.a);
  REQUIRE(most != nullptr);
  CHECK(pool.allocate(of(limit / 2), &s.a) == nullptr);
  CHECK(pool.allocate(of(SIZE_MAX), &s.a) == nullptr);
  CHECK(pool.allocate(of(SIZE_MAX / 2), &s.a) == nullptr);
  pool.free(most, {});
}

TEST_CASE("a large free segment is kept whole for its next use while there is other memory") {
  constexpr std::size_t gib = 1024 * mib;
  FakeDevice device(8 * gib);
  MemoryPool pool(device);
  Streams s;
  Chunk* output = nullptr;
  for (int round = 0; round < 3; ++round) {
    Chunk* work = pool.allocate(of(5 * gib), &s.a);
    REQUIRE(work != nullptr);
    pool.free(work, {});
    Chunk* next_output = pool.allocate(of(gib), &s.a);
    REQUIRE(next_output != nullptr);
    if (output != nullptr) pool.free(output, {});
    output = next_output;
  }
  pool.free(output, {});
}

TEST_CASE("held blocks are told by size, the largest first") {
  FakeDevice device(64 * mib);
  MemoryPool pool(device);
  Streams s;
  const auto weights = std::make_shared<const std::string>("weights");
  const auto activations = std::make_shared<const std::string>("activations");
  Chunk* small = pool.allocate({512, weights, {"model.cpp", 12}}, &s.a);
  Chunk* large = pool.allocate({4 * mib, activations, {}}, &s.b);
  CHECK(pool.describe_largest(10) ==
        "  4194304 bytes: activations\n  512 bytes: weights (model.cpp:12)\n");
  CHECK(pool.describe_largest(1) == "  4194304 bytes: activations\n");
  pool.describe(small, activations, {"model.cpp", 13});
  CHECK(pool.describe_largest(10) ==
        "  4194304 bytes: activations\n  512 bytes: activations (model.cpp:13)\n");
  pool.free(small, {});
  pool.free(large, {});
  CHECK(pool.describe_largest(10).empty());
}

TEST_CASE("random allocations and frees keep blocks apart and the books right") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FakeDevice device(256 * mib);
    MemoryPool pool(device);
    Streams s;
    StreamState* const streams[] = {&s.a, &s.b, &s.c};
    test::Random random(seed);
    std::map<char*, Chunk*> held;
    std::size_t in_use = 0;
    auto free_random = [&] {
      auto at = std::next(held.begin(), static_cast<std::ptrdiff_t>(random.below(held.size())));
      Chunk* chunk = at->second;
      held.erase(at);
      in_use -= chunk->bytes;
      std::vector<StreamState*> users;
      if (random.below(4) == 0) users.push_back(streams[random.below(3)]);
      pool.free(chunk, users);
    };
    for (int step = 0; step < 2000; ++step) {
      if (random.below(10) == 0) device.busy.insert(streams[random.below(3)]);
      if (random.below(10) == 0) device.busy.clear();
      if (random.below(5) < 3 || held.empty()) {
        const std::size_t bytes = 1 + random.below(std::size_t{1} << (random.below(25)));
        Chunk* chunk = pool.allocate(of(bytes), streams[random.below(3)]);
        if (chunk == nullptr) {
          pool.trim(true);
          while (!held.empty() && held.size() > 4) free_random();
          continue;
        }
        REQUIRE(chunk->bytes >= bytes);
        const auto after = held.lower_bound(chunk->pointer);
        if (after != held.end()) REQUIRE(chunk->pointer + chunk->bytes <= after->first);
        if (after != held.begin()) {
          const Chunk* before = std::prev(after)->second;
          REQUIRE(before->pointer + before->bytes <= chunk->pointer);
        }
        held.emplace(chunk->pointer, chunk);
        in_use += chunk->bytes;
      } else {
        free_random();
      }
      REQUIRE(pool.statistics().in_use == in_use);
      REQUIRE(pool.statistics().blocks == held.size());
      REQUIRE(pool.statistics().reserved == device.used());
      if (step % 50 == 0) pool.verify();
    }
    while (!held.empty()) free_random();
    pool.trim(true);
    pool.verify();
    CHECK(pool.statistics().reserved == 0);
    CHECK(device.used() == 0);
  }
}

TEST_CASE("where memory is short a stream borrows what another one has free") {
  FakeDevice device(64 * mib);
  MemoryPool pool(device);
  Streams s;
  Chunk* const low = pool.allocate(of(40 * mib), &s.a);
  Chunk* const high = pool.allocate(of(20 * mib), &s.a);
  pool.free(low, {});
  Chunk* const kept = pool.allocate(of(10 * mib), &s.a);
  REQUIRE(kept->pointer == low->pointer);
  CHECK(pool.allocate(of(24 * mib), &s.b) == nullptr);
  CHECK(pool.trim(true) == 0);
  CHECK(pool.allocate(of(24 * mib), &s.b) == nullptr);
  device.busy.insert(&s.a);
  Chunk* const borrowed = pool.borrow(of(24 * mib), &s.b);
  REQUIRE(borrowed != nullptr);
  CHECK_MESSAGE(device.busy.count(&s.a) == 0, "its stream was waited for");
  CHECK(pool.statistics().in_use == 54 * mib);
  CHECK(pool.borrow(of(24 * mib), &s.b) == nullptr);
  pool.verify();
  // The block is its own stream's again when the borrower is done with it.
  device.busy.insert(&s.b);
  pool.free(borrowed, {});
  pool.verify();
  CHECK(pool.allocate(of(24 * mib), &s.a) == nullptr);
  device.busy.clear();
  Chunk* const again = pool.allocate(of(24 * mib), &s.a);
  REQUIRE(again != nullptr);
  CHECK(again->lent_to == nullptr);
  for (Chunk* const chunk : {kept, high, again}) pool.free(chunk, {});
  pool.verify();
}

TEST_CASE("two streams that hold three fifths of the memory nearly always find a block") {
  constexpr std::size_t capacity = 1024 * mib;
  int failures = 0;
  constexpr int runs = 40, steps = 5000;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    FakeDevice device(capacity);
    MemoryPool pool(device);
    Streams s;
    StreamState* const streams[] = {&s.a, &s.b};
    test::Random random(seed);
    std::vector<Chunk*> held;
    std::size_t live = 0;
    for (int step = 0; step < steps; ++step) {
      const std::size_t bytes = (1 + random.below(1000)) << random.below(17);  // up to 62 MiB
      while (live + bytes > capacity / 5 * 3) {
        const std::size_t i = random.below(held.size());
        live -= held[i]->bytes;
        pool.free(held[i], {});
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      }
      StreamState* const stream = streams[random.below(2)];
      Chunk* chunk = pool.allocate(of(bytes), stream);
      if (chunk == nullptr) {
        pool.trim(true);
        chunk = pool.allocate(of(bytes), stream);
      }
      if (chunk == nullptr) chunk = pool.borrow(of(bytes), stream);
      if (chunk == nullptr) {
        ++failures;
        continue;
      }
      live += chunk->bytes;
      held.push_back(chunk);
    }
    for (Chunk* chunk : held) pool.free(chunk, {});
    pool.trim(true);
    pool.verify();
    CHECK(device.used() == 0);
  }
  MESSAGE(failures << " of " << runs * steps << " requests found none");
  CHECK(failures <= 80);
}
