// What a GPU's memory and streams promise. Run on the GPU where there is one, and everywhere on a
// driver that is a program of its own (fake_driver/), which runs enqueued work as late as it may.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/compile/bad_image.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/module.h"
#include "runtime/device/memory.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::allocate;
using runtime::BufferRef;
using runtime::Device;
using runtime::DeviceKind;
using runtime::Stream;
namespace cuda = runtime::cuda;

namespace {

constexpr Device gpu{DeviceKind::cuda, 0};
constexpr std::size_t mib = std::size_t{1} << 20;

std::vector<unsigned char> read_back(const BufferRef& buffer, const Stream& stream) {
  std::vector<unsigned char> out(buffer->bytes());
  runtime::copy(out.data(), Device{}, buffer->pointer(), gpu, out.size(), stream);
  stream.synchronize();
  return out;
}

bool all_are(const std::vector<unsigned char>& bytes, unsigned char value) {
  for (const unsigned char byte : bytes) {
    if (byte != value) return false;
  }
  return true;
}

void check_target() {
  const ir::Target& target = runtime::target_of(gpu);
  CHECK(target.kind == ir::TargetKind::cuda);
  CHECK(target.architecture.starts_with("sm_"));
  CHECK(target.multiprocessors > 0);
  CHECK(target.shared_bytes_per_block >= 48 << 10);
  CHECK(target.registers_per_block >= 32768);
  CHECK(target.max_threads_per_block == 1024);
  CHECK(ir::parse_target(ir::to_string(target)) == target);
  CHECK_FALSE(runtime::facts_of(gpu).name.empty());
  CHECK(runtime::facts_of(gpu).total_bytes > 0);
  CHECK(runtime::current_device() == gpu);
}

void check_contexts() {
  cuda::ContextHandle during = nullptr, after = nullptr;
  {
    const cuda::ContextScope scope(0);
    const cuda::ContextScope again(0);
    cuda::driver().ctx_get_current(&during);
  }
  cuda::driver().ctx_get_current(&after);
  CHECK(during == cuda::primary_context(0));
  std::thread([&] {
    {
      const cuda::ContextScope scope(0);
    }
    cuda::driver().ctx_get_current(&after);
  }).join();
  CHECK_MESSAGE(after == cuda::primary_context(0), "stays where there was none");
}

void check_copies() {
  const Stream stream = Stream::current(gpu);
  std::vector<unsigned char> bytes(3 * mib);
  test::Random random(3);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.next());
  const BufferRef a = allocate(bytes.size(), stream), b = allocate(bytes.size(), stream);
  CHECK(reinterpret_cast<std::uintptr_t>(a->pointer()) % 512 == 0);
  runtime::fill(b->pointer(), 7, b->bytes(), stream);
  runtime::copy(a->pointer(), gpu, bytes.data(), Device{}, bytes.size(), stream);
  CHECK(all_are(read_back(b, stream), 7));
  runtime::copy(b->pointer(), gpu, a->pointer(), gpu, bytes.size(), stream);
  CHECK(read_back(b, stream) == bytes);
  CHECK_THROWS_AS(
      runtime::copy(a->pointer(), gpu, bytes.data(), Device{}, 8, Stream::current(Device{})),
      InternalError);
}

/// The GPU itself reads pinned memory, when the copy's turn comes.
void check_copies_from_pinned_memory() {
  const Stream stream = Stream::current(gpu);
  constexpr std::size_t bytes = 64 * mib;
  void* pinned = nullptr;
  {
    const cuda::ContextScope scope(0);
    cuda::driver().mem_host_alloc(&pinned, bytes, cuda::host_alloc_portable);
  }
  const BufferRef a = allocate(bytes, stream);
  for (const unsigned char value : {1, 2, 3}) {
    std::memset(pinned, value, bytes);
    runtime::fill(a->pointer(), 0, bytes, stream);
    runtime::copy(a->pointer(), gpu, pinned, Device{}, bytes, stream);
    std::memset(pinned, 0xee, bytes);
    CHECK(all_are(read_back(a, stream), value));
  }
  const cuda::ContextScope scope(0);
  cuda::driver().mem_free_host(pinned);
}

void check_reuse_on_one_stream() {
  const Stream stream = Stream::create(gpu);
  BufferRef first = allocate(4 * mib, stream);
  void* const where = first->pointer();
  first = BufferRef();
  CHECK(allocate(4 * mib, stream)->pointer() == where);
}

/// Memory of one stream that another reads must not be written before that is done.
void check_use_on_other_streams() {
  const Stream own = Stream::create(gpu), other = Stream::create(gpu);
  CHECK_FALSE(own == other);
  constexpr std::size_t bytes = 16 * mib;
  for (int round = 0; round < 20; ++round) {
    const BufferRef kept = allocate(bytes, other);
    {
      const BufferRef source = allocate(bytes, own);
      runtime::fill(source->pointer(), static_cast<unsigned char>(round + 1), bytes, own);
      other.wait(runtime::Event(own));
      for (int repeat = 0; repeat < 4; ++repeat) {
        runtime::copy(kept->pointer(), gpu, source->pointer(), gpu, bytes, other);
      }
      source->used_on(other);
    }
    const BufferRef next = allocate(bytes, own);
    runtime::fill(next->pointer(), 0xee, bytes, own);
    own.synchronize();
    CHECK(all_are(read_back(kept, other), static_cast<unsigned char>(round + 1)));
  }
}

void check_threads() {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned char t = 1; t <= 6; ++t) {
    threads.emplace_back([&, t] {
      const Stream stream = Stream::current(gpu);
      for (int i = 0; i < 20; ++i) {
        const BufferRef buffer = allocate(100000 + 1000 * t, stream);
        runtime::fill(buffer->pointer(), t, buffer->bytes(), stream);
        if (!all_are(read_back(buffer, stream), t)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  runtime::pool_of(gpu).verify();
}

void check_out_of_memory() {
  const Stream stream = Stream::current(gpu);
  const std::size_t before = runtime::pool_of(gpu).statistics().in_use;
  try {
    allocate(runtime::facts_of(gpu).total_bytes + mib, stream);
    FAIL("it was allocated");
  } catch (const OutOfMemory& failure) {
    CHECK(std::string(failure.what()).find("bytes free") != std::string::npos);
  }
  CHECK(runtime::pool_of(gpu).statistics().in_use == before);
  const BufferRef buffer = allocate(mib, stream);
  runtime::fill(buffer->pointer(), 9, buffer->bytes(), stream);
  CHECK(all_are(read_back(buffer, stream), 9));
}

void check_trim_gives_memory_back() {
  runtime::MemoryPool& pool = runtime::pool_of(gpu);
  {
    const BufferRef buffer = allocate(64 * mib, Stream::current(gpu));
  }
  CHECK(pool.statistics().reserved >= 64 * mib);
  runtime::synchronize(gpu);
  pool.trim(true);
  CHECK(pool.statistics().reserved == pool.statistics().in_use);
}

void check_events() {
  const Stream stream = Stream::create(gpu);
  const BufferRef buffer = allocate(mib, stream);
  const runtime::Event start(stream, true);
  runtime::fill(buffer->pointer(), 1, mib, stream);
  const runtime::Event end(stream, true);
  end.synchronize();
  CHECK(end.done());
  CHECK(end.milliseconds_since(start) >= 0);
  stream.synchronize();
  CHECK(stream.idle());
}

void check_stream_scopes() {
  const Stream own = Stream::current(gpu);
  CHECK(Stream::current(gpu) == own);
  {
    const Stream other = Stream::create(gpu);
    const runtime::StreamScope scope(other);
    CHECK(Stream::current(gpu) == other);
  }
  CHECK(Stream::current(gpu) == own);
  const Stream borrowed = Stream::borrow(gpu, own.handle());
  CHECK(borrowed == Stream::borrow(gpu, own.handle()));
  std::thread([&] { CHECK_FALSE(Stream::current(gpu) == own); }).join();
}

void check_bad_modules() {
  CHECK_THROWS_AS(runtime::CudaModule("these are no bytes of a module", 0), DeviceError);
  const runtime::fault::Watch watch(runtime::fault::Kind::load, 0);
  CHECK_THROWS_AS(runtime::CudaModule("whatever", 0), DeviceError);
}

/// Left to die at exit, after main and on a thread's end.
void leave_static_holders() {
  static BufferRef holder;
  static thread_local BufferRef thread_holder;
  holder = allocate(mib, Stream::current(gpu));
  thread_holder = allocate(mib, Stream::create(gpu));
}

void check_everything() {
  check_target();
  check_contexts();
  check_copies();
  check_copies_from_pinned_memory();
  check_reuse_on_one_stream();
  check_use_on_other_streams();
  check_threads();
  check_events();
  check_stream_scopes();
  check_out_of_memory();
  check_bad_modules();
  check_trim_gives_memory_back();
  leave_static_holders();
}

}  // namespace

TEST_CASE("memory and streams on a driver that runs work as late as it may") {
  const auto result = test::run_child("child: memory and streams",
                                      {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("memory and streams on the GPU") {
  if (!cuda::available()) {
    MESSAGE("no GPU here: " << cuda::unavailable_reason());
    return;
  }
  const auto result = test::run_child("child: memory and streams", {});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: memory and streams" * doctest::skip()) { check_everything(); }

TEST_CASE("a fake driver that is no driver is refused with the name of the call") {
  const auto result = test::run_child("child: a driver that fails",
                                      {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                                       "HEDDLE_FAKE_INIT=100", "HEDDLE_DEVICE="});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: a driver that fails" * doctest::skip()) {
  CHECK_FALSE(cuda::available());
  CHECK(cuda::unavailable_reason().find("cuInit") != std::string::npos);
  CHECK(cuda::unavailable_reason().find("(100)") != std::string::npos);
  CHECK(runtime::current_device() == Device{});
}
