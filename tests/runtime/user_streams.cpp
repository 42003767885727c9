// Streams, events, host calls and graphs of users: on the fake driver, which runs enqueued work as
// late as it may, and calls host functions on threads of its own.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/cuda/devices.h"
#include "runtime/device/backend.h"
#include "runtime/device/pinned.h"
#include "tests/runtime/fake_programs.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::test;
using runtime::StreamKind;

namespace {

constexpr int failure = 999;

void* symbol(const char* name) {
  return dlsym(dlopen(HEDDLE_FAKE_DRIVER, RTLD_NOW | RTLD_NOLOAD), name);
}

int priority_of(const Stream& stream) {
  int priority = 0;
  reinterpret_cast<int (*)(runtime::StreamHandle, int*)>(symbol("cuStreamGetPriority"))(
      stream.handle(), &priority);
  return priority;
}

unsigned flags_of(const Stream& stream) {
  unsigned flags = 0;
  reinterpret_cast<int (*)(runtime::StreamHandle, unsigned*)>(symbol("cuStreamGetFlags"))(
      stream.handle(), &flags);
  return flags;
}

void check_kinds() {
  const StreamKind urgent{.waits_for_default = true, .priority = -1};
  const Stream usual = Stream::create(gpu);
  std::optional<Stream> stream(Stream::create(gpu, urgent));
  CHECK(flags_of(usual) == 1);
  CHECK(flags_of(*stream) == 0);
  CHECK(priority_of(*stream) == -1);
  const runtime::StreamHandle handle = stream->handle();
  const Stream second = Stream::create(gpu, urgent);
  CHECK_FALSE(second == *stream);
  stream.reset();
  CHECK_FALSE(Stream::create(gpu).handle() == handle);
  CHECK_FALSE(Stream::create(gpu, {.priority = -1}).handle() == handle);
  CHECK_MESSAGE(Stream::create(gpu, urgent).handle() == handle, "an unused one is used again");
}

void check_current() {
  const Stream own = Stream::own(gpu), other = Stream::create(gpu);
  CHECK(Stream::current(gpu) == own);
  Stream::set_current(other);
  CHECK(Stream::current(gpu) == other);
  CHECK(Stream::own(gpu) == own);
  std::thread([&] {
    CHECK_FALSE(Stream::own(gpu) == own);
    CHECK(Stream::current(gpu) == Stream::own(gpu));
  }).join();
  {
    const runtime::StreamScope scope(own);
    CHECK(Stream::current(gpu) == own);
  }
  CHECK(Stream::current(gpu) == other);
  CHECK_MESSAGE(Stream::borrow(gpu, other.handle()) == other, "the handle of a stream of ours");
  Stream::set_current(own);
  // The default stream of the second GPU, on a thread that has used none yet.
  std::thread([] {
    const Device second{DeviceKind::cuda, 1};
    const Stream legacy =
        Stream::borrow(second, reinterpret_cast<runtime::StreamHandle>(std::uintptr_t{1}));
    CHECK_FALSE(legacy.capturing());
    CHECK(legacy.idle());
    legacy.synchronize();
    legacy.wait(runtime::Event(Stream::create(second)));
  }).join();
}

/// A thread waits for all of its streams and devices, not for those of others.
void check_waits_of_a_thread() {
  const Device second{DeviceKind::cuda, 1};
  const Stream own = Stream::own(gpu), first = Stream::create(gpu), foreign = Stream::create(gpu);
  const runtime::BufferRef buffer = allocate(mib, own);
  own.synchronize();
  runtime::fill(buffer->pointer(), 3, mib, foreign);
  for (int round = 0; round < 2; ++round) {
    std::vector<Stream> used = {own};
    runtime::fill(buffer->pointer(), 1, mib, own);
    for (int i = 0; i < 40; ++i) {
      const runtime::StreamScope scope(Stream::create(i % 2 == 0 ? gpu : second));
      used.push_back(Stream::current(i % 2 == 0 ? gpu : second));
      const runtime::BufferRef own_buffer = allocate(64, used.back());
      runtime::fill(own_buffer->pointer(), 1, 64, used.back());
    }
    // One that captures has launched nothing.
    first.begin_capture(runtime::CaptureMode::relaxed);
    {
      const runtime::StreamScope scope(first);
    }
    CHECK(std::ranges::none_of(used, &Stream::idle));
    runtime::synchronize_thread();
    CHECK(std::ranges::all_of(used, &Stream::idle));
    first.end_capture();
  }
  CHECK_FALSE(foreign.idle());
  foreign.synchronize();
}

/// What lies in a dead stream's memory is ordered before the work of the next stream of its kind.
void check_memory_of_dead_streams() {
  const StreamKind kind{.waits_for_default = true, .priority = -2};
  const Stream reader = Stream::create(gpu);
  const auto runner = load_scale();
  for (int i = 0; i < 20; ++i) {
    std::optional<Stream> stream(Stream::create(gpu, kind));
    const DeviceArray a = upload(ramp(4 * mib / sizeof(float), 1), *stream);
    std::optional<DeviceArray> twice(call(*runner, {&a}, 2, *stream));
    const DeviceArray result = call(*runner, {&*twice}, 3, reader);
    stream.reset();
    twice.reset();
    const Stream next = Stream::create(gpu, kind);
    const DeviceArray other = upload(Values(4 * mib / sizeof(float), -7), next);
    CHECK(download(result, reader) == times(ramp(4 * mib / sizeof(float), 1), 6));
  }
  runtime::pool_of(gpu).verify();
}

void check_events() {
  const Stream stream = Stream::create(gpu), other = Stream::create(gpu);
  runtime::Event event(gpu, {.timed = true}), end(gpu, {.timed = true, .blocking = true});
  CHECK_MESSAGE(event.done(), "not recorded");
  const runtime::BufferRef buffer = allocate(mib, stream);
  runtime::fill(buffer->pointer(), 1, mib, stream);
  event.record(stream);
  CHECK_FALSE(event.done());
  const runtime::EventHandle handle = event.handle();
  runtime::fill(buffer->pointer(), 2, mib, stream);
  end.record(stream);
  end.synchronize();
  CHECK(end.milliseconds_since(event) > 0);
  event.record(other);
  CHECK(event.handle() == handle);
  CHECK_THROWS_AS(event.record(Stream::create({DeviceKind::cuda, 1})), DeviceError);
  control().fail("cuEventRecord", failure, 0);
  CHECK_THROWS_AS(event.record(stream), DeviceError);
  event.record(stream);
  control().fail("cuEventCreate", failure, 0);
  CHECK_THROWS_AS(runtime::Event(gpu, runtime::EventKind{}), DeviceError);
  CHECK_NOTHROW(runtime::Event(gpu, runtime::EventKind{}));
  const runtime::Event untimed(gpu, runtime::EventKind{});
  CHECK_THROWS_AS(static_cast<void>(end.milliseconds_since(untimed)), DeviceError);
}

void check_host_calls() {
  const Stream stream = Stream::create(gpu);
  const DeviceArray array = upload(ramp(8, 1), stream);
  std::vector<int> order;
  const auto held = std::make_shared<int>(1);
  const auto caller = std::this_thread::get_id();
  stream.call_on_host([&order, held, caller] {
    order.push_back(*held);
    CHECK_FALSE(std::this_thread::get_id() == caller);
  });
  stream.call_on_host([&] { order.push_back(2); });
  CHECK(order.empty());
  stream.synchronize();
  CHECK(order == std::vector<int>{1, 2});
  CHECK_MESSAGE(held.use_count() == 1, "a function that was called is let go");
  control().fail("cuLaunchHostFunc", failure, 0);
  CHECK_THROWS_AS(stream.call_on_host([held] {}), DeviceError);
  CHECK_MESSAGE(held.use_count() == 1, "and so is one that was refused");
  CHECK(download(array, stream) == ramp(8, 1));
}

void check_graphs() {
  const Stream stream = Stream::create(gpu);
  const auto runner = load_scale();
  const std::uint64_t graphs = control().live_graphs(), executables = control().live_executables();
  {
    const DeviceArray a = upload(ramp(64, 1), stream);
    std::atomic<int> calls{0};
    const auto held = std::make_shared<int>(1);
    stream.begin_capture(runtime::CaptureMode::relaxed);
    CHECK(stream.capturing());
    const DeviceArray twice = call(*runner, {&a}, 2, stream);
    stream.call_on_host([&calls, held] { calls += *held; });
    std::unique_ptr<runtime::CapturedWork> graph = stream.end_capture();
    CHECK_FALSE(stream.capturing());
    CHECK(calls == 0);
    for (int i = 1; i <= 3; ++i) {
      runtime::fill(twice.buffer->pointer(), 0, twice.buffer->bytes(), stream);
      graph->launch(stream);
      CHECK(download(twice, stream) == times(ramp(64, 1), 2));
      CHECK(calls == i);
    }
    // On another stream, the launch comes after the stream's work and before its later work.
    const Stream other = Stream::create(gpu);
    runtime::fill(twice.buffer->pointer(), 0, twice.buffer->bytes(), stream);
    graph->launch(other);
    CHECK(download(twice, stream) == times(ramp(64, 1), 2));
    graph->upload(stream);
    control().fail("cuGraphLaunch", failure, 0);
    CHECK_THROWS_AS(graph->launch(stream), DeviceError);
    graph->launch(stream);
    stream.synchronize();
    graph.reset();
    CHECK_MESSAGE(held.use_count() == 1, "the graph lets go of what it calls");
  }
  CHECK(control().live_graphs() == graphs);
  CHECK(control().live_executables() == executables);
}

void check_failing_captures() {
  auto runner = load_scale();
  const Stream stream = Stream::create(gpu);
  const DeviceArray a = upload(ramp(64, 1), stream);
  const std::uint64_t graphs = control().live_graphs();
  CHECK_THROWS_AS(stream.end_capture(), DeviceError);
  for (const char* function :
       {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
    CAPTURE(function);
    control().fail(function, failure, 0);
    const auto capture = [&] {
      stream.begin_capture(runtime::CaptureMode::relaxed);
      const DeviceArray twice = call(*runner, {&a}, 2, stream);
      return stream.end_capture();
    };
    CHECK_THROWS_AS(capture(), DeviceError);
    CHECK_FALSE(stream.capturing());
    CHECK(download(call(*runner, {&a}, 3, stream), stream) == times(ramp(64, 1), 3));
  }
  runner.reset();  // it has graphs of its own
  CHECK(control().live_graphs() == graphs);
}

/// A stream that is let go during its capture serves nobody else.
void check_abandoned_captures() {
  const StreamKind kind{.priority = -3};
  std::optional<Stream> stream(Stream::create(gpu, kind));
  const runtime::StreamHandle handle = stream->handle();
  stream->begin_capture(runtime::CaptureMode::relaxed);
  stream.reset();
  CHECK_FALSE(Stream::create(gpu, kind).handle() == handle);
}

void check_pinned_memory() {
  void* where = nullptr;
  {
    const auto block = runtime::allocate_pinned(1000, gpu);
    where = block->pointer();
    CHECK(block->bytes() == 1024);
    CHECK(runtime::device_of_pointer(where) == Device{});
    CHECK_FALSE(runtime::allocate_pinned(1024, gpu)->pointer() == where);
  }
  CHECK(runtime::free_pinned_blocks(gpu) == 2);
  const auto again = runtime::allocate_pinned(700, gpu);
  CHECK(runtime::free_pinned_blocks(gpu) == 1);
  runtime::trim_pinned(gpu);
  CHECK(runtime::free_pinned_blocks(gpu) == 0);
  constexpr int out_of_memory = 2;
  control().fail("cuMemHostAlloc", out_of_memory, 0);
  CHECK_MESSAGE(runtime::allocate_pinned(5000, gpu)->bytes() == 8192, "a second attempt");
  CHECK_THROWS_AS(runtime::allocate_pinned(SIZE_MAX, gpu), OutOfMemory);
  control().fail("cuMemHostAlloc", failure, 0);
  CHECK_THROWS_AS(runtime::allocate_pinned(100000, gpu), DeviceError);
}

void check_details() {
  const runtime::DeviceDetails details = runtime::details_of({DeviceKind::cuda, 1});
  CHECK(details.name == "Fake GPU");
  CHECK(details.compute_capability == "90");
  CHECK(details.pci_bus_id == "0000:01:00.0");
  CHECK(details.attributes.size() == 12);
  CHECK(runtime::backend_of(gpu).at_bus_id(details.pci_bus_id) == 1);
  CHECK_FALSE(runtime::backend_of(gpu).at_bus_id("0000:02:00.0").has_value());
  const runtime::DeviceMemory memory = runtime::memory_of(gpu);
  CHECK(memory.total == 256 * mib);
  CHECK(memory.free <= memory.total);
  CHECK_THROWS_AS(runtime::details_of({DeviceKind::cuda, 2}), DeviceError);
  CHECK_FALSE(runtime::backend_of(gpu).can_access(0, 1));
}

}  // namespace

TEST_CASE("streams, events and graphs of users") {
  const auto result =
      test::run_child("child: streams of users",
                      {"-uHEDDLE_DEVICE", std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: streams of users" * doctest::skip()) {
  REQUIRE(runtime::cuda::available());
  control();
  check_kinds();
  check_current();
  check_waits_of_a_thread();
  check_memory_of_dead_streams();
  check_events();
  check_host_calls();
  check_graphs();
  check_failing_captures();
  check_abandoned_captures();
  check_pinned_memory();
  check_details();
}

TEST_CASE("streams and events on the CPU do their work at once") {
  const Device cpu;
  const Stream stream = Stream::create(cpu, {.priority = -1});
  CHECK(stream == Stream::own(cpu));
  runtime::Event start(cpu, {.timed = true}), end(cpu, {.timed = true});
  start.record(stream);
  int called = 0;
  stream.call_on_host([&] { ++called; });
  CHECK(called == 1);
  end.record(stream);
  CHECK(end.done());
  CHECK(end.milliseconds_since(start) >= 0);
  CHECK_THROWS_AS(stream.begin_capture(runtime::CaptureMode::relaxed), DeviceError);
  CHECK_THROWS_AS(stream.end_capture(), DeviceError);
  CHECK(runtime::memory_of(cpu).total > 0);
  CHECK(runtime::details_of(cpu).attributes.empty());
}
