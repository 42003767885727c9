// What a user asks of the pool and tells it: numbers, the largest blocks, a limit, giving back.

#include <algorithm>
#include <string>

#include "heddle/error.h"

#include "tests/memory/pool_watch.h"

using namespace hd::test;

namespace {

constexpr std::int64_t elements = 4 * static_cast<std::int64_t>(mib) / 4;  // of 4 MiB of float32

/// A limit for a scope, by the public functions alone.
class PublicLimit {
 public:
  explicit PublicLimit(std::size_t bytes) : before_(hd::set_memory_limit(bytes)) {}
  ~PublicLimit() { hd::set_memory_limit(before_); }
  PublicLimit(const PublicLimit&) = delete;
  PublicLimit& operator=(const PublicLimit&) = delete;

 private:
  std::size_t before_;
};

}  // namespace

TEST_CASE("memory statistics count blocks, and peaks from their reset on") {
  hd::trim_memory();
  hd::reset_memory_peak();
  const hd::MemoryStatistics before = hd::memory_statistics();
  CHECK(before.peak_in_use == before.in_use);
  CHECK(before.peak_reserved == before.reserved);
  {
    const hd::Array x = hd::zeros({elements}, hd::DType::f32);
    hd::eval({x});
    const hd::MemoryStatistics held = hd::memory_statistics();
    CHECK(held.in_use == before.in_use + 4 * mib);
    CHECK(held.blocks == before.blocks + 1);
    CHECK(held.allocations > before.allocations);
    CHECK(held.reserved >= held.in_use);
    CHECK(hd::memory_statistics(hd::device()).in_use == held.in_use);
  }
  hd::synchronize();
  const hd::MemoryStatistics after = hd::memory_statistics();
  CHECK(after.in_use == before.in_use);
  CHECK(after.blocks == before.blocks);
  CHECK(after.peak_in_use >= before.in_use + 4 * mib);
  CHECK(after.largest_free >= 4 * mib);
  hd::reset_memory_peak();
  CHECK(hd::memory_statistics().peak_in_use == after.in_use);
}

TEST_CASE("trimming gives back what is free, and says how much") {
  hd::trim_memory();
  const std::size_t reserved = hd::memory_statistics().reserved;
  {
    const hd::Array x = hd::zeros({16 * elements}, hd::DType::f32);
    hd::eval({x});
    CHECK(hd::memory_statistics().reserved >= reserved + 64 * mib);
    CHECK(hd::trim_memory() == 0);
  }
  hd::synchronize();
  CHECK(hd::trim_memory() >= 64 * mib);
  CHECK(hd::memory_statistics().reserved <= reserved);
}

TEST_CASE("the largest blocks are told with what computed them and the line") {
  const hd::Array x = hd::zeros({elements}, hd::DType::f32);
  const hd::Array y = hd::exp(x);
  const int line = __LINE__ - 1;
  hd::eval({y});
  const std::string text = hd::describe_memory(3);
  CHECK_MESSAGE(text.find("4194304 bytes: float32[1048576]") != std::string::npos, text);
  CHECK_MESSAGE(text.find("pool_numbers.cpp:" + std::to_string(line)) != std::string::npos, text);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 3);
  CHECK(hd::describe_memory(0).empty());
}

TEST_CASE("a limit holds, is told, and leaves the library working") {
  hd::trim_memory();
  {
    const PublicLimit limit(hd::memory_statistics().reserved + 32 * mib);
    CHECK(hd::memory_statistics().limit > 0);
    CHECK_THROWS_AS(hd::eval({hd::zeros({16 * elements}, hd::DType::f32)}), hd::OutOfMemory);
    const hd::Array small = hd::ones({elements}, hd::DType::f32);
    if (computes()) CHECK(hd::sum(small).item<float>() == static_cast<float>(elements));
  }
  CHECK_NOTHROW(hd::eval({hd::zeros({16 * elements}, hd::DType::f32)}));
}

TEST_CASE("a device that is not there, and a text that names none") {
  CHECK_THROWS_AS(hd::memory_statistics("gpu"), hd::ValueError);
  CHECK_THROWS_AS(hd::trim_memory("cuda:4711"), hd::DeviceError);
  CHECK(hd::memory_statistics("cpu").reserved >= hd::memory_statistics("cpu").in_use);
}
