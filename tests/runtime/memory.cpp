#include "runtime/device/memory.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::allocate;
using runtime::BufferRef;
using runtime::Device;
using runtime::Stream;

namespace {

Stream cpu() { return Stream::current(Device{}); }

runtime::MemoryPool& pool() { return runtime::pool_of(Device{}); }

}  // namespace

TEST_CASE("host blocks are aligned, counted, and go back with the last holder") {
  const std::size_t before = pool().statistics().in_use;
  {
    BufferRef buffer = allocate(1000, cpu());
    CHECK(reinterpret_cast<std::uintptr_t>(buffer->pointer()) % 64 == 0);
    CHECK(buffer->bytes() == 1000);
    CHECK(buffer->device() == Device{});
    CHECK(buffer->pooled());
    std::memset(buffer->pointer(), 1, buffer->bytes());
    CHECK(buffer.unique());
    const BufferRef other = buffer;
    CHECK_FALSE(buffer.unique());
    CHECK(other == buffer);
    buffer = BufferRef();
    CHECK_FALSE(buffer);
    CHECK(other.unique());
    CHECK(pool().statistics().in_use == before + 1024);
  }
  CHECK(pool().statistics().in_use == before);
}

TEST_CASE("a block of no bytes has no pointer and costs nothing") {
  const std::size_t before = pool().statistics().in_use;
  const BufferRef buffer = allocate(0, cpu());
  CHECK(buffer);
  CHECK(buffer->pointer() == nullptr);
  CHECK(pool().statistics().in_use == before);
}

TEST_CASE("borrowed memory is given back once and is never pooled") {
  int released = 0;
  char bytes[16];
  {
    const BufferRef buffer = runtime::borrow(bytes, sizeof bytes, cpu(), [&] { ++released; });
    const BufferRef other = buffer;  // NOLINT(performance-unnecessary-copy-initialization)
    CHECK(buffer->pointer() == bytes);
    CHECK_FALSE(buffer->pooled());
  }
  CHECK(released == 1);
}

TEST_CASE("OutOfMemory says what was asked for, the limit and the largest blocks") {
  const std::size_t limit = pool().statistics().reserved + (std::size_t{64} << 20);
  pool().set_limit(limit);
  const BufferRef weights = allocate(std::size_t{20} << 20, cpu(),
                                     std::make_shared<const std::string>("weights f32[5,1024]"));
  int asked = 0;
  const int number = runtime::add_reclaimer([&](Device, std::size_t) { ++asked; });
  try {
    allocate(std::size_t{1} << 32, cpu(), std::make_shared<const std::string>("logits"));
    FAIL("it was allocated");
  } catch (const OutOfMemory& failure) {
    const std::string text = failure.what();
    for (const std::string& part :
         {std::string("4294967296 bytes"), std::string("logits"), std::to_string(limit),
          std::string("20971520 bytes: weights f32[5,1024]"), std::string("cpu")}) {
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    }
  }
  CHECK(asked == 1);
  runtime::remove_reclaimer(number);
  CHECK(allocate(1 << 20, cpu()));
  pool().set_limit(0);
}

TEST_CASE("a reclaimer that gives memory up makes the allocation succeed") {
  pool().trim(true);
  pool().set_limit(pool().statistics().reserved + (std::size_t{64} << 20));
  BufferRef kept = allocate(std::size_t{40} << 20, cpu());
  const int number = runtime::add_reclaimer([&](Device, std::size_t) { kept = BufferRef(); });
  const BufferRef wanted = allocate(std::size_t{50} << 20, cpu());
  CHECK(wanted);
  CHECK_FALSE(kept);
  runtime::remove_reclaimer(number);
  pool().set_limit(0);
}

TEST_CASE("an injected failure is an OutOfMemory, and the next allocation works") {
  const std::size_t before = pool().statistics().in_use;
  {
    const runtime::fault::Watch watch(runtime::fault::Kind::allocation, 1);
    const BufferRef first = allocate(100, cpu());
    CHECK_THROWS_AS(allocate(100, cpu()), OutOfMemory);
    CHECK(allocate(100, cpu()));
    CHECK(watch.count() == 3);
    CHECK(watch.fired());
  }
  CHECK(pool().statistics().in_use == before);
}

TEST_CASE("threads allocate and free at once, also each other's blocks") {
  const std::size_t before = pool().statistics().in_use;
  {
    std::vector<BufferRef> shared(64);
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        test::Random random(t);
        for (int i = 0; i < 2000; ++i) {
          BufferRef buffer = allocate(1 + random.below(100000), cpu());
          std::memset(buffer->pointer(), static_cast<int>(t), buffer->bytes());
          const std::lock_guard lock(mutex);
          std::swap(shared[random.below(shared.size())], buffer);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(pool().statistics().in_use == before);
  pool().verify();
}

TEST_CASE("copies and fills between host blocks") {
  const BufferRef a = allocate(1000, cpu()), b = allocate(1000, cpu());
  runtime::fill(a->pointer(), 0x5a, 1000, cpu());
  runtime::copy(b->pointer(), Device{}, a->pointer(), Device{}, 1000, cpu());
  CHECK(std::memcmp(a->pointer(), b->pointer(), 1000) == 0);
  CHECK(static_cast<const unsigned char*>(b->pointer())[999] == 0x5a);
  const runtime::Event start(cpu(), true), end(cpu(), true);
  CHECK(end.done());
  CHECK(end.milliseconds_since(start) >= 0);
}

TEST_CASE("blocks held by static objects die at exit without harm") {
  const auto result = test::run_child("child: static holders", {"HEDDLE_POISON=1"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: static holders" * doctest::skip()) {
  static BufferRef holder;
  static thread_local BufferRef thread_holder;
  holder = allocate(5000, cpu());
  thread_holder = allocate(6000, cpu());
  CHECK(static_cast<const unsigned char*>(holder->pointer())[4999] == 0xff);
}

TEST_CASE("HEDDLE_MEMORY_LIMIT limits every pool") {
  CHECK(test::run_child("child: limited pool", {"HEDDLE_MEMORY_LIMIT=16M"}).status == 0);
  CHECK(test::run_child("child: unlimited pool", {"HEDDLE_MEMORY_LIMIT="}).status == 0);
  CHECK(test::run_child("child: no limit of a pool", {"HEDDLE_MEMORY_LIMIT=lots"}).status == 0);
}

TEST_CASE("child: no limit of a pool" * doctest::skip()) {
  CHECK_THROWS_WITH_AS(pool().limit(), doctest::Contains("HEDDLE_MEMORY_LIMIT is 'lots'"),
                       ValueError);
}

TEST_CASE("child: limited pool" * doctest::skip()) {
  CHECK(pool().limit() == std::size_t{16} << 20);
  CHECK_THROWS_AS(allocate(std::size_t{17} << 20, cpu()), OutOfMemory);
  CHECK(allocate(std::size_t{15} << 20, cpu()));
}

TEST_CASE("child: unlimited pool" * doctest::skip()) { CHECK(pool().limit() == 0); }
