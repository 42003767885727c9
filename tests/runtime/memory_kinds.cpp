// Managed memory, and memory of the driver's own pool, on the fake driver: fake_driver/. The old
// one lacks the functions of CUDA 12.2.

#include <string>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/cuda/driver.h"
#include "runtime/device/allocator.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::Allocator;
using runtime::Device;
using runtime::DeviceKind;
using runtime::MemoryKind;
using runtime::Stream;

namespace {

constexpr Device gpu{DeviceKind::cuda, 0};
constexpr std::size_t mib = std::size_t{1} << 20;

const runtime::Backend& backend() { return runtime::backend_of(gpu); }

void check_managed() {
  const std::size_t before = backend().free_bytes(0);
  CHECK(before == 256 * mib);
  void* const first = backend().reserve_managed(0, 100 * mib);
  REQUIRE(first != nullptr);
  CHECK(backend().free_bytes(0) == before);  // it takes space when it is moved there
  void* const second = backend().reserve_managed(0, 100 * mib);
  REQUIRE(second != nullptr);
  // The driver would give it.
  CHECK(backend().reserve_managed(0, 100 * mib) == nullptr);
  const Stream stream = Stream::current(gpu);
  backend().prefetch(first, 100 * mib, gpu, stream);
  stream.synchronize();
  CHECK(backend().free_bytes(0) == before - 100 * mib);
  CHECK(backend().reserve_managed(0, 100 * mib) == nullptr);
  backend().prefetch(first, 100 * mib, Device{}, stream);
  stream.synchronize();
  CHECK(backend().free_bytes(0) == before);
  constexpr int read_mostly = 1, no_advice = 99;
  backend().advise(0, first, 100 * mib, read_mostly, gpu);
  backend().advise(0, first, mib, read_mostly, Device{});
  CHECK_THROWS_AS(backend().advise(0, first, mib, no_advice, gpu), DeviceError);
  int other = 0;
  CHECK_THROWS_AS(backend().prefetch(&other, 4, gpu, stream), DeviceError);
  backend().release_managed(0, second, 100 * mib);
  void* const third = backend().reserve_managed(0, 100 * mib);
  CHECK(third != nullptr);
  backend().release_managed(0, first, 100 * mib);
  backend().release_managed(0, third, 100 * mib);
  CHECK(backend().free_bytes(0) == before);
}

void check_ordered() {
  void* const block = backend().reserve_ordered(0, 10 * mib);
  REQUIRE(block != nullptr);
  CHECK(backend().ordered_pool(0).used == 10 * mib);
  // Every stream may use it at once.
  const Stream stream = Stream::create(gpu);
  runtime::fill(block, 1, 10 * mib, stream);
  stream.synchronize();
  CHECK(backend().reserve_ordered(0, 1000 * mib) == nullptr);
  backend().release_ordered(0, block);
  backend().trim_ordered(0, 4 * mib);
  CHECK(backend().ordered_pool(0).used == 0);
  CHECK(backend().ordered_pool(0).reserved == 4 * mib);
  backend().trim_ordered(0, 0);
  CHECK(backend().ordered_pool(0).reserved == 0);
}

/// A block is released only after the work that uses it.
void check_direct() {
  const std::shared_ptr<Allocator> allocator =
      Allocator::direct(runtime::source_of(MemoryKind::device));
  const Stream stream = Stream::current(gpu), other = Stream::create(gpu);
  const std::size_t before = backend().free_bytes(0);
  {
    const runtime::AllocatorScope scope(allocator);
    const runtime::BufferRef buffer = runtime::allocate(3 * mib + 1, stream);
    CHECK(backend().free_bytes(0) == before - 3 * mib - 512);
    CHECK(allocator->statistics(gpu).in_use == 3 * mib + 512);
    runtime::fill(buffer->pointer(), 1, buffer->bytes(), other);
    buffer->used_on(other);
  }
  CHECK(allocator->statistics(gpu).in_use == 0);
  CHECK(allocator->statistics(gpu).reserved == 3 * mib + 512);  // `other` has work
  CHECK(allocator->trim(gpu, true) == 3 * mib + 512);
  CHECK(allocator->statistics(gpu).reserved == 0);
  CHECK(backend().free_bytes(0) == before);
}

void check_pooled() {
  std::shared_ptr<Allocator> allocator = Allocator::pooled(runtime::source_of(MemoryKind::managed));
  const Stream stream = Stream::current(gpu);
  runtime::BufferRef kept;
  {
    const runtime::AllocatorScope scope(allocator);
    kept = runtime::allocate(1000, stream);
    CHECK_THROWS_AS(runtime::allocate(300 * mib, stream), OutOfMemory);
  }
  CHECK(allocator->statistics(gpu).in_use == 1024);
  CHECK(allocator->statistics(gpu).reserved == 2 * mib);
  const std::weak_ptr<Allocator> lives = allocator;
  allocator.reset();
  CHECK_FALSE(lives.expired());  // for the sake of its block
  kept = {};
  CHECK(lives.expired());
}

}  // namespace

TEST_CASE("managed memory and the driver's pool") {
  for (const char* const driver : {HEDDLE_FAKE_DRIVER, HEDDLE_FAKE_OLD_DRIVER}) {
    const auto result =
        test::run_child("child: kinds of memory", {std::string("HEDDLE_CUDA_DRIVER=") + driver});
    CHECK_MESSAGE(result.status == 0, result.output);
  }
}

TEST_CASE("child: kinds of memory" * doctest::skip()) {
  const char* const path = std::getenv("HEDDLE_CUDA_DRIVER");
  REQUIRE(path != nullptr);
  const bool old = std::string(path).find("old") != std::string::npos;
  CHECK(static_cast<bool>(runtime::cuda::driver().mem_prefetch_async_to) != old);
  CHECK(static_cast<bool>(runtime::cuda::driver().mem_advise_on) != old);
  check_managed();
  check_ordered();
  check_direct();
  check_pooled();
}
