// Allocators and memory hooks of the public interface.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/error.h"

#include "tests/memory/pool_watch.h"

using namespace hd::test;

namespace {

/// Memory of malloc, which is not aligned to 512 bytes.
class Malloc : public hd::MemorySource {
 public:
  void* reserve(const std::string& device, std::size_t bytes) override {
    CHECK(device == "cpu");
    if (fails) throw std::runtime_error("malloc is broken");
    if (bytes > most) return nullptr;
    const std::lock_guard lock(mutex);
    void* const pointer = std::malloc(bytes);
    blocks[pointer] = bytes;
    return pointer;
  }
  void release(const std::string&, void* pointer, std::size_t bytes) noexcept override {
    const std::lock_guard lock(mutex);
    CHECK(blocks.at(pointer) == bytes);
    blocks.erase(pointer);
    std::free(pointer);
  }

  std::mutex mutex;
  std::map<void*, std::size_t> blocks;
  std::size_t most = SIZE_MAX;
  bool fails = false;
};

/// Writes down what it is told.
class Told : public hd::MemoryHook {
 public:
  void before_allocate(const hd::MemoryEvent& event) override { note("before_allocate", event); }
  void after_allocate(const hd::MemoryEvent& event) override { note("after_allocate", event); }
  void before_reserve(const hd::MemoryEvent& event) override { note("before_reserve", event); }
  void after_reserve(const hd::MemoryEvent& event) override { note("after_reserve", event); }
  void before_free(const hd::MemoryEvent& event) override { note("before_free", event); }
  void after_free(const hd::MemoryEvent& event) override { note("after_free", event); }

  std::vector<std::string> steps;
  std::vector<hd::MemoryEvent> events;

 private:
  void note(const char* step, const hd::MemoryEvent& event) {
    steps.emplace_back(step);
    events.push_back(event);
  }
};

class OnCpu {
 public:
  OnCpu() { hd::set_device("cpu"); }
  ~OnCpu() { hd::set_device(before_); }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

 private:
  std::string before_ = hd::device();
};

double sum_of(const hd::Array& x) { return hd::sum(x).item<double>(); }

}  // namespace

TEST_CASE("arrays have memory of the user's source, and give it back") {
  const OnCpu cpu;
  const auto source = std::make_shared<Malloc>();
  {
    hd::Array x;
    {
      const hd::AllocatorScope scope(hd::MemoryAllocator::direct(source));
      x = hd::arange(1000.0) + 1.0;
    }
    CHECK(source->blocks.size() == 1);
    CHECK(sum_of(x) == 500500);
    CHECK(source->blocks.size() == 1);
  }
  CHECK(source->blocks.empty());
}

TEST_CASE("a pool of a source reserves segments, and has a limit") {
  const OnCpu cpu;
  const auto source = std::make_shared<Malloc>();
  {
    const auto pool = hd::MemoryAllocator::pool(source);
    CHECK(pool.set_limit(4 * mib) == 0);
    {
      const hd::AllocatorScope scope(pool);
      const hd::Array x = (hd::arange(1000.0) + 1.0).eval(), y = (x * 2.0).eval();
      CHECK(pool.statistics().in_use == 2 * 8192);
      CHECK(pool.statistics().reserved == 2 * mib);
      CHECK(source->blocks.size() == 1);
      CHECK(sum_of(y) == 1001000);
      CHECK_THROWS_AS((hd::arange(1000000.0) + 1.0).eval(), hd::OutOfMemory);
    }
    CHECK(pool.trim() == 2 * mib);
  }
  CHECK(source->blocks.empty());
  CHECK_THROWS_AS(hd::MemoryAllocator::direct(source).set_limit(1), hd::ValueError);
  CHECK_THROWS_AS(hd::MemoryAllocator::pool(nullptr), hd::ValueError);
}

TEST_CASE("an allocator for all threads") {
  const OnCpu cpu;
  const auto source = std::make_shared<Malloc>();
  hd::set_allocator(hd::MemoryAllocator::direct(source));
  const hd::Array x = (hd::arange(10.0) + 1.0).eval();
  hd::reset_allocator();
  CHECK(source->blocks.size() == 1);
  const hd::Array y = (x + 1.0).eval();
  CHECK(source->blocks.size() == 1);
  CHECK(sum_of(y) == 65);
}

TEST_CASE("a source that fails") {
  const OnCpu cpu;
  const auto source = std::make_shared<Malloc>();
  const hd::AllocatorScope scope(hd::MemoryAllocator::direct(source));
  const hd::Array x = hd::arange(1000.0) + 1.0;
  source->fails = true;
  CHECK_THROWS_WITH(x.eval(), "malloc is broken");
  source->fails = false;
  source->most = 100;
  CHECK_THROWS_AS(x.eval(), hd::OutOfMemory);
  source->most = SIZE_MAX;
  CHECK(sum_of(x) == 500500);
}

TEST_CASE("kinds of memory are ordinary memory on the CPU") {
  const OnCpu cpu;
  for (const hd::MemoryKind kind :
       {hd::MemoryKind::device, hd::MemoryKind::managed, hd::MemoryKind::ordered}) {
    const auto pool = hd::MemoryAllocator::pool(kind), direct = hd::MemoryAllocator::direct(kind);
    for (const hd::MemoryAllocator& allocator : {pool, direct}) {
      const hd::AllocatorScope scope(allocator);
      const hd::Array x = (hd::arange(1000.0) + 1.0).eval();
      CHECK(allocator.statistics().in_use == 8192);
      CHECK(sum_of(x) == 500500);
    }
  }
}

TEST_CASE("hooks are told of all steps, with the line") {
  const OnCpu cpu;
  const auto told = std::make_shared<Told>();
  const auto pool = hd::MemoryAllocator::pool();
  {
    const hd::AllocatorScope scope(pool);
    const hd::MemoryHookScope hook(told);
    const hd::Array x = (hd::arange(1000.0) + 1.0).eval();
  }
  const std::vector<std::string> expected = {"before_allocate", "before_reserve", "after_reserve",
                                             "after_allocate",  "before_free",    "after_free"};
  CHECK(told->steps == expected);
  const hd::MemoryEvent& given = told->events[3];
  CHECK(given.device == "cpu");
  CHECK(given.requested == 8000);
  CHECK(given.bytes == 8192);
  CHECK(given.pointer != nullptr);
  CHECK(given.label.starts_with("float64[1000]"));
  CHECK(given.file.ends_with("allocators.cpp"));
  CHECK(told->events[1].bytes == 2 * mib);
  CHECK(told->events[5].block == given.block);
  (hd::arange(1000.0) + 1.0).eval();
  CHECK(told->steps.size() == expected.size());
}

TEST_CASE("a hook that throws") {
  class Throws : public hd::MemoryHook {
   public:
    void after_allocate(const hd::MemoryEvent&) override { throw std::runtime_error("no"); }
    void before_free(const hd::MemoryEvent&) override { throw std::runtime_error("logged"); }
  };
  const OnCpu cpu;
  const std::size_t before = hd::memory_statistics().in_use;
  const hd::Array x = hd::arange(1000.0) + 1.0;
  {
    const CapturedLog log;
    const hd::Array ready = (hd::arange(2000.0) + 1.0).eval();
    const hd::MemoryHookScope hook(std::make_shared<Throws>());
    const hd::Array y = hd::arange(1000.0) + 2.0;
    CHECK_THROWS_WITH(y.eval(), "no");
    CHECK(log.text().find("logged") != std::string::npos);
  }
  CHECK(hd::memory_statistics().in_use == before + 8192);  // x, which was evaluated at the start
  CHECK(sum_of(x) == 500500);
  CHECK_THROWS_AS(hd::MemoryHookScope(nullptr), hd::ValueError);
}
